#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The whole round on a machine with a GPU: build, numerics, sanitizer, and the
# benchmark beside cuBLAS.
#
#   tests/gpu.sh [OUTPUT-FOLDER]
#
# Run it from an unpacked release or a bootstrapped checkout. XGEMM_GPU_STEPS
# picks steps: "build verify check sanitizer probe ladder compare shapes batches
# burst sustained tf32". Results are JSON and logs in the folder (default gpu-results); a summary is printed last.
set -eu

source_dir=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-gpu-results}"
out=$(cd "${1:-gpu-results}" && pwd)
all="build verify check sanitizer probe ladder compare shapes batches burst sustained tf32"
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

if wants verify; then
  step "verify every kernel" verify.json "$xgemm" verify --device 0 --json --quiet
fi
if wants check; then
  step "test suite on the GPU" check.log \
    env XGEMM_TEST_DEVICE=0 XGEMM_DEVICE=0 make -j4 check
fi
if wants sanitizer; then
  for tool in memcheck racecheck initcheck synccheck; do
    step "compute-sanitizer $tool" "sanitizer-$tool.log" \
      ./libtool --mode=execute compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$xgemm" verify --device 0 --quick --quiet -m 1,65,129 -n 7,130 -k 1,33
  done
fi
if wants probe; then
  for probe in $("$xgemm" probe --csv | sed -e 1d -e 's/,.*//'); do
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
    --kernel all --compare cublas --shapes "$source_dir/tests/shapes.txt" --samples 5 --limit 1 \
    --warm 5
fi
if wants batches; then
  for batch in 64:1000 32:10000 128:500 256:100 512:64 4096:8; do
    for trans in N T; do
      step "batch $batch, A $trans" "batch-${batch%:*}-$trans.json" "$xgemm" bench --device 0 --json \
        --quiet --compare cublas --size "${batch%:*}" --batch "${batch#*:}" --transa "$trans" \
        --samples 11 --limit 2
    done
  done
fi
# Cool before each sample, or warm: what the card's power allows is another question then.
if wants burst; then
  step "math default, burst" default-burst.json "$xgemm" bench --device 0 --json --quiet \
    --order col --compare cublas --size 512,1024,2048,4096,4097,8191,8192,16384 --warm 20 \
    --rest 200 --time 10 --samples 5 --limit 3
fi
if wants sustained; then
  step "math default, sustained" default-sustained.json "$xgemm" bench --device 0 --json --quiet \
    --order col --compare cublas --size 2048,4096,8192,16384 --warm 80 --time 80 --samples 5 \
    --limit 3
fi
if wants tf32; then
  step "math TF32" tf32.json "$xgemm" bench --device 0 --json --quiet --math tf32 --order col \
    --compare cublas --size 1024,2048,4096,4097,8192 --warm 20 --rest 200 --time 10 --samples 5 \
    --limit 3
fi
note "results in $out"
exit $status
