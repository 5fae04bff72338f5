/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of F16 and BF16 operands by mma.sync, on any GPU from compute capability 8.0 on: for the
 * kernels of simt/ whose rows have programs of these types.
 */
#ifndef XGEMM_LIB_MMA_H
#define XGEMM_LIB_MMA_H

#include "half.h"

/* The same as the members of xg_family. */
bool xg_mma_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_mma_candidate(const xg_kernel *kernel, const xg_request *request);
double xg_mma_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_mma_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error);

/* ---- Between mma_build.c and mma_cost.c ---- */

/* A program: its tile, and what it takes of a multiprocessor. */
typedef struct {
    int kernel;     /* XG_KERNEL_..., the row that has it */
    bool unaligned; /* of operands whose lines begin anywhere */
    const xg_program *f16, *bf16;
    int m, n, k; /* k: of a stage */
    int threads, stages;
    int cost; /* its number in xg_costs.mma */
} xg_mma_tile;

/* The tile of a candidate. */
const xg_mma_tile *xg_mma_tile_of_candidate(const xg_candidate *of, const xg_request *request);

/* The operand A or B; "aligned" where it is not copied first. */
xg_half_operand xg_mma_operand(const xg_candidate *of, const xg_request *request, unsigned which);

/* Dynamic shared memory of a CTA, in bytes. */
uint32_t xg_mma_shared_bytes(const xg_mma_tile *tile);

xg_half_schedule xg_mma_schedule_of_candidate(const xg_candidate *of, const xg_request *request);

#endif
