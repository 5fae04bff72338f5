/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of F16 and BF16 operands on tensor cores, as they are: for the kernels of tensor/ whose
 * rows have programs of these types.
 */
#ifndef XGEMM_LIB_HALF_H
#define XGEMM_LIB_HALF_H

#include "args.h"
#include "families/family.h"

/* The same as the members of xg_family. */
bool xg_half_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_half_candidate(const xg_kernel *kernel, const xg_request *request);
double xg_half_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_half_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                           xg_error *error);

/* Says that a kernel which was named does not apply; also of the other kernels of half/. */
xgemm_status xg_half_refuse(const xg_candidate *of, const xg_request *request, xg_error *error);

/* ---- cost.c: operands and schedules, for the host files of half/ ---- */

enum { XG_HALF_TILE_M = 128, XG_HALF_ALIGNMENT = 8 /* elements: 16 bytes */ };

/* k of a stage of the ring buffer: a k-block, by the tile's columns. */
int xg_half_tile_k(int tile_n);
enum {
    XG_HALF_CLUSTER_MOST = 6 /* CTAs that have splits, whose sums end before wgmma_split_k.inc's
                                STAGED_AT */
};

/* An operand: lines of contiguous elements. */
typedef struct {
    bool mn_major, batched;
    bool aligned; /* so that TMA can read it; else it is copied first */
    int64_t lines, length, stride, batch_stride;
    int64_t copied_stride; /* of the copy's lines */
} xg_half_operand;

/* Those of a product; of ragged groups one is batched by group. */
xg_half_operand xg_half_operand_a(const xg_problem *problem);
xg_half_operand xg_half_operand_b(const xg_problem *problem);

/* The same for TMA: one that it would read slowly is not aligned. */
xg_half_operand xg_half_tma_operand_a(const xg_problem *problem);
xg_half_operand xg_half_tma_operand_b(const xg_problem *problem);

/* Whether every row of C, and its end, are at multiples of 16 bytes. */
bool xg_half_c_is_aligned(const xg_problem *problem);

/* Whether the epilogue is a product by alpha. */
bool xg_half_is_plain(const xg_problem *problem);

/*
 * The tiles of a product, of clusters of CTAs: so many are computed whole, and k of the split_tiles
 * after them is in so many splits of k_blocks_per_split each. With the splits in a cluster all
 * count as whole.
 */
typedef struct {
    int cluster;        /* CTAs that share tiles of B */
    int cta_rows;       /* of a CTA's tile */
    int launch_cluster; /* CTAs of a cluster */
    int64_t rows, columns, whole, split_tiles, splits;
    int64_t k_blocks, k_blocks_per_split;
    int64_t tile_rows; /* of a tile's sums */
    double sum_bytes;  /* of a product */
    int64_t ctas;      /* of a launch; with splits in clusters, and by mma.sync, of each product */
} xg_half_schedule;

/* The products that launches have operands for: of a pass, or the groups. */
int64_t xg_half_products(const xg_candidate *of, const xg_request *request);

xg_half_schedule xg_half_schedule_of_candidate(const xg_candidate *of, const xg_request *request);

/* ---- cost.c: passes and their times ---- */

/* Whether tensor maps can describe the operands, and copies of them fit: those of one product, or
   of all ragged groups. */
bool xg_half_operands_fit(const xg_problem *problem);

/* The workspace of a pass of so many products: copies of operands and partial sums, in bytes. */
double xg_half_pass_bytes(const xg_half_operand *a, const xg_half_operand *b,
                          const xg_half_schedule *of, int64_t products);

/* The products of a pass: as many as fit what there is. With groups 1. */
int64_t xg_half_products_within(const xg_request *request, const xg_half_operand *a,
                                const xg_half_operand *b, const xg_half_schedule *of);

/* The time of a pass beside the product's launch: of copies and of the reduction. */
double xg_half_beside_us(const xg_request *request, const xg_half_operand *a,
                         const xg_half_operand *b, const xg_half_schedule *of, int64_t products);

/* The time that the memory takes for a pass's operands and C. */
double xg_half_memory_us(const xg_request *request, const xg_half_operand *a,
                         const xg_half_operand *b, int64_t products);

/* The time of both at once: the longer, and a little of the shorter, by which the ways differ whose
   bound is the memory. */
double xg_half_longer_us(double computed_us, double memory_us);

/* ---- Between build.c and mma_build.c ---- */

/* Where in the workspace the copies of A and B and the partial sums are; -1: there are none. */
typedef struct {
    int64_t a, b, sums; /* bytes */
} xg_half_rooms;

/* What the launches of a plan have in common. */
typedef struct {
    const xg_problem *problem;
    xg_half_operand a, b;
    xg_half_schedule schedule;
    int tile_m, tile_n; /* of a cluster */
    bool splits_in_cluster;
    int64_t products; /* whose operands there are: of a pass, or the groups */
    xg_half_rooms room;
} xg_half_launches;

/* Rooms in the plan's workspace; the product's arguments, without pointers to the operands. */
bool xg_half_reserve(xg_half_launches *of, xg_plan *plan, xg_error *error);
xg_half_args xg_half_args_of(const xg_half_launches *of);

/* The regions of the product's step, and the pointers of xg_half_args at its arguments' begin. */
void xg_half_use_operands(xg_step *step, const xg_half_launches *of, const xg_plan *plan);

/* The launches before and after the product, if there are any. */
xgemm_status xg_half_add_align(const xg_half_launches *of, xg_plan *plan, xg_error *error);
xgemm_status xg_half_add_reduce(const xg_half_launches *of, xg_plan *plan, xg_error *error);

#endif
