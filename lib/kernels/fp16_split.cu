/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits A and B into FP16 parts, as fp16_layout.h says; k_part is the number of parts, C the
 * workspace.
 *
 * Idea: a line's scale hangs on all of its k, and each entry is to be read from memory once. So a
 * cluster of blocks holds 32 lines in shared memory, a slice of k each; the blocks exchange the
 * lines' largest entries, and convert what they hold. Copies are asynchronous, of 16 bytes where
 * the matrix lies for it, else of words; either way nothing is read past its edges.
 *
 * In shared memory a slice lies as the matrix does: along k, or 32 lines for each k, then
 * rotated by k / 4 * 4 words, so that a thread that gathers four k of a line meets no other's bank.
 */
#include "dialect.h"
#include "fp16_guard.h"
#include "fp16_layout.h"
#include "ptx_sm90.h"

#define LINES   XG_SPLIT_LINES
#define THREADS XG_SPLIT_THREADS
#define WARPS   (THREADS / 32)
#define DEEP    (WARPS * 4) /* k that the threads cover at once where lines are contiguous */

/* The block's piece of an operand: 32 lines and a slice of k. */
typedef struct {
    const float *from;
    int64_t line_step, k_step;
    int lines, k; /* there are in the matrix; at most 32 and depth, and maybe none */
    int depth;    /* k of the slice, a multiple of 64 and at most the room; maybe 0 */
    int room;     /* k in shared memory */
    int along_k, fours;
    int first_line, first_k, k_blocks;
    char *units;
    float *scales;
    float4 *guard;
} xg_slice;

XG_DEVICE unsigned xg_magnitude(float x)
{
    return xg_bits_of(x) & 0x7fffffffu;
}

XG_DEVICE xg_slice xg_slice_of(const xg_args *p, const xg_fp16_layout *at)
{
    char *const workspace = (char *)p->c;
    const int groups = at->a_blocks * XG_GUARD_GROUPS;
    const int group = (int)blockIdx.x / at->slices, rank = (int)blockIdx.x - group * at->slices;
    const int is_a = group < groups, own = is_a ? group : group - groups;
    const int64_t size = is_a ? p->m : p->n;
    const float *matrix = is_a ? p->a : p->b;
    xg_slice s;
    s.line_step = is_a ? p->a_row : p->b_col;
    s.k_step = is_a ? p->a_col : p->b_row;
    s.room = at->slice_chunks * XG_CHUNK_K;
    s.first_line = own * LINES;
    s.first_k = rank * s.room;
    s.k_blocks = at->k_blocks;
    s.depth = XG_MAX(XG_MIN(s.room, at->k_blocks * XG_UNIT_K - s.first_k), 0);
    s.lines = (int)XG_MAX(XG_MIN((int64_t)LINES, size - s.first_line), 0);
    s.k = (int)XG_MAX(XG_MIN((int64_t)s.depth, p->k - s.first_k), 0);
    s.along_k = s.k_step == 1;
    s.fours = (s.along_k ? s.line_step : s.k_step) % 4 == 0 && (uintptr_t)matrix % 16 == 0;
    s.from = matrix + s.first_line * s.line_step + s.first_k * s.k_step;
    s.units = workspace + (is_a ? 0 : at->b_units);
    s.scales = (float *)(workspace + (is_a ? at->a_scales : at->b_scales)) + s.first_line;
    s.guard = (float4 *)(workspace + at->guards) + (int64_t)group * at->slices + rank;
    return s;
}

XG_DEVICE int xg_rotated(int k, int line)
{
    return k * LINES + ((line + k / 4 * 4) & (LINES - 1));
}

/* Asks for the slice; what is past the matrix's edges becomes zero. */
XG_DEVICE void xg_slice_copy_along_k(const xg_slice *s, float *to)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int width = s->fours ? 4 : 1;
    for (int line = warp; line < LINES; line += WARPS) {
        const float *from = s->from + line * s->line_step;
        float *const row = to + line * s->room;
        for (int k = lane * width; k < s->depth; k += 32 * width) {
            const int there = line < s->lines ? XG_MIN(s->k - k, width) : 0;
            const float *const at = there > 0 ? from + k : s->from;
            if (s->fours)
                xg_cp_async16(row + k, at, there > 0 ? 4 * there : 0);
            else
                xg_cp_async4(row + k, at, there > 0 ? 4 : 0);
        }
    }
}

XG_DEVICE void xg_slice_copy_along_lines(const xg_slice *s, float *to)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int line = s->fours ? lane % 8 * 4 : lane;
    const int first = s->fours ? warp * 4 + lane / 8 : warp, step = s->fours ? DEEP : WARPS;
    const int there = XG_MAX(XG_MIN(s->lines - line, s->fours ? 4 : 1), 0);
    for (int k = first; k < s->depth; k += step) {
        const int bytes = k < s->k ? 4 * there : 0;
        const float *const at = bytes > 0 ? s->from + k * s->k_step + line : s->from;
        if (s->fours)
            xg_cp_async16(to + xg_rotated(k, line), at, bytes);
        else
            xg_cp_async4(to + xg_rotated(k, line), at, bytes);
    }
}

/* The largest magnitude of each line in the slice, as bits, into lines[]. */
XG_DEVICE void xg_slice_largest_along_k(const xg_slice *s, const float *shared, unsigned *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int line = warp; line < LINES; line += WARPS) {
        unsigned most = 0;
        for (int k = lane * 4; k < s->depth; k += XG_CHUNK_K) {
            const float4 x = *(const float4 *)(shared + line * s->room + k);
            const unsigned xy = XG_MAX(xg_magnitude(x.x), xg_magnitude(x.y));
            const unsigned zw = XG_MAX(xg_magnitude(x.z), xg_magnitude(x.w));
            most = XG_MAX(most, XG_MAX(xy, zw));
        }
        XG_UNROLL
        for (int bit = 16; bit > 0; bit /= 2) {
            const unsigned other = __shfl_xor_sync(0xffffffffu, most, bit);
            most = XG_MAX(most, other);
        }
        if (lane == 0)
            lines[line] = most;
    }
}

/* by_warp: room for 32 words of each warp. */
XG_DEVICE void xg_slice_largest_along_lines(const xg_slice *s, const float *shared,
                                            unsigned *by_warp, unsigned *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    unsigned most[4] = {0, 0, 0, 0};
    for (int k = warp * 4 + lane / 8; k < s->depth; k += DEEP) {
        const float4 x = *(const float4 *)(shared + xg_rotated(k, lane % 8 * 4));
        most[0] = XG_MAX(most[0], xg_magnitude(x.x));
        most[1] = XG_MAX(most[1], xg_magnitude(x.y));
        most[2] = XG_MAX(most[2], xg_magnitude(x.z));
        most[3] = XG_MAX(most[3], xg_magnitude(x.w));
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++) {
        XG_UNROLL
        for (int bit = 16; bit >= 8; bit /= 2) {
            const unsigned other = __shfl_xor_sync(0xffffffffu, most[i], bit);
            most[i] = XG_MAX(most[i], other);
        }
        if (lane < 8)
            by_warp[warp * 32 + lane * 4 + i] = most[i];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned all = 0;
        XG_UNROLL
        for (int w = 0; w < WARPS; w++)
            all = XG_MAX(all, by_warp[w * 32 + threadIdx.x]);
        lines[threadIdx.x] = all;
    }
}

/* 2^(14 - exponent of the largest), or what is nearest to it that is normal. */
XG_DEVICE float xg_scale_to_parts(unsigned largest)
{
    const unsigned exponent = XG_MIN(XG_MAX(largest >> 23, XG_SCALED_EXPONENT + 1u), 253u);
    return xg_float_of((254u + XG_SCALED_EXPONENT - exponent) << 23);
}

XG_DEVICE float xg_scale_from_parts(unsigned largest)
{
    const unsigned exponent = XG_MIN(XG_MAX(largest >> 23, XG_SCALED_EXPONENT + 1u), 253u);
    return xg_float_of((exponent - XG_SCALED_EXPONENT) << 23);
}

/* What fp16_guard.h counts, of a thread's share of one line. */
typedef struct {
    unsigned zero_small; /* zeros and small entries, and the small ones alone in the high half */
    unsigned large;
    float sum;
} xg_counts;

XG_DEVICE void xg_count(xg_counts *counts, float x, float scaled)
{
    const float size = fabsf(scaled);
    if (size < XG_GUARD_SMALL)
        counts->zero_small += x != 0.0f ? 0x10001u : 1u;
    if (size >= XG_GUARD_LARGE)
        counts->large += 1u;
    counts->sum += size;
}

/* Four entries along k, scaled, as parts; the low ones, if any, lie where the high ones end. */
XG_DEVICE void xg_put_four(char *to, float4 x, float scale, int parts, xg_counts *counts)
{
    const float4 y = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    const unsigned xy = xg_half2(y.x, y.y), zw = xg_half2(y.z, y.w);
    *(uint64_t *)to = (uint64_t)zw << 32 | xy;
    if (parts == 2) {
        const unsigned low_xy = xg_half2(y.x - xg_half2_low(xy), y.y - xg_half2_high(xy));
        const unsigned low_zw = xg_half2(y.z - xg_half2_low(zw), y.w - xg_half2_high(zw));
        *(uint64_t *)(to + XG_PART_BYTES) = (uint64_t)low_zw << 32 | low_xy;
    }
    xg_count(counts, x.x, y.x);
    xg_count(counts, x.y, y.y);
    xg_count(counts, x.z, y.z);
    xg_count(counts, x.w, y.w);
}

/* Where the parts of a line go from k on, a multiple of 4 within the slice. */
XG_DEVICE char *xg_place_of(const xg_slice *s, int line, int k, int parts)
{
    const int row = s->first_line + line, depth = s->first_k + k;
    const int64_t unit = (int64_t)(row / XG_UNIT_LINES) * s->k_blocks + depth / XG_UNIT_K;
    const int chunk = (depth % XG_UNIT_K / 8) ^ (row % 8);
    return s->units + unit * parts * XG_PART_BYTES + row % XG_UNIT_LINES * 128 + chunk * 16 +
           depth % 8 * 2;
}

/* The sums over the lanes that differ in these bits: zeros, small, large entries, and the sum. */
XG_DEVICE float4 xg_counts_of_lanes(xg_counts counts, int most_bit)
{
    for (int bit = most_bit; bit > 0; bit /= 2) {
        counts.zero_small += __shfl_xor_sync(0xffffffffu, counts.zero_small, bit);
        counts.large += __shfl_xor_sync(0xffffffffu, counts.large, bit);
        counts.sum += __shfl_xor_sync(0xffffffffu, counts.sum, bit);
    }
    const float4 all = {(float)(counts.zero_small >> 16), (float)(counts.zero_small & 0xffff),
                        (float)counts.large, counts.sum};
    return all;
}

XG_DEVICE void xg_slice_convert_along_k(const xg_slice *s, const float *shared,
                                        const unsigned *largest, int parts, float4 *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int line = warp; line < LINES; line += WARPS) {
        const float scale = xg_scale_to_parts(largest[line]);
        const float *from = shared + line * s->room + lane * 4;
        char *to = xg_place_of(s, line, lane * 4, parts);
        xg_counts counts = {0, 0, 0.0f};
        XG_UNROLL_BY(4)
        for (int left = s->depth - lane * 4; left > 0; left -= XG_CHUNK_K) {
            xg_put_four(to, *(const float4 *)from, scale, parts, &counts);
            from += XG_CHUNK_K;
            to += XG_CHUNK_K / XG_UNIT_K * parts * XG_PART_BYTES;
        }
        const float4 all = xg_counts_of_lanes(counts, 16);
        if (lane == 0)
            lines[line] = all;
    }
}

/* A warp: four lines and 32 k at once; two warps share the lines. */
XG_DEVICE void xg_slice_convert_along_lines(const xg_slice *s, const float *shared,
                                            const unsigned *largest, int parts, float4 *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int line = warp % 8 * 4 + lane / 8, first = lane % 8 * 4 + warp / 8 * 32;
    const float scale = xg_scale_to_parts(largest[line]);
    const float *from = shared + xg_rotated(first, line); /* the same rotation 64 k further */
    char *to = xg_place_of(s, line, first, parts);
    xg_counts counts = {0, 0, 0.0f};
    XG_UNROLL_BY(4)
    for (int left = s->depth - first; left > 0; left -= XG_UNIT_K) {
        const float4 x = {from[0], from[LINES], from[2 * LINES], from[3 * LINES]};
        xg_put_four(to, x, scale, parts, &counts);
        from += XG_UNIT_K * LINES;
        to += parts * XG_PART_BYTES;
    }
    const float4 all = xg_counts_of_lanes(counts, 4);
    if (lane % 8 == 0)
        lines[warp / 8 * LINES + line] = all;
}

/* Of one line, from its counts in this slice and its largest entry in all: c, z, n, r. */
XG_DEVICE float4 xg_guard_of_line(float4 counts, unsigned largest)
{
    const int exponent = (int)(largest >> 23) - 127;
    float4 guard = {counts.x, counts.y, counts.z, counts.w / 32768.0f}; /* at most the true r */
    if (largest == 0)
        guard = (float4){0.0f, 0.0f, 1.0e30f, 1.0e30f};
    else if (exponent < -XG_GUARD_EXPONENT || exponent > XG_GUARD_EXPONENT)
        guard = (float4){XG_GUARD_NEVER, XG_GUARD_NEVER, 0.0f, 0.0f};
    return guard;
}

/* One warp: the guard of the slice's lines together. */
XG_DEVICE void xg_slice_guard(const xg_slice *s, const float4 *lines, const unsigned *largest)
{
    const int line = (int)threadIdx.x;
    float4 counts = lines[line];
    if (!s->along_k) {
        const float4 more = lines[LINES + line];
        counts.x += more.x, counts.y += more.y, counts.z += more.z, counts.w += more.w;
    }
    counts.y -= (float)(s->depth - s->k); /* the padding's zeros meet zeros */
    float4 guard = xg_guard_of_line(counts, largest[line]);
    XG_UNROLL
    for (int bit = 16; bit > 0; bit /= 2) {
        guard.x = fmaxf(guard.x, __shfl_xor_sync(0xffffffffu, guard.x, bit));
        guard.y = fmaxf(guard.y, __shfl_xor_sync(0xffffffffu, guard.y, bit));
        guard.z = fminf(guard.z, __shfl_xor_sync(0xffffffffu, guard.z, bit));
        guard.w = fminf(guard.w, __shfl_xor_sync(0xffffffffu, guard.w, bit));
    }
    if (line == 0)
        *s->guard = guard;
}

XG_KERNEL
void __launch_bounds__(THREADS, 3) xg_fp16_split(const xg_args p)
{
    XG_DYNAMIC_SHARED(float, shared);
    const int parts = (int)p.k_part;
    const xg_fp16_layout at = xg_fp16_layout_of(p.m, p.n, p.k, parts);
    const xg_slice s = xg_slice_of(&p, &at);
    unsigned *const by_warp = (unsigned *)(shared + s.room * LINES); /* later: counts of lines */
    unsigned *const mine = by_warp + WARPS * 32, *const largest = mine + LINES;
    xg_grid_release();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ((xg_tile_list *)((char *)p.c + at.list))->count = 0;

    if (s.along_k)
        xg_slice_copy_along_k(&s, shared);
    else
        xg_slice_copy_along_lines(&s, shared);
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncthreads();
    if (s.along_k)
        xg_slice_largest_along_k(&s, shared, mine);
    else
        xg_slice_largest_along_lines(&s, shared, by_warp, mine);
    __syncthreads();
    xg_cluster_arrive();
    xg_cluster_wait();
    if (threadIdx.x < LINES) {
        unsigned all = 0;
        for (int rank = 0; rank < at.slices; rank++) {
            const unsigned other =
                xg_cluster_read(xg_shared_address(mine + threadIdx.x), (unsigned)rank);
            all = XG_MAX(all, other);
        }
        largest[threadIdx.x] = all;
        if (s.first_k == 0)
            s.scales[threadIdx.x] = xg_scale_from_parts(all);
    }
    __syncthreads();
    xg_cluster_arrive(); /* the others may have read by the time that this block ends */
    if (s.along_k)
        xg_slice_convert_along_k(&s, shared, largest, parts, (float4 *)by_warp);
    else
        xg_slice_convert_along_lines(&s, shared, largest, parts, (float4 *)by_warp);
    __syncthreads();
    if (threadIdx.x < 32)
        xg_slice_guard(&s, (const float4 *)by_warp, largest);
    xg_cluster_wait();
}

#undef LINES
#undef THREADS
#undef WARPS
#undef DEEP
