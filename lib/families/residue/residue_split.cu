/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * residue_split: the entries of A and B, scaled and rounded to integers, by their residues: for
 * each modulus a plane of bytes, K-major as wgmma wants it, whatever the operand is. How many
 * moduli there are, and so how many bits an integer has, follows from the elements of C
 * (product.inc); with none nothing is written.
 *
 * An integer is below 2^66 in magnitude. Doubles hold it as two halves, and their bits as words:
 * the numbers that are added leave them in the low bits of the sum.
 */
#include "lines.h"

#define INTEGERS (UNITS * UNIT) /* of a thread */

/* Words of integers as moduli.h has them. */
typedef struct {
    unsigned low[INTEGERS], middle[INTEGERS], high[INTEGERS];
} integers;

XG_DEVICE void to_words(double scaled, integers *to, int i)
{
    const double two_to_32 = 0x1p32, integer = rint(scaled);
    const double upper = floor(integer * 0x1p-32), lower = fma(-two_to_32, upper, integer);
    const long long low = xg_bits_of_double(lower + 0x1p52);
    const long long rest = xg_bits_of_double(upper + (0x1p52 + 0x1p47));
    to->low[i] = (unsigned)low;
    to->middle[i] = (unsigned)rest;
    to->high[i] = (unsigned)(rest >> 32) & 0xfffff;
}

XG_DEVICE void load(const xg_line_reader *by, int64_t k, double scale, integers *to)
{
    XG_UNROLL
    for (int i = 0; i < UNITS; i++) {
        double x[UNIT];
        xg_read_unit(by, k + i * by->unit_step, x);
        XG_UNROLL
        for (int e = 0; e < UNIT; e++)
            to_words(x[e] * scale, to, UNIT * i + e);
    }
}

/* The residues of all integers by one modulus. */
XG_DEVICE void reduce(const integers *of, int modulus, unsigned words[UNITS])
{
    const unsigned *const by = xg_residue_words[modulus];
    const float number = (float)xg_residue_moduli[modulus];
    const float inverse = xg_residue_inverses[modulus];
    const int offset = xg_residue_offset[modulus] + XG_RESIDUE_MAGIC_BITS;
    XG_UNROLL
    for (int i = 0; i < UNITS; i++) {
        unsigned byte[UNIT];
        XG_UNROLL
        for (int e = 0; e < UNIT; e++) {
            const int at = UNIT * i + e;
            int sum = xg_dot_bytes(of->high[at], by[2], offset);
            sum = xg_dot_bytes(of->middle[at], by[1], sum);
            sum = xg_dot_bytes(of->low[at], by[0], sum);
            byte[e] = xg_residue_of_sum(sum, number, inverse);
        }
        words[i] = xg_pack_bytes(byte);
    }
}

/* The grid's x is rows of A, then columns of B, and y slabs of k. */
XG_KERNEL(__launch_bounds__(THREADS), residue_split, xg_residue_split_args)
{
    const int second = blockIdx.x >= p.ctas_a;
    const xg_residue_operand of = xg_operand_of(&p, second);
    const int64_t first = (int64_t)(blockIdx.x - (second ? p.ctas_a : 0)) * LINES;
    const xg_line_reader by = xg_line_reader_of(&of, first, p.k);
    const int64_t k = (int64_t)blockIdx.y * SLAB_K + by.first;
    integers all;
    xg_pdl_wait();
    xg_pdl_trigger();
    const int count = xg_residue_count(p.ratios);
    if (count == 0 || !by.is_inside)
        return;
    const double more = (double)(1 << XG_RESIDUE_MORE_BITS(count));
    load(&by, k, of.about[by.line].scale * more, &all);
    int8_t *line = of.planes + (of.count + by.line) * p.to_stride;
    XG_UNROLL_BY(1)
    for (int modulus = 0; modulus < count; modulus++) {
        unsigned words[UNITS];
        reduce(&all, modulus, words);
        xg_write_units(&by, line, k, p.to_stride, words);
        line += of.count * p.to_stride;
    }
}
