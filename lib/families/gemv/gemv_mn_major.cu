/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GEMV with an MN-major matrix. X is the matrix, A, or B transposed where C is a row: its rows are
 * the elements of C, and its columns are contiguous. Y is the vector. As in gemv_k_major.cu
 * everything serves to have many bytes of X in flight: 16 warps on a multiprocessor, and all loads
 * of an iteration issued before the first is used, 272 bytes a thread.
 *
 * A CTA computes 32 rows, 128 bytes of each k; it has 4 or 16 warps, which take four k each by
 * turns. With vec4 loads eight threads have four rows each, and a warp loads four k at once. Else,
 * and up to the last row, a thread has one row, at any alignment.
 *
 * Many threads need the same element of Y: a warp loads its own once, while its loads of X are in
 * flight, and passes them through shared memory. No warp waits for another before the end.
 *
 * Where 16 warps for 32 rows do not fill the GPU, the CTAs of a cluster divide k among them. They
 * send their accumulators to the shared memory of the first CTA, which reduces them in the order of
 * ranks; the others need not stay. Without clusters splits give partial sums.
 *
 * is_strip: see skinny.inc.
 */
#include "args.h"
#include "families/common/cluster_sum.h"
#include "families/common/epilogue.h"
#include "gemv_mn_major.h"

#define ROWS    XG_GEMV_MN_ROWS
#define LOADS   XG_GEMV_MN_LOADS
#define WARP_K  XG_GEMV_MN_WARP_K
#define Y_LOADS ((WARP_K + 31) / 32)

/* Where a thread reads, from its warp's first k on, and the k from there on. */
typedef struct {
    const float *x, *y;
    int64_t x_stride, y_stride, remaining;
    int k_per_load; /* the k of the CTA that one of its loads takes */
    int vec4;
} xg_gemv_mn_view;

/* With vec4 loads x[i] is four rows of one k; else four k of one row. */
typedef struct {
    float x[LOADS][4];
} xg_gemv_mn_loads;

/* With vec4 loads a thread has one of the warp's four k, the same as seven others. */
XG_DEVICE int xg_gemv_mn_k_of_lane(int vec4)
{
    return vec4 ? (int)threadIdx.x % 32 / 8 : 0;
}

/* At the split's first k. Rows past the last repeat that one: computed, and not stored. */
XG_DEVICE xg_gemv_mn_view xg_gemv_mn_view_of(const xg_gemv_args p, int64_t split, int64_t first_row,
                                             int64_t rows)
{
    const int is_row = p.m <= p.n, lane = (int)threadIdx.x % 32;
    const int64_t first = split * p.k_per_split;
    const int64_t warp_first = first + (int)threadIdx.x / 32 * 4;
    const float *x = is_row ? p.b : p.a;
    xg_gemv_mn_view v;
    v.x_stride = is_row ? p.b_stride_k : p.a_stride_k;
    v.y_stride = is_row ? p.a_stride_k : p.b_stride_k;
    v.k_per_load = (int)blockDim.x / 8;
    v.vec4 = v.x_stride % 4 == 0 && (uintptr_t)x % 16 == 0 &&
             (first_row + ROWS <= rows || rows % 4 == 0);
    v.x =
        x + (warp_first + xg_gemv_mn_k_of_lane(v.vec4)) * v.x_stride +
        (v.vec4 ? XG_MIN(first_row + lane % 8 * 4, rows - 4) : XG_MIN(first_row + lane, rows - 1));
    v.y = (is_row ? p.a : p.b) + warp_first * v.y_stride;
    v.remaining = XG_MIN(first + p.k_per_split, p.k) - warp_first;
    return v;
}

XG_DEVICE void xg_gemv_mn_load(const xg_gemv_mn_view *v, int vec4, xg_gemv_mn_loads *to)
{
    const int k_per_load = v->k_per_load;
    const int remaining =
        (int)XG_MIN(v->remaining, LOADS * k_per_load) - xg_gemv_mn_k_of_lane(vec4);
    const float *from = v->x;
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        if (vec4) {
            const float4 four = xg_load_vec4_no_l1_if(from, i * k_per_load < remaining);
            to->x[i][0] = four.x;
            to->x[i][1] = four.y;
            to->x[i][2] = four.z;
            to->x[i][3] = four.w;
        } else {
            XG_UNROLL
            for (int j = 0; j < 4; j++)
                to->x[i][j] =
                    xg_load_scalar_no_l1_if(from + j * v->x_stride, i * k_per_load + j < remaining);
        }
        from += k_per_load * v->x_stride;
    }
}

/* Prefetches the first iteration's X into L2: 128 bytes a k, by a quarter of the warp. */
XG_DEVICE void xg_gemv_mn_prefetch(const xg_gemv_mn_view *v)
{
    const int lane = (int)threadIdx.x % 32, k = lane / 8;
    const float *from = v->x + (k - xg_gemv_mn_k_of_lane(v->vec4)) * v->x_stride;
    XG_UNROLL_BY(1)
    for (int i = lane % 8; i < LOADS; i += 8)
        if (i * v->k_per_load + k < v->remaining)
            xg_prefetch(from + i * v->k_per_load * v->x_stride);
}

/* Loads the warp's elements of Y, in its order of k; zeros past the end of k. */
XG_DEVICE void xg_gemv_mn_load_y(const xg_gemv_mn_view *v, float to[Y_LOADS])
{
    XG_UNROLL
    for (int i = 0; i < Y_LOADS; i++) {
        const int at = 32 * i + (int)threadIdx.x % 32, k = at / 4 * v->k_per_load + at % 4;
        to[i] = at < WARP_K && k < v->remaining ? v->y[k * v->y_stride] : 0.0f;
    }
}

XG_DEVICE void xg_gemv_mn_y_to_shared(const float from[Y_LOADS], float *to)
{
    XG_UNROLL
    for (int i = 0; i < Y_LOADS; i++) {
        const int at = 32 * i + (int)threadIdx.x % 32;
        if (at < WARP_K)
            to[at] = from[i];
    }
}

/* The products of an iteration: accumulators of four rows, or four of one row. */
XG_DEVICE void xg_gemv_mn_multiply(float acc[4], const xg_gemv_mn_loads *loads, const float *y,
                                   int vec4)
{
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        if (vec4) {
            const float y_k = y[4 * i + xg_gemv_mn_k_of_lane(1)];
            XG_UNROLL
            for (int j = 0; j < 4; j++)
                acc[j] += loads->x[i][j] * y_k;
        } else {
            const float4 four = *(const float4 *)&y[4 * i];
            acc[0] += loads->x[i][0] * four.x;
            acc[1] += loads->x[i][1] * four.y;
            acc[2] += loads->x[i][2] * four.z;
            acc[3] += loads->x[i][3] * four.w;
        }
    }
}

/* The warp's sums, to total[row]; y is its shared memory for Y. */
XG_DEVICE void xg_gemv_mn_sum(xg_gemv_mn_view *v, int vec4, float *y, float *total)
{
    const int lane = (int)threadIdx.x % 32;
    const int iteration_k = LOADS * v->k_per_load;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(1)
    for (; v->remaining > 0; v->remaining -= iteration_k) {
        xg_gemv_mn_loads loads;
        float y_own[Y_LOADS];
        xg_gemv_mn_load_y(v, y_own);
        xg_gemv_mn_load(v, vec4, &loads);
        v->x += iteration_k * v->x_stride;
        v->y += iteration_k * v->y_stride;
        __syncwarp(); /* the previous iteration's have been read */
        xg_gemv_mn_y_to_shared(y_own, y);
        __syncwarp();
        xg_gemv_mn_multiply(acc, &loads, y, vec4);
    }
    if (!vec4) {
        total[lane] = (acc[0] + acc[1]) + (acc[2] + acc[3]);
        return;
    }
    XG_UNROLL
    for (int j = 0; j < 4; j++) {
        acc[j] += __shfl_xor_sync(0xffffffffu, acc[j], 8);
        acc[j] += __shfl_xor_sync(0xffffffffu, acc[j], 16);
    }
    if (lane < 8)
        *(float4 *)&total[4 * lane] = (float4){acc[0], acc[1], acc[2], acc[3]};
}

/* Reduces over the warps, in their order, and over the cluster, and stores to C. */
XG_DEVICE void xg_gemv_mn_store(const xg_gemv_args p, int64_t first_row, int64_t rows,
                                unsigned ctas, xg_gemv_mn_shared *shared)
{
    const int64_t row = first_row + (int)threadIdx.x;
    float acc = 0.0f;
    if (threadIdx.x >= ROWS)
        return;
    XG_UNROLL_BY(4)
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        acc += shared->total[warp][threadIdx.x];
    if (ctas > 1)
        acc = xg_cluster_sum(&shared->inbox[0][0], ROWS, XG_GEMV_MN_CLUSTER,
                             xg_shared_address(&shared->arrival), ctas, acc);
    if (row >= rows || (ctas > 1 && xg_cluster_rank() > 0))
        return;
    float *c = p.c + XG_SPLIT * p.m * p.c_stride_m + row * (p.m <= p.n ? 1 : p.c_stride_m);
    *c = xg_epilogue(p.alpha, acc, p.beta, c);
}

XG_KERNEL(__launch_bounds__(32 * XG_GEMV_MN_WARPS_MOST, 1), gemv_mn_major, xg_gemv_args)
{
    XG_DYNAMIC_SHARED(xg_gemv_mn_shared, memory);
    xg_gemv_mn_shared *const shared = memory;
    const unsigned ctas = xg_cluster_ctas();
    const int64_t first_row = (int64_t)(blockIdx.x / ctas) * ROWS, rows = XG_MAX(p.m, p.n);
    const int warp = (int)threadIdx.x / 32;
    xg_gemv_mn_view v = xg_gemv_mn_view_of(p, XG_SPLIT * ctas + xg_cluster_rank(), first_row, rows);
    if (ctas > 1)
        xg_cluster_sum_begin(xg_shared_address(&shared->arrival));
    if (!p.is_strip) {
        xg_gemv_mn_prefetch(&v);
        xg_pdl_wait();
    }
    xg_pdl_trigger();
    if (v.vec4)
        xg_gemv_mn_sum(&v, 1, shared->y[warp], shared->total[warp]);
    else
        xg_gemv_mn_sum(&v, 0, shared->y[warp], shared->total[warp]);
    if (ctas > 1)
        xg_cluster_wait();
    __syncthreads();
    xg_gemv_mn_store(p, first_row, rows, ctas, shared);
    if (p.is_strip && blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        xg_pdl_wait();
}
