/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of what compute capability 9.0 has, among themselves and to the
 * scheduler: counted barriers, bulk copies, clusters and matrix products.
 */
#ifndef XGEMM_SIM_SPECIALISED_H
#define XGEMM_SIM_SPECIALISED_H

#include "cuda_shim.h"

#include <stdbool.h>
#include <stddef.h>

/* A thread leaves the kernel, the last one of its block or not; it is still the running one. */
void xg_sim_thread_ends(int thread, bool last_of_block);
/* The blocks that ran together have ended, or failed. */
void xg_sim_cluster_ends(void);

/* "FILE:LINE does what it does" of the running thread, and the launch fails. */
_Noreturn void xg_sim_blame(const xg_sim_place *here, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The memory of an address of a block that is there and has not ended; or the launch fails. */
void *xg_sim_memory(int rank, unsigned address, unsigned bytes, const char *does,
                    const xg_sim_place *here);

/* barrier.c: a barrier that somebody uses; bytes that a thread sent at some moment have come. */
void xg_sim_barrier_check(int rank, unsigned barrier, bool by_copy, const char *does,
                          const xg_sim_place *here);
void xg_sim_barrier_bytes_came(int rank, unsigned barrier, unsigned bytes, int sender,
                               uint32_t moment, const xg_sim_place *here);
void xg_sim_barrier_block_ends(int rank);
void xg_sim_barrier_forget(void);

/* bulk.c: copies that are on their way. */
bool xg_sim_bulk_awaited(int rank, unsigned barrier);
void xg_sim_bulk_land(int rank, unsigned barrier);
/* Whether one of them goes to some of the bytes. */
bool xg_sim_bulk_covers(int rank, unsigned address, unsigned bytes);
void xg_sim_bulk_block_ends(int rank);
void xg_sim_bulk_forget(void);

/* cluster.c */
void xg_sim_cluster_thread_ends(int thread);
void xg_sim_cluster_forget(void);

/* count.c; whether the cluster that runs has waited for a count: it may read what others wrote. */
bool xg_sim_count_was_awaited(void);
void xg_sim_count_forget(void);

/* group.c */
void xg_sim_group_forget(void);

/* wgmma.c; whether a product on its way reads some of the bytes. */
bool xg_sim_wgmma_reads(int rank, unsigned address, unsigned bytes);
void xg_sim_wgmma_thread_ends(int thread);
void xg_sim_wgmma_forget(void);

/* mma.c */
void xg_sim_mma_forget(void);

/* product.c: sums (64 × columns, by rows) + a (64 × 16) * b (16 × columns), as the card rounds. */
void xg_sim_product(float *sums, const float *a, const float *b, int columns);
/* The same of four sums, each with 16 factors a and b of its own. */
void xg_sim_product_of_warp(float sums[4], const float a[16][4], const float b[16][4]);

#endif
