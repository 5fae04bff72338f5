/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worklists in global memory, which CTAs fill and empty at the same time.
 *
 * Slots are reserved, written, published, and then available. Whoever takes slots first lowers the
 * number of available ones. If too few were there, it raises the number again, and tries once more
 * if the sum shows that slots have been published meanwhile. So every published slot is taken: by
 * the last of those who raise the number, or by the CTA that has published it, which looks later.
 */
#ifndef XGEMM_KERNELS_WORKLIST_H
#define XGEMM_KERNELS_WORKLIST_H

#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"

/* One thread: reserves slots; returns the first one. */
XG_DEVICE unsigned xg_worklist_reserve(xg_worklist *list, unsigned count)
{
    return atomicAdd(&list->reserved, count);
}

/* The thread that has reserved them, after its warp has written the slots. */
XG_DEVICE void xg_worklist_publish(xg_worklist *list, unsigned count)
{
    __threadfence();
    atomicAdd(&list->published, count);
    atomicAdd(&list->available, (int)count);
}

/*
 * One thread: takes a published slot, or XG_WORKLIST_SLOTS in a row while at least "plenty" are
 * available. Returns how many it has taken; 0: none is available.
 */
enum { XG_WORKLIST_SLOTS = 4 };
XG_DEVICE int xg_worklist_take(xg_worklist *list, int plenty, unsigned *slot)
{
    unsigned published = xg_counter_load_acquire(&list->published);
    unsigned reserved = xg_load_relaxed(&list->reserved);
    const int seen = (int)xg_load_relaxed((const unsigned *)&list->available);
    int count = seen >= plenty ? XG_WORKLIST_SLOTS : 1;
    if (seen <= 0)
        return 0;
    while (atomicAdd(&list->available, -count) < count) {
        if (atomicAdd(&list->available, count) + count <= 0)
            return 0;
        count = 1;
    }
    *slot = atomicAdd(&list->taken, (unsigned)count);
    /* Slots are published in any order: ours are published once all that are reserved are. */
    while (published != reserved || *slot + (unsigned)count > reserved) {
        published = xg_load_relaxed(&list->reserved);
        xg_counter_wait(&list->published, published);
        reserved = xg_load_relaxed(&list->reserved);
    }
    return count;
}

#endif
