#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Products of matrices in host memory on the fake driver, with ever less memory: tiles and blocks
# become smaller, and the results stay right. What the driver finds wrong, and leaks, are failures.

topic=host_memory
export topic
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
fake_driver=$builddir/tests/cuda_fake/.libs/fake_cuda.so
program=$builddir/tests/gemm/test_host_memory

if ! [ -f "$fake_driver" ] || ! [ -x "$program" ]; then
    skip 'host memory' 'no fake driver or no test program was built'
elif ! "$XGEMM" kernels --csv naive | grep -q cuda; then
    skip 'host memory' 'this build has no kernels for GPUs'
else
    ln -s "$fake_driver" libcuda.so.1
    for bytes in 1073741824 3000000 200000; do
        if FAKE_CUDA_MEMORY=$bytes XGEMM_TEST_DEVICE=0 \
            LD_LIBRARY_PATH="$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$program" >out 2>&1 &&
            ! grep -q 'fake libcuda' out; then
            ok "$bytes bytes of memory"
        else
            no "$bytes bytes of memory" "$(grep -v '^Running' out | head -n 2 | tr '\n' ' ')"
        fi
    done
fi
finish
