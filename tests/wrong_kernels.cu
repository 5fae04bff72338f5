/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that are wrong, for the simulator's trace to catch, each beside a
 * twin that is right and differs from it in the mistake alone. A line that is
 * to be blamed ends with the comment WRONG and the kernel's name.
 *
 * All copy lines of A to C: m lines of n floats, by blocks of THREADS threads.
 */
#include "kernels/dialect.h"

#define THREADS 64

/* XG_TWINS(xg_x, body): the kernel xg_x, and xg_x_right for which "right" is 1. */
#define XG_TWINS(wrong, body)                                                                      \
    XG_KERNEL void wrong(const xg_args p)                                                          \
    {                                                                                              \
        body(p, 0);                                                                                \
    }                                                                                              \
    XG_KERNEL void wrong##_right(const xg_args p)                                                  \
    {                                                                                              \
        body(p, 1);                                                                                \
    }

/* Each line mirrored; without the second barrier the next line overwrites this one. */
XG_DEVICE void xg_mirror(const xg_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    for (int64_t row = 0; row < p.m; row++) {
        tile[t] = p.a[row * p.a_row + t];
        __syncthreads();
        p.c[row * p.c_row + t] = tile[THREADS - 1 - t]; /* WRONG: missing_barrier */
        if (right)
            __syncthreads();
    }
}
XG_TWINS(xg_missing_barrier, xg_mirror)

/* Threads past the end of the line must wait for the others all the same. */
XG_DEVICE void xg_leave(const xg_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x, inside = t < p.n;

    if (!right && !inside)
        return;
    tile[t] = inside ? p.a[t] : 0.0f;
    __syncthreads();
    if (inside)
        p.c[t] = tile[p.n - 1 - t];
}
XG_TWINS(xg_early_return, xg_leave)

/* By way of shared memory: a load that nothing uses is the compiler's to leave out. */
XG_DEVICE void xg_copy_unchecked(const xg_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    tile[t] = 0.0f;
    if (!right || t < p.n)
        tile[t] = p.a[t]; /* WRONG: no_bounds_check */
    if (t < p.n)
        p.c[t] = tile[t];
}
XG_TWINS(xg_no_bounds_check, xg_copy_unchecked)

/* With c_row larger than n the memory is there, and is not C's. */
XG_DEVICE void xg_copy_into_gap(const xg_args p, int right)
{
    const int t = (int)threadIdx.x;

    for (int64_t row = 0; row < p.m; row++) {
        const float value = t < p.n ? p.a[row * p.a_row + t] : 0.0f;
        if (!right || t < p.n)
            p.c[row * p.c_row + t] = value; /* WRONG: write_into_gap */
    }
}
XG_TWINS(xg_write_into_gap, xg_copy_into_gap)

XG_DEVICE void xg_read_unwritten(const xg_args p, int right)
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
XG_TWINS(xg_nothing_written, xg_read_unwritten)

/* The sums of neighbours, as if two threads could add to one place. */
XG_DEVICE void xg_share_place(const xg_args p, int right)
{
    __shared__ float tile[THREADS];
    const int t = (int)threadIdx.x;

    tile[right ? t : t / 2] = t < p.n ? p.a[t] : 0.0f; /* WRONG: shared_place */
    __syncthreads();
    if (t < p.n)
        p.c[t] = tile[t / 2];
}
XG_TWINS(xg_shared_place, xg_share_place)

/* Blocks of THREADS columns, half of which are the next block's too. */
XG_DEVICE void xg_overlap(const xg_args p, int right)
{
    const int64_t column = XG_BLOCK_X * (right ? THREADS : THREADS / 2) + threadIdx.x;

    if (column < p.n)
        p.c[column] = p.a[column]; /* WRONG: overlapping_blocks */
}
XG_TWINS(xg_overlapping_blocks, xg_overlap)

/* A sum along the blocks, as if they ran one after the other. */
XG_DEVICE void xg_lean(const xg_args p, int right)
{
    const int64_t column = XG_BLOCK_X * THREADS + threadIdx.x;
    float sum = column < p.n ? p.a[column] : 0.0f;

    if (!right && XG_BLOCK_X > 0)
        sum += p.c[column - THREADS]; /* WRONG: order_of_blocks */
    if (column < p.n)
        p.c[column] = sum;
}
XG_TWINS(xg_order_of_blocks, xg_lean)

XG_DEVICE void xg_write_input(const xg_args p, int right)
{
    const int t = (int)threadIdx.x;
    float *to = right ? p.c : (float *)p.a;

    if (t < p.n)
        to[t] = 1.0f; /* WRONG: writes_input */
}
XG_TWINS(xg_writes_input, xg_write_input)

#undef THREADS
#undef XG_TWINS
