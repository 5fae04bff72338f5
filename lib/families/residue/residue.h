/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of F64 operands on tensor cores' integers (compute capability 9.0): Ozaki's scheme II.
 * For the kernels of tensor/ whose rows have a program of F64.
 *
 * Each row of A and column of B is scaled by a power of two and rounded to integers, so large that
 * their products' sums are still known by their residues modulo 15 to 17 numbers up to 256. Modulo
 * each of them the product is one of bytes, which is exact; the Chinese remainder theorem gives the
 * elements of C. Six launches:
 *
 *   residue_scale         the powers of two, the lines' norms and their magnitudes as bytes
 *   residue_guard_*       |A||B| from below, by a product of magnitudes: how many moduli the
 *                         elements of C need to be off by no more than the tolerance
 *   residue_split         the integers' residues, a plane of bytes for each modulus
 *   residue_*             the products of all planes
 *   residue_reduce        C; elements for which no number of moduli is enough, from A and B
 *   dmma_f64_fallback_*   C in FP64, where these are more than a few
 *
 * Complex numbers have launches of their own but for residue_guard_*, and three products for each
 * modulus in place of four: with entries x + iy of A and u + iv of B the sums of x u, y v and
 * (x + y)(u + v), modulo p, of which the parts of C are differences. Real and imaginary parts of a
 * line have one power of two, and the guard sees each part of C by itself.
 *
 * All launches read how many moduli were found, and those that have nothing to do end at once.
 * An error is at most 2^-51 of |alpha||A||B| + |beta||C| (guard.inc, residue_reduce.cu).
 */
#ifndef XGEMM_LIB_RESIDUE_H
#define XGEMM_LIB_RESIDUE_H

#include "families/family.h"

/* The same as the members of xg_family. */
bool xg_residue_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_residue_candidate(const xg_kernel *kernel, const xg_request *request);
double xg_residue_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_residue_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                              xg_error *error);

/* ---- Between build.c and cost.c ---- */

enum { XG_RESIDUE_TILE_M = 128, XG_RESIDUE_TILE_N = 256, XG_RESIDUE_TILE_K = 128 };

/*
 * Of numbers of so many parts, planes of an operand and of C; and bytes of what the workspace
 * holds, in order of the launches.
 */
typedef struct {
    int64_t parts, planes;
    int64_t ratios, about_a, about_b; /* what is known of rows and columns */
    int64_t k_stride, magnitudes_a, magnitudes_b;
    int64_t others_stride, others; /* elements that no moduli serve */
    int64_t planes_a, planes_b;
    int64_t n_stride, residues; /* of C */
} xg_residue_sizes;

/* Where xg_residue_applies(); the sizes of larger products may overflow. */
xg_residue_sizes xg_residue_sizes_of(const xg_problem *problem);

#endif
