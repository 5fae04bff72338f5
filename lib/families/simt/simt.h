/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The family of kernels that compute tiles of C on the CUDA cores: pipelined, sliced, thin, TMA,
 * and bf16x6, which takes tensor cores to FP32's accuracy. Its parts, among themselves.
 */
#ifndef XGEMM_LIB_SIMT_H
#define XGEMM_LIB_SIMT_H

#include "families/family.h"

/* CTAs of a cluster that adds up splits of k: pairs, since a GPU holds few clusters of four. */
enum { XG_CLUSTER_SPLITS = 2 };

/* The k of a split: at least, and a multiple of. */
enum { XG_SPLIT_LEAST = 64, XG_SPLIT_STEP = 16 };

/* ---- operands.c: bits XG_A and XG_B ---- */

/*
 * Those that are copied first: of K-major and unaligned ones, as the kernel needs it, or the
 * candidate has it.
 */
unsigned xg_copied(const xg_candidate *of, const xg_problem *problem);

/* Of the whole problem's those that the kernel would copy by scalars, or transpose. */
unsigned xg_scalar_operands(const xg_kernel *kernel, const xg_tile_cost *cost,
                            const xg_problem *problem);

/* Whether m, n and k are such that a kernel with tensor maps can count them. */
bool xg_tensor_maps_reach(const xg_problem *problem);

/* ---- cost.c ---- */

/* NULL: the kernel has no model. */
const xg_tile_cost *xg_tile_cost_of(const xg_kernel *kernel, const xg_costs *costs);

/* What the time of a pass depends on, apart from how k is split. */
typedef struct {
    const xg_tile_cost *cost;
    const xg_costs *costs;
    int multiprocessors, tile_k;
    int64_t k, tiles;
    bool c_aligned;
    double scalar_factor;        /* see xg_scalar_factor() */
    double c_elements;           /* of C that tiles cover, in all products of the pass */
    double read_us;              /* of A and B, at the memory's speed */
    double before_us, strips_us; /* other launches, and of these the first one */
    /* Of bounds: all but the product, which is at least as long as the GPU is full, or one CTA. */
    double others_us, full_us, cta_us_per_k, cta_epilogue_us;
} xg_pass;

xg_pass xg_pass_of(const xg_candidate *of, const xg_request *request);

/* The time of a pass, its launches included: by split-K or without, and by stream-K. */
double xg_split_k_us(const xg_pass *pass, int64_t k_per_split, int cluster);
double xg_stream_k_us(const xg_pass *pass, int64_t tiles, int64_t iterations);

/*
 * Two lower bounds of the time by split-K, found sooner: by the CTAs' time, and by the reduction
 * of the partial sums, which grows with their number.
 */
double xg_split_k_least_us(const xg_pass *pass, int64_t k_per_split, int cluster);
double xg_reduction_least_us(const xg_pass *pass, int64_t k_per_split, int cluster);

/* The time of all passes, where the first one takes of->microseconds. */
double xg_batch_us(const xg_candidate *of, const xg_request *request);

/* A lower bound of the time of every candidate whose tiles cover m x n, without its strips. */
double xg_simt_least_us(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n);

/* The copies before the product. */
double xg_copies_us(const xg_candidate *of, const xg_request *request);

/* What scalar copies and transposes cost, from 1 on, when these operands are copied first. */
double xg_scalar_factor(const xg_kernel *kernel, const xg_tile_cost *cost,
                        const xg_problem *problem, unsigned copied);

/* The CTAs that compute the candidate's stream-K tiles; 0: there are none. */
int64_t xg_stream_k_ctas(const xg_candidate *of, int64_t k);

/* ---- search.c ---- */

xg_candidate xg_simt_candidate(const xg_kernel *kernel, const xg_request *request, double most_us);

/* ---- build.c ---- */

double xg_simt_workspace(const xg_candidate *of, const xg_request *request);
bool xg_simt_batches(const xg_kernel *kernel);

/* ---- compact.c ---- */

bool xg_simt_make_compact(const xg_candidate *of, const xg_request *request, xg_plan *plan);

#endif
