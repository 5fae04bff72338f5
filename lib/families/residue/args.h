/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of products of doubles, or of complex numbers of two doubles, by residues. What
 * they do is told in residue.h; op(A)'s rows and op(B)'s columns are both called lines here.
 */
#ifndef XGEMM_RESIDUE_ARGS_H
#define XGEMM_RESIDUE_ARGS_H

#include "families/common/args.h"

/*
 * Moduli: the fewest of a product, and the most. With "count" of them a line is scaled by
 * 2^XG_RESIDUE_MORE_BITS(count) more than by the fewest.
 */
enum { XG_RESIDUES_LEAST = 15, XG_RESIDUES_MOST = 17 };
#define XG_RESIDUE_MORE_BITS(count) ((count) == 15 ? 0 : (count) == 16 ? 3 : 7)

/* Planes of an operand, and of C, by each modulus: of complex numbers those of three products. */
#define XG_RESIDUE_PRODUCTS(parts) ((parts) > 1 ? 3 : 1)

/*
 * Statistics of a row of A or a column of B. Norms are Euclidean, upper bounds, in units of the
 * magnitudes' last digit. norm: of the row; rounded: of the errors of rounding it to integers, with
 * the fewest moduli; rounded_most: the bound of these by the number of rounded entries alone.
 */
typedef struct {
    float norm, rounded, rounded_most;
    double scale, unscale; /* the power of two by the fewest moduli, and its inverse */
} xg_residue_stats;

/*
 * Why more or fewer moduli are taken (guard.inc): the largest ratios of the elements that they
 * serve, as bits of floats; how many others there are, and may be. And how many elements were
 * computed from A and B after all, for xgemm_last_recomputed().
 */
typedef struct {
    uint32_t ratio, ratio_most;
    uint32_t others, others_most;
    unsigned long long recomputed;
} xg_residue_ratios;

/* An operand, and the planes that the pass writes: each has a row of to_stride bytes a line. */
typedef struct {
    const double *from;
    int64_t count, line_stride, k_stride; /* lines; entries, which may be complex */
    int8_t *planes;
    xg_residue_stats *about;
} xg_residue_operand;

/* scale.inc and split.inc: CTAs along the grid's x for A, then for B. */
typedef struct {
    xg_residue_operand operands[2];
    xg_residue_ratios *ratios;
    int64_t k, to_stride;
    uint32_t ctas_a;
    uint32_t later_pass; /* not the first product of a batch: the count goes on */
    uint32_t others_most;
    uint32_t conjugates; /* bits: 1, A's imaginary parts change their sign; 2, B's */
} xg_residue_split_args;

/*
 * product.inc: tiles of all planes; operands by tensor maps. Of C there is a plane of bytes for
 * each of the operands', of m rows; or one alone, which tells the elements that moduli do not
 * serve.
 */
typedef struct {
    int64_t m, n;
    const xg_residue_stats *a, *b;
    xg_residue_ratios *ratios;
    uint8_t *c;
    int64_t c_stride;
    float tolerance; /* of what rounding leaves, relative to |A||B| */
    uint32_t k_blocks;
    uint32_t rows, columns; /* tiles */
    int32_t a_rows, b_rows; /* that a tile's copy has */
} xg_residue_product_args;

/* residue_reduce.cu, residue_reduce_c64.cu: C from its residues. Strides of A, B, C as above. */
typedef struct {
    int64_t m, n;
    const uint8_t *residues;
    const double *a, *b;
    const xg_residue_stats *about; /* rows of A; columns of B are about_b further on */
    xg_residue_ratios *ratios;
    double *c;
    int64_t about_b;
    int64_t k, a_stride_m, a_stride_k, b_stride_k, b_stride_n;
    int64_t residue_stride, c_stride_m;
    /* What moduli do not serve: so far from the residues; of a row the real parts come first. */
    int64_t others, others_stride;
    xg_epilogue_args epilogue;
} xg_residue_reduce_args;

#endif
