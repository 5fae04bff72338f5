/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared_memory.h"

#include "asan.h"

#include <string.h>

#ifdef XG_WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* Aligned for the operands of wgmma. */
char xg_sim_dynamic_memory[XG_SIM_CLUSTER_MAX][XG_SIM_DYNAMIC_STRIDE]
    __attribute__((aligned(1024)));

/* The kernels' xg_sim_dynamic, which is constant to them, under a name that can be written. */
char *xg_sim_dynamic_now __asm__("xg_sim_dynamic") __attribute__((visibility("hidden")));

/* Static shared memory; absent where the build has none in the section. */
extern char __start_xg_shared_plain[] __attribute__((weak, visibility("hidden")));
extern char __stop_xg_shared_plain[] __attribute__((weak, visibility("hidden")));

static size_t dynamic_bytes; /* of each block */

void xg_sim_shared_begin(int blocks, size_t bytes)
{
    dynamic_bytes = bytes;
    if (__start_xg_shared_plain)
        memset(__start_xg_shared_plain, 0xff,
               (size_t)(__stop_xg_shared_plain - __start_xg_shared_plain));
    for (int rank = 0; rank < blocks; rank++) {
#ifdef XG_WITH_ASAN
        __asan_unpoison_memory_region(xg_sim_dynamic_memory[rank], bytes);
        __asan_poison_memory_region(xg_sim_dynamic_memory[rank] + bytes,
                                    XG_SIM_DYNAMIC_STRIDE - bytes);
#endif
        memset(xg_sim_dynamic_memory[rank], 0xff, bytes);
    }
    xg_sim_shared_select(0);
}

void xg_sim_shared_select(int rank)
{
    xg_sim_dynamic_now = xg_sim_dynamic_memory[rank];
}

void *xg_sim_shared_at(int rank, unsigned address, unsigned bytes)
{
    const uint64_t offset = (uint64_t)address - XG_SIM_SHARED_BASE;
    if (address < XG_SIM_SHARED_BASE || offset + bytes > dynamic_bytes)
        return NULL;
    return xg_sim_dynamic_memory[rank] + offset;
}

bool xg_sim_static_is_untouched(void)
{
    const char *at = __start_xg_shared_plain;
    while (at != __stop_xg_shared_plain && *at == (char)0xff)
        at++;
    return at == __stop_xg_shared_plain;
}
