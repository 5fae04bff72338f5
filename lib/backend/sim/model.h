/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of instructions that synchronise threads, or go on asynchronously. A model is one file:
 * the functions that the shim's macros call, and one xg_sim_model of what it needs to be told or
 * can be asked. No model knows another, but for what such a struct says. To add one: its file in
 * lib.am, its line in XG_SIM_MODELS.
 */
#ifndef XGEMM_SIM_MODEL_H
#define XGEMM_SIM_MODEL_H

#include "cuda_shim.h"

#include <stdbool.h>

/* A function that a model does not need is NULL. Barriers here are mbarriers, at an address. */
typedef struct {
    /* A thread leaves the kernel; it is still the running one. */
    void (*thread_ends)(int thread);
    /* The last thread of the block is about to leave. */
    void (*block_ends)(int rank);
    /* The cluster has ended, or the launch failed: nothing is left of it. */
    void (*reset)(void);
    /* The library is unloaded: memory that is kept from launch to launch is freed. */
    void (*unload)(void);
    /* Whether an asynchronous operation in flight reads, or writes, some of the bytes. */
    bool (*reads)(int rank, unsigned address, unsigned bytes);
    bool (*writes)(int rank, unsigned address, unsigned bytes);
    /* Whether there are operations in flight that complete at the barrier; completes the oldest. */
    bool (*is_in_flight)(int rank, unsigned barrier);
    void (*complete_oldest)(int rank, unsigned barrier);
} xg_sim_model;

/* All models, in the order in which they are told and asked. */
#define XG_SIM_MODELS(X)                                                                           \
    X(registers)                                                                                   \
    X(cluster)                                                                                     \
    X(named_barrier)                                                                               \
    X(counter)                                                                                     \
    X(wgmma)                                                                                       \
    X(bulk_copy)                                                                                   \
    X(bulk_store)                                                                                  \
    X(mbarrier)                                                                                    \
    X(mma)                                                                                         \
    X(async_copy)
#define XG_SIM_DECLARE_MODEL(name) extern const xg_sim_model xg_sim_##name##_model;
XG_SIM_MODELS(XG_SIM_DECLARE_MODEL)

/* ---- For models ---- */

/* The running cluster uses a model: before this they are told nothing. */
extern bool xg_sim_models_used __attribute__((visibility("hidden")));
static inline void xg_sim_use_models(void)
{
    xg_sim_models_used = true;
}
/* The same; and by it threads synchronise in ways that only vector clocks describe. */
void xg_sim_use_clocks(void);

/* Whether an operation of any model, in flight, reads or writes some of the bytes. */
bool xg_sim_is_read(int rank, unsigned address, unsigned bytes);
bool xg_sim_is_written(int rank, unsigned address, unsigned bytes);
bool xg_sim_is_in_flight(int rank, unsigned barrier);
void xg_sim_complete_oldest(int rank, unsigned barrier);

/* The memory of an address of a block that is there and has not ended; or the launch fails. */
void *xg_sim_memory(int rank, unsigned address, unsigned bytes, const char *does,
                    const xg_sim_location *here);

/* ---- For the scheduler ---- */

void xg_sim_tell_thread_ends(int thread, bool last_of_block);
void xg_sim_reset_models(void);
void xg_sim_unload_models(void);

#endif
