#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu --arg: what arguments hold, which the kernel itself asserts, and which are
# refused.

topic='arguments of a source'
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
export XGEMM_CUDA_HEADERS topic

# holds NAME PARAMETER CONDITION ARGUMENT: of the parameter x, in each of four threads.
holds()
{
    right "$1" "#include <cuda_fp16.h>
__global__ void k($2) { assert($3); }" --block 4 --arg "x=$4"
}

# no_argument NAME PATTERN ARGUMENT...: of float *x.
no_argument()
{
    name=$1
    pattern=$2
    shift 2
    echo '__global__ void k(float *x) { x[threadIdx.x] = 0; }' >k.cu
    refuses "$name" 2 "$pattern" explain k.cu --block 4 --check-only "$@"
}

test_values()
{
    holds 'a number' 'float x' 'x == 1.5f' float:1.5
    holds 'one' 'const float *x' 'x[threadIdx.x] == 1' 'float[4]:one'
    holds 'a number in each' 'const double *x' 'x[threadIdx.x] == -2.5' 'double[4]:-2.5'
    holds 'the index' 'const int *x' 'x[threadIdx.x] == threadIdx.x' 'int[4]:index'
    holds 'zeros' 'const int *x' 'x[threadIdx.x] == 0' 'int[4]'
    holds 'hexadecimal' 'unsigned x' 'x == 16' uint:0x10
    holds 'below 0' 'int x' 'x == -2147483647 - 1' int:-2147483648
    holds 'the most' 'unsigned long long x' 'x == 18446744073709551615ull' ulong:18446744073709551615
    holds 'a whole number with an exponent' 'int x' 'x == 1000' int:1e3
    holds 'a whole half' 'int x' 'x == 7' half:7
    holds 'a whole float' 'long long x' 'x == -3' float:-3
    holds 'a shorter integer' 'unsigned char x' 'x == 255' ulong:255
    holds 'below 0 without a sign' 'unsigned x' 'x == ~0u' int:-1
    holds 'an integer as a float' 'float x' 'x == 5e9f' long:5000000000
    holds 'no end' 'float x' 'isinf(x)' double:inf
    holds 'a truth' 'bool x' x bool:1
    holds 'halves' 'const __half *x' '__half2float(x[threadIdx.x]) == 1.5f' 'half[4]:1.5'
    holds 'halves: too large' 'const __half *x' '__half2float(x[threadIdx.x]) > 1e30f' 'half[4]:1e6'
    holds 'halves: too small' 'const __half *x' '__half2float(x[threadIdx.x]) == 0' 'half[4]:1e-9'
    holds 'at random' 'const float *x' 'x[threadIdx.x] >= -1 && x[threadIdx.x] <= 1' 'float[4]:random'
    holds 'at random, in a range' 'const float *x' 'x[threadIdx.x] >= 5 && x[threadIdx.x] <= 6' 'float[4]:random=5..6'
    holds 'at random, whole numbers' 'const int *x' 'x[threadIdx.x] >= 5 && x[threadIdx.x] <= 6' 'int[4]:random=5..6'
    echo '__global__ void k(const float *x) { assert(x[threadIdx.x] != 0); }' >k.cu
    run explain k.cu --block 4 --arg 'x=float[4]:undefined' --check-only
    if [ "$status" -eq 1 ] && grep -q 'which nothing has written' out; then ok 'undefined'; else no 'undefined' "$(first_error)"; fi
    # What the kernel asserts is looked at.
    echo '__global__ void k(float x) { assert(x == 2); }' >k.cu
    run explain k.cu --block 4 --arg x=float:1 --check-only
    if [ "$status" -eq 1 ] && grep -q assert out; then ok 'another number is found'; else no 'another number is found' "$(first_error)"; fi
}

test_refused()
{
    for value in int:x int: int:1.5 int:2147483648 int:-2147483649 uint:-1 uint:4294967296 bool:2 \
        uint:18446744073709551615 int:inf int:nan float:x float:1x ulong:-1 'float[4]:random=6..5' 'float[4]:random=5' 'float[4]:random=x..5' \
        'float[4]:random=1..5x' 'float[4' 'float[0]' 'float[-1]' 'float[4]x' 'float[x]' \
        'float[9223372036854775807]' float 'nosuch[4]' ''; do
        no_argument "refused: x=$value" '^xgemm explain: ' --arg "x=$value"
    done
    for argument in x =float:1 "$(printf '%080d' 0)$(printf '%080d' 0)=float:1" ''; do
        no_argument "refused: '$argument'" '^xgemm explain: ' --arg "$argument"
    done
    while read -r parameter argument why; do
        echo "__global__ void k($(echo "$parameter" | tr _ ' ') x) { assert(x == 0); }" >k.cu
        refuses "refused: $parameter of $argument" 2 "the parameter x takes $why" explain k.cu --check-only \
            --arg "x=$argument"
    done <<'END'
int long:5000000000 whole numbers of 4 bytes, of which 5000000000 is none
int float:7.9e20 whole numbers of 4 bytes, of which 7.9e\+20 is none
int float:1.5 whole numbers of 4 bytes, of which 1.5 is none
int double:nan whole numbers of 4 bytes, of which nan is none
int uint:4294967295 whole numbers of 4 bytes, of which 4294967295 is none
short int:-32769 whole numbers of 2 bytes, of which -32769 is none
unsigned_char int:256 whole numbers without a sign of 1 bytes, of which 256 is none
unsigned long:-2147483649 whole numbers without a sign of 4 bytes
long_long ulong:9223372036854775808 whole numbers of 8 bytes, of which 9223372036854775808 is none
float double:1e300 floating-point numbers of 4 bytes, of which 1e\+300 is none
END
    no_argument 'twice' 'x is given twice' --arg 'x=float[4]' --arg 'x=float[4]'
    no_argument 'of another name' 'y' --arg 'x=float[4]' --arg y=int:1
    no_argument 'none' 'x' --arg y=int:1
}

if ! traces; then
    echo "skipped $topic: this build cannot trace"
    exit 77
fi
test_values
test_refused
finish
