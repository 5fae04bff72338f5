#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm bench beside cuBLAS, on the fake driver and a fake cuBLAS that says how it is called: row
# order as the transposed product in column order, each type by its own function, and what fails.

topic='bench beside cuBLAS'
export topic
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
mkdir fake
ln -s "$builddir/tests/cuda_fake/.libs/fake_cuda.so" fake/libcuda.so.1

# One short sample of each, on the fake driver, which counts what is not given back.
bench()
{
    rm -f said
    LD_LIBRARY_PATH=$work/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_CUDA_LEAKS=3 \
        FAKE_CUBLAS_SAYS=said \
        "$XGEMM" bench -d 0 --samples 1 --warm 0 --time 0 --kernel general "$@" >out 2>err </dev/null
    status=$?
}

# compile OPTION...: the fake cuBLAS.
compile()
{
    # shellcheck disable=SC2086 # the compiler's name may have options
    ${CC:-cc} -Wall -Wextra -Wno-missing-prototypes -shared -fPIC "$@" \
        "$srcdir/tests/cuda_fake/bench_cublas.c" -o fake/libcublas.so.13 2>cc.err
}

# called NAME LINE OPTION...: cuBLAS is, so and not otherwise.
called()
{
    name=$1
    line=$2
    shift 2
    bench --compare cublas "$@"
    products=$(grep 'emm' said 2>/dev/null | sort -u)
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ "$products" != "$line" ]; then
        no "$name" "$products instead of $line"
    elif [ "$(grep -c '^[01] handles$' said)" -ne 2 ] || [ "$(tail -n 1 said)" != '0 handles' ]; then
        no "$name" "$(grep handles said | tr '\n' ' ')"
    else
        ok "$name"
    fi
}

# fails NAME PATTERN OPTION...
fails()
{
    name=$1
    pattern=$2
    shift 2
    bench --compare cublas "$@"
    if ended 1 "$pattern"; then ok "$name"; else no "$name" "$why"; fi
}

test_calls()
{
    size='-m 3 -n 4 -k 5'
    # shellcheck disable=SC2086 # the options are words
    set -- $size
    called 'row order' 'Sgemm NN 4 3 5, 4 5 4, 1 0' "$@"
    called 'column order' 'Sgemm NN 3 4 5, 3 5 3, 1 0' "$@" --order col
    called 'A transposed' 'Sgemm NT 4 3 5, 4 3 4, 1 0' "$@" --transa T
    called 'B conjugated, column order' 'Sgemm NC 3 4 5, 3 4 3, 1 0' "$@" --order col --transb C
    called 'scalars' 'Sgemm NN 4 3 5, 4 5 4, 2 -0.5' "$@" --alpha 2 --beta=-0.5
    called 'leading dimensions' 'Sgemm NN 4 3 5, 6 7 6, 1 0' "$@" --ld-pad 2
    called 'a batch' 'SgemmStridedBatched NN 4 3 5, 4 5 4, 2 by 20 15 12, 1 0' "$@" --batch 2
    called 'doubles' 'GemmEx NN 4 3 5, 4 5 4, types 1 1 1, sums 70, algorithm -1, 1 0' "$@" --type f64
    called 'halves' 'GemmEx NN 4 3 5, 4 5 4, types 2 2 2, sums 68, algorithm -1, 1 0' "$@" --type f16
    called 'bfloat16 into floats' \
        'GemmEx NN 4 3 5, 4 5 4, types 14 14 0, sums 68, algorithm -1, 1 0' "$@" --type bf16 --type-c f32
    called 'complex' 'GemmEx NN 4 3 5, 4 5 4, types 4 4 4, sums 68, algorithm -1, 1 2 0 0' \
        "$@" --type c32 --alpha 1,2
    called 'a batch of complex doubles' \
        'GemmStridedBatchedEx NT 4 3 5, 4 3 4, 3 by 20 15 12, types 5 5 5, sums 70, algorithm -1, 1 0 0 3' \
        "$@" --type c64 --transa T --batch 3 --beta 0,3
    called 'what it does not have: bfloat16 into halves' '' "$@" --type bf16 --type-c f16
    called 'several types' 'GemmEx NN 8 8 8, 8 8 8, types 1 1 1, sums 70, algorithm -1, 1 0
Sgemm NN 8 8 8, 8 8 8, 1 0' -s 8 --type f32,f64
}

# settings NAME SAID OPTION...: how cuBLAS was set up.
settings()
{
    name=$1
    wanted=$2
    shift 2
    bench --compare cublas -s 8 "$@"
    got=$(grep -E '^(math|stream)' said | paste -s -d ' ')
    if ended 0 '' && [ "$got" = "$wanted" ]; then ok "$name"; else no "$name" "$got; $why"; fi
}

test_settings()
{
    settings 'FP32' 'stream: none math: 0' --math strict
    settings 'TF32' 'stream: none math: 3' --math tf32
    settings 'in a graph' 'stream: its own math: 0' --graph
    bench --compare cublas -s 8,16 --json
    json 'JSON' 'd["cublas_version"] == 130200 and len(r) == 2 and all(x["cublas_us"] > 0 and x["cublas_host_us"] > 0 and x["percent_of_cublas"] > 0 for x in r)'
    bench --compare cublas -s 8 --type bf16 --type-c f16 --json
    json 'JSON: a product that it does not have' 'r[0]["cublas_us"] is None and r[0]["percent_of_cublas"] is None'
}

# pictured NAME PATTERN... -- OPTION...: a picture with each of these texts.
pictured()
{
    name=$1
    shift
    : >patterns
    while [ "$1" != -- ]; do
        echo "$1" >>patterns
        shift
    done
    shift
    bench --compare cublas --plot picture.svg "$@"
    missing=$(while read -r pattern; do grep -q ">$pattern<" picture.svg || echo "$pattern"; done <patterns)
    if ended 0 '' && [ -z "$missing" ]; then ok "$name"; else no "$name" "no $missing; $why"; fi
}

test_pictures()
{
    if ! have gnuplot; then
        skip 'pictures' 'no gnuplot'
        return
    fi
    pictured 'a picture with cuBLAS' general cuBLAS -- -s 8,16
    pictured 'a picture of types' 'general f32' 'general f64' 'cuBLAS f32' 'cuBLAS f64' -- -s 8,16 --type f32,f64
    pictured 'a picture of layouts' 'general NT row' 'cuBLAS TN col' -- -s 8,16 --transa N,T --transb N,T --order row,col
    pictured 'a picture of modes' 'general strict' 'cuBLAS tf32' -- -s 8,16 --math strict,tf32
}

test_failures()
{
    FAKE_CUBLAS_STATUS=13 fails 'a product that fails' 'cublasSgemm failed' -s 8
    FAKE_CUBLAS_STATUS=13 fails 'a batch that fails' 'cublasSgemmStridedBatched failed' -s 8 --batch 2
    FAKE_CUBLAS_STATUS=13 fails 'doubles that fail' 'cublasGemmEx failed' -s 8 --type f64
    FAKE_CUBLAS_STATUS=13 fails 'a batch of doubles that fails' 'cublasGemmStridedBatchedEx failed' \
        -s 8 --type f64 --batch 2
    FAKE_CUBLAS_STATUS=13 fails 'a product that fails in a graph' 'cublasSgemm failed' -s 8 --graph
    FAKE_CUBLAS_CREATE=1 fails 'no handle' 'cublasCreate failed with status 1' -s 8
    FAKE_CUDA_FAIL=cuCtxSetCurrent:999 fails 'no context' 'cuCtxSetCurrent failed' -s 8
    compile -DWITHOUT_DESTROY
    fails 'a function that is not there' 'lacks a function: .*cublasDestroy_v2' -s 8
    : >fake/libcublas.so.13
    cp fake/libcublas.so.13 fake/libcublas.so.12
    cp fake/libcublas.so.13 fake/libcublas.so.11
    fails 'no cuBLAS' 'cuBLAS cannot be loaded: .*libcublas' -s 8
}

bench -s 8
if ! ended 0 ''; then
    skip 'bench beside cuBLAS' "no GPU to imitate: $(first_error)"
elif ! compile; then
    skip 'bench beside cuBLAS' "no compiler: $(head -n 1 cc.err)"
else
    test_calls
    test_settings
    test_pictures
    test_failures
fi
finish
