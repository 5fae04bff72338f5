#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A build to carry to a machine with a GPU that has not the libraries of this one:
#
#   bench/portable.sh FILE.tar.xz
#
# It holds a folder "xgemm" with the utility, the library, the test programs that use a
# device, the scripts and the drop-ins; jansson and Check are linked in. Kernels are compiled for
# the compute capabilities of XGEMM_ARCHS ("90"). The build is in BUILD (build-portable), and is kept.
# There, after unpacking:
#
#   XGEMM_GPU_BUILD=$PWD/xgemm XGEMM_GPU_STEPS="verify check strict" xgemm/bench/gpu.sh RESULTS
set -eu

source_dir=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: bench/portable.sh FILE.tar.xz}
build=${BUILD:-build-portable}
programs="gemm/test_accuracy gemm/test_batched gemm/test_numerics gemm/test_recomputed gemm/test_settings gemm/test_compact
  gemm/test_extremes gemm/test_small_gpus gemm/test_special gemm/test_streams gemm/test_types gemm/test_half_ways
  gemm/test_reproducible gemm/test_ragged gemm/test_double gemm/test_residue gemm/test_residue_complex
  unit/test_product_arguments unit/test_threads"
libs=$(pkg-config --variable=libdir jansson)

mkdir -p "$build"
build=$(cd "$build" && pwd)
(
  cd "$build"
  [ -f config.status ] || "$source_dir/configure" --quiet --with-cuda=yes --with-blas=no \
    --with-cuda-arch="${XGEMM_ARCHS:-90}" --disable-dependency-tracking \
    JANSSON_CFLAGS=" " JANSSON_LIBS="$libs/libjansson.a" \
    CHECK_CFLAGS=" " CHECK_LIBS="$libs/libcheck_pic.a $libs/libsubunit.a -lrt -lpthread -lm"
  make -s -j"$(nproc)"
  for program in $programs; do
    make -s "tests/$program"
  done
  make -s bench/types bench/ragged bench/epilogues
) >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/xgemm/tests" "$work/xgemm/bench"
cp "$build/.libs/xgemm" "$work/xgemm/"
cp -P "$build"/.libs/libxgemm.so* "$work/xgemm/"
for program in $programs; do
  file=$build/tests/${program%/*}/.libs/${program#*/}
  [ -f "$file" ] || file=$build/tests/$program
  cp "$file" "$work/xgemm/tests/"
done
cp "$build/.libs/libxgemm-cublas.so" "$build/.libs/libxgemm-blas.so" "$work/xgemm/"
for program in types ragged epilogues; do
  file=$build/bench/.libs/$program
  [ -f "$file" ] || file=$build/bench/$program
  cp "$file" "$work/xgemm/"
done
cp "$source_dir"/bench/*.sh "$source_dir"/bench/*.py "$source_dir"/bench/*.txt "$work/xgemm/bench/"
strip "$work/xgemm/xgemm" "$work"/xgemm/libxgemm.so.?.?.? \
  "$work/xgemm/libxgemm-cublas.so" "$work/xgemm/libxgemm-blas.so" \
  "$work"/xgemm/tests/test_*
tar -C "$work" -cJf "$out" xgemm
ls -l "$out"
