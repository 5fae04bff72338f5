/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of F64, C32 and C64 operands, read as they lie: for the kernels of simt/ whose rows have
 * programs of these types. A row may have several tiles, of which the fastest is taken.
 */
#ifndef XGEMM_LIB_DOUBLE_H
#define XGEMM_LIB_DOUBLE_H

#include "families/family.h"

/* Whether the type is one of these. */
bool xg_double_takes(xg_type type);

/* Whether every row of C, and its end, are at multiples of 16 bytes. */
bool xg_double_c_is_aligned(const xg_problem *problem);

/* The same as the members of xg_family. */
bool xg_double_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_double_candidate(const xg_kernel *kernel, const xg_request *request);
double xg_double_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_double_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                             xg_error *error);

/*
 * Adds a launch that computes a product of F64 or C64 as a whole, in FP64, if the ratios there
 * (residue/args.h) allow no residues; else it ends at once.
 */
xgemm_status xg_double_add_fallback(xg_plan *plan, const xg_problem *problem, xg_location ratios,
                                    xg_error *error);

/* ---- Between build.c, tiles.c and cost.c ---- */

/* A program: its tile, and what it takes of a multiprocessor. */
typedef struct {
    const xg_program *program;
    int kernel; /* XG_KERNEL_..., the row that has it */
    xg_type type;
    int m, n, k; /* k: of a stage */
    int threads;
    uint32_t shared_bytes; /* dynamic */
    int cost;              /* its number in xg_costs.fp64 */
} xg_double_tile;

/* Whether the tile with that number in xg_costs.fp64 computes in FP64; others are of C32. */
bool xg_double_cost_is_fp64(int cost);

/* Tile number i of a kernel's row for the type; NULL: there is none. */
const xg_double_tile *xg_double_tile_at(const xg_kernel *kernel, xg_type type, int i);

/* The tile of a candidate. */
const xg_double_tile *xg_double_tile_of(const xg_candidate *of, const xg_request *request);

/*
 * The tiles of a product: so many are computed whole, and the split tiles after them in "splits"
 * parts of k.
 */
typedef struct {
    int64_t rows, columns, whole, split_tiles, splits, k_per_split;
    double sum_bytes; /* of a product */
} xg_double_schedule;

xg_double_schedule xg_double_schedule_of(const xg_problem *problem, const xg_double_tile *tile,
                                         int64_t splits, int64_t split_tiles);
xg_double_schedule xg_double_schedule_of_candidate(const xg_candidate *of,
                                                   const xg_request *request);

#endif
