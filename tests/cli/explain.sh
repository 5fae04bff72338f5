#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain: what a user sees of a kernel, and of a GPU that need not be
# there. The counts themselves are tests/test_trace's.

topic=explain
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

if ! traces; then
    echo 'skipped explain: this build cannot trace'
    exit 77
fi

# shows NAME PATTERN ARGUMENT...: of a large output, whose lines are many.
shows()
{
    name=$1
    pattern=$2
    shift 2
    says "$name" "$pattern" explain "$@"
}

test_textbook()
{
    set -- tiled16 -m 100 -n 100 -k 100
    shows 'a hundred: 49 blocks' 'all 49 blocks, 392 warps' "$@"
    shows 'a hundred: divergence' \
        'loading A: 350 divergent requests; 392 warps x 7 phases = 2744 warp-phases: 12.76 %' "$@"
    set -- tiled16 -m 1 -n 1 -k 1 --gpu H100
    shows 'one block' 'all 1 block, 8 warps' "$@"
    shows 'one of each' 'loading A: 1 divergent request; 8 warps x 1 phase = 8 warp-phases' "$@"
    shows 'one block is a part of a wave' 'waves: 1 block, 1056 at once' "$@"
    shows 'a tile of one element is no tiling' 'tiling: +not done: .* used 1\.0 times' "$@"
    shows 'padded tiles are tiling' 'tiling: +done: .* used 16\.0 times' tiled16 -m 64 -n 64 -k 16
    set -- tiled16 -m 100 -n 100 -k 100
    shows 'warp map' 'warp 1: \(0, 2, 0\) to \(15, 3, 0\)' "$@"
    shows 'bytes of one thread an element' \
        'm n \(2 \* 4 k \+ 4\) bytes = 512\.1 GiB' tiled32 -m 4096 -n 4096 -k 4096 --blocks 1
    for of in naive:0.25 coalesced:0.25 tiled16:4.00 tiled32:8.00 coarsened:12.80; do
        shows "OP/B of ${of%:*}" "by formula, for large sizes: *${of#*:} OP/B" "${of%:*}"
    done
    shows 'naive: A takes 32 sectors' \
        'load +A +4 B.* 32\.00 +32\.00 +4\.00 +not coalesced +naive\.cu' naive
    shows "coalesced: B's load takes 4" 'load +B +4 B.* 4\.00 +4\.00 +coalesced' coalesced
    shows "coalesced: A's takes 1" 'load +A +4 B.* 1\.00 +1\.00 +coalesced' coalesced
    shows 'column-major B is not coalesced' 'load +B .*not coalesced' tiled16-colmajor --transb T
    shows 'corner-turned is' 'coalescing: +done' corner-turned --transb T
    shows 'half of the channels' '2 of 4 channels \(50 %\)' \
        tiled16 -m 4 -n 4 -k 4 --dram 4x2x8 --tile 2
    shows 'banks that a latency needs' \
        'latency / transfer \+ 1 banks: 8 banks hide a latency of 7 transfers' \
        tiled16 -m 4 -n 4 -k 4 --dram 4x8x8 --tile 2
    shows 'a sample is said to be one' 'a sample of 4 of 64 blocks' tiled32 --blocks 4
    shows 'unaligned rows' \
        'coalescing: +done, not aligned: tiled\.inc:[0-9]+ \(A\) touches 4\.50 sectors a request and needs 3\.50' \
        tiled16 -m 100 -n 100 -k 100
    shows 'aligned rows' 'coalescing: +done: every global access is in full sectors' tiled16
    shows 'CSV' '^naive.cu,.*,A,global,load,4,not coalesced,' naive --csv
}

test_types()
{
    shows 'a product of doubles' '^C = op\(A\) op\(B\), of f64, NN' general --type f64 -m 64 -n 64 -k 16
    shows 'doubles are 8 bytes' 'm n \(2 \* 8 k \+ 8\) bytes' general --type f64 -m 64 -n 64 -k 16
    shows 'complex numbers: 8mnk operations' ', CT, col order, m = 10, n = 10, k = 10, 8e-06 GFLOP' \
        general --type c64 -m 10 -n 10 -k 10 --transa C --transb T --order col
    shows 'bfloat16 on tensor cores, odd sizes' '^C = op\(A\) op\(B\), of bf16, C of f32, NN' \
        fp16x1-128x128 --type bf16 --type-c f32 -m 65 -n 33 -k 17
    for majors in '' '--transa T' '--transb T' '--transa T --transb T'; do
        # shellcheck disable=SC2086 # two words an operand
        shows "no bank conflicts of ldmatrix $majors" \
            '^  load +dynamic +16 B +[0-9]+ +4.00 +4.00 +none +mma_fragments.inc' \
            pipelined-64x128 --type f16 -m 136 -n 64 -k 72 $majors
        # shellcheck disable=SC2086
        shows "odd sizes by mma.sync $majors" '^C = op\(A\) op\(B\), of bf16' \
            pipelined-32x64 --type bf16 -m 65 -n 33 -k 77 $majors
    done
    shows 'a bias and an activation' '^C = op\(A\) op\(B\) \+ bias, gelu, of f16' \
        general --type f16 --bias --activation gelu -m 16 -n 16 -k 16
    shows 'the bias is read' 'load +bias +2 B' general --type f16 --bias -m 16 -n 16 -k 16
    shows 'auto of a type' '^(general|skinny|(pipelined|fp16x1)-[0-9x]+): ' auto --type f16 -m 16 -n 16 -k 16
    shows 'FP64 of the CUDA cores' '^Roofline: 334[0-9][0-9] GFLOP/s in FP64' \
        general --type f64 -m 16 -n 16 -k 16 --gpu H100
    shows 'FP64 of tensor cores' '^Roofline: 669[0-9][0-9] GFLOP/s in FP64' \
        pipelined-32x64 --type f64 -m 16 -n 16 -k 16 --gpu H100
    shows 'doubles by residues' 'peak of this GPU for doubles by residues is not known' \
        fp16x3-128x256 --type f64 -m 16 -n 16 -k 16 --gpu H100
    shows 'the roofline of bfloat16' '9[0-9]+ GFLOP/s of 16-bit products on tensor cores' \
        fp16x1-128x128 --type bf16 -m 64 -n 64 -k 64 --gpu H100
    run explain general --type c32 --alpha 1,2 --beta 3 -m 5 -n 4 -k 3 --json
    json 'JSON of a type' 'd["settings"]["type"] == "c32" and d["settings"]["alpha"] == [1, 2] and d["settings"]["beta"] == 3 and d["trace"]["flops"] == 480 and d["settings"]["n"] == 4'
    refuses 'a kernel without the type' 1 'naive does not multiply matrices of double' \
        explain naive --type f64
    refuses 'an unknown type' 2 'type takes f32' explain general --type f32,f64
    refuses 'C of another type' 2 'C of f64 operands' explain general --type f64 --type-c f32
    refuses 'blocks of two launches' 2 'takes 2 launches' explain tiled16 --blocks 1 --activation relu
    shows 'some blocks of a kernel of 16 bits' 'a sample of 2 of 4 blocks' \
        fp16x1-128x128 --type bf16 --blocks 2 -m 256 -n 256 -k 64
    refuses 'the math mode of 16-bit operands' 2 '--math has no effect' explain auto --type bf16 --math strict
    refuses 'DRAM in JSON' 2 'no effect on JSON' explain naive --dram 4x2x64 --json
    refuses 'alpha is 0' 1 'alpha is 0: nothing is multiplied' explain naive --alpha 0 -m 8 -n 8 -k 8
    refuses 'alpha is 0, of pairs' 1 'nothing is multiplied' explain general --type c32 --alpha 0,0
    refuses 'panels' 1 'in panels' explain fp16x3-128x64 -m 8 -n 8 -k 60000
    refuses 'too much shared memory' 1 'needs up to [0-9]+ bytes of shared memory for a block' \
        explain fp16x3-mma-128x64 -m 64 -n 64 -k 64 --gpu 'RTX 5090'
    refuses 'another compute capability' 1 'for compute capability 9\.0 alone' \
        explain tma-128x128 -m 64 -n 64 -k 64 --gpu 'V100 SXM2 16GB'
    shows 'a GPU on which no kernel runs' 'does not run on it: compute capability 7\.5, and its kernels need 8\.0$' \
        naive -m 8 -n 8 -k 8 --gpu T4
    shows 'the peak in FP32 is not known' 'peak of this GPU in FP32 is not known' \
        naive -m 8 -n 8 -k 8 --gpu B300
    shows 'shared memory of a GEMV, K-major' '128 threads and 128 bytes of shared memory' \
        skinny -m 1 -n 64 -k 64 --transb T
    shows 'shared memory of a GEMV, MN-major' '128 threads and 7304 bytes of shared memory' \
        skinny -m 1 -n 64 -k 64
    refuses 'no rows' 2 ' -m takes a whole number from 1' explain naive -m 0
    refuses 'nothing to multiply' 2 'alpha 0' explain auto --alpha 0
}

test_gpu()
{
    shows 'sm_86: 6 blocks, 3072 loads' \
        '2 \* 256 threads \* 6 blocks = 3072 elements a multiprocessor' tiled16 --gpu sm_86
    shows 'sm_86: one block of 32 x 32' ': 1 block a multiprocessor, limited by' tiled32 --gpu sm_86
    shows 'A100: balance' '19492 GFLOP/s in FP32, 1555 GB/s: they balance at 12\.5 OP/B' \
        tiled16 --gpu A100
    shows 'A100: tiled32 under the roof' \
        'asked \(no cache\) +7\.53 OP/B: at most +11708 GFLOP/s, +60\.1 %' tiled32 --gpu A100
    shows 'waves' 'waves: 64 blocks, [0-9]* at once: ' tiled32 --gpu A100
    shows 'privatisation' 'privatisation: not done: 1 block leaves 107 of 108' \
        tiled32 -m 32 -n 32 -k 4096 --gpu A100
    shows 'split-K' 'privatisation: done: [0-9]+ blocks each sum a slice of k' \
        pipelined-128x128 -m 128 -n 128 -k 2048 --gpu A100
    shows 'stream-K' 'privatisation: done: the last 4 tiles are distributed evenly' \
        tma-128x128 -m 150 -n 150 -k 600
    shows 'auto is what plan says' '^sliced-32x32: ' auto -m 512 -n 512 -k 512 --gpu H200
    shows 'auto in a math mode' '^fp16x3-128x64: ' auto -m 512 -n 1024 -k 384 --gpu H200
    shows 'its roofline' '329833 GFLOP/s of FP32 products on tensor cores' \
        fp16x3-128x64 -m 64 -n 64 -k 64 --gpu H200
    shows 'JSON' '"asked_gflops": ' tiled16 --gpu A100 --json
    run explain tiled16 --gpu 'A100' --plot roof.svg
    if ! have gnuplot; then
        skip 'plot' 'no gnuplot'
    elif [ "$status" -eq 0 ] && grep -q '<svg' roof.svg && grep -q 'perfect cache' roof.svg; then
        ok 'plot'
    else
        no 'plot' "exit status $status; $(head -n 1 err)"
    fi
    if have gnuplot; then
        dated "a plot's card and date" roof.svg 'tiled16, m = [0-9]+.*, on A100[^<]*'
    fi
    refuses 'a kernel that is none' 2 'nearest names are tiled16' explain tild16
    refuses 'a GPU that is none' 2 'nearest' explain tiled16 --gpu nosuch
    run explain naive -m 8 -n 8 -k 8 --gpu B300 --plot none.svg
    if [ "$status" -eq 1 ] && ! [ -e none.svg ] &&
        grep -Eq 'no roofline: a peak of this GPU is not known|needs gnuplot' err; then
        ok 'a plot without a peak'
    else
        no 'a plot without a peak' "exit status $status; $(head -n 1 err)"
    fi
    refuses 'a plot into nowhere' 1 'cannot write|needs gnuplot' \
        explain tiled16 --gpu A100 --plot nowhere/roof.svg
}

test_refused()
{
    for wrong in '' 'tiled16 naive' nothing 'tiled16 -m 0' 'tiled16 -k x' 'tiled16 --dram 4x2' \
        'tiled16 --dram 0x2x8' 'tiled16 --dram 4x2x7' 'tiled16 --blocks 0'; do
        # shellcheck disable=SC2086 # words of a command line
        refuses "'$wrong'" 2 '^xgemm explain: ' explain $wrong
    done
    refuses 'a math mode of a named kernel' 2 'for the kernel auto.* no effect on tiled16' explain tiled16 --math strict
    refuses "another GPU's kernel" 1 'for compute capability 9\.0 alone' \
        explain fp16x3-128x64 --gpu A100
    refuses 'a kernel of the CPU' 1 "only a GPU's can be traced" explain blas
}

# Every kernel, watched, with asynchronous copies that come as late as they may. It takes minutes
# under a sanitizer, where the effort is less than that of "make check".
test_late()
{
    [ "${XGEMM_TEST_EFFORT:-100}" -ge 5 ] || return 0
    orders='late,check late,reverse,check shuffle=7,late,check' m=1,65 k=9,130
    [ "${XGEMM_TEST_EFFORT:-100}" -lt 100 ] && orders=shuffle=7,late,check m=65 k=67
    for how in $orders; do
        XGEMM_SIM=$how "$XGEMM" verify --device sim --quick -m "$m" -n 70 -k "$k" \
            >out 2>err </dev/null
        status=$?
        if [ "$status" -eq 0 ]; then
            ok "XGEMM_SIM=$how"
        else
            no "XGEMM_SIM=$how" "exit status $status; $(head -n 1 err) $(grep FAILED out)"
        fi
    done
}

test_textbook
test_types
test_gpu
test_refused
test_late
finish
