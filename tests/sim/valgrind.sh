#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Valgrind finds nothing in the simulator and takes its fibers' stacks for what they are.
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources.

builddir=$PWD
srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
program=$builddir/.libs/xgemm
[ -x "$program" ] || program=${XGEMM:-./xgemm}
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH LC_ALL=C

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

[ -x "$program" ] || skip "no utility"
grep -q 'XGEMM_WITH_VALGRIND 1' config.h || skip "built without valgrind/valgrind.h"
valgrind -q "$program" --version >/dev/null 2>&1 || skip "valgrind is not here, or does not run the utility"
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

failed=0
# With its warnings, such as of stacks that change, which are no errors to it.
for kernel in tiled16 pipelined-64x128 thin-64x128 tma-128x128; do
    if ! valgrind -q --error-exitcode=9 "$program" multiply --quiet --device sim --kernel $kernel \
        "$srcdir/examples/a.npy" "$srcdir/examples/b.npy" -o "$work/c.npy" >"$work/out" 2>"$work/messages" ||
        [ -s "$work/messages" ] || ! cmp "$work/c.npy" "$srcdir/examples/product.npy"; then
        echo "$kernel under valgrind:" >&2
        head -n 40 "$work/messages" >&2
        failed=1
    fi
done
# Products of halves by mma and of bfloat16 by wgmma, against sums of doubles.
while read -r kernel type; do
    if ! valgrind -q --error-exitcode=9 "$program" verify --quiet --device sim -s 9 --quick \
        --kernel "$kernel" --type "$type" >"$work/out" 2>"$work/messages" ||
        [ -s "$work/messages" ]; then
        echo "$kernel of $type under valgrind:" >&2
        cat "$work/out" >&2
        head -n 40 "$work/messages" >&2
        failed=1
    fi
done <<END
pipelined-64x128 f16
fp16x1-128x128 bf16
END
# A kernel of one's own, which a compiler that is looked for compiles.
if c++ --version >"$work/out" 2>&1; then
    echo '__global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }' >"$work/own.cu"
    if ! XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda valgrind -q --error-exitcode=9 "$program" explain \
        --block 64 --arg 'x=float[64]' --arg by=float:2 "$work/own.cu" >"$work/out" 2>"$work/messages" ||
        [ -s "$work/messages" ]; then
        echo "explain of a file under valgrind:" >&2
        head -n 40 "$work/messages" >&2
        failed=1
    fi
fi
exit $failed
