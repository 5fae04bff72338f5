/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits A and B into FP16 parts, as fp16_layout.h says. In the arguments C is the workspace,
 * k_part the number of parts, a_batch that of slices and b_batch of chunks in a slice.
 *
 * Idea: a line's scale hangs on all of its k, and each entry is to be read from memory once. So a
 * cluster of blocks holds 16 lines in shared memory, a slice of k each; the blocks exchange the
 * lines' largest entries, and convert what they hold. Copies are asynchronous, of 16 bytes where
 * the matrix lies for it, else of words; either way nothing is read past its edges.
 *
 * In shared memory a slice lies as the matrix does: along k, or 16 lines for each k, then
 * rotated by k / 4 * 4 words, and two rows exchanged where k has the bit 16, so that threads that
 * gather four k of a line meet in no bank.
 */
#include "dialect.h"
#include "fp16_guard.h"
#include "fp16_layout.h"
#include "ptx_sm90.h"

#define LINES   XG_SPLIT_LINES
#define THREADS XG_SPLIT_THREADS
#define WARPS   (THREADS / 32)
#define FOURS   (LINES / 4)
#define DEEP    (THREADS / FOURS) /* k that the threads cover at once where lines are contiguous */

/* The block's piece of an operand: 16 lines and a slice of k. */
typedef struct {
    const float *from;
    int64_t line_step, k_step;
    int lines, k; /* there are in the matrix; at most 16 and depth, and maybe none */
    int depth;    /* k of the slice, a multiple of 64 and at most the room; maybe 0 */
    int room;     /* k in shared memory */
    int along_k, fours;
    int first_line, first_k, k_blocks;
    char *units;
    float *scales;
    float4 *guard;
} xg_slice;

XG_DEVICE xg_slice xg_slice_of(const xg_args *p, const xg_fp16_layout *at)
{
    char *const workspace = (char *)p->c;
    const int slices = (int)p->a_batch, groups = at->a_blocks * XG_GUARD_GROUPS;
    const int group = (int)(blockIdx.x / (unsigned)slices);
    const int rank = (int)blockIdx.x - group * slices;
    const int is_a = group < groups, own = is_a ? group : group - groups;
    const int64_t size = is_a ? p->m : p->n;
    const float *matrix = is_a ? p->a : p->b;
    xg_slice s;
    s.line_step = is_a ? p->a_row : p->b_col;
    s.k_step = is_a ? p->a_col : p->b_row;
    s.room = (int)p->b_batch * XG_CHUNK_K;
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
    s.guard = (float4 *)(workspace + at->guards) + (int64_t)group * slices + rank;
    return s;
}

XG_DEVICE int xg_rotated(int k, int line)
{
    return (k * LINES + ((line + k / 4 * 4) & (LINES - 1))) ^ (k & 16);
}

/* How much of "most" is there when so much is left. */
XG_DEVICE int xg_there(int left, int most)
{
    return XG_MAX(XG_MIN(left, most), 0);
}

/* These four ask for the slice; what is past the matrix's edges becomes zero. */
XG_DEVICE void xg_copy_fours_along_k(const xg_slice *s, float *shared)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int line = warp; line < LINES; line += WARPS) {
        const float *from = s->from + line * s->line_step + lane * 4;
        float *to = shared + line * s->room + lane * 4;
        int left = line < s->lines ? s->k - lane * 4 : 0;
        XG_UNROLL_BY(4)
        for (int room = s->depth - lane * 4; room > 0; room -= XG_CHUNK_K) {
            xg_cp_async16(to, from, 4 * xg_there(left, 4));
            from += XG_CHUNK_K, to += XG_CHUNK_K, left -= XG_CHUNK_K;
        }
    }
}

XG_DEVICE void xg_copy_words_along_k(const xg_slice *s, float *shared)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int line = warp; line < LINES; line += WARPS) {
        const float *from = s->from + line * s->line_step + lane;
        float *to = shared + line * s->room + lane;
        int left = line < s->lines ? s->k - lane : 0;
        XG_UNROLL_BY(4)
        for (int room = s->depth; room > 0; room -= 32) {
            xg_cp_async4(to, from, left > 0 ? 4 : 0);
            from += 32, to += 32, left -= 32;
        }
    }
}

XG_DEVICE void xg_copy_fours_along_lines(const xg_slice *s, float *shared)
{
    const int line = (int)threadIdx.x % FOURS * 4, k = (int)threadIdx.x / FOURS;
    const int bytes = 4 * xg_there(s->lines - line, 4);
    const int64_t step = DEEP * s->k_step;
    const float *from = s->from + k * s->k_step + line;
    float *to = shared + xg_rotated(k, line);
    int left = s->k - k;
    XG_UNROLL_BY(4)
    for (int room = s->depth; room > 0; room -= DEEP) {
        xg_cp_async16(to, from, left > 0 ? bytes : 0);
        from += step, to += DEEP * LINES, left -= DEEP;
    }
}

XG_DEVICE void xg_copy_words_along_lines(const xg_slice *s, float *shared)
{
    enum { STEP = THREADS / LINES };
    const int line = (int)threadIdx.x % LINES, k = (int)threadIdx.x / LINES;
    const int bytes = line < s->lines ? 4 : 0;
    const int64_t step = STEP * s->k_step;
    const float *from = s->from + k * s->k_step + line;
    int to = xg_rotated(k, line), left = s->k - k;
    XG_UNROLL_BY(4)
    for (int room = s->depth; room > 0; room -= STEP) {
        xg_cp_async4(shared + to, from, left > 0 ? bytes : 0);
        from += step, left -= STEP;
        to = (to + STEP * LINES) ^ 16; /* STEP is 16: the rows are exchanged, or no longer */
    }
}

XG_DEVICE float xg_largest_of(float4 x, float most)
{
    most = fmaxf(fmaxf(most, fabsf(x.x)), fabsf(x.y));
    return fmaxf(fmaxf(most, fabsf(x.z)), fabsf(x.w));
}

/* The largest magnitude of each line in the slice into lines[]; NaN do not count here. */
XG_DEVICE void xg_slice_largest_along_k(const xg_slice *s, const float *shared, float *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int line = warp; line < LINES; line += WARPS) {
        const float *from = shared + line * s->room + lane * 4;
        float most = 0.0f;
        XG_UNROLL_BY(4)
        for (int room = s->depth - lane * 4; room > 0; room -= XG_CHUNK_K) {
            most = xg_largest_of(*(const float4 *)from, most);
            from += XG_CHUNK_K;
        }
        XG_UNROLL
        for (int bit = 16; bit > 0; bit /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, bit));
        if (lane == 0)
            lines[line] = most;
    }
}

/* by_warp: room for LINES floats of each warp. */
XG_DEVICE void xg_slice_largest_along_lines(const xg_slice *s, const float *shared, float *by_warp,
                                            float *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const float *from = shared + xg_rotated((int)threadIdx.x / FOURS, lane % FOURS * 4);
    float4 most = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(4)
    for (int room = s->depth; room > 0; room -= DEEP) {
        const float4 x = *(const float4 *)from;
        most.x = fmaxf(most.x, fabsf(x.x)), most.y = fmaxf(most.y, fabsf(x.y));
        most.z = fmaxf(most.z, fabsf(x.z)), most.w = fmaxf(most.w, fabsf(x.w));
        from += DEEP * LINES;
    }
    XG_UNROLL
    for (int bit = 16; bit >= FOURS; bit /= 2) {
        most.x = fmaxf(most.x, __shfl_xor_sync(0xffffffffu, most.x, bit));
        most.y = fmaxf(most.y, __shfl_xor_sync(0xffffffffu, most.y, bit));
        most.z = fmaxf(most.z, __shfl_xor_sync(0xffffffffu, most.z, bit));
        most.w = fmaxf(most.w, __shfl_xor_sync(0xffffffffu, most.w, bit));
    }
    if (lane < FOURS)
        *(float4 *)(by_warp + warp * LINES + lane * 4) = most;
    __syncthreads();
    if (threadIdx.x < LINES) {
        float all = 0.0f;
        XG_UNROLL
        for (int w = 0; w < WARPS; w++)
            all = fmaxf(all, by_warp[w * LINES + threadIdx.x]);
        lines[threadIdx.x] = all;
    }
}

/* 2^(14 - exponent of the largest), or what is nearest to it that is normal. */
XG_DEVICE unsigned xg_exponent_of(float largest)
{
    return XG_MIN(XG_MAX(xg_bits_of(largest) >> 23, XG_SCALED_EXPONENT + 1u), 253u);
}

XG_DEVICE float xg_scale_to_parts(float largest)
{
    const unsigned exponent = xg_exponent_of(largest);
    return xg_float_of((254u + XG_SCALED_EXPONENT - exponent) << 23);
}

XG_DEVICE float xg_scale_from_parts(float largest)
{
    return xg_float_of((xg_exponent_of(largest) - XG_SCALED_EXPONENT) << 23);
}

/* What fp16_guard.h counts, of a thread's share of one line. */
typedef struct {
    unsigned zero_small; /* zeros and small entries, and the small ones alone in the high half */
    unsigned large;
    float sum;
} xg_counts;

XG_DEVICE void xg_count_small(xg_counts *counts, float x, float scaled, float small)
{
    if (fabsf(scaled) < small)
        counts->zero_small += x != 0.0f ? 0x10001u : 1u;
}

/* Large entries are counted by fours, which is no more than there are. */
XG_DEVICE void xg_count_four(xg_counts *counts, float4 x, float4 scaled, int parts)
{
    const float small = parts == 2 ? XG_GUARD_SMALL : XG_GUARD_SMALL_ALONE;
    const float least =
        fminf(fminf(fabsf(scaled.x), fabsf(scaled.y)), fminf(fabsf(scaled.z), fabsf(scaled.w)));
    counts->sum += (fabsf(scaled.x) + fabsf(scaled.y)) + (fabsf(scaled.z) + fabsf(scaled.w));
    if (least >= XG_GUARD_LARGE)
        counts->large += 4;
    if (least < small) { /* rare */
        xg_count_small(counts, x.x, scaled.x, small);
        xg_count_small(counts, x.y, scaled.y, small);
        xg_count_small(counts, x.z, scaled.z, small);
        xg_count_small(counts, x.w, scaled.w, small);
    }
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
    xg_count_four(counts, x, y, parts);
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
                                        const float *largest, int parts, float4 *lines)
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
                                            const float *largest, int parts, float4 *lines)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int line = warp % FOURS * 4 + lane / 8, first = lane % 8 * 4 + warp / FOURS * 32;
    const float scale = xg_scale_to_parts(largest[line]);
    const float *from = shared + xg_rotated(first, line); /* 64 k further the same */
    const float *next = shared + xg_rotated(first + 1, line);
    char *to = xg_place_of(s, line, first, parts);
    xg_counts counts = {0, 0, 0.0f};
    XG_UNROLL_BY(4)
    for (int left = s->depth - first; left > 0; left -= XG_UNIT_K) {
        const float4 x = {from[0], next[0], from[2 * LINES], next[2 * LINES]};
        xg_put_four(to, x, scale, parts, &counts);
        from += XG_UNIT_K * LINES, next += XG_UNIT_K * LINES;
        to += parts * XG_PART_BYTES;
    }
    const float4 all = xg_counts_of_lanes(counts, 4);
    if (lane % 8 == 0)
        lines[warp / FOURS * LINES + line] = all;
}

/* Of one line, from its counts in this slice and its largest entry in all: c, z, n, r. */
XG_DEVICE float4 xg_guard_of_line(float4 counts, float largest)
{
    const int exponent = (int)(xg_bits_of(largest) >> 23) - 127;
    const int finite = counts.w < 1.0e30f; /* false for NaN too */
    const float most = largest * xg_scale_to_parts(largest);
    float4 guard = {counts.x, counts.y, counts.z, counts.w / most};
    if (largest == 0.0f && finite)
        guard = (float4){0.0f, 0.0f, 1.0e30f, 1.0e30f};
    else if (!finite || exponent < -XG_GUARD_EXPONENT || exponent > XG_GUARD_EXPONENT)
        guard = (float4){XG_GUARD_NEVER, XG_GUARD_NEVER, 0.0f, 0.0f};
    return guard;
}

/* One warp: the guard of the slice's lines together. */
XG_DEVICE void xg_slice_guard(const xg_slice *s, const float4 *lines, const float *largest)
{
    const int line = (int)threadIdx.x % LINES;
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
    if (threadIdx.x == 0)
        *s->guard = guard;
}

XG_KERNEL
void __launch_bounds__(THREADS, 6) xg_fp16_split(const xg_args p)
{
    XG_DYNAMIC_SHARED(float, shared);
    const xg_fp16_layout at = xg_fp16_layout_of(p.m, p.n, p.k, (int)p.k_part);
    const xg_slice s = xg_slice_of(&p, &at);
    float *const by_warp = shared + s.room * LINES; /* later: counts of lines */
    float *const mine = by_warp + WARPS * LINES, *const largest = mine + LINES;
    xg_grid_release();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ((xg_tile_list *)((char *)p.c + at.list))->count = 0;

    if (s.along_k && s.fours)
        xg_copy_fours_along_k(&s, shared);
    else if (s.along_k)
        xg_copy_words_along_k(&s, shared);
    else if (s.fours)
        xg_copy_fours_along_lines(&s, shared);
    else
        xg_copy_words_along_lines(&s, shared);
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncthreads();
    if (s.along_k)
        xg_slice_largest_along_k(&s, shared, mine);
    else
        xg_slice_largest_along_lines(&s, shared, by_warp, mine);
    xg_cluster_arrive();
    xg_cluster_wait();
    if (threadIdx.x < LINES) {
        float all = 0.0f;
        const unsigned there = xg_shared_address(mine + threadIdx.x);
        XG_UNROLL_BY(8)
        for (unsigned rank = 0; rank < (unsigned)p.a_batch; rank++)
            all = fmaxf(all, xg_float_of(xg_cluster_read(there, rank)));
        largest[threadIdx.x] = all;
        if (s.first_k == 0)
            s.scales[threadIdx.x] = xg_scale_from_parts(all);
    }
    __syncthreads();
    xg_cluster_arrive(); /* the others may have read by the time that this block ends */
    if (s.along_k)
        xg_slice_convert_along_k(&s, shared, largest, (int)p.k_part, (float4 *)by_warp);
    else
        xg_slice_convert_along_lines(&s, shared, largest, (int)p.k_part, (float4 *)by_warp);
    __syncthreads();
    if (threadIdx.x < 32)
        xg_slice_guard(&s, (const float4 *)by_warp, largest);
    xg_cluster_wait();
}

#undef LINES
#undef THREADS
#undef WARPS
#undef DEEP
#undef FOURS
