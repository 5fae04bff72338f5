/* SPDX-License-Identifier: BSD-3-Clause */
#include "specialised.h"

#include "order.h"
#include "scheduler.h"
#include "shared.h"
#include "sm90_shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void xg_sim_blame(const xg_sim_place *here, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    xg_sim_abandon("%s: %s:%d %s", xg_sim_where(), here->file, here->line, text);
}

void *xg_sim_memory(int rank, unsigned address, unsigned bytes, const char *does,
                    const xg_sim_place *here)
{
    if (rank < 0 || rank >= xg_sim_cluster_blocks())
        xg_sim_blame(here, "%s of block %d of a cluster of %d", does, rank,
                     xg_sim_cluster_blocks());
    if (!xg_sim_block_is_alive(rank))
        xg_sim_blame(here, "%s of block %d of the cluster, which has left the kernel", does, rank);
    void *memory = xg_sim_shared_at(rank, address, bytes);
    if (!memory)
        xg_sim_blame(here, "%s outside the dynamic shared memory: %u bytes at 0x%x", does, bytes,
                     address);
    return memory;
}

/* How often each thread changed its registers; whole warpgroups do. */
static int register_changes[XG_SIM_THREADS_MAX];

void xg_sim_registers(int count, const xg_sim_place *here)
{
    xg_sim_specialise();
    register_changes[xg_sim_thread()]++;
    if (count < 24 || count > 256 || count % 8 != 0)
        xg_sim_blame(here, "asks for %d registers; it must be a multiple of 8 from 24 to 256",
                     count);
}

/* Of a warpgroup's threads that have ended, each must have done it as often as the first. */
static void check_registers(int thread)
{
    enum { WARPGROUP = 128 };
    const int in_block = thread % xg_sim_block_threads();
    const int first = thread - in_block % WARPGROUP;
    for (int other = first; other < first + WARPGROUP && other < thread; other++)
        if (in_block / WARPGROUP == other % xg_sim_block_threads() / WARPGROUP &&
            !xg_sim_is_alive(other) && register_changes[other] != register_changes[thread])
            xg_sim_abandon("%s has changed its registers %d times and others of its warpgroup %d "
                           "times; all threads of a warpgroup do it together",
                           xg_sim_where(), register_changes[thread], register_changes[other]);
}

void xg_sim_thread_ends(int thread, bool last_of_block)
{
    check_registers(thread);
    xg_sim_cluster_thread_ends(thread);
    xg_sim_wgmma_thread_ends(thread);
    if (last_of_block) {
        xg_sim_bulk_block_ends(xg_sim_rank());
        xg_sim_barrier_block_ends(xg_sim_rank());
    }
}

void xg_sim_cluster_ends(void)
{
    memset(register_changes, 0, sizeof register_changes);
    xg_sim_cluster_forget();
    xg_sim_group_forget();
    xg_sim_count_forget();
    xg_sim_wgmma_forget();
    xg_sim_bulk_forget();
    xg_sim_barrier_forget();
    xg_order_end();
}
