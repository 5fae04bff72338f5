// SPDX-License-Identifier: BSD-3-Clause
/* Parallel patterns as textbooks have them, for the tests of xgemm explain FILE.cu. */
#include <cuda_fp16.h>

/* ---- Strides and offsets ---- */

__global__ void copy_strided(const float *from, float *to, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    to[i] = from[i] + 1.0f;
}

__global__ void copy_offset(const float *from, float *to, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
    to[i] = from[i] + 1.0f;
}

__global__ void copy_vectors(const float4 *from, float4 *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void scale_halves(const half *from, half *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = __hmul(from[i], __float2half(2.0f));
}

/* Structs in an array, and arrays in place of the struct. */
struct particle {
    float x, y, z, mass;
};

__global__ void move_structs(const particle *from, float *to, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i].x + by * from[i].mass;
}

__global__ void move_arrays(const float *x, const float *mass, float *to, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = x[i] + by * mass[i];
}

/* Red, green, blue in three bytes to one of grey. */
__global__ void to_grey(const unsigned char *rgb, unsigned char *grey, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels)
        grey[i] = (unsigned char)(0.21f * rgb[3 * i] + 0.71f * rgb[3 * i + 1] +
                                  0.07f * rgb[3 * i + 2]);
}

/* ---- Transposes of n x n, by blocks of 32 x 8 ---- */

__global__ void transpose_naive(const float *from, float *to, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        to[x * n + y + j] = from[(y + j) * n + x];
}

template <int WIDTH> __global__ void transpose_tiled(const float *from, float *to, int n)
{
    __shared__ float tile[32][WIDTH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* ---- Reductions of a block's elements ---- */

/* Neighbours first: half of every warp waits, then three quarters. */
__global__ void reduce_interleaved(const float *from, float *to)
{
    __shared__ float part[256];
    part[threadIdx.x] = from[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        to[blockIdx.x] = part[0];
}

/* The far half first: whole warps end. */
__global__ void reduce_halves(const float *from, float *to)
{
    extern __shared__ float part[];
    unsigned i = threadIdx.x;
    part[i] = from[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (i < stride)
            part[i] += part[i + stride];
        __syncthreads();
    }
    if (i == 0)
        to[blockIdx.x] = part[0];
}

__inline__ __device__ float sum_of_warp(float value)
{
    for (int delta = 16; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    return value;
}

__global__ void reduce_shuffled(const float *from, float *to)
{
    __shared__ float part[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    float value = sum_of_warp(from[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0)
        part[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? part[lane] : 0.0f;
    if (warp == 0)
        value = sum_of_warp(value);
    if (threadIdx.x == 0)
        atomicAdd(to, value);
}

/* ---- An inclusive scan of a block, two buffers in turn ---- */

__global__ void scan_block(const float *from, float *to)
{
    __shared__ float buffers[2][256];
    int now = 0, i = threadIdx.x;
    buffers[0][i] = from[blockIdx.x * 256 + i];
    for (int stride = 1; stride < 256; stride *= 2) {
        __syncthreads();
        float sum = buffers[now][i];
        if (i >= stride)
            sum += buffers[now][i - stride];
        now = 1 - now;
        buffers[now][i] = sum;
    }
    to[blockIdx.x * 256 + i] = buffers[now][i];
}

/* ---- Histograms of bytes ---- */

__global__ void histogram_global(const unsigned char *data, unsigned *bins, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&bins[data[i]], 1);
}

/* A copy of the bins for each block, which is added to the others' at the end. */
__global__ void histogram_private(const unsigned char *data, unsigned *bins, int count)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
        atomicAdd(&own[data[i]], 1);
    __syncthreads();
    if (own[threadIdx.x] > 0)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* ---- A stencil in one dimension, and a convolution with constant weights ---- */

#define RADIUS 3

__global__ void stencil(const float *from, float *to)
{
    __shared__ float line[256 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x + RADIUS, at = threadIdx.x + RADIUS;
    line[at] = from[i];
    if (threadIdx.x < RADIUS) {
        line[at - RADIUS] = from[i - RADIUS];
        line[at + 256] = from[i + 256];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        sum += line[at + offset];
    to[i - RADIUS] = sum;
}

#define FILTER 5

__constant__ float weights[FILTER][FILTER];

__global__ void convolution(const float *from, float *to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < FILTER; i++)
        for (int j = 0; j < FILTER; j++) {
            int row = y + i - FILTER / 2, column = x + j - FILTER / 2;
            if (row >= 0 && row < n && column >= 0 && column < n)
                sum += weights[i][j] * from[row * n + column];
        }
    to[y * n + x] = sum;
}

/* ---- Which of these accesses are coalesced? ---- */

__global__ void exercise(const float *a, const float *b, const float *c, float *d, float *e)
{
    __shared__ float own_a[256];
    __shared__ float own_bc[4 * 256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    own_a[threadIdx.x] = a[i];
    for (unsigned j = 0; j < 4; j++)
        own_bc[j * 256 + threadIdx.x] =
            b[j * blockDim.x * gridDim.x + i] +
            c[i * 4 + j];
    __syncthreads();
    d[i + 8] = own_a[threadIdx.x];
    e[i * 8] = own_bc[threadIdx.x * 4];
}
