/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * residue_scale: of each line of A and B (args.h) the power of two by which it is scaled, its norm,
 * what rounding it to integers leaves, and its magnitudes as bytes: entries relative to 2^-7 of the
 * power of two above the largest, cut off, so that products of magnitudes are lower bounds of
 * |A||B|.
 *
 * A CTA has 16 lines and reads them twice, as far as L2 holds them once. Sums are added up in the
 * same order each time. A line with Inf or NaN, or whose squares are too large or too small, has an
 * infinite norm: no element is computed by it.
 */
#include "lines.h"

/* Beyond these a square's exponent, or a scaled element's, might not be a normal number's. */
#define SQUARES_LEAST 0x1p-800
#define SQUARES_MOST  0x1p+800

/* What a line's threads find together. */
typedef struct {
    double largest, squares;
} line_size;

/* A sum of the line's threads, in a fixed order, or their maximum. */
XG_DEVICE double over_line(const xg_line_reader *by, double *shared, double x, int maximum)
{
    double all = 0.0;
    __syncthreads();
    shared[by->line_in_cta * WAYS + by->way] = x;
    __syncthreads();
    XG_UNROLL
    for (int i = 0; i < WAYS; i++) {
        const double other = shared[by->line_in_cta * WAYS + i];
        all = maximum ? fmax(all, other) : all + other;
    }
    return all;
}

XG_DEVICE line_size measure(const xg_line_reader *by, double *shared)
{
    double largest = 0.0, squares = 0.0;
    XG_UNROLL_BY(1)
    for (int64_t k = by->first; k < by->k; k += SLAB_K) {
        XG_UNROLL
        for (int i = 0; i < UNITS; i++) {
            double x[UNIT];
            xg_read_unit(by, k + i * by->unit_step, x);
            XG_UNROLL
            for (int e = 0; e < UNIT; e++) {
                largest = fmax(largest, fabs(x[e]));
                squares = fma(x[e], x[e], squares);
            }
        }
    }
    const line_size of = {over_line(by, shared, largest, 1), over_line(by, shared, squares, 0)};
    return of;
}

/* The exponent of a normal number, and 2^exponent. */
XG_DEVICE int exponent_of(double x)
{
    return (int)(xg_bits_of_double(x) >> 52 & 0x7ff) - 1023;
}

XG_DEVICE double power_of_2(int exponent)
{
    return xg_double_of((long long)(exponent + 1023) << 52);
}

/* Less than 128, but of unusable lines: 0. */
XG_DEVICE unsigned magnitude_of(double x, double to_magnitude)
{
    const double magnitude = fabs(x) * to_magnitude;
    return magnitude < 128.0 ? (unsigned)(int)magnitude : 0;
}

/*
 * The line's magnitudes; and of what rounding leaves of the scaled entries the sum of squares, and
 * how many entries it leaves something of. An entry that becomes 0 counts as if it left 2^-30 at
 * least, so that none is lost where its square would be.
 */
XG_DEVICE void write_magnitudes(const xg_line_reader *by, int8_t *line, int64_t stride,
                                double scale, double to_magnitude, double *squares, double *count)
{
    double left = 0.0;
    int rounded = 0;
    XG_UNROLL_BY(1)
    for (int64_t k = by->first; k < stride; k += SLAB_K) {
        unsigned words[UNITS];
        XG_UNROLL
        for (int i = 0; i < UNITS; i++) {
            double x[UNIT];
            unsigned byte[UNIT];
            xg_read_unit(by, k + i * by->unit_step, x);
            XG_UNROLL
            for (int e = 0; e < UNIT; e++) {
                const double scaled = x[e] * scale, integer = rint(scaled);
                double rest = fabs(scaled - integer);
                if (integer == 0.0 && x[e] != 0.0)
                    rest = fmax(rest, 0x1p-30);
                left = fma(rest, rest, left);
                rounded += rest != 0.0;
                byte[e] = magnitude_of(x[e], to_magnitude);
            }
            words[i] = xg_pack_bytes(byte);
        }
        xg_write_units(by, line, k, stride, words);
    }
    *squares = left;
    *count = (double)rounded;
}

/* Norms are rounded up: sums of 2^17 squares, and their roots, are off by less than 2^-30. */
XG_DEVICE xg_residue_line describe(const xg_line_reader *by, int8_t *line, int64_t stride,
                                   const line_size *size, double *shared)
{
    const double up = 1.0 + 0x1p-30, up_float = 1.0 + 0x1p-20;
    const double norm = sqrt(size->squares) * up;
    const int is_zero = size->largest == 0.0;
    const int exponent = is_zero ? 0 : exponent_of(XG_RESIDUE_NORM / norm);
    const double to_magnitude = is_zero ? 0.0 : power_of_2(6 - exponent_of(size->largest));
    double left, count;
    xg_residue_line of;
    of.scale = power_of_2(exponent);
    of.unscale = power_of_2(-exponent);
    write_magnitudes(by, line, stride, of.scale, to_magnitude, &left, &count);
    left = over_line(by, shared, left, 0);
    count = over_line(by, shared, count, 0);
    const double unit = of.unscale * to_magnitude * up_float;
    of.norm = (float)(norm * to_magnitude * up_float);
    of.rounded = (float)(sqrt(left) * up * unit);
    of.rounded_most = (float)(0.5 * sqrt(count) * unit);
    return of;
}

XG_KERNEL(__launch_bounds__(THREADS), residue_scale, xg_residue_split_args)
{
    __shared__ double shared[THREADS];
    const int second = blockIdx.x >= p.ctas_a;
    const xg_residue_operand of = xg_operand_of(&p, second);
    const int64_t first = (int64_t)(blockIdx.x - (second ? p.ctas_a : 0)) * LINES;
    xg_pdl_wait();
    xg_pdl_trigger();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        p.ratios->ratio = p.ratios->ratio_most = p.ratios->others = 0;
        p.ratios->others_most = p.others_most;
        if (!p.later_pass)
            p.ratios->recomputed = 0;
    }
    const xg_line_reader by = xg_line_reader_of(&of, first, p.k);
    int8_t *const line = of.planes + by.line * p.to_stride;
    const line_size size = measure(&by, shared);
    const int is_usable = (size.largest == 0.0 && size.squares == 0.0) ||
                          (size.squares >= SQUARES_LEAST && size.squares <= SQUARES_MOST);
    /* Of unusable lines with the same barriers: none is skipped by a part of the CTA. */
    const line_size measured = {is_usable ? size.largest : 0.0, is_usable ? size.squares : 0.0};
    const xg_residue_line about = describe(&by, line, p.to_stride, &measured, shared);
    if (by.is_inside && by.way == 0) {
        xg_residue_line *const to = &of.about[by.line];
        to->norm = is_usable ? about.norm : xg_float_of(0x7f800000);
        to->rounded = about.rounded;
        to->rounded_most = about.rounded_most;
        to->scale = about.scale;
        to->unscale = about.unscale;
    }
}
