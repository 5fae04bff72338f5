/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half_align: copies of operands of 16-bit elements whose lines begin at multiples of 16 bytes, so
 * that TMA can read them. Lines are rows or columns, whichever is contiguous; what follows their
 * last element up to a multiple of 8 is zero.
 *
 * A thread stores chunks of 8 elements, 16 bytes, which it finds in two aligned vectors of the
 * line; a vector that is not wholly inside the line is read by elements. The grid's x is those of
 * the first operand, then of the second, and z the product of a batch.
 */
#include "args.h"
#include "families/common/batch.h"
#include "families/common/ptx.h"
#include "families/common/shifted_vector.h"

#define THREADS 256
#define CHUNK   8
#define CHUNKS  4 /* of a thread, THREADS apart */

/* The line's elements from "first" on, as far as there are such: an aligned vector. */
XG_DEVICE uint4 load_vector(const uint16_t *line, int64_t length, int64_t first)
{
    uint4 four = {0, 0, 0, 0};
    if (first >= 0 && first + CHUNK <= length)
        return *(const uint4 *)(const void *)(line + first);
    if (first + CHUNK <= 0 || first >= length)
        return four;
    unsigned words[CHUNK / 2] = {0, 0, 0, 0};
    XG_UNROLL
    for (int i = 0; i < CHUNK; i++)
        if (first + i >= 0 && first + i < length)
            words[i / 2] |= (unsigned)line[first + i] << 16 * (i % 2);
    four.x = words[0], four.y = words[1], four.z = words[2], four.w = words[3];
    return four;
}

XG_DEVICE void align(const xg_half_aligned *of, unsigned cta, int once)
{
    const int64_t per_line = of->to_stride / CHUNK;
    const uint16_t *const from =
        (const uint16_t *)xg_matrix_of_batch(of->from, of->batch_stride, sizeof *from);
    uint16_t *const to = of->to + (once ? 0 : XG_BATCH * of->lines * of->to_stride);
    XG_UNROLL
    for (int i = 0; i < CHUNKS; i++) {
        const int64_t chunk = ((int64_t)cta * CHUNKS + i) * THREADS + threadIdx.x;
        const int small = of->lines * per_line <= INT32_MAX; /* 64-bit divisions are long */
        const int64_t at_line =
            small ? (int64_t)((unsigned)chunk / (unsigned)per_line) : chunk / per_line;
        if (at_line >= of->lines)
            return;
        const int64_t first = (chunk - at_line * per_line) * CHUNK;
        const uint16_t *const line = from + at_line * of->stride;
        const int shift = (int)((uintptr_t)line / 2 % CHUNK);
        const uint4 low = load_vector(line, of->length, first - shift);
        const uint4 high = shift > 0 ? load_vector(line, of->length, first - shift + CHUNK) : low;
        *(uint4 *)(void *)(to + at_line * of->to_stride + first) =
            xg_shifted_vector(low, high, shift);
    }
}

XG_KERNEL(__launch_bounds__(THREADS), half_align, xg_half_align_args)
{
    const int second = blockIdx.x >= p.ctas[0];
    xg_pdl_wait();
    xg_pdl_trigger();
    if ((second ? p.is_common[1] : p.is_common[0]) && XG_BATCH > 0)
        return; /* the first product's CTAs copy it for all */
    if (second)
        align(&p.operands[1], blockIdx.x - p.ctas[0], (int)p.is_common[1]);
    else
        align(&p.operands[0], blockIdx.x, (int)p.is_common[0]);
}
