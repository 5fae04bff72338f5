#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library whose kernels clang compiles, beside that of nvcc, on a GPU.
#
#   bench/clang.sh FILE.tar.xz
#
# makes a build to carry (bench/portable.sh), which also has a folder "clang" with the library that
# ./configure --with-cuda=clang builds. There, after unpacking,
#
#   xgemm/bench/clang.sh measure RESULTS
#
# measures. Steps, chosen by XGEMM_CLANG_STEPS; the first four (the default) take some minutes
# together on a machine of 16 cores, since kernels are translated side by side:
#
#   verify     every kernel of the clang-built library against float64, one process a kernel
#   first      the first product of a process, with an empty and a filled translation cache
#   bits       the products of both libraries that differ in bits (bench/bits.c)
#   shapes     what the libraries choose over bench/shapes.txt and squares, both math modes, in turns
#   speed      every kernel at some sizes with both libraries, in turns
#   tests      the test programs, eight at a time: some minutes; XGEMM_TEST_EFFORT is 10 if unset,
#              as some programs compute for minutes on the host
#   sanitizer  compute-sanitizer over small products of every kernel
#
# The results are CSV and logs in the folder; summary.txt has what failed, the times of first
# products, and the ratios, clang's speed by nvcc's: of each kernel, the geometric mean and the
# least. No command of a step takes longer than XGEMM_CLANG_LIMIT seconds (60).
#
# Builds are in BUILD (build-portable) and BUILD_CLANG (build-portable-clang), and are kept; with
# PORTABLE=FILE.tar.xz the nvcc-built half is taken from there. XGEMM_ARCHS as in portable.sh.
set -eu

bench=$(cd "$(dirname "$0")" && pwd)
usage="usage: bench/clang.sh FILE.tar.xz | bench/clang.sh measure RESULTS"

# The clang-built library, stripped, in folder $1.
build_clang() {
  build=${BUILD_CLANG:-build-portable-clang}
  mkdir -p "$build"
  (
    cd "$build"
    [ -f config.status ] || "$bench/../configure" --quiet --with-cuda=clang PTXAS=no --with-blas=no \
      --with-cuda-arch="${XGEMM_ARCHS:-90}" --disable-dependency-tracking --disable-utility
    make -s -j"$(nproc)" libxgemm.la
  ) >&2
  mkdir -p "$1"
  cp -P "$build"/.libs/libxgemm.so* "$1/"
  strip "$1"/libxgemm.so.?.?.?
}

make_package() {
  out=$1
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  portable=${PORTABLE:-}
  if [ -z "$portable" ]; then
    portable=$work/portable.tar.xz
    "$bench/portable.sh" "$portable" >/dev/null
  fi
  tar -C "$work" -xJf "$portable"
  build_clang "$work/xgemm/clang"
  cp "$bench"/*.sh "$bench"/*.txt "$work/xgemm/bench/"
  for program in first bits; do
    ${CC:-cc} -O2 -I"$bench/../include" "$bench/$program.c" -o "$work/xgemm/$program" -L"$work/xgemm" -lxgemm
  done
  tar -C "$work" -cJf "$out" xgemm
  ls -l "$out"
}

# with nvcc|clang COMMAND...: by that library, with a translation cache that is the script's.
with() {
  compiler=$1
  shift
  case $compiler in
  nvcc) libraries=$root ;;
  *) libraries=$root/clang ;;
  esac
  env CUDA_CACHE_PATH="$cache" CUDA_CACHE_MAXSIZE=1073741824 \
    LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

note() {
  echo "$*" | tee -a "$summary"
}

# step TITLE LOG COMMAND...
step() {
  title=$1 log=$out/$2
  shift 2
  start=$(date +%s)
  if "$@" >"$log" 2>"$log.err"; then
    note "ok      $title ($(($(date +%s) - start)) s)"
  else
    note "FAILED  $title (exit $?; $log)"
    tail -n 5 "$log" "$log.err"
    status=1
  fi
}

wants() {
  case " $steps " in
  *" $1 "*) return 0 ;;
  *) return 1 ;;
  esac
}

# compare NAME ARGUMENTS...: xgemm bench with both libraries, in turns, twice, by graphs, which leave
# the host's time out; the better time of each case; then the ratios.
compare() {
  name=$1
  shift
  for turn in 1 2; do
    for compiler in nvcc clang; do
      step "$name, $compiler, turn $turn" "$name-$compiler-$turn.csv" with "$compiler" \
        timeout "$limit" "$root/xgemm" bench --device 0 --graph --csv --quiet "$@"
    done
  done
  awk -F, -v name="$name" '
    FNR == 1 { split("", column); for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
      kernel = $column["kernel"]
      sub(/^auto:.*/, "auto", kernel)
      kernel = kernel " " $column["math"]
      case_ = $column["m"] "x" $column["n"] "x" $column["k"]
      us = $column["median_us"] + 0
      at = kernel SUBSEP case_
      if (us <= 0) next
      if (FILENAME ~ /-nvcc-[0-9]*\.csv$/) { if (!(at in nvcc) || us < nvcc[at]) nvcc[at] = us }
      else if (!(at in clang) || us < clang[at]) clang[at] = us
    }
    END {
      for (at in nvcc) {
        split(at, part, SUBSEP)
        if (!(at in clang)) { missing = missing " " part[1] " " part[2] ";"; continue }
        ratio = nvcc[at] / clang[at]
        sum += log(ratio); n++
        of[part[1]] += log(ratio); cases[part[1]]++
        if (!(part[1] in least) || ratio < least[part[1]]) { least[part[1]] = ratio; where[part[1]] = part[2] }
        if (least_of_all == "" || ratio < least_of_all) { least_of_all = ratio; at_least = part[1] " " part[2] }
      }
      for (kernel in of)
        printf "%-36s %.3f  least %.3f (%s)\n", kernel, exp(of[kernel] / cases[kernel]), least[kernel], where[kernel] | "sort"
      close("sort")
      if (missing) printf "%s: not measured with clang:%s\n", name, missing
      if (n) printf "%s: clang by nvcc in %d cases, geometric mean %.3f, least %.3f (%s)\n", name, n, exp(sum / n), least_of_all, at_least
    }' "$out/$name"-nvcc-?.csv "$out/$name"-clang-?.csv | tee -a "$summary"
}

# The first product of each process; an empty cache, then what that process has left in it.
first_products() {
  kept=$cache
  cache=$(mktemp -d)
  note "first product: compiler,reproducible,cache,size,math,create_ms,first_ms,second_ms,least_ms,until_wanted_ms,bits"
  for compiler in nvcc clang; do
    for size in 256 4096; do
      for math in default strict; do
        for bits in none run; do
          rm -rf "$cache"
          mkdir -p "$cache"
          for kind in empty filled; do
            XGEMM_REPRODUCIBLE=$bits with "$compiler" timeout "$limit" "$root/first" $size $math \
              >"$out/first.csv" 2>"$out/first.err" ||
              { echo "$size,$math,failed: $(cat "$out/first.err")" >"$out/first.csv" && status=1; }
            note "$compiler,$bits,$kind,$(cat "$out/first.csv")"
          done
        done
      done
    done
  done
  rm -rf "$cache"
  cache=$kept
}

# Lines of both lists that are not the same.
compare_bits() {
  for compiler in nvcc clang; do
    step "bits, $compiler" "bits-$compiler.csv" with "$compiler" "$root/bits"
  done
  note "bits: of $(wc -l <"$out/bits-nvcc.csv") products of nvcc's library and $(wc -l <"$out/bits-clang.csv") of clang's $(
    sort "$out/bits-nvcc.csv" "$out/bits-clang.csv" | uniq -d | wc -l) are the same; others, by type and kernel:"
  sort "$out/bits-nvcc.csv" "$out/bits-clang.csv" | uniq -u | cut -d, -f1,2,9 | sort | uniq -c | tee -a "$summary"
}

# A process a kernel: one that fails takes no other with it, and translations run side by side.
verify_all() {
  mkdir -p "$out/verify"
  start=$(date +%s)
  with clang "$root/xgemm" kernels --csv | awk -F, '$2 ~ /cuda/ { print $1, $7 == "tf32" ? $7 : "default" }' >"$out/kernels.txt"
  # shellcheck disable=SC2016 # the inner shell's
  with clang env ROOT="$root" OUT="$out/verify" LIMIT="$limit" xargs -P 16 -L 1 sh -c '
    timeout "$LIMIT" "$ROOT/xgemm" verify --device 0 --quick --csv --quiet --kernel "$1" --math "$2" \
      >"$OUT/$1.csv" 2>"$OUT/$1.err" || echo "$1" >>"$OUT/failed"' sh <"$out/kernels.txt" || true
  if [ -s "$out/verify/failed" ]; then
    note "FAILED  verify: $(tr '\n' ' ' <"$out/verify/failed")"
    while read -r kernel; do
      tail -n 1 "$out/verify/$kernel.csv" "$out/verify/$kernel.err"
    done <"$out/verify/failed" | tee -a "$summary"
    status=1
  fi
  note "verify: $(grep -l ',ok$' "$out"/verify/*.csv | wc -l) of $(wc -l <"$out/kernels.txt") kernels right ($(($(date +%s) - start)) s)"
}

# shellcheck disable=SC2317 # called through step
run_tests() {
  mkdir -p "$out/tests"
  # shellcheck disable=SC2016 # the inner shell's
  find "$root/tests" -name 'test_*' | sort |
    with clang env XGEMM_TEST_DEVICE=0 XGEMM_DEVICE=0 CK_FORK=no XGEMM_TEST_EFFORT="${XGEMM_TEST_EFFORT:-10}" OUT="$out/tests" xargs -P 8 -L 1 sh -c '
      "$1" >"$OUT/${1##*/}.log" 2>&1
      echo "${1##*/}: exit $?: $(grep "^[0-9]*%" "$OUT/${1##*/}.log" | tail -n 1)"
      grep -q "^100%.*Failures: 0, Errors: 0" "$OUT/${1##*/}.log"' sh
}

# shellcheck disable=SC2317
sanitize() {
  with clang "$root/xgemm" kernels --csv |
    awk -F, '$2 ~ /cuda/ {
      print "verify --quick -m 1,65,129 -n 7,130 -k 1,33 --kernel", $1, $7 == "tf32" ? "--math tf32" : ""
    }' |
    sed 's/$/ --device 0 --quiet/' |
    with clang xargs -P 8 -L 1 compute-sanitizer --tool memcheck --error-exitcode 9 "$root/xgemm"
}

measure() {
  mkdir -p "$1"
  out=$(cd "$1" && pwd)
  root=$(dirname "$bench")
  summary=$out/summary.txt
  status=0
  : >"$summary"
  cache=$(mktemp -d)
  trap 'rm -rf "$cache"' EXIT
  limit=${XGEMM_CLANG_LIMIT:-60}
  steps=${XGEMM_CLANG_STEPS:-verify first bits shapes}
  if wants verify; then verify_all; fi
  if wants first; then first_products; fi
  if wants bits; then compare_bits; fi
  if wants shapes; then
    compare shapes --math default,strict --shapes "$bench/shapes.txt" --samples 5 --limit 1 --warm 5
    compare squares --math default,strict --size 64,128,256,512,1024,2048,4096 --samples 5 --limit 1 --warm 5
  fi
  if wants speed; then
    compare speed --kernel all --size 512,1024,4096 --samples 5 --limit 1 --warm 10
    compare speed-tf32 --kernel all --math tf32 --size 4096 --samples 5 --limit 1 --warm 10
  fi
  if wants tests; then
    step "test programs" tests.log run_tests
    cat "$out/tests.log" >>"$summary"
  fi
  if wants sanitizer; then step "compute-sanitizer memcheck" memcheck.log sanitize; fi
  exit $status
}

case ${1:-} in
"") echo "$usage" >&2 && exit 2 ;;
measure) measure "${2:?$usage}" ;;
*) make_package "$1" ;;
esac
