/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * residue_reduce: C from its residues by the Chinese remainder theorem, and the epilogue.
 *
 * With y_i the residues that product.inc stores, an element's integer divided by P is the sum of
 * y_i / p_i, up to an integer. 1 / p_i has four digits of 40 bits (moduli.h), so that sums of their
 * products with y_i are exact in doubles: below 2^52. Carries make all digits but the first at most
 * 2^39 in magnitude, and the first one, too, as the integer part is dropped. The digits left out
 * are below 2^-148, or 2^-15 of the element's integer: where this is below 2^45 it is rounded to
 * one; else 2^-15 is less than 2^-60 of it. The rest is done in sums of two doubles, to 2^-75 and
 * better. So the double that comes out is the integer rounded once, but for 2^-60 of it.
 *
 * Elements that residues do not serve are computed from A and B by their warp (exact_dot.h).
 *
 * A thread has two neighbours of a row; the grid's x is columns and y rows.
 */
#include "families/common/epilogue_typed.h"
#include "moduli.h"
#include "exact_dot.h"

#define THREADS_X 64
#define THREADS_Y 4
#define COLUMNS   2 /* of a thread */
#define DIGITS    4
#define BASE      0x1p40

/* Sums of digits times residues, of each column. */
typedef struct {
    double digit[COLUMNS][DIGITS];
} digit_sums;

/*
 * Residues are a number's low bits when 128 is added to them. By this, since a conversion takes
 * four times as long as an addition.
 */
XG_DEVICE void add_residues(digit_sums *to, unsigned residues, int modulus)
{
    const unsigned positive = residues ^ 0x8080;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++) {
        const unsigned low = positive >> 8 * e & 0xff;
        const double y = xg_double_of(0x4330000000000000 | (long long)low) - (0x1p52 + 128.0);
        XG_UNROLL
        for (int j = 0; j < DIGITS; j++)
            to->digit[e][j] = fma(y, xg_residue_digits[modulus][j], to->digit[e][j]);
    }
}

/* Drops leading zeros, so that the first digit is not 0, or only one is left; by how many digits.
 */
XG_DEVICE int normalize(double digit[DIGITS])
{
    int dropped = 0;
    XG_UNROLL
    for (int i = 0; i < DIGITS - 1; i++) {
        if (digit[0] != 0.0)
            break;
        XG_UNROLL
        for (int j = 0; j + 1 < DIGITS; j++)
            digit[j] = digit[j + 1];
        digit[DIGITS - 1] = 0.0;
        dropped++;
    }
    return dropped;
}

/* The integer of an element, by its digits, rounded once. */
XG_DEVICE double integer_of(double digit[DIGITS], const double product[2])
{
    XG_UNROLL
    for (int j = DIGITS - 1; j >= 0; j--) {
        const double carry = rint(digit[j] * (1.0 / BASE));
        digit[j] = fma(-BASE, carry, digit[j]);
        if (j > 0)
            digit[j - 1] += carry;
    }
    const int dropped = normalize(digit);
    /* the first three digits as a sum of two doubles, in units of the third */
    const double first = digit[0] * (BASE * BASE), second = digit[1] * BASE;
    const double high = first + second, low = (second - (high - first)) + digit[2];
    const double unit = dropped == 0   ? 0x1p-120
                        : dropped == 1 ? 0x1p-160
                        : dropped == 2 ? 0x1p-200
                                       : 0x1p-240;
    const double x = high * unit, y = low * unit;
    /* rounded: as a part of a fused multiply-add below it would not be what "rest" is the rest of
     */
    const double large = __dmul_rn(x, product[0]);
    const double rest = fma(x, product[0], -large) + fma(x, product[1], y * product[0]);
    const double integer = large + rest;
    return fabs(integer) < 0x1p45 ? rint(integer) : integer;
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
            const double exact =
                xg_exact_dot(p->a + row * p->a_stride_m, p->a_stride_k,
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
    digit_sums sums = {{{0.0}}};
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
                add_residues(&sums, *(const uint16_t *)(const void *)(from + i * plane), i);
        others = *(const uint16_t *)(const void *)(from + XG_RESIDUES_MOST * plane);
        const int index = count - XG_RESIDUES_LEAST;
        const double less = 1.0 / (double)(1 << XG_RESIDUE_MORE_BITS(count));
        const double row_scale = p.about[row].unscale * less;
        XG_UNROLL
        for (int e = 0; e < COLUMNS; e++)
            if (column + e < p.n)
                sum[e] = integer_of(sums.digit[e], xg_residue_product[index]) * row_scale *
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
