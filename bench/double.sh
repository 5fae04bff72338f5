#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernels for F64, C32 and C64 on GPU 0, beside cuBLAS:
#
#   bench/double.sh BUILD >RESULTS
#
# BUILD is a build of this source, or the unpacked folder of bench/portable.sh. Steps, chosen by
# XGEMM_DOUBLE_STEPS: verify (the test programs of these types), squares, thin, batches (bench/types,
# all four layouts, as the library chooses), tiles (the same squares and thin shapes by each kernel
# by name, from which the cost model is fitted), all of these in STRICT; and residues (F64 and C64 in DEFAULT:
# squares by the residues' kernel, and as the library chooses) and real (C32 in DEFAULT by real
# products, likewise). XGEMM_DOUBLE_TYPES ("f64 c64 c32")
# leaves out types.
# The results are CSV, with a line "== STEP TYPE" before each table; all together take about two minutes.
set -eu

build=${1:?usage: bench/double.sh BUILD}
steps=${XGEMM_DOUBLE_STEPS:-verify squares thin batches tiles residues real}
types=${XGEMM_DOUBLE_TYPES:-f64 c64 c32}

# The program of that name, in a build or in a package.
program() {
  for file in "$build/bench/$1" "$build/$1" "$build/tests/gemm/$1" "$build/tests/$1"; do
    [ ! -f "$file" ] || break
  done
  echo "$file"
}

wants() {
  case " $steps " in
  *" $1 "*) return 0 ;;
  *) return 1 ;;
  esac
}

# measure NAME SHAPES...: of each type.
measure() {
  name=$1
  shift
  for type in $types; do
    echo "== $name $type"
    LD_LIBRARY_PATH="$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
      XGEMM_STRICT=1 timeout 60 "$(program types)" "$type" "$@" || status=1
  done
}

# in_default TYPE NAME SHAPES...: of a type in DEFAULT.
in_default() {
  type=$1
  name=$2
  shift 2
  echo "== $name $type"
  LD_LIBRARY_PATH="$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    timeout 90 "$(program types)" "$type" "$@" || status=1
}

status=0
if wants verify; then
  echo "== verify"
  LD_LIBRARY_PATH="$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" XGEMM_TEST_DEVICE=0 \
    XGEMM_TEST_EFFORT="${XGEMM_TEST_EFFORT:-6}" timeout 60 "$(program test_double)" || status=1
  for test in test_residue test_residue_complex; do
    LD_LIBRARY_PATH="$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" XGEMM_TEST_DEVICE=0 \
      timeout 60 "$(program "$test")" || status=1
  done
fi
if wants squares; then
  measure squares 64,64,64 128,128,128 256,256,256 512,512,512 1024,1024,1024 2048,2048,2048 \
    4096,4096,4096 8192,8192,8192 1025,1025,1025 2049,2049,2049 4097,4097,4097 4096,4096,4096,1
fi
if wants thin; then
  measure thin 4096,1,4096 1,4096,4096 16,4096,4096 4096,16,4096 64,4096,4096 4096,4096,64 \
    64,64,100000 128,128,65536 50000,100,100 37,4099,1021 1000,1000,1000 300,5000,700
fi
if wants batches; then
  XGEMM_LAYOUTS="NN TN" measure batches 64,64,64,0,1000 32,32,32,0,10000 16,16,16,0,10000 \
    100,100,100,0,1000 256,256,256,0,100
fi
if wants tiles; then
  for kernel in pipelined-128x128 pipelined-64x128 pipelined-32x64; do
    XGEMM_KERNEL=$kernel XGEMM_LAYOUTS="NN TN" measure "$kernel" 256,256,256 512,512,512 \
      1024,1024,1024 2048,2048,2048 4096,4096,4096 1025,1025,1025 4096,1,4096 4096,16,4096
  done
fi
if wants residues; then
  XGEMM_KERNEL=fp16x3-128x256 in_default f64 residues-by-name 512,512,512 1024,1024,1024 2048,2048,2048 \
    4096,4096,4096 8192,8192,8192 4097,4097,4097 4096,4096,512
  in_default f64 residues-chosen 1024,1024,1024 2048,2048,2048 4096,4096,4096 8192,8192,8192 \
    1025,1025,1025 4097,4097,4097
  XGEMM_KERNEL=fp16x3-128x256 in_default c64 residues-by-name 1024,1024,1024 2048,2048,2048 \
    4096,4096,4096 8192,8192,8192 4097,4097,4097
  in_default c64 residues-chosen 1024,1024,1024 2048,2048,2048 4096,4096,4096 8192,8192,8192 \
    4097,4097,4097
fi
if wants real; then
  for kernel in fp16x3-128x64 fp16x3-128x128 fp16x3-128x256; do
    XGEMM_KERNEL=$kernel XGEMM_LAYOUTS="NN TN" in_default c32 "real-$kernel" 256,256,256 512,512,512 \
      1024,1024,1024 2048,2048,2048 4096,4096,4096
  done
  in_default c32 real-chosen 256,256,256 512,512,512 1024,1024,1024 2048,2048,2048 4096,4096,4096 \
    8192,8192,8192 1025,1025,1025 4097,4097,4097 4096,64,4096 300,5000,700
fi
exit $status
