/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "running.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "trace_events.h"
#include "vector_clock.h"

#define ADDRESS_OF(name) &xg_sim_##name##_model,
static const xg_sim_model *const models[] = {XG_SIM_MODELS(ADDRESS_OF)};
enum { MODELS = sizeof models / sizeof *models };

bool xg_sim_models_used;
static bool clocks_used;

void xg_sim_use_clocks(void)
{
    if (!clocks_used && xg_sim_is_traced()) {
        if (!xg_clocks_begin(xg_sim_all_threads()))
            xg_sim_no_memory("trace");
        xg_trace_uses_clocks();
    }
    xg_sim_models_used = clocks_used = true;
}

void xg_sim_tell_thread_ends(int thread, bool last_of_block)
{
    for (int i = 0; i < MODELS; i++)
        if (models[i]->thread_ends)
            models[i]->thread_ends(thread);
    for (int i = 0; last_of_block && i < MODELS; i++)
        if (models[i]->block_ends)
            models[i]->block_ends(xg_sim_rank());
}

void xg_sim_reset_models(void)
{
    for (int i = 0; xg_sim_models_used && i < MODELS; i++)
        if (models[i]->reset)
            models[i]->reset();
    xg_clocks_end();
    xg_sim_models_used = clocks_used = false;
}

void xg_sim_unload_models(void)
{
    for (int i = 0; i < MODELS; i++)
        if (models[i]->unload)
            models[i]->unload();
}

bool xg_sim_is_read(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < MODELS; i++)
        if (models[i]->reads && models[i]->reads(rank, address, bytes))
            return true;
    return false;
}

bool xg_sim_is_written(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < MODELS; i++)
        if (models[i]->writes && models[i]->writes(rank, address, bytes))
            return true;
    return false;
}

static const xg_sim_model *model_in_flight(int rank, unsigned barrier)
{
    for (int i = 0; i < MODELS; i++)
        if (models[i]->is_in_flight && models[i]->is_in_flight(rank, barrier))
            return models[i];
    return NULL;
}

bool xg_sim_is_in_flight(int rank, unsigned barrier)
{
    return model_in_flight(rank, barrier) != NULL;
}

void xg_sim_complete_oldest(int rank, unsigned barrier)
{
    model_in_flight(rank, barrier)->complete_oldest(rank, barrier);
}

void *xg_sim_memory(int rank, unsigned address, unsigned bytes, const char *does,
                    const xg_sim_location *here)
{
    if (rank < 0 || rank >= xg_sim_cluster_blocks())
        xg_sim_fail_at(here, "%s of block %d of a cluster of %d", does, rank,
                       xg_sim_cluster_blocks());
    if (!xg_sim_block_is_alive(rank))
        xg_sim_fail_at(here, "%s of block %d of the cluster, which has left the kernel", does,
                       rank);
    void *memory = xg_sim_shared_at(rank, address, bytes);
    if (!memory)
        xg_sim_fail_at(here, "%s outside the dynamic shared memory: %u bytes at 0x%x", does, bytes,
                       address);
    return memory;
}

unsigned xg_sim_shared_address(const void *pointer, const xg_sim_location *here)
{
    const uintptr_t offset = (uintptr_t)pointer - (uintptr_t)xg_sim_dynamic_memory[xg_sim_rank()];
    if (offset > (uintptr_t)xg_sim_dynamic_bytes())
        xg_sim_fail_at(here, "takes the shared address of what is not in the block's dynamic "
                             "shared memory (XG_DYNAMIC_SHARED)");
    return XG_SIM_SHARED_BASE + (unsigned)offset;
}
