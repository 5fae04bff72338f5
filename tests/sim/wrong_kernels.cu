/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that are wrong, for the simulator's trace to catch, each beside a
 * twin that is right and differs from it in the mistake alone. A line that the
 * sentence names ends with the comment WRONG and the kernel's name.
 *
 * All copy rows of A to C: m rows of n floats, by blocks of THREADS threads.
 */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx.h"

#define THREADS 64

/* XG_TWINS(x, body): the kernel xg_x, and xg_x_right for which "right" is 1. */
#define XG_TWINS(wrong, body)                                                                      \
    XG_KERNEL(, wrong, xg_test_args)                                                               \
    {                                                                                              \
        body(p, 0);                                                                                \
    }                                                                                              \
    XG_KERNEL(, wrong##_right, xg_test_args)                                                       \
    {                                                                                              \
        body(p, 1);                                                                                \
    }

/* Each line mirrored; without the second barrier the next line overwrites this one. */
XG_DEVICE void xg_mirror(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    for (int64_t row = 0; row < p.m; row++) {
        tile[t] = p.a[row * p.a_stride_m + t];
        __syncthreads();
        p.c[row * p.c_stride_m + t] = tile[THREADS - 1 - t]; /* WRONG: missing_barrier */
        if (right)
            __syncthreads();
    }
}
XG_TWINS(missing_barrier, xg_mirror)

/* Threads past the end of the line must wait for the others all the same. */
XG_DEVICE void xg_leave(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x, inside = t < p.n;

    if (!right && !inside)
        return;
    tile[t] = inside ? p.a[t] : 0.0f;
    __syncthreads(); /* WRONG: early_return */
    if (inside)
        p.c[t] = tile[p.n - 1 - t];
}
XG_TWINS(early_return, xg_leave)

/* By way of shared memory: a load that nothing uses is the compiler's to leave out. */
XG_DEVICE void xg_copy_unchecked(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    tile[t] = 0.0f;
    if (!right || t < p.n)
        tile[t] = p.a[t]; /* WRONG: no_bounds_check */
    if (t < p.n)
        p.c[t] = tile[t];
}
XG_TWINS(no_bounds_check, xg_copy_unchecked)

/* With c_stride_m larger than n the memory is there, and is not C's. */
XG_DEVICE void xg_copy_into_gap(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;

    for (int64_t row = 0; row < p.m; row++) {
        const float value = t < p.n ? p.a[row * p.a_stride_m + t] : 0.0f;
        if (!right || t < p.n)
            p.c[row * p.c_stride_m + t] = value; /* WRONG: write_into_gap */
    }
}
XG_TWINS(write_into_gap, xg_copy_into_gap)

XG_DEVICE void xg_read_unwritten(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    if (t < p.n)
        tile[t] = p.a[t];
    else if (right)
        tile[t] = 0.0f;
    __syncthreads();
    const float value = tile[THREADS - 1 - t]; /* WRONG: nothing_written */
    if (t < p.n)
        p.c[t] = value;
}
XG_TWINS(nothing_written, xg_read_unwritten)

/* The sums of neighbours, as if two threads could add to one element. */
XG_DEVICE void xg_share_place(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    tile[right ? t : t / 2] = t < p.n ? p.a[t] : 0.0f; /* WRONG: shared_place */
    __syncthreads();
    if (t < p.n)
        p.c[t] = tile[t / 2];
}
XG_TWINS(shared_place, xg_share_place)

/* Blocks of THREADS columns, half of which are the next block's too. */
XG_DEVICE void xg_overlap(const xg_test_args p, int right)
{
    const int64_t column = XG_BLOCK_X * (right ? THREADS : THREADS / 2) + threadIdx.x;

    if (column < p.n)
        p.c[column] = p.a[column]; /* WRONG: overlapping_blocks */
}
XG_TWINS(overlapping_blocks, xg_overlap)

/* A sum along the blocks, as if they ran one after the other. */
XG_DEVICE void xg_lean(const xg_test_args p, int right)
{
    const int64_t column = XG_BLOCK_X * THREADS + threadIdx.x;
    float sum = column < p.n ? p.a[column] : 0.0f;

    if (!right && XG_BLOCK_X > 0)
        sum += p.c[column - THREADS]; /* WRONG: order_of_blocks */
    if (column < p.n)
        p.c[column] = sum;
}
XG_TWINS(order_of_blocks, xg_lean)

XG_DEVICE void xg_write_input(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;
    float *to = right ? p.c : (float *)p.a;

    if (t < p.n)
        to[t] = 1.0f; /* WRONG: writes_input */
}
XG_TWINS(writes_input, xg_write_input)

/* Each thread copies one element and, after the barrier, uses another's. */
XG_DEVICE void xg_copy_and_mirror(const xg_test_args p, int wait, int barrier)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    xg_cp_async4(&tile[t], &p.a[t < p.n ? t : 0], t < p.n ? 4 : 0);
    xg_cp_async_commit();
    if (wait)
        xg_cp_async_wait(0);
    if (barrier)
        __syncthreads();
    const float value = tile[THREADS - 1 - t]; /* WRONG: missing_copy_wait */
    if (t < p.n)
        p.c[t] = value;
}

XG_DEVICE void xg_forget_wait(const xg_test_args p, int right)
{
    xg_copy_and_mirror(p, right, 1);
}
XG_TWINS(missing_copy_wait, xg_forget_wait)

/* A wait is for a thread's own copies alone. */
XG_DEVICE void xg_wait_alone(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    xg_cp_async4(&tile[t], &p.a[t], 4);
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    if (right)
        __syncthreads();
    p.c[t] = tile[THREADS - 1 - t]; /* WRONG: copy_without_barrier */
}
XG_TWINS(copy_without_barrier, xg_wait_alone)

/* Two stages in turn; the wait leaves one group in flight: the older has completed. */
XG_DEVICE void xg_two_stages(const xg_test_args p, int right)
{
    __shared__ float tile[2][THREADS];
    const int t = (int)threadIdx.x;

    xg_cp_async4(&tile[0][t], &p.a[t], 4);
    xg_cp_async_commit();
    for (int row = 0; row < p.m; row++) {
        if (row + 1 < p.m)
            xg_cp_async4(&tile[(row + 1) % 2][t], &p.a[(row + 1) * p.a_stride_m + t], 4);
        xg_cp_async_commit();
        xg_cp_async_wait(1);
        __syncthreads();
        p.c[row * p.c_stride_m + t] = tile[row % 2][THREADS - 1 - t]; /* WRONG: stage_too_early */
        if (right)
            __syncthreads();
    }
}
XG_TWINS(stage_too_early, xg_two_stages)

/* Neighbours of one warp exchange by way of shared memory. */
XG_DEVICE void xg_swap_neighbours(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    for (int row = 0; row < p.m; row++) {
        tile[t] = p.a[row * p.a_stride_m + t];
        __syncwarp();
        p.c[row * p.c_stride_m + t] = tile[t ^ 1]; /* WRONG: missing_syncwarp */
        if (right)
            __syncwarp();
    }
}
XG_TWINS(missing_syncwarp, xg_swap_neighbours)

/* A warp's barrier is no block's. */
XG_DEVICE void xg_swap_warps(const xg_test_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    tile[t] = p.a[t];
    if (right)
        __syncthreads();
    else
        __syncwarp();
    p.c[t] = tile[t ^ 32]; /* WRONG: warp_for_block */
}
XG_TWINS(warp_for_block, xg_swap_warps)

/* The sum of a warp in all of its threads; those past the line's end have left. */
XG_DEVICE void xg_sum_warp(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;
    if (!right && t >= p.n)
        return;
    float sum = t < p.n ? p.a[t] : 0.0f;
    for (int bits = 16; bits > 0; bits /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, bits); /* WRONG: absent_lane */
    if (t < p.n)
        p.c[t] = sum;
}
XG_TWINS(absent_lane, xg_sum_warp)

/* A warp's matrix times one of ones; those past the line's end have left. */
XG_DEVICE void xg_multiply_by_ones(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;
    if (!right && t >= p.n)
        return;
    const unsigned ones = xg_bf16x2(1.0f, 1.0f), own = xg_bf16x2(t < p.n ? p.a[t] : 0.0f, 0.0f);
    const unsigned a[4] = {own, own, own, own}, b[2] = {ones, ones};
    const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum[4];
    xg_mma_bf16(sum, a, b, zero); /* WRONG: absent_factor */
    if (t < p.n)
        p.c[t] = sum[0];
}
XG_TWINS(absent_factor, xg_multiply_by_ones)

/* One half of a warp waits for the whole, and the other at the block's barrier. */
XG_DEVICE void xg_wait_apart(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;
    if (right || t % 32 < 16)
        __syncwarp(); /* WRONG: warp_hangs */
    __syncthreads();
    p.c[t] = p.a[t];
}
XG_TWINS(warp_hangs, xg_wait_apart)

/* How many elements are odd, in C(0, 0). */
XG_DEVICE void xg_count_odd(const xg_test_args p, int right)
{
    __shared__ int count[1];
    const int t = (int)threadIdx.x;

    if (t == 0)
        count[0] = 0;
    __syncthreads();
    if (t < p.n && (int)p.a[t] % 2 == 1) {
        if (right)
            atomicAdd(&count[0], 1);
        else
            count[0]++; /* WRONG: lost_update */
    }
    __syncthreads();
    if (t == 0)
        p.c[0] = (float)count[0];
}
XG_TWINS(lost_update, xg_count_odd)

/* The same over all blocks; the sum is there when the launch has ended. */
XG_DEVICE void xg_add_up(const xg_test_args p, int right)
{
    const int64_t column = XG_BLOCK_X * THREADS + threadIdx.x;

    atomicAdd(&p.c[0], column < p.n ? p.a[column] : 0.0f); /* WRONG: unfinished_sum */
    if (!right && column + 1 < p.n)
        p.c[1 + column] = p.c[0];
}
XG_TWINS(unfinished_sum, xg_add_up)

/* The launch has room for THREADS floats. */
XG_DEVICE void xg_use_dynamic(const xg_test_args p, int right)
{
    XG_DYNAMIC_SHARED(float, tile);
    const int t = (int)threadIdx.x, start = right ? 0 : 1;

    tile[start + t] = p.a[t]; /* WRONG: past_dynamic */
    __syncthreads();
    p.c[t] = tile[start + THREADS - 1 - t];
}
XG_TWINS(past_dynamic, xg_use_dynamic)

/* A block of 4 x 4 x 4 threads. */
XG_DEVICE void xg_count_threads(const xg_test_args p, int right)
{
    const int plane = (int)(threadIdx.x + blockDim.x * threadIdx.y);
    const int t = right ? plane + (int)(blockDim.x * blockDim.y * threadIdx.z) : plane;

    p.c[t] = p.a[t]; /* WRONG: forgotten_z */
}
XG_TWINS(forgotten_z, xg_count_threads)

/* A block of a batch copies its own product's line, not the first one's. */
XG_DEVICE void xg_copy_of_batch(const xg_test_args p, int right)
{
    const int t = (int)threadIdx.x;
    const int64_t product = right ? XG_BATCH : 0;
    const float *a = p.a;
    float *c = p.c;

    if (p.a_batch_stride == XG_POINTER_ARRAYS) {
        a = ((const float *const *)p.a)[product]; /* WRONG: other_pointer */
        c = ((float *const *)p.c)[XG_BATCH];
    } else {
        a += product * p.a_batch_stride;
        c += XG_BATCH * p.c_batch_stride;
    }
    if (t < p.n)
        c[t] = a[t]; /* WRONG: other_product */
}
XG_TWINS(other_product, xg_copy_of_batch)
XG_TWINS(other_pointer, xg_copy_of_batch)

#undef THREADS
#undef XG_TWINS
