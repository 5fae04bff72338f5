/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GEMV with a K-major matrix. X is the matrix, A, or B transposed where C is a row: its rows are
 * the elements of C. Y is the vector. GEMV is bound by memory bandwidth, so that everything here
 * serves to have many bytes of X in flight: CTAs are small and several to a multiprocessor, their
 * warps synchronize at the end alone, and all loads of an iteration are issued before the first is
 * used, 256 bytes a thread.
 *
 * A CTA computes ROWS rows. Its warps divide k among them, and each reads its part of every row: so
 * each element of Y is used by one thread of the CTA, which loads it to registers as it does X.
 * Shared memory would add a wait and a barrier, and save nothing.
 *
 * is_strip: see skinny.inc.
 */
#include "args.h"
#include "families/common/epilogue.h"
#include "families/common/warp_rows.h"

#define WARPS   4
#define THREADS (32 * WARPS)
#define ROWS    8
/* What a thread loads of each row in an iteration: two vec4, or else 9 scalars: with 8, a k just
 * above a power of two would take one iteration more. */
#define VEC4S    2
#define SCALARS  (4 * VEC4S + 1)
#define VEC4_K   (VEC4S * 4 * THREADS) /* the k of an iteration */
#define SCALAR_K (SCALARS * THREADS)

/* Where a thread reads, and the k from there on. */
typedef struct {
    const float *row[ROWS];
    const float *y;
    int64_t x_stride, y_stride, remaining;
    int aligned, y_vec4;
} xg_gemv_k_view;

typedef struct {
    float x[ROWS][SCALARS], y[SCALARS];
} xg_gemv_k_loads;

/* At the split's first k. Rows past the last repeat that one: computed, and not stored. */
XG_DEVICE void xg_gemv_k_view_of(const xg_gemv_args p, int64_t first_row, int64_t rows,
                                 xg_gemv_k_view *v)
{
    const int is_row = p.m <= p.n;
    const int64_t first = XG_SPLIT * p.k_per_split;
    const float *x = is_row ? p.b : p.a;
    v->x_stride = is_row ? p.b_stride_n : p.a_stride_m;
    v->y_stride = is_row ? p.a_stride_k : p.b_stride_k;
    v->y = (is_row ? p.a : p.b) + first * v->y_stride;
    v->remaining = XG_MIN(p.k_per_split, p.k - first);
    x += first;
    v->aligned = v->x_stride % 4 == 0 && (uintptr_t)x % 16 == 0;
    v->y_vec4 = v->y_stride == 1 && (uintptr_t)v->y % 16 == 0;
    XG_UNROLL
    for (int i = 0; i < ROWS; i++)
        v->row[i] = x + XG_MIN(first_row + i, rows - 1) * v->x_stride;
}

/* Prefetches the first iteration's X into L2. Not where rows are unaligned: that was slower. */
XG_DEVICE void xg_gemv_k_prefetch(const xg_gemv_k_view *v, int64_t first_row, int64_t rows)
{
    const int row = (int)threadIdx.x / (THREADS / ROWS);
    const float *const from = v->row[0] + XG_MIN(row, rows - 1 - first_row) * v->x_stride;
    XG_UNROLL_BY(1)
    for (int at = (int)threadIdx.x % (THREADS / ROWS) * 32; at < XG_MIN(v->remaining, VEC4_K);
         at += THREADS / ROWS * 32)
        xg_prefetch(from + at);
}

/* All of a view's pointers, by so many k. */
XG_DEVICE void xg_gemv_k_advance(xg_gemv_k_view *v, int k)
{
    XG_UNROLL
    for (int i = 0; i < ROWS; i++)
        v->row[i] += k;
    v->y += k * v->y_stride;
}

XG_DEVICE void xg_gemv_k_unpack(float to[4], const float4 four)
{
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/* An iteration by vec4; a thread has four consecutive k. */
XG_DEVICE void xg_gemv_k_load_vec4(const xg_gemv_k_view *v, int y_vec4, xg_gemv_k_loads *to)
{
    const int64_t y_stride = xg_rematerialize(v->y_stride);
    XG_UNROLL
    for (int i = 0; i < ROWS; i++) {
        XG_UNROLL
        for (int j = 0; j < VEC4S; j++)
            xg_gemv_k_unpack(&to->x[i][4 * j], xg_load_vec4_no_l1(v->row[i] + j * 4 * THREADS));
    }
    XG_UNROLL
    for (int j = 0; j < VEC4S; j++) {
        const int at = j * 4 * THREADS;
        if (y_vec4)
            xg_gemv_k_unpack(&to->y[4 * j], *(const float4 *)(v->y + at));
        else {
            XG_UNROLL
            for (int l = 0; l < 4; l++)
                to->y[4 * j + l] = v->y[(at + l) * y_stride];
        }
    }
}

/* An iteration by scalars, at any alignment and up to the end of k; loads are coalesced. */
XG_DEVICE void xg_gemv_k_load_scalar(const xg_gemv_k_view *v, xg_gemv_k_loads *to)
{
    const int inside = (int)XG_MIN(v->remaining, SCALAR_K) - (int)threadIdx.x;
    const int64_t y_stride = xg_rematerialize(v->y_stride);
    XG_UNROLL
    for (int j = 0; j < SCALARS; j++) {
        const int at = j * THREADS;
        to->y[j] = at < inside ? v->y[at * y_stride] : 0.0f;
        XG_UNROLL
        for (int i = 0; i < ROWS; i++)
            to->x[i][j] = at < inside ? v->row[i][at] : 0.0f;
    }
}

XG_DEVICE void xg_gemv_k_multiply(float acc[ROWS], const xg_gemv_k_loads *loads, int count)
{
    XG_UNROLL
    for (int j = 0; j < count; j++) {
        XG_UNROLL
        for (int i = 0; i < ROWS; i++)
            acc[i] += loads->x[i][j] * loads->y[j];
    }
}

/* A loop for each layout of Y: with one loop for both, the loads of Y would wait for those of X. */
XG_DEVICE void xg_gemv_k_sum_vec4(xg_gemv_k_view *v, int y_vec4, float acc[ROWS])
{
    XG_UNROLL_BY(1)
    for (; v->remaining >= VEC4_K; v->remaining -= VEC4_K) {
        xg_gemv_k_loads loads;
        xg_gemv_k_load_vec4(v, y_vec4, &loads);
        xg_gemv_k_advance(v, VEC4_K);
        xg_gemv_k_multiply(acc, &loads, 4 * VEC4S);
    }
}

XG_DEVICE void xg_gemv_k_sum_scalar(xg_gemv_k_view *v, float acc[ROWS])
{
    XG_UNROLL_BY(1)
    for (; v->remaining > 0; v->remaining -= SCALAR_K) {
        xg_gemv_k_loads loads;
        xg_gemv_k_load_scalar(v, &loads);
        xg_gemv_k_advance(v, SCALAR_K);
        xg_gemv_k_multiply(acc, &loads, SCALARS);
    }
}

/* Reduces over the warps, in their order, and stores to C. */
XG_DEVICE void xg_gemv_k_store(const xg_gemv_args p, int64_t first_row, int64_t rows,
                               float total[WARPS][ROWS])
{
    const int64_t row = first_row + (int)threadIdx.x;
    if (threadIdx.x >= ROWS || row >= rows)
        return;
    float acc = 0.0f;
    XG_UNROLL
    for (int warp = 0; warp < WARPS; warp++)
        acc += total[warp][threadIdx.x];
    float *c = p.c + XG_SPLIT * p.m * p.c_stride_m + row * (p.m <= p.n ? 1 : p.c_stride_m);
    *c = xg_epilogue(p.alpha, acc, p.beta, c);
}

XG_KERNEL(__launch_bounds__(THREADS, 4), gemv_k_major, xg_gemv_args)
{
    __shared__ float total[WARPS][ROWS];
    const int64_t first_row = XG_BLOCK_X * ROWS, rows = XG_MAX(p.m, p.n);
    xg_gemv_k_view v;
    float acc[ROWS];
    XG_UNROLL
    for (int i = 0; i < ROWS; i++)
        acc[i] = 0.0f;
    xg_gemv_k_view_of(p, first_row, rows, &v);
    if (!p.is_strip) {
        if (v.aligned)
            xg_gemv_k_prefetch(&v, first_row, rows);
        xg_pdl_wait();
    }
    xg_pdl_trigger();
    xg_gemv_k_advance(&v, 4 * (int)threadIdx.x);
    if (v.aligned && v.y_vec4)
        xg_gemv_k_sum_vec4(&v, 1, acc);
    else if (v.aligned)
        xg_gemv_k_sum_vec4(&v, 0, acc);
    xg_gemv_k_advance(&v, -3 * (int)threadIdx.x);
    xg_gemv_k_sum_scalar(&v, acc);
    xg_warp_rows_total(acc, total[threadIdx.x / 32]);
    __syncthreads();
    xg_gemv_k_store(p, first_row, rows, total);
    if (p.is_strip && blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        xg_pdl_wait();
}
