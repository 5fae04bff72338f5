#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Suites of products on the fake driver: handles in threads; and matrices in host memory with ever
# less memory of the device, where tiles and blocks become smaller and the results stay right; and
# doubles by residues, with tensor maps of bytes; and ragged groups in a graph, whose replays have
# other offsets. What the driver finds wrong, and leaks, are failures.

topic=products
export topic
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
fake_driver=$builddir/tests/cuda_fake/.libs/fake_cuda.so

# passes NAME BYTES PROGRAM: the suite on a GPU of so much memory.
passes()
{
    if FAKE_CUDA_MEMORY=$2 XGEMM_TEST_DEVICE=0 \
        LD_LIBRARY_PATH="$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$builddir/$3" >out 2>&1 &&
        ! grep -q 'fake libcuda' out; then
        ok "$1"
    else
        no "$1" "$(grep -v '^Running' out | head -n 40)"
    fi
}

if ! [ -f "$fake_driver" ] || ! [ -x "$builddir/tests/gemm/test_host_memory" ]; then
    skip 'the fake driver' 'it, or the test programs, were not built'
elif ! "$XGEMM" kernels --csv naive | grep -q cuda; then
    skip 'the fake driver' 'this build has no kernels for GPUs'
else
    ln -s "$fake_driver" libcuda.so.1
    CK_RUN_CASE=handles passes 'handles in threads' 1073741824 tests/unit/test_threads
    for bytes in 1073741824 3000000 200000; do
        passes "host memory, $bytes bytes of the device's" $bytes tests/gemm/test_host_memory
    done
    XGEMM_TEST_EFFORT=1 passes 'products by residues' 1073741824 tests/gemm/test_residue
    CK_RUN_CASE=graphs passes 'ragged groups in graphs' 1073741824 tests/gemm/test_ragged
fi
finish
