/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

#include "scheduler.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* Aligned for the operands of matrix products. */
char xg_sim_pieces[XG_SIM_CLUSTER_MAX][XG_SIM_PIECE] __attribute__((aligned(1024)));

void xg_sim_shared_begin(int blocks, size_t bytes)
{
    for (int rank = 0; rank < blocks; rank++) {
#if WITH_ASAN
        __asan_unpoison_memory_region(xg_sim_pieces[rank], bytes);
        __asan_poison_memory_region(xg_sim_pieces[rank] + bytes, XG_SIM_PIECE - bytes);
#endif
        memset(xg_sim_pieces[rank], 0xff, bytes);
    }
}

void *xg_sim_shared_at(int rank, unsigned address, unsigned bytes)
{
    const uint64_t offset = (uint64_t)address - XG_SIM_SHARED_BASE;
    if (address < XG_SIM_SHARED_BASE || offset + bytes > (uint64_t)xg_sim_dynamic_bytes())
        return NULL;
    return xg_sim_pieces[rank] + offset;
}

unsigned xg_sim_shared_address(const void *pointer, const xg_sim_place *here)
{
    const uintptr_t offset = (uintptr_t)pointer - (uintptr_t)xg_sim_pieces[xg_sim_rank()];
    if (offset > (uintptr_t)xg_sim_dynamic_bytes())
        xg_sim_abandon("%s: %s:%d takes the shared address of what is not in the block's dynamic "
                       "shared memory (XG_DYNAMIC_SHARED)",
                       xg_sim_where(), here->file, here->line);
    return XG_SIM_SHARED_BASE + (unsigned)offset;
}
