#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernels by mma.sync on GPU 0, each by name, beside what auto takes and cuBLAS:
#
#   bench/mma.sh BUILD >RESULTS
#
# BUILD is a build of this source, or the unpacked folder of bench/portable.sh. Steps, chosen by
# XGEMM_MMA_STEPS: verify (the test programs that have these kernels by name), bits (whether wgmma's
# sums have the same), small, large, thin (16-bit operands), floats: CSV of bench/types, a line "==
# STEP KERNEL" before each table. XGEMM_MMA_TYPE is bf16 unless it says f16. All together take about
# three minutes.
set -eu

build=${1:?usage: bench/mma.sh BUILD}
steps=${XGEMM_MMA_STEPS:-verify bits small large thin floats}
type=${XGEMM_MMA_TYPE:-bf16}
kernels='pipelined-128x128 pipelined-64x128 pipelined-32x64'
floats='fp16x3-mma-128x64 fp16x3-mma-64x64'
status=0
LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# run PROGRAM ARGUMENTS...: the program of that name, in a build or in a package.
run() {
  name=$1
  shift
  for file in "$build/bench/$name" "$build/$name" "$build/tests/gemm/$name" "$build/tests/$name"; do
    [ ! -f "$file" ] || break
  done
  timeout 100 "$file" "$@" || status=1
}

# measure NAME SHAPES...: by each kernel, and as auto chooses.
measure() {
  step=$1
  shift
  for kernel in auto $kernels; do
    echo "== $step $kernel"
    XGEMM_KERNEL=$kernel run types "$type" "$@"
  done
}

for step in $steps; do
  case $step in
  verify)
    for suite in types ragged reproducible; do
      echo "== verify $suite"
      XGEMM_TEST_DEVICE=0 XGEMM_TEST_EFFORT="${XGEMM_TEST_EFFORT:-6}" run "test_$suite"
    done
    for kernel in $floats; do
      run xgemm verify -d 0 --quick --kernel "$kernel" --data all -m 300 -n 200 -k 700
    done
    ;;
  bits) # of random numbers; C in FP32
    work=$(mktemp -d)
    for k in 16 32 64 192; do
      python3 - "$work" "$k" << 'END'
import random, struct, sys
folder, k = sys.argv[1], int(sys.argv[2])
for name, rows, columns in (("a", 256, k), ("b", k, 256)):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    header += " " * (117 - len(header)) + "\n"
    random.seed(name)
    data = [random.uniform(-1, 1) for _ in range(rows * columns)]
    with open("%s/%s.npy" % (folder, name), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(data), *data))
END
      for kernel in fp16x1-128x128 pipelined-128x128 pipelined-32x64; do
        run xgemm multiply -d 0 "$work/a.npy" "$work/b.npy" -o "$work/$kernel.npy" --cast \
          --type "$type" --type-c f32 --kernel "$kernel" >/dev/null
      done
      echo "== bits of $type, k = $k: bytes of 262272 that differ from fp16x1-128x128"
      for kernel in pipelined-128x128 pipelined-32x64; do
        echo "$kernel,$(cmp -l "$work/fp16x1-128x128.npy" "$work/$kernel.npy" | wc -l)"
      done
    done
    rm -r "$work"
    ;;
  small)
    measure small 64,64,64 128,128,128 256,256,256 512,512,512 1024,1024,1024 129,129,129 \
      257,257,257 513,513,513 1025,1025,1025 64,64,64,0,1000 128,128,128,0,1000
    ;;
  large) XGEMM_LAYOUTS="NN TN" measure large 2048,2048,2048 4096,4096,4096 8192,8192,8192 4097,4097,4097 ;;
  thin) XGEMM_LAYOUTS="NN TN" measure thin 16,4096,4096 4096,16,4096 4096,4096,64 64,64,100000 ;;
  floats)
    for kernel in $floats fp16x3-fused-128x64; do
      echo "== floats $kernel"
      XGEMM_KERNEL=$kernel XGEMM_LAYOUTS="NN TN" run types f32 1024,1024,1024 4096,4096,4096 8192,8192,8192
    done
    ;;
  *) echo "bench/mma.sh: there is no step $step" >&2 && exit 2 ;;
  esac
done
exit $status
