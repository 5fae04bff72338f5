/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * residue_reduce_c64: C from its residues (digits.h), and the epilogue, of complex numbers. With
 * the real parts x of an entry of A and u of one of B, and their imaginary parts y and v, there are
 * residues of the sums of x u, y v and (x + y)(u + v): the first less the second is C's real part,
 * and the third less both its imaginary one. Modulo P differences need no reduction.
 *
 * The epilogue is computed in sums of two doubles: however many terms complex alpha and beta give
 * a part of C, it is rounded once more. Elements of which residues do not serve a part are computed
 * from A and B by their warp (exact_sum.h).
 *
 * A thread has two neighbours of a row; the grid's x is columns and y rows.
 */
#include "families/common/epilogue_typed.h"
#include "digits.h"
#include "exact_sum.h"

#define THREADS_X 64
#define THREADS_Y 4
#define COLUMNS   2 /* of a thread */
#define PARTS     2
#define PRODUCTS  XG_RESIDUE_PRODUCTS(PARTS)

/* The parts of an element before the epilogue; and what the parts' residues add up to. */
typedef struct {
    double part[PARTS];
} element;

typedef struct {
    double digit[PARTS][XG_DIGITS];
} element_digits;

/* Residues are signed bytes, of neighbouring elements packed: (byte ^ 0x80) - 128 has the sign. */
XG_DEVICE void add_residues(element_digits to[COLUMNS], const unsigned residues[PRODUCTS],
                            int modulus)
{
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++) {
        int y[PRODUCTS];
        XG_UNROLL
        for (int i = 0; i < PRODUCTS; i++)
            y[i] = (int)((residues[i] ^ 0x8080) >> 8 * e & 0xff) - 128;
        xg_add_residue(to[e].digit[0], y[0] - y[1], modulus);
        xg_add_residue(to[e].digit[1], y[2] - y[0] - y[1], modulus);
    }
}

XG_DEVICE void set_element(element *to, element_digits *from, int count, double row_scale,
                           double column_scale)
{
    XG_UNROLL
    for (int i = 0; i < PARTS; i++)
        to->part[i] = xg_integer_of(from->digit[i], xg_residue_product[count - XG_RESIDUES_LEAST]) *
                      row_scale * column_scale;
}

/* Whether residues do not serve a part of any of the thread's elements: a bit for each. */
XG_DEVICE unsigned others_of(const xg_residue_reduce_args *p, int64_t row, int64_t column)
{
    const uint8_t *const from = p->residues + p->others + row * p->others_stride + column;
    unsigned others = 0;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++)
        if (column + e < p->n && (from[e] | from[p->n + e]) != 0)
            others |= 1u << e;
    return others;
}

/*
 * All lanes get one part of a sum, of which each has every 32nd term. Its terms are the products of
 * A's real parts with part "of_b" of B, and those of A's imaginary parts with the other, each kind
 * times a sign.
 */
XG_DEVICE_NOINLINE double exact_dot_part(const double *a, int64_t a_stride, const double *b,
                                         int64_t b_stride, int64_t k, int of_b, double sign_real,
                                         double sign_imaginary)
{
    xg_exact_sum sum = {0.0, 0.0, 0.0};
    for (int64_t l = xg_lane(); l < k; l += 32) {
        const double *const x = a + 2 * l * a_stride, *const y = b + 2 * l * b_stride;
        xg_exact_add_product(&sum, sign_real * x[0], y[of_b]);
        xg_exact_add_product(&sum, sign_imaginary * x[1], y[1 - of_b]);
    }
    xg_exact_over_warp(&sum);
    return xg_exact_value(&sum);
}

/* Both parts of these elements of a warp, "others" of a thread: all lanes, one after the other. */
XG_DEVICE void compute_others(const xg_residue_reduce_args *p, unsigned others, int64_t row,
                              int64_t column, element sum[COLUMNS])
{
    const double sign_a = p->epilogue.a_conjugate ? -1.0 : 1.0;
    const double sign_b = p->epilogue.b_conjugate ? -1.0 : 1.0;
    const double *const a = p->a + PARTS * row * p->a_stride_m;
    unsigned count = 0;
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++) {
        unsigned left = __ballot_sync(0xffffffffu, others >> e & 1);
        count += xg_popcount(left);
        while (left != 0) {
            const unsigned lane = xg_lowest_set_bit(left);
            const unsigned at = __shfl_sync(0xffffffffu, (unsigned)(column + e), lane);
            const double *const b = p->b + PARTS * (int64_t)at * p->b_stride_n;
            const double real =
                exact_dot_part(a, p->a_stride_k, b, p->b_stride_k, p->k, 0, 1.0, -sign_a * sign_b);
            const double imaginary =
                exact_dot_part(a, p->a_stride_k, b, p->b_stride_k, p->k, 1, sign_b, sign_a);
            if (xg_lane() == lane)
                sum[e].part[0] = real, sum[e].part[1] = imaginary;
            left &= left - 1;
        }
    }
    if (xg_lane() == 0 && count > 0)
        atomicAdd(&p->ratios->recomputed, (unsigned long long)count);
}

/* The new value of an element's real part, or of its imaginary one, with what is in C. */
XG_DEVICE double finished(const xg_scalars_f64 *by, const element *sum, const double old[PARTS],
                          int imaginary)
{
    const double sign = imaginary ? 1.0 : -1.0;
    xg_exact_sum all = {0.0, 0.0, 0.0};
    if (!by->alpha_is_0) {
        xg_exact_add_product(&all, by->alpha[0], sum->part[imaginary]);
        xg_exact_add_product(&all, sign * by->alpha[1], sum->part[1 - imaginary]);
    }
    if (!by->beta_is_0) {
        xg_exact_add_product(&all, by->beta[0], old[imaginary]);
        xg_exact_add_product(&all, sign * by->beta[1], old[1 - imaginary]);
    }
    return xg_exact_value(&all);
}

XG_DEVICE void store(const xg_scalars_f64 *by, double *c, const element *sum)
{
    const int is_aligned = (uintptr_t)c % 16 == 0;
    double old[PARTS] = {0.0, 0.0};
    if (!by->beta_is_0 && is_aligned) {
        const double2 both = *(const double2 *)(const void *)c;
        old[0] = both.x, old[1] = both.y;
    } else if (!by->beta_is_0) {
        old[0] = c[0], old[1] = c[1];
    }
    const double2 both = {finished(by, sum, old, 0), finished(by, sum, old, 1)};
    if (is_aligned) {
        *(double2 *)(void *)c = both;
        return;
    }
    c[0] = both.x;
    c[1] = both.y;
}

XG_KERNEL(__launch_bounds__(THREADS_X *THREADS_Y), residue_reduce_c64, xg_residue_reduce_args)
{
    const int64_t column = ((int64_t)blockIdx.x * THREADS_X + threadIdx.x) * COLUMNS;
    const int64_t row = XG_BLOCK_Y * THREADS_Y + threadIdx.y;
    element_digits digits[COLUMNS] = {{{{0.0}}}};
    element sum[COLUMNS];
    unsigned others = 0;
    xg_pdl_wait();
    xg_pdl_trigger();
    const int count = xg_residue_count(p.ratios);
    if (count == 0 && row == 0 && column == 0)
        p.ratios->recomputed += (unsigned long long)p.m * (unsigned long long)p.n;
    if (count == 0 || row >= p.m) /* whole warps: a warp has a row */
        return;
    if (column < p.n) {
        const int64_t plane = p.m * p.residue_stride;
        const uint8_t *from = p.residues + row * p.residue_stride + column;
        const double less = 1.0 / (double)(1 << XG_RESIDUE_MORE_BITS(count));
        XG_UNROLL
        for (int i = 0; i < XG_RESIDUES_MOST; i++)
            if (i < count) {
                unsigned residues[PRODUCTS];
                XG_UNROLL
                for (int j = 0; j < PRODUCTS; j++)
                    residues[j] =
                        *(const uint16_t *)(const void *)(from + (PRODUCTS * i + j) * plane);
                add_residues(digits, residues, i);
            }
        XG_UNROLL
        for (int e = 0; e < COLUMNS; e++)
            if (column + e < p.n)
                set_element(&sum[e], &digits[e], count, p.about[row].unscale * less,
                            p.about[p.about_b + column + e].unscale * less);
        others = others_of(&p, row, column);
    }
    if (__any_sync(0xffffffffu, others != 0))
        compute_others(&p, others, row, column, sum);
    const xg_scalars_f64 by = xg_scalars_of_f64(&p.epilogue);
    XG_UNROLL
    for (int e = 0; e < COLUMNS; e++)
        if (column + e < p.n)
            store(&by, p.c + PARTS * (row * p.c_stride_m + column + e), &sum[e]);
}
