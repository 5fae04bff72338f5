/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands of wgmma in shared memory, as their descriptors and majors say. */
#ifndef XGEMM_LIB_SIM_WGMMA_OPERAND_H
#define XGEMM_LIB_SIM_WGMMA_OPERAND_H

#include "model.h"

#include <stdbool.h>
#include <stdint.h>

enum { XG_SIM_OPERAND_DEPTH = 16 };

typedef struct {
    uint64_t descriptor;
    int rows; /* of A, or columns of B */
    bool mn_major;
} xg_sim_operand;

/* Fails where the descriptor is none that the simulator knows. */
void xg_sim_operand_check(const xg_sim_operand *operand, const xg_sim_location *here);

/* Whether it has some of these bytes of shared memory. */
bool xg_sim_operand_reads(const xg_sim_operand *operand, unsigned address, unsigned bytes);

/*
 * Element (row, k), of BF16 or FP16, to to[row * row_step + k * k_step]; fails where a bulk copy is
 * still in flight to what is read.
 */
void xg_sim_operand_load(const xg_sim_operand *operand, float *to, int row_step, int k_step,
                         int rank, bool bf16, const xg_sim_location *here);

/* The same of a K-major operand of bytes: rows of 32. */
void xg_sim_operand_load_s8(const xg_sim_operand *operand, int8_t *to, int rank,
                            const xg_sim_location *here);

#endif
