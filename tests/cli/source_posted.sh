#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu: kernels in the forms that people post them in, and what there is not.

topic=source_posted
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
export XGEMM_CUDA_HEADERS

printf '__global__ void k(int *a) { *a = 1; }\n' >first.cu
run explain first.cu --arg 'a=int[1]'
if grep -q -e 'no C++ compiler' -e 'x86-64 and aarch64' err; then
    echo "skipped source_posted: $(first_error)"
    exit 77
fi

# unsupported NAME PATTERN LINES-OF-SOURCE OPTION...: status 2, and the sentence.
unsupported()
{
    printf '%s\n' "$3" >unsupported.cu
    refused=$1 pattern=$2
    shift 3
    run explain unsupported.cu "$@"
    if [ "$status" -eq 2 ] && tail -n 1 err | grep -Eq -e "$pattern"; then
        ok "$refused"
    else
        no "$refused" "exit status $status; $(tail -n 1 err)"
    fi
}

test_unsupported()
{
    XGEMM_CUDA_HEADERS=$work/none
    unsupported 'no headers' "not in $work/none; install them .*XGEMM_CUDA_HEADERS" '__global__ void k() {}'
    XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
    unsupported 'a template without arguments' 'unsupported.cu:1: kernel k is a template' \
        'template <int N> __global__ void k(int *a) { *a = N; }' --arg 'a=int[1]'
    unsupported 'a struct' 'unsupported.cu:2: kernel k cannot be called: this parameter' \
        'struct p { int n; };
__global__ void k(int *a, p q) { *a = q.n; }' --arg 'a=int[1]' --arg q=int:1
    unsupported 'CUB' 'unsupported.cu:1: the simulator of libxgemm has no CUB' \
        '#include <cub/cub.cuh>
__global__ void k(int *a) { *a = 1; }' --arg 'a=int[1]'
    unsupported 'memory of its own' 'unsupported.cu:2: memory that a kernel allocates' \
        '__global__ void k(int **a) {
    *a = new int[3]; }' --arg 'a=ulong[1]'
    unsupported 'too much static memory' '400000 bytes of static shared memory; the most is 49152' \
        '__global__ void k(float *a) { __shared__ float s[100000]; s[threadIdx.x] = *a;
    __syncthreads(); *a = s[0]; }' --arg 'a=float[1]'
    unsupported 'too large variables' 'variables take more than its memory' \
        '__device__ float all[1L << 34]; __global__ void k(float *a) { *a = all[5]; }' --arg 'a=float[1]'
    printf '__device__ inline int lane() { int x; asm("mov.u32 %%0, %%%%laneid;" : "=r"(x)); return x; }\n' >ptx.cuh
    unsupported 'inline PTX of a header' 'ptx.cuh:1: inline PTX' '#include "ptx.cuh"
__global__ void k(int *a) { *a = lane(); }' --arg 'a=int[1]'
}

test_posted()
{
    right 'a template with arguments by default' \
        'template <int N = 3> __global__ void k(int *a) { *a = N; }' --arg 'a=int[1]'
    right 'a kernel in namespaces' \
        'namespace outer { namespace inner { __global__ void k(int *a) { *a = 1; } } }' --arg 'a=int[1]'
    right 'two that have one name' 'namespace x { __global__ void k(int *a) { *a = 1; } }
namespace y { __global__ void k(float *b) { *b = 1; } }' --kernel y::k --arg 'b=float[1]'
    right 'a kernel by a macro' '#define KERNEL(T) __global__ void k_##T(T *a) { *a = 1; }
KERNEL(float) KERNEL(int)' --kernel k_float --arg 'a=float[1]'
    right 'declared with other names' '__global__ void k(int *);
__global__ void k(int *a) { *a = 1; }' --arg 'a=int[1]'
    right 'instances of a template' 'template <class T> __global__ void k(T *a) { *a = 1; }
template __global__ void k<float>(float *); template <> __global__ void k<int>(int *a) { *a = 2; }' \
        --kernel 'k<int>' --arg 'a=int[1]'
    right 'a pointer to rows' '__global__ void k(float (*a)[4]) { a[threadIdx.x][3] = 1; }' --block 4 \
        --arg 'a=float[4x4]'
    right 'lanes that match' '__global__ void k(int *a) { int all;
    assert(__match_any_sync(~0u, threadIdx.x / 8) == 255u << threadIdx.x / 8 * 8);
    assert(__match_all_sync(~0u, 3, &all) == ~0u && all);
    a[threadIdx.x] = clock() >= 0; }' --block 32 --arg 'a=int[32]'
    right 'digits with separators' "__global__ void k(int *a) { a[threadIdx.x] = 1'000 + 0xff'ff; }
void go(int *a) { k<<<1'0, dim3(1'024 / 32)>>>(a); char c = '(', d = u8'}'; }
__global__ void other(int *b) { *b = 1'000'000; }" --kernel k --block 4 --arg 'a=int[4]'
    right 'braces that open in two branches' '#ifdef WIDE
__global__ void k(double *a) {
#else
__global__ void k(float *a) {
#endif
    if (true) {
#if X > 1
    for (int i = 0; i < 2; i++) {
        a[threadIdx.x] = i;
#elif X == 1
    {
#else
    while (a[threadIdx.x] < 1) {
#endif
        a[threadIdx.x] += 1;
    } }
}
void go(float *a) { k<<<1, 32>>>(a); }
__global__ void other(int *b) { *b = 1; }' --kernel k --block 4 --arg 'a=float[4]'
    right 'what is never compiled' '#if 0 // PTX
#ifdef OLD
__device__ int lane() { int l; asm("mov.u32 %0, %laneid;" : "=r"(l)); return l; }
#else
__global__ void old(int *a) { texture<float> t;
#endif
#elif 1
__device__ int lane() { return threadIdx.x % 32; }
#endif
#if 1
__global__ void k(int *a) { a[threadIdx.x] = lane(); }
#else
__global__ void older(int *a) { asm("nop"); {
#endif' --block 4 --arg 'a=int[4]'
    right 'aligned arrays' 'template <class T, int n> __global__ void k(float *a) {
    __shared__ alignas(16) float s[4];
    __shared__ alignas(T) char bytes[64];
    static __shared__ alignas(n * sizeof(float)) char more[64];
    extern __shared__ alignas(16) unsigned char all[];
    struct alignas(8) pair { float x, y; };
    s[threadIdx.x] = 1;
    *(T *)bytes = *(T *)more = *(T *)all = T();
    a[threadIdx.x] = s[threadIdx.x] + alignof(pair) + bytes[0] + more[0] + all[0]; }' \
        --kernel 'k<float4, 4>' --block 4 --shared 16 --arg 'a=float[4]'
    for header in cuda_runtime.h math.h cmath; do
        right "what a number is, with $header" "#include <$header>
__global__ void k(float x, double y) { assert(isinf(x) && !isnan(x) && isfinite(y) && signbit(y)); }" \
            --arg x=float:inf --arg y=double:-1
    done
    printf '#pragma once\n__global__ void other(int *a) { *a = 1; }\nvoid go(int *a) { other<<<1, 1>>>(a); }\n' >go.cuh
    right 'launches of a header' '#include "go.cuh"
__global__ void k(int *a) { *a = 1; }' --arg 'a=int[1]'
    right 'a kernel of a header, by its parameters' '#include "go.cuh"' --kernel other --arg 'a=int[1]'
    right 'variables of the host that are called as those of the device' \
        '__global__ void k(int *a) { a[threadIdx.x] = gridDim.x + blockDim.x; }
int main() { int *d; dim3 grid(4), blockDim(32, 2); cudaMalloc(&d, 4); blockDim.x = 64;
k<<<grid, blockDim>>>(d); return blockDim.x; }' --block 4 --arg 'a=int[4]'
    right 'comments between parameters' '__global__ void k(int *a, // of (n elements
    int n /* how many, of a */) { a[threadIdx.x] = n; }' --block 4 --arg 'a=int[4]' --arg n=int:4
    # Of a huge grid neither all blocks run nor are all come by.
    printf '__global__ void k(int *a) { *a = 1; }\n' >huge.cu
    says 'a huge grid' 'a sample of 3 of 2147483647 blocks' explain huge.cu --grid 2147483647 --blocks 3 \
        --arg 'a=int[1]'
}

test_unsupported
test_posted
finish
