/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of the blocks that run together. Dynamic shared memory: each block has its own. Its
 * 32-bit addresses begin at XG_SIM_SHARED_BASE, as on a card, where the system keeps the first KiB;
 * so 0 is the address of nothing. Static shared memory: one section for all blocks.
 */
#ifndef XGEMM_SIM_SHARED_MEMORY_H
#define XGEMM_SIM_SHARED_MEMORY_H

#include "cuda_shim.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    XG_SIM_CLUSTER_MAX = 16,
    XG_SIM_SHARED_BASE = 1024,
    XG_SIM_DYNAMIC_STRIDE =
        XG_SIM_DYNAMIC_MAX + 1024 /* keeps the blocks' memory aligned, and apart */
};

extern char xg_sim_dynamic_memory[XG_SIM_CLUSTER_MAX][XG_SIM_DYNAMIC_STRIDE]
    __attribute__((visibility("hidden")));

/* Fills static memory, and what "blocks" blocks of "bytes" each may use, with NaN. */
void xg_sim_shared_begin(int blocks, size_t bytes);

/* The dynamic memory of the block of that rank is what kernels see. */
void xg_sim_shared_select(int rank);

/* The memory of an address in the block of that rank; NULL: "bytes" do not fit there. */
void *xg_sim_shared_at(int rank, unsigned address, unsigned bytes);

/* Whether nothing was written to static memory since xg_sim_shared_begin(). */
bool xg_sim_static_is_untouched(void);

#endif
