/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dynamic shared memory of the blocks that run together: each has a piece of
 * its own. Its 32-bit addresses begin at XG_SIM_SHARED_BASE, as on a card, where
 * the system keeps the first KiB; so 0 is the address of nothing.
 */
#ifndef XGEMM_SIM_SHARED_H
#define XGEMM_SIM_SHARED_H

#include "cuda_shim.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    XG_SIM_CLUSTER_MAX = 16,
    XG_SIM_SHARED_BASE = 1024,
    XG_SIM_PIECE = XG_SIM_DYNAMIC_MAX + 1024 /* keeps the pieces aligned, and apart */
};

extern char xg_sim_pieces[XG_SIM_CLUSTER_MAX][XG_SIM_PIECE] __attribute__((visibility("hidden")));

/* Fills what "blocks" blocks of "bytes" each may use with NaN; the rest is out of bounds. */
void xg_sim_shared_begin(int blocks, size_t bytes);

/* The memory of an address in the block of that rank; NULL: "bytes" do not fit there. */
void *xg_sim_shared_at(int rank, unsigned address, unsigned bytes);

#endif
