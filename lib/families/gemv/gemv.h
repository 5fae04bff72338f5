/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The family of kernels for a matrix times a vector (GEMV), and for skinny products: "skinny" means
 * in this project a C with a short side, of 2 to 16. Other families have them compute the strips
 * that their tiles leave at C's edges.
 */
#ifndef XGEMM_LIB_GEMV_H
#define XGEMM_LIB_GEMV_H

#include "families/family.h"

/* The longest short side that is computed in one reading of the large matrix. */
enum { XG_STRIP_MOST = 16 };

/* How a C is computed. */
typedef struct {
    int64_t side, lines;    /* of C: the short side, and the long one */
    bool k_major;           /* one vector, and a K-major matrix: gemv_k_major.cu */
    bool mn_major;          /* one vector, and an MN-major matrix: gemv_mn_major.cu */
    int64_t blocks, groups; /* CTAs along the long side and along the short one */
    int64_t k_per_split;
    int warps;   /* of a CTA, where the matrix is MN-major */
    int cluster; /* CTAs that add up their splits; 0: none */
} xg_gemv_shape;

xg_gemv_shape xg_gemv_shape_of(const xg_problem *problem, const xg_target *target);

/* The time without the launch; the large matrix is read once for each strip of a longer side. */
double xg_gemv_us(const xg_problem *problem, const xg_target *target);

/* The strips that the first m x n leave of a problem: their time, and their workspace in bytes. */
double xg_strips_us(const xg_request *request, int64_t m, int64_t n);
double xg_strips_bytes(const xg_request *request, int64_t m, int64_t n);

/* The launches for these strips. */
xgemm_status xg_add_strips(xg_plan *plan, const xg_request *request, int64_t m, int64_t n,
                           xg_error *error);

/* The size without a strip that gemv/ would take, where there is one. */
int64_t xg_without_strip(int64_t size, int tile);

/* Adding up the partial sums of split-K, and reading and writing elements of C at a rate. */
double xg_reduce_us(const xg_costs *costs, int64_t splits, double elements);
double xg_elements_us(double elements, double rate);

/* The partial sums that split-K leaves, when a cluster's CTAs (0 or 1: none) add up theirs. */
int64_t xg_partial_sums(int64_t k, int64_t k_per_split, int64_t cluster);

/*
 * The depth of a split when "blocks" tiles are to become about "enough": none shorter than least,
 * all multiples of that many; k when there is one.
 */
int64_t xg_split_depth(int64_t k, int64_t blocks, int64_t enough, int64_t least, int64_t multiple);

#endif
