/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A matrix times one vector where the matrix's lines run along k: X, rows of A when C is a column,
 * columns of B when it is a row. Y is the vector. The product waits for memory, so that all here
 * serves to have many bytes of X on their way: blocks are small and several to a multiprocessor,
 * their warps meet at the end alone, and a step's loads are all issued before the first is used,
 * 256 bytes a thread.
 *
 * A block computes LINES lines. Its warps share k, and each has its part of every line: an element
 * of Y then serves one thread of the block, which takes it to registers as it takes X. Shared
 * memory would add a wait and a barrier, and save nothing.
 *
 * For a strip of C beside what the launch before computes b_batch is 1: skinny.inc.
 */
#include "families/common/ptx.h"

#define WARPS   4
#define THREADS (32 * WARPS)
#define LINES   8
/* What a thread loads of each line at once: so many times 16 bytes, or else words, of which one
 * more, so that 2^i + 1 words are no step more than 2^i, of which the last would have one. */
#define FOURS      2
#define WORDS      (4 * FOURS + 1)
#define FOURS_STEP (FOURS * 4 * THREADS) /* k that a block takes at once */
#define WORDS_STEP (WORDS * THREADS)

/* Where a thread reads, and the k that are left there. */
typedef struct {
    const float *line[LINES];
    const float *y;
    int64_t x_l, y_k, left;
    int aligned, y_by_fours;
} xg_lines_view;

typedef struct {
    float x[LINES][WORDS], y[WORDS];
} xg_lines_step;

/* At the part's first k. A line past the last is the last: it is computed, and not stored. */
XG_DEVICE void xg_lines_view_of(const xg_args p, int64_t first_line, int64_t lines,
                                xg_lines_view *v)
{
    const int is_row = p.m <= p.n;
    const int64_t first = XG_PART * p.k_part;
    const float *x = is_row ? p.b : p.a;
    v->x_l = is_row ? p.b_stride_n : p.a_stride_m;
    v->y_k = is_row ? p.a_stride_k : p.b_stride_k;
    v->y = (is_row ? p.a : p.b) + first * v->y_k;
    v->left = XG_MIN(p.k_part, p.k - first);
    x += first;
    v->aligned = v->x_l % 4 == 0 && (uintptr_t)x % 16 == 0;
    v->y_by_fours = v->y_k == 1 && (uintptr_t)v->y % 16 == 0;
    XG_UNROLL
    for (int i = 0; i < LINES; i++)
        v->line[i] = x + XG_MIN(first_line + i, lines - 1) * v->x_l;
}

/* The first step's X, into L2; words, whose rows begin anywhere, were slower for it. */
XG_DEVICE void xg_lines_prefetch(const xg_lines_view *v, int64_t first_line, int64_t lines)
{
    const int line = (int)threadIdx.x / (THREADS / LINES);
    const float *const from = v->line[0] + XG_MIN(line, lines - 1 - first_line) * v->x_l;
    XG_UNROLL_BY(1)
    for (int at = (int)threadIdx.x % (THREADS / LINES) * 32; at < XG_MIN(v->left, FOURS_STEP);
         at += THREADS / LINES * 32)
        xg_prefetch(from + at);
}

XG_DEVICE void xg_lines_move(xg_lines_view *v, int k)
{
    XG_UNROLL
    for (int i = 0; i < LINES; i++)
        v->line[i] += k;
    v->y += k * v->y_k;
}

XG_DEVICE void xg_lines_four(float to[4], const float4 four)
{
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/* Whole steps by accesses of 16 bytes; a thread has four k in a row. */
XG_DEVICE void xg_lines_load_fours(const xg_lines_view *v, int y_by_fours, xg_lines_step *to)
{
    const int64_t y_k = xg_again(v->y_k);
    XG_UNROLL
    for (int i = 0; i < LINES; i++) {
        XG_UNROLL
        for (int four = 0; four < FOURS; four++)
            xg_lines_four(&to->x[i][4 * four], xg_load_once(v->line[i] + four * 4 * THREADS));
    }
    XG_UNROLL
    for (int four = 0; four < FOURS; four++) {
        const int at = four * 4 * THREADS;
        if (y_by_fours)
            xg_lines_four(&to->y[4 * four], *(const float4 *)(v->y + at));
        else {
            XG_UNROLL
            for (int j = 0; j < 4; j++)
                to->y[4 * four + j] = v->y[(at + j) * y_k];
        }
    }
}

/* A step word by word, at any alignment and to where k ends; neighbours load what lies side by
 * side. */
XG_DEVICE void xg_lines_load_words(const xg_lines_view *v, xg_lines_step *to)
{
    const int left = (int)XG_MIN(v->left, WORDS_STEP) - (int)threadIdx.x;
    const int64_t y_k = xg_again(v->y_k);
    XG_UNROLL
    for (int j = 0; j < WORDS; j++) {
        const int at = j * THREADS;
        to->y[j] = at < left ? v->y[at * y_k] : 0.0f;
        XG_UNROLL
        for (int i = 0; i < LINES; i++)
            to->x[i][j] = at < left ? v->line[i][at] : 0.0f;
    }
}

XG_DEVICE void xg_lines_add(float sum[LINES], const xg_lines_step *step, int words)
{
    XG_UNROLL
    for (int j = 0; j < words; j++) {
        XG_UNROLL
        for (int i = 0; i < LINES; i++)
            sum[i] += step->x[i][j] * step->y[j];
    }
}

/* A loop for each way in which Y may lie: in one for both Y's loads would wait for those of X. */
XG_DEVICE void xg_lines_sum_fours(xg_lines_view *v, int y_by_fours, float sum[LINES])
{
    XG_UNROLL_BY(1)
    for (; v->left >= FOURS_STEP; v->left -= FOURS_STEP) {
        xg_lines_step step;
        xg_lines_load_fours(v, y_by_fours, &step);
        xg_lines_move(v, FOURS_STEP);
        xg_lines_add(sum, &step, 4 * FOURS);
    }
}

XG_DEVICE void xg_lines_sum_words(xg_lines_view *v, float sum[LINES])
{
    XG_UNROLL_BY(1)
    for (; v->left > 0; v->left -= WORDS_STEP) {
        xg_lines_step step;
        xg_lines_load_words(v, &step);
        xg_lines_move(v, WORDS_STEP);
        xg_lines_add(sum, &step, WORDS);
    }
}

/* A thread gives half of its sums to its partner in the warp, and takes the other half of the
 * partner's; which is its own now begins at the line that is returned. */
XG_DEVICE int xg_lines_halve(float sum[LINES], int half, int bits)
{
    const int upper = (threadIdx.x & bits) != 0;
    XG_UNROLL
    for (int i = 0; i < half; i++) {
        const float given = upper ? sum[i] : sum[i + half];
        sum[i] = (upper ? sum[i + half] : sum[i]) + __shfl_xor_sync(0xffffffffu, given, bits);
    }
    return upper ? half : 0;
}

/* The sums of the warp's threads, to total[line]. */
XG_DEVICE void xg_lines_total(float sum[LINES], float *total)
{
    int line = xg_lines_halve(sum, 4, 16);
    line += xg_lines_halve(sum, 2, 8);
    line += xg_lines_halve(sum, 1, 4);
    sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], 2);
    sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], 1);
    if (threadIdx.x % 4 == 0) /* the others hold the same */
        total[line] = sum[0];
}

/* Adds what the warps have summed, in their order, and puts it into C. */
XG_DEVICE void xg_lines_store(const xg_args p, int64_t first_line, int64_t lines,
                              float total[WARPS][LINES])
{
    const int64_t line = first_line + (int)threadIdx.x;
    if (threadIdx.x >= LINES || line >= lines)
        return;
    float sum = 0.0f;
    XG_UNROLL
    for (int warp = 0; warp < WARPS; warp++)
        sum += total[warp][threadIdx.x];
    float *c = p.c + XG_PART * p.m * p.c_stride_m + line * (p.m <= p.n ? 1 : p.c_stride_m);
    *c = xg_blend(p.alpha, sum, p.beta, c);
}

XG_KERNEL
void __launch_bounds__(THREADS, 4) xg_skinny1_lines(const xg_args p)
{
    __shared__ float total[WARPS][LINES];
    const int64_t first_line = XG_BLOCK_X * LINES, lines = XG_MAX(p.m, p.n);
    xg_lines_view v;
    float sum[LINES];
    XG_UNROLL
    for (int i = 0; i < LINES; i++)
        sum[i] = 0.0f;
    xg_lines_view_of(p, first_line, lines, &v);
    if (!p.b_batch) {
        if (v.aligned)
            xg_lines_prefetch(&v, first_line, lines);
        xg_grid_wait();
    }
    xg_grid_release();
    xg_lines_move(&v, 4 * (int)threadIdx.x);
    if (v.aligned && v.y_by_fours)
        xg_lines_sum_fours(&v, 1, sum);
    else if (v.aligned)
        xg_lines_sum_fours(&v, 0, sum);
    xg_lines_move(&v, -3 * (int)threadIdx.x);
    xg_lines_sum_words(&v, sum);
    xg_lines_total(sum, total[threadIdx.x / 32]);
    __syncthreads();
    xg_lines_store(p, first_line, lines, total);
    if (p.b_batch && blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        xg_grid_wait();
}

#undef WARPS
#undef THREADS
#undef LINES
#undef FOURS
#undef WORDS
#undef FOURS_STEP
#undef WORDS_STEP
