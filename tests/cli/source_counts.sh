#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu: requests of kernels whose threads copy structs, choose between arrays, or
# have long loops.

topic=source_counts
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
export XGEMM_CUDA_HEADERS

# counted NAME PATTERN LINES-OF-SOURCE OPTION...: a row, of one block of 32 threads.
counted()
{
    row=$1 pattern=$2
    printf '%s\n' "$3" >counted.cu
    shift 3
    says "$row" "$pattern" explain counted.cu --block 32 "$@"
}

# copied NAME TYPE BYTES REQUESTS SECTORS: threads copy a struct each.
copied()
{
    counted "a copy of $1" "^  load +a +$3 B +$4 +32.00 +$5 " "$2
__global__ void k(const item *a, item *c) { c[threadIdx.x] = a[threadIdx.x]; }" \
        --arg 'a=float[512]' --arg 'c=float[512]'
}

# The parts are as large as the alignment allows, and each is a request of all threads.
test_structs()
{
    copied '12 bytes' 'struct item { float x, y, z; };' 4 3 12.00
    copied '8 bytes of 4' 'struct item { float v; int i; };' 4 2 8.00
    copied '16 bytes of 4' 'struct item { float v[4]; };' 4 4 16.00
    copied '16 bytes, aligned' 'struct alignas(16) item { float v[4]; };' 16 1 16.00
    copied '8 bytes, aligned' 'typedef float2 item;' 8 1 8.00
    copied '24 bytes' 'struct item { double v[3]; };' 8 3 24.00
    counted 'a struct in another' '^  load +a +4 B +2 +32.00 +12.00 ' 'struct pair { float v; int i; };
struct node { int n; pair p; };
__global__ void k(const node *a, pair *c) { c[threadIdx.x] = a[threadIdx.x].p; }' \
        --arg 'a=float[512]' --arg 'c=float[512]'
    memory='__global__ void k(int *a, int n) { memcpy(a + 320 + 10 * threadIdx.x, a + 10 * threadIdx.x, n); }'
    counted 'loads of memcpy' '^  load +a +8 B +5 +32.00 +32.00 ' "$memory" --arg 'a=int[640]' --arg n=int:40
    counted 'stores of memcpy' '^  store +a +8 B +5 +32.00 +32.00 ' "$memory" --arg 'a=int[640]' --arg n=int:40
}

# One request, with the sectors (or banks) of all of its arrays.
test_arrays()
{
    chosen='__global__ void k(const float *a, const float *b, float *c) {
    const float *from = threadIdx.x % 2 ? a : b;
    c[threadIdx.x] = from[threadIdx.x]; }'
    counted 'two arrays' '^  load +a\+b +4 B +1 +32.00 +8.00 ' "$chosen" \
        --arg 'a=float[32]' --arg 'b=float[32]' --arg 'c=float[32]'
    counted 'three arrays' '^  load +a\+b\+c +4 B +1 +32.00 +12.00 ' '__global__ void k(float *c, float *a, float *b) {
    float *const all[] = {b, a, c};
    c[threadIdx.x] = all[threadIdx.x % 3][threadIdx.x]; }' \
        --arg 'a=float[32]' --arg 'b=float[32]' --arg 'c=float[32]'
    counted 'shared arrays' '^  load +a\+b +4 B +1 +2.00 ' '__global__ void k(float *c) {
    __shared__ float a[32], b[32];
    a[threadIdx.x] = b[threadIdx.x] = threadIdx.x;
    __syncwarp();
    const float *from = threadIdx.x % 2 ? a : b;
    c[threadIdx.x] = from[threadIdx.x / 2]; }' --arg 'c=float[32]'
    counted 'global and shared memory apart' '^  load +a +4 B +1 +16.00 +4.00 ' '__global__ void k(float *a) {
    __shared__ float s[32];
    s[threadIdx.x] = 1;
    __syncwarp();
    a[threadIdx.x] = (threadIdx.x % 2 ? a : s)[threadIdx.x]; }' --arg 'a=float[32]'
    counted 'an index in a chosen array' '^  load +b +4 B +1 +16.00 +4.00 ' '__global__ void k(const float *a, const float *b, float *c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = (threadIdx.x % 2 ? a : b)[blockIdx.x * blockDim.x + threadIdx.x]; }' \
        --arg 'a=float[32]' --arg 'b=float[32]' --arg 'c=float[32]'
}

# Threads come to each iteration by themselves: the time is no more than proportional to them.
test_loops()
{
    counted 'a long loop' '^  load +a +4 B +100000 +32.00 +4.00 ' '__global__ void k(const int *a, int *c, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i % 64 * 32 + threadIdx.x];
    c[threadIdx.x] = sum; }' --arg 'a=int[2048]' --arg 'c=int[32]' --arg n=int:100000 --seconds 10
    counted 'threads that skip iterations' '^  load +a +4 B +2000 +16.00 +2.00 ' '__global__ void k(const int *a, int *c, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        if ((i + threadIdx.x / 16) % 2)
            sum += a[i % 64 * 32 + threadIdx.x];
    c[threadIdx.x] = sum; }' --arg 'a=int[2048]' --arg 'c=int[32]' --arg n=int:2000
}

# What cannot be launched has neither waves nor a roofline.
test_roofline()
{
    echo '__global__ void k(float *a) { a[threadIdx.x] *= 2; }' >large.cu
    set -- explain large.cu --block 1024 --registers 128 --arg 'a=float[1024]' --gpu H200
    says 'it cannot run' '^Roofline: none of a kernel that cannot run' "$@"
    if grep -q -e 'waves:' -e 'GFLOP/s' out; then no 'no waves, no roofline' "$(grep -e waves -e GFLOP out)"; else ok 'no waves, no roofline'; fi
    run "$@" --json
    json 'no roofline in JSON' "d['occupancy']['waves'] == 0 and d['roofline']['moved_gflops'] is None"
    run "$@" --html large.html
    if grep -q 'None of a kernel that cannot run' large.html; then ok 'no roofline of a page'; else no 'no roofline of a page' "$(first_error)"; fi
}

# The peak is that of what most operations are on.
test_tensor_roofline()
{
    while read -r type element peak; do
        set -- explain "$srcdir/tests/own/tensor.cu" --kernel "tiles<16,16,$type,rows,rows,float>" \
            --grid 4,4 --block 32 --arg "a=${element}[64x64]" --arg "b=${element}[64x64]" --arg 'c=float[64x64]' --arg n=int:64
        says "the roofline of $type" "^Roofline: $peak GFLOP/s of 16-bit products on tensor cores" "$@" --gpu H200
        says "no peak of $type" 'Roofline: the peak of this GPU on tensor cores is not known' "$@" --gpu 'GTX 1660 Ti'
    done <<'END'
half half 989500
__nv_bfloat16 bfloat16 989500
END
    tf32='#include <mma.h>
using namespace nvcuda;
__global__ void k(const float *a, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;
    wmma::fill_fragment(z, 0.0f);
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, a, 16);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major); }'
    counted 'the roofline of TF32' ' GFLOP/s of TF32 products on tensor cores' "$tf32" \
        --arg 'a=float[128]' --arg 'c=float[256]' --gpu H200
}

# Whose names have letters beyond ASCII, blanks and quotes, or are not UTF-8.
test_names()
{
    mkdir 'a "b'
    name=$(printf 'a "b/n\303\244 \\ me.cu')
    printf '__global__ void k(float *a) {\n    a[threadIdx.x] = 1; }\n' >"$name"
    says "the file's name" "^  store .* $(printf 'n\303\244 ')\\\\ me.cu:2: a\[threadIdx.x\] = 1" explain "$name" \
        --block 32 --arg 'a=float[32]'
    name=$(printf 'n\344me.cu')
    printf '__global__ void k(float *a) {\n    a[threadIdx.x] = 1; }\n' >"$name"
    run explain "$name" --block 32 --arg 'a=float[32]' --json
    json 'a name that is not UTF-8' "d['file'] == 'n?me.cu' and d['sites'][0]['file'] == 'n?me.cu' and d['sites'][0]['line'] == 2"
}

# overruns NAME PATTERN: of kernel k in overruns.cu.
overruns()
{
    run explain overruns.cu --kernel "${3:-k}" --block 32 --arg 'c=float[64]' --check-only
    if [ "$status" -eq 1 ] && grep -Eq -e "$2" out; then ok "$1"; else no "$1" "$(head -n 1 out)"; fi
}

# What is past the end of an array in shared memory is no other array of the file.
test_neighbours()
{
    others='__global__ void OTHER(float *c) { __shared__ float t[6400]; t[threadIdx.x] = *c; *c = t[0]; }'
    own='template <int N> __device__ float *kept() { __shared__ float s[32]; return s + N; }
template <int N> __global__ void twice(float *c) { kept<N>()[threadIdx.x] = 1; }
template __global__ void twice<0>(float *); template __global__ void twice<5000>(float *);
__global__ void k(float *c) { __shared__ float s[32]; s[threadIdx.x + 1] = 1; c[threadIdx.x] = s[1]; }
__global__ void far(float *c) { __shared__ float s[32]; s[threadIdx.x + 2000] = 1; c[threadIdx.x] = s[0]; }
__global__ void own(float *c) { __shared__ float s[32], t[32];
    s[threadIdx.x] = t[threadIdx.x] = 1; c[threadIdx.x] = s[threadIdx.x + 1] + t[threadIdx.x + 1]; }'
    echo "$others
$own
$others" | sed '1s/OTHER/before/; $s/OTHER/after/' >overruns.cu
    overruns 'past a shared array' 's\[32\], past the end of s of 32 elements'
    overruns 'far past a shared array' ' 4 bytes outside every array|past the end of s|before the beginning' far
    overruns 'between the own arrays' '[st]\[32\], past the end of [st] of 32 elements' own
    overruns 'an array of a function of a template' 'past the end of s of 32 elements' 'twice<5000>'
    for type in char short float double; do
        echo "__global__ void k(float *c) { volatile __shared__ $type s[64];
            s[threadIdx.x] = 1; s[threadIdx.x + 33] = *c; }" >overruns.cu
        overruns "past an array of $type" 's\[64\], past the end of s of 64 elements'
        echo "__global__ void k(float *c) { volatile __shared__ $type s[64];
            s[threadIdx.x] = 1; c[threadIdx.x] = s[threadIdx.x / 31 * 40]; }" >overruns.cu
        overruns "an element of $type" 'reads s\[40\], shared memory that no thread'
    done
    echo '__device__ float *first() { __shared__ float s[32]; return s; }
__device__ float *second() { __shared__ float t[32]; return t; }
typedef float *(*function)();
__device__ function all[] = {first, second};
__global__ void k(float *c, int n) { float *s = all[n](); s[threadIdx.x] = 1; c[threadIdx.x] = s[threadIdx.x]; }' >table.cu
    says 'arrays of functions in a table' 'no faults' explain table.cu --block 32 --arg 'c=float[32]' \
        --arg n=int:1 --check-only
}

printf '__global__ void k(int *a) { *a = 1; }\n' >first.cu
run explain first.cu --arg 'a=int[1]'
if grep -q -e 'no C++ compiler' -e 'x86-64 and aarch64' err; then
    echo "skipped $topic: $(first_error)"
    exit 77
fi
test_structs
test_arrays
test_loops
test_neighbours
test_names
test_roofline
test_tensor_roofline
finish
