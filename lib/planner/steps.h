/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan's steps are made with. */
#ifndef XGEMM_LIB_STEPS_H
#define XGEMM_LIB_STEPS_H

#include "families/kernels.h"
#include "plan.h"

enum { XG_GRID_Y_MAX = 65535, XG_GRID_Z_MAX = 65535 };

/* Pieces of workspace begin at multiples of that many bytes. */
enum { XG_WORKSPACE_ALIGN = 256 };

/* Lines of packed copies are multiples of that many floats. */
enum { XG_PACK_LINE = 32 };

/* Rounded up. */
int64_t xg_tiles_of(int64_t size, int64_t tile);

/* Of a packed copy whose lines have so many elements. */
int64_t xg_packed_line(int64_t size);

/* The sums that parts of k leave, when a cluster's blocks (0 or 1: none) add up theirs. */
int64_t xg_sums_of(int64_t k, int64_t k_part, int64_t cluster);

/* The plan's next step. */
xg_step *xg_add_step(xg_plan *plan, const xg_program *program, const xg_args *args);

/* Blocks along x and y; y is folded into z where it passes the grid's limit. */
xgemm_status xg_set_grid(xg_step *step, int64_t x, int64_t y, int block_x, int block_y,
                         xg_error *error);

/* Room for rows × columns floats in the plan's workspace; false when it overflows. */
bool xg_reserve(xg_plan *plan, int64_t rows, int64_t columns, size_t *offset);

/*
 * The step's sums of k_part each, or of as many as a cluster's blocks add up, go to the workspace,
 * for an m × n problem, and a step that adds them up in their order follows. One sum: it is C.
 * The parts are a multiple of the cluster's blocks; 0 or 1: there are no clusters.
 */
xgemm_status xg_split(xg_plan *plan, xg_step *product, const xg_args *problem, int64_t k_part,
                      int cluster, xg_error *error);

/* "skinny" for the part of C, if it is not empty. */
xgemm_status xg_add_strip(xg_plan *plan, const xg_args *strip, xg_error *error);

/* The rows and columns of C from there on, and as many. */
xg_args xg_part_of_c(const xg_args *problem, int64_t row, int64_t rows, int64_t column,
                     int64_t columns);

#endif
