/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * residue_reduce: C from its residues (digits.h), and the epilogue. Elements that residues do not
 * serve are computed from A and B by their warp (exact_sum.h).
 *
 * A thread has two neighbours of a row; the grid's x is columns and y rows.
 */
#include "families/common/epilogue_typed.h"
#include "digits.h"
#include "exact_sum.h"

#define THREADS_X 64
#define THREADS_Y 4
#define COLUMNS   2 /* of a thread */

/* Residues are a number's low bits when 128 is added to them. */
XG_DEVICE void add_residues(double digit[COLUMNS][XG_DIGITS], unsigned residues, int modulus)
{
    const unsigned positive = residues ^ 0x8080;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++)
        xg_add_residue(digit[e], (int)(positive >> 8 * e & 0xff) - 128, modulus);
}

/* All lanes get the sum, of which each has every 32nd term. */
XG_DEVICE_NOINLINE double exact_dot(const double *a, int64_t a_stride, const double *b,
                                    int64_t b_stride, int64_t k)
{
    xg_exact_sum sum = {0.0, 0.0, 0.0};
    for (int64_t l = xg_lane(); l < k; l += 32)
        xg_exact_add_product(&sum, a[l * a_stride], b[l * b_stride]);
    xg_exact_over_warp(&sum);
    return xg_exact_value(&sum);
}

/*
 * The elements of a warp that residues do not serve, whose bytes are 1: "others" has those of a
 * thread. All lanes compute one after the other.
 */
XG_DEVICE void compute_others(const xg_residue_reduce_args *p, unsigned others, int64_t row,
                              int64_t column, double sum[COLUMNS])
{
    unsigned count = 0;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++) {
        unsigned left = __ballot_sync(0xffffffffu, others >> 8 * e & 1);
        count += xg_popcount(left);
        while (left != 0) {
            const unsigned lane = xg_lowest_set_bit(left);
            const unsigned at = __shfl_sync(0xffffffffu, (unsigned)(column + e), lane);
            const double exact = exact_dot(p->a + row * p->a_stride_m, p->a_stride_k,
                                           p->b + (int64_t)at * p->b_stride_n, p->b_stride_k, p->k);
            if (xg_lane() == lane)
                sum[e] = exact;
            left &= left - 1;
        }
    }
    if (xg_lane() == 0 && count > 0)
        atomicAdd(&p->ratios->recomputed, (unsigned long long)count);
}

XG_KERNEL(__launch_bounds__(THREADS_X *THREADS_Y), residue_reduce, xg_residue_reduce_args)
{
    const int64_t column = ((int64_t)blockIdx.x * THREADS_X + threadIdx.x) * COLUMNS;
    const int64_t row = XG_BLOCK_Y * THREADS_Y + threadIdx.y;
    double digit[COLUMNS][XG_DIGITS] = {{0.0}};
    xg_pdl_wait();
    xg_pdl_trigger();
    const int count = xg_residue_count(p.ratios);
    if (count == 0 && row == 0 && column == 0)
        p.ratios->recomputed += (unsigned long long)p.m * (unsigned long long)p.n;
    if (count == 0 || row >= p.m) /* whole warps: a warp has a row */
        return;
    const int64_t plane = p.m * p.residue_stride;
    const int is_inside = column < p.n;
    const uint8_t *from = p.residues + row * p.residue_stride + column;
    double sum[COLUMNS] = {0.0, 0.0};
    unsigned others = 0;
    if (is_inside) {
        XG_UNROLL
        for (int i = 0; i < XG_RESIDUES_MOST; i++)
            if (i < count)
                add_residues(digit, *(const uint16_t *)(const void *)(from + i * plane), i);
        others = *(const uint16_t *)(const void *)(p.residues + p.others + row * p.others_stride +
                                                   column);
        const int index = count - XG_RESIDUES_LEAST;
        const double less = 1.0 / (double)(1 << XG_RESIDUE_MORE_BITS(count));
        const double row_scale = p.about[row].unscale * less;
        XG_UNROLL
        for (int e = 0; e < COLUMNS; e++)
            if (column + e < p.n)
                sum[e] = xg_integer_of(digit[e], xg_residue_product[index]) * row_scale *
                         (p.about[p.about_b + column + e].unscale * less);
    }
    if (__any_sync(0xffffffffu, others != 0))
        compute_others(&p, others, row, column, sum);
    if (!is_inside)
        return;
    const xg_scalars_f64 by = xg_scalars_of_f64(&p.epilogue);
    const int64_t at = row * p.c_stride_m + column;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++)
        if (column + e < p.n)
            sum[e] = xg_finished_real_f64(&p.epilogue, &by, p.c, at + e, row, column + e, sum[e]);
    if (column + 1 < p.n && (uintptr_t)(p.c + at) % 16 == 0) {
        const double2 both = {sum[0], sum[1]};
        *(double2 *)(void *)(p.c + at) = both;
        return;
    }
    p.c[at] = sum[0];
    if (column + 1 < p.n)
        p.c[at + 1] = sum[1];
}
