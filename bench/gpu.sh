#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The whole round on a machine with a GPU: build, numerics, sanitizer, and the
# benchmark beside cuBLAS.
#
#   bench/gpu.sh [OUTPUT-FOLDER]
#
# Run it from an unpacked release or a bootstrapped checkout, or with a build that
# bench/portable.sh made. Results are JSON and logs in the folder (default gpu-results); a
# summary is printed last, with what of the targets (bench/targets.sh) is met.
# XGEMM_GPU_STEPS picks steps of those in "all" below. XGEMM_GPU_BUILD is the build folder;
# XGEMM_GPU_BASE an older xgemm program, its library beside it, which the step "before"
# times beside this one, in turns, and takes the best of three medians. With XGEMM_GPU_GRAPH
# set, benchmarks beside cuBLAS are replays of CUDA graphs (xgemm bench --graph), on both sides.
set -eu

source_dir=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-gpu-results}"
out=$(cd "${1:-gpu-results}" && pwd)
all="build verify check sanitizer probe ladder compare shapes"
all="$all strict rested random choice gemv batches burst sustained weak tf32 types before"
steps=${XGEMM_GPU_STEPS:-$all}
build=${XGEMM_GPU_BUILD:-$source_dir/build-gpu}
jobs=$(nproc)
summary=$out/summary.txt
: > "$summary"
status=0

note() {
  echo "$*" | tee -a "$summary"
}

# step NAME LOG COMMAND...: runs it, its output in the log; says how it ended.
step() {
  name=$1 log=$out/$2
  shift 2
  start=$(date +%s)
  if "$@" > "$log" 2>&1; then
    note "ok      $name ($(($(date +%s) - start)) s)"
  else
    note "FAILED  $name (exit $?; $log)"
    tail -n 15 "$log"
    status=1
  fi
}

# shellcheck disable=SC2317 # called through step
build_it() {
  mkdir -p "$build"
  cd "$build"
  [ -f config.status ] || "$source_dir/configure" --with-cuda=yes
  make -j"$jobs"
}

# sanitize TOOL: programs in parallel, as racecheck takes minutes for some. Each kernel with small
# problems, the fp16 kernels with edges on all sides as well, and with what only larger problems
# have: edge strips that the split kernel computes.
# shellcheck disable=SC2317
sanitize() {
  "$xgemm" kernels --csv | awk -F, '
    $2 !~ /cuda/ { next }
    { kernel = $1 ($7 == "tf32" ? " --math tf32" : "") }
    { print "verify --quick -m 1,65,129 -n 7,130 -k 1,33 --kernel", kernel }
    $1 ~ /^fp16/ { print "verify --quick -m 257 -n 129 -k 65 --kernel", kernel }
    $1 ~ /^fp16.*-128x128$/ {
      larger = "bench --order col --samples 1 --warm 0 --time 1 --limit 1 -m 1025 -n 2049 -k 1000"
      print larger, "--kernel", kernel
      print larger, "--transa T --transb T --kernel", kernel
    }' | sed 's/$/ --device 0 --quiet/' |
    xargs -P 8 -L 1 compute-sanitizer --tool "$1" --error-exitcode 9 "$xgemm"
}

# Kinds of data in parallel: most of the time the host computes what is to be compared with.
# shellcheck disable=SC2317
accuracy() {
  tests/test_accuracy --cases |
    CK_FORK=no xargs -d '\n' -P "$jobs" -I @ env CK_RUN_CASE=@ tests/test_accuracy
}

wants() {
  case " $steps " in
    *" $1 "*) return 0 ;;
    *) return 1 ;;
  esac
}

if wants build; then
  step "build" build.log build_it
fi
cd "$build"
xgemm=$build/xgemm
libraries=$build
if [ -x "$build/.libs/xgemm" ]; then
  libraries=$build/.libs xgemm=$build/.libs/xgemm
fi
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if wants verify; then
  step "verify every kernel" verify.json "$xgemm" verify --device 0 --json --quiet
fi
if wants check; then
  export XGEMM_TEST_DEVICE=0 XGEMM_DEVICE=0
  if [ -f Makefile ]; then
    step "test suite on the GPU" check.log make -j4 check-full
  else # of bench/portable.sh
    step "test_accuracy on the GPU" test_accuracy.log accuracy
    for program in tests/test_*; do
      [ "$program" = tests/test_accuracy ] && continue
      # In one process: each would make a context of its own.
      step "${program#tests/} on the GPU" "${program#tests/}.log" env CK_FORK=no "$program"
    done
  fi
  unset XGEMM_TEST_DEVICE XGEMM_DEVICE
fi
if wants sanitizer; then
  for tool in memcheck initcheck synccheck racecheck; do
    step "compute-sanitizer $tool" "sanitizer-$tool.log" sanitize "$tool"
  done
fi
if wants probe; then
  for probe in $("$xgemm" probe --list --csv | sed -e 1d -e 's/,.*//'); do
    step "probe $probe" "probe-$probe.json" "$xgemm" probe "$probe" --device 0 --json --quiet
  done
fi
if wants ladder; then
  step "ladder at 4096 (NN)" ladder-4096.json "$xgemm" bench --device 0 --json --quiet \
    --kernel all --compare cublas --size 4096 --samples 11 --limit 4
  step "ladder at 4096 (NT)" ladder-4096-nt.json "$xgemm" bench --device 0 --json --quiet \
    --kernel tiled16,tiled16-colmajor,corner-turned,vectorized --transb T --compare cublas \
    --size 4096 --samples 11 --limit 4
fi
if wants compare; then
  step "all kernels over squares" squares.json "$xgemm" bench --device 0 --json --quiet \
    --kernel all --compare cublas --size 64,128,256,512,1024,2048,4096 --samples 9 --limit 1 \
    --warm 10
fi
if wants shapes; then
  step "all kernels over shapes" shapes.json "$xgemm" bench --device 0 --json --quiet \
    --kernel all --compare cublas --shapes "$source_dir/bench/shapes.txt" --samples 5 --limit 1 \
    --warm 5
fi
# measure NAME FILE ARGUMENT...: a benchmark beside cuBLAS.
measure() {
  what=$1 file=$2
  shift 2
  step "$what" "$file.json" "$xgemm" bench --device 0 --json --quiet --compare cublas \
    ${XGEMM_GPU_GRAPH:+--graph} "$@"
}

# Suffixes of files, and the transposes that they stand for.
layouts="-:N:N -nt:N:T -tn:T:N -tt:T:T"

# in_layouts FUNCTION: calls it with the suffix and the options of each.
in_layouts() {
  for layout in $layouts; do
    suffix=${layout%%:*} transposes=${layout#*:}
    [ "$suffix" = - ] && suffix=
    "$1" "$suffix" --transa "${transposes%:*}" --transb "${transposes#*:}"
  done
}

# shellcheck disable=SC2317 # called through in_layouts
strict_squares() {
  suffix=$1
  shift
  small=64,128,256,512,640,768,896,1000,1023,1024,1025,1280,1536
  measure "math strict, squares$suffix" "strict-squares$suffix" --math strict --samples 7 --limit 1 \
    --size "$small,2047,2048,3000,4095,4096,4097,8191,8192,8193,16384" "$@"
  measure "math strict, ld + 1$suffix" "strict-ld$suffix" --math strict --samples 7 --limit 1 \
    --size 1024,2048,4096 --ld-pad 1 "$@"
}

# Large ones with idle time before each sample: beside cuBLAS they are limited by power,
# some layouts by a tenth.
# shellcheck disable=SC2317
strict_rested() {
  suffix=$1
  shift
  measure "math strict, rested$suffix" "strict-rested$suffix" --math strict --rest 200 --time 40 \
    --samples 5 --limit 4 --size 2048,4095,4096,8191,8192,8193,16384 "$@"
}

# with_burst COMMAND...: cool before each sample; sustained it is warm: what power allows is
# another question then.
with_burst() {
  "$@" --order col --warm 20 --rest 200 --time 10 --samples 5 --limit 3
}

# shellcheck disable=SC2317
default_burst() {
  suffix=$1
  shift
  with_burst measure "math default, burst$suffix" "default-burst$suffix" \
    --size 512,1024,1025,2048,2049,4096,4097,8191,8192,16384 "$@"
}

if wants strict; then
  in_layouts strict_squares
fi
if wants rested; then
  in_layouts strict_rested
fi
if wants random; then
  measure "math strict, 200 random shapes" strict-random --math strict --samples 5 \
    --limit 1 --warm 5 --time 1 --shapes "$source_dir/bench/random-shapes.txt"
fi
if wants choice; then
  # Those that it chooses from beside the choice, by replays of graphs: a call takes the host as
  # long as most of these products the GPU. How good the choice is, bench/choice.sh says.
  kernels=$("$xgemm" kernels --csv |
    sed -nE 's/^((pipelined|tma|sliced|thin|skinny)[^,]*),.*/\1/p' | paste -sd,)
  step "choice of kernels, 200 random shapes" strict-choice.json "$xgemm" bench --device 0 \
    --json --quiet --graph --math strict --samples 3 --kernel "auto,$kernels" \
    --limit 1 --warm 1 --time 1 --shapes "$source_dir/bench/random-shapes.txt"
  "$xgemm" bench --from "$out/strict-choice.json" --csv | "$source_dir/bench/choice.sh" |
    tee -a "$summary" || status=1
fi
if wants gemv; then
  measure "GEMV, K-major matrix" gemv --math strict -m 4096,8192,16384 -n 1 -k 4096,8192 \
    --samples 9 --limit 1
  measure "GEMV, MN-major matrix" gemv-mn-major --math strict --transa T \
    -m 4096,8192,16384 -n 1 -k 4096,8192 --samples 9 --limit 1
fi
if wants batches; then
  for batch in 64:1000 32:10000 128:500 256:100 512:64 4096:8; do
    for trans in N T; do
      measure "batch $batch, A $trans" "batch-${batch%:*}-$trans" --size "${batch%:*}" \
        --batch "${batch#*:}" --transa "$trans" --samples 11 --limit 2
    done
  done
fi
if wants burst; then
  in_layouts default_burst
  with_burst measure "math default, burst, ld + 1" default-burst-ld --ld-pad 1 \
    --size 1024,2048,4096,8192
fi
if wants sustained; then
  measure "math default, sustained" default-sustained --order col --warm 80 --time 80 \
    --samples 21 --limit 8 --size 2048,4096,8192,16384
fi
if wants weak; then
  for math in default strict; do
    measure "math $math, weak shapes" "$math-weak" --math "$math" --samples 7 --warm 5 \
      --shapes "$source_dir/bench/weak-shapes.txt"
  done
  measure "4097, A transposed, column order" default-weak-tn --order col --transa T --size 4097 \
    --samples 7 --warm 5
fi
if wants tf32; then
  with_burst measure "math TF32" tf32 --math tf32 --size 1024,2048,4096,4097,8192
  with_burst measure "math TF32, ld + 1" tf32-ld --math tf32 --ld-pad 1 --size 2048,4096
fi

# in_turns NAME ARGUMENT...: both programs three times, one after the other, without cuBLAS.
in_turns() {
  what=$1
  shift
  for round in 1 2 3; do
    step "before, $what, $round" "before-$what-$round.json" \
      env LD_LIBRARY_PATH="$(dirname "$XGEMM_GPU_BASE")" "$XGEMM_GPU_BASE" bench --device 0 \
      --json --quiet "$@"
    step "after, $what, $round" "after-$what-$round.json" "$xgemm" bench --device 0 \
      --json --quiet "$@"
  done
  for when in before after; do
    for round in 1 2 3; do
      "$xgemm" bench --from "$out/$when-$what-$round.json" --csv | awk -F, -v OFS=, -v when="$when" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { print when, $column["m"], $column["n"], $column["k"], $column["kernel"], $column["median_us"] }'
    done
  done | LC_ALL=C awk -F, '
    { name = $5; sub(/:.*/, "", name); name = $2 " x " $3 " x " $4 " " name }
    !(($1, name) in best) || $6 < best[$1, name] { best[$1, name] = $6; kernel[$1, name] = $5 }
    !(name in seen) { seen[name] = 1; order[++count] = name }
    END {
        for (i = 1; i <= count; i++) {
            name = order[i]
            was = best["before", name]; is = best["after", name]
            printf "%-32s %10.2f us before, %10.2f after: %.3f  %s\n", name, was, is,
                is ? was / is : 0, kernel["after", name]
        }
    }' | tee -a "$summary"
}

# shellcheck disable=SC2317
measure_types() {
  "$types" >"$out/types.csv"
}
if wants types; then
  types=$build/types
  [ -f "$build/Makefile" ] && make -s -C "$build" bench/types >&2 && types=$build/bench/types
  step "every element type beside cuBLAS" types.log measure_types
fi
if wants before && [ -n "${XGEMM_GPU_BASE:-}" ]; then
  with_burst in_turns default --size 1024,1025,2048,2049,4096,4097,8192
  in_turns strict --math strict --samples 5 --limit 1 --kernel auto \
    --size 64,256,512,640,896,1000,1024,1025,1536,2047,2048,3000,4096,8192
fi
if ls "$out"/*.json >/dev/null 2>&1; then
  XGEMM=$xgemm "$source_dir/bench/targets.sh" "$out" 2>&1 | tee -a "$summary" || true
fi
note "results in $out"
exit $status
