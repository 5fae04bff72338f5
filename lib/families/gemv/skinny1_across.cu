/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A matrix times one vector where the matrix's lines lie side by side: X, columns of A when C is a
 * column, rows of B when it is a row. Y is the vector. As in skinny1_lines.cu all serves to have
 * many bytes of X on their way: 16 warps to a multiprocessor, and a step's loads issued before the
 * first is used, 272 bytes a thread.
 *
 * A block computes 32 lines, 128 bytes of each k; it has 4 or 16 warps, which take four k each
 * in turn. Aligned, eight threads have four lines each, and a warp loads its four k at once. Else,
 * and to the last line, a thread has one line, at any alignment.
 *
 * Many threads need the same element of Y: a warp loads its own once, while its loads of X are on
 * their way, and shares them through shared memory. No warp waits for another before the end.
 *
 * Where 16 warps for 32 lines do not fill the GPU, k is shared by the blocks of a cluster. These
 * send their sums to the shared memory of the first, which adds them up in the blocks' order; the
 * others need not stay. Without clusters the parts of k are sums of their own.
 *
 * For a strip of C beside what the launch before computes b_batch is 1: skinny.inc.
 */
#include "families/common/ptx.h"
#include "families/common/ptx_sm90.h"
#include "skinny1_across.h"

#define LINES   XG_ACROSS_LINES
#define FOURS   XG_ACROSS_FOURS
#define STEP    XG_ACROSS_STEP
#define Y_LOADS ((STEP + 31) / 32)

/* Where a thread reads, from its warp's first k on; and the k that are left there. */
typedef struct {
    const float *x, *y;
    int64_t x_k, y_k, left;
    int rows; /* the block's k that each of its loads takes */
    int by_fours;
} xg_across_view;

/* By fours: of four lines; else of four k. */
typedef struct {
    float x[FOURS][4];
} xg_across_step;

/* By fours a thread has one k of the warp's four: that of its eight. */
XG_DEVICE int xg_across_row(int by_fours)
{
    return by_fours ? (int)threadIdx.x % 32 / 8 : 0;
}

/* At the part's first k. Lines past the last are the last: computed, and not stored. */
XG_DEVICE xg_across_view xg_across_view_of(const xg_args p, int64_t part, int64_t first_line,
                                           int64_t lines)
{
    const int is_row = p.m <= p.n, lane = (int)threadIdx.x % 32;
    const int64_t first = part * p.k_part;
    const int64_t warp_first = first + (int)threadIdx.x / 32 * 4;
    const float *x = is_row ? p.b : p.a;
    xg_across_view v;
    v.x_k = is_row ? p.b_stride_k : p.a_stride_k;
    v.y_k = is_row ? p.a_stride_k : p.b_stride_k;
    v.rows = (int)blockDim.x / 8;
    v.by_fours =
        v.x_k % 4 == 0 && (uintptr_t)x % 16 == 0 && (first_line + LINES <= lines || lines % 4 == 0);
    v.x = x + (warp_first + xg_across_row(v.by_fours)) * v.x_k +
          (v.by_fours ? XG_MIN(first_line + lane % 8 * 4, lines - 4)
                      : XG_MIN(first_line + lane, lines - 1));
    v.y = (is_row ? p.a : p.b) + warp_first * v.y_k;
    v.left = XG_MIN(first + p.k_part, p.k) - warp_first;
    return v;
}

XG_DEVICE void xg_across_load(const xg_across_view *v, int by_fours, xg_across_step *to)
{
    const int rows = v->rows;
    const int left = (int)XG_MIN(v->left, FOURS * rows) - xg_across_row(by_fours);
    const float *from = v->x;
    XG_UNROLL
    for (int i = 0; i < FOURS; i++) {
        if (by_fours) {
            const float4 four = xg_load_once_if(from, i * rows < left);
            to->x[i][0] = four.x;
            to->x[i][1] = four.y;
            to->x[i][2] = four.z;
            to->x[i][3] = four.w;
        } else {
            XG_UNROLL
            for (int j = 0; j < 4; j++)
                to->x[i][j] = xg_load_word_if(from + j * v->x_k, i * rows + j < left);
        }
        from += rows * v->x_k;
    }
}

/* The first step's X, into L2: 128 bytes a k, which the warp's quarters take in turn. */
XG_DEVICE void xg_across_prefetch(const xg_across_view *v)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 8;
    const float *from = v->x + (row - xg_across_row(v->by_fours)) * v->x_k;
    XG_UNROLL_BY(1)
    for (int i = lane % 8; i < FOURS; i += 8)
        if (i * v->rows + row < v->left)
            xg_prefetch(from + i * v->rows * v->x_k);
}

/* The warp's elements of Y, in its order; zeros where k has ended. */
XG_DEVICE void xg_across_load_y(const xg_across_view *v, float to[Y_LOADS])
{
    XG_UNROLL
    for (int i = 0; i < Y_LOADS; i++) {
        const int at = 32 * i + (int)threadIdx.x % 32, k = at / 4 * v->rows + at % 4;
        to[i] = at < STEP && k < v->left ? v->y[k * v->y_k] : 0.0f;
    }
}

XG_DEVICE void xg_across_share_y(const float from[Y_LOADS], float *to)
{
    XG_UNROLL
    for (int i = 0; i < Y_LOADS; i++) {
        const int at = 32 * i + (int)threadIdx.x % 32;
        if (at < STEP)
            to[at] = from[i];
    }
}

/* The sums of four lines each, or four of one line. */
XG_DEVICE void xg_across_add(float sum[4], const xg_across_step *step, const float *y, int by_fours)
{
    XG_UNROLL
    for (int i = 0; i < FOURS; i++) {
        if (by_fours) {
            const float y_row = y[4 * i + xg_across_row(1)];
            XG_UNROLL
            for (int j = 0; j < 4; j++)
                sum[j] += step->x[i][j] * y_row;
        } else {
            const float4 four = *(const float4 *)&y[4 * i];
            sum[0] += step->x[i][0] * four.x;
            sum[1] += step->x[i][1] * four.y;
            sum[2] += step->x[i][2] * four.z;
            sum[3] += step->x[i][3] * four.w;
        }
    }
}

/* The warp's part of the sums, to total[line]. y is the warp's memory for them. */
XG_DEVICE void xg_across_sum(xg_across_view *v, int by_fours, float *y, float *total)
{
    const int lane = (int)threadIdx.x % 32;
    const int step_k = FOURS * v->rows;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(1)
    for (; v->left > 0; v->left -= step_k) {
        xg_across_step step;
        float y_own[Y_LOADS];
        xg_across_load_y(v, y_own);
        xg_across_load(v, by_fours, &step);
        v->x += step_k * v->x_k;
        v->y += step_k * v->y_k;
        __syncwarp(); /* the last step's have been read */
        xg_across_share_y(y_own, y);
        __syncwarp();
        xg_across_add(sum, &step, y, by_fours);
    }
    if (!by_fours) {
        total[lane] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        return;
    }
    XG_UNROLL
    for (int j = 0; j < 4; j++) {
        sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], 8);
        sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], 16);
    }
    if (lane < 8)
        *(float4 *)&total[4 * lane] = (float4){sum[0], sum[1], sum[2], sum[3]};
}

/* Nobody sends before the first block's barrier is there: xg_cluster_wait follows. */
XG_DEVICE void xg_across_prepare(xg_across_shared *shared)
{
    if (xg_cluster_rank() == 0 && threadIdx.x == 0) {
        xg_barrier_init(xg_shared_address(&shared->arrival), 1);
        xg_barrier_init_fence();
    }
    xg_cluster_arrive_relaxed();
}

/* A line's sum over the cluster's blocks, in the first one; the others have sent theirs. */
XG_DEVICE float xg_across_gather(xg_across_shared *shared, unsigned blocks, float sum)
{
    const unsigned rank = xg_cluster_rank(), arrival = xg_shared_address(&shared->arrival);
    if (rank > 0) {
        xg_cluster_store(xg_shared_address(&shared->inbox[rank - 1][threadIdx.x]), 0,
                         xg_bits_of(sum), arrival);
        return 0.0f;
    }
    if (threadIdx.x == 0) /* some may have come already */
        xg_barrier_expect(arrival, (blocks - 1) * LINES * (unsigned)sizeof(float));
    xg_barrier_wait(arrival, 0);
    XG_UNROLL
    for (unsigned block = 1; block < XG_ACROSS_CLUSTER; block++)
        if (block < blocks)
            sum += shared->inbox[block - 1][threadIdx.x];
    return sum;
}

/* Adds what the warps have summed, in their order, and puts it into C. */
XG_DEVICE void xg_across_store(const xg_args p, int64_t first_line, int64_t lines, unsigned blocks,
                               xg_across_shared *shared)
{
    const int64_t line = first_line + (int)threadIdx.x;
    float sum = 0.0f;
    if (threadIdx.x >= LINES)
        return;
    XG_UNROLL_BY(4)
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        sum += shared->total[warp][threadIdx.x];
    if (blocks > 1)
        sum = xg_across_gather(shared, blocks, sum);
    if (line >= lines || (blocks > 1 && xg_cluster_rank() > 0))
        return;
    float *c = p.c + XG_PART * p.m * p.c_stride_m + line * (p.m <= p.n ? 1 : p.c_stride_m);
    *c = xg_blend(p.alpha, sum, p.beta, c);
}

XG_KERNEL
void __launch_bounds__(32 * XG_ACROSS_WARPS_MOST, 1) xg_skinny1_across(const xg_args p)
{
    XG_DYNAMIC_SHARED(xg_across_shared, memory);
    xg_across_shared *const shared = memory;
    const unsigned blocks = xg_cluster_blocks();
    const int64_t first_line = (int64_t)(blockIdx.x / blocks) * LINES, lines = XG_MAX(p.m, p.n);
    const int warp = (int)threadIdx.x / 32;
    xg_across_view v =
        xg_across_view_of(p, XG_PART * blocks + xg_cluster_rank(), first_line, lines);
    if (blocks > 1)
        xg_across_prepare(shared);
    if (!p.b_batch) {
        xg_across_prefetch(&v);
        xg_grid_wait();
    }
    xg_grid_release();
    if (v.by_fours)
        xg_across_sum(&v, 1, shared->y[warp], shared->total[warp]);
    else
        xg_across_sum(&v, 0, shared->y[warp], shared->total[warp]);
    if (blocks > 1)
        xg_cluster_wait();
    __syncthreads();
    xg_across_store(p, first_line, lines, blocks, shared);
    if (p.b_batch && blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        xg_grid_wait();
}

#undef LINES
#undef FOURS
#undef STEP
#undef Y_LOADS
