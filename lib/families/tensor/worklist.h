/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists in global memory that blocks fill and empty while other blocks do so: what is left to
 * compute, for whoever is free.
 *
 * Slots are reserved, then written, then published, which makes as many available. A taker lowers
 * what is available, and if that was not above 0 raises it again and looks whether it is now: so
 * what has become available meanwhile is seen by the last of those who raise it, or by who has
 * published it, who takes later, too. Nothing is left over whichever block comes to its end last.
 */
#ifndef XGEMM_KERNELS_WORKLIST_H
#define XGEMM_KERNELS_WORKLIST_H

#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"

/* One thread: reserves so many slots; the first one. */
XG_DEVICE unsigned xg_worklist_reserve(xg_worklist *list, unsigned count)
{
    return atomicAdd(&list->reserved, count);
}

/* The thread that has reserved them, once its warp has written the slots. */
XG_DEVICE void xg_worklist_publish(xg_worklist *list, unsigned count)
{
    __threadfence();
    atomicAdd(&list->published, count);
    atomicAdd(&list->available, (int)count);
}

/*
 * One thread: takes a slot that has been published, or, as long as there are that many for each of
 * so many takers, XG_WORKLIST_SLOTS in a row; how many it has taken, 0 where there is none.
 */
enum { XG_WORKLIST_SLOTS = 4, XG_ONE_EACH = 1 << 28 /* takers */ };
XG_DEVICE int xg_worklist_take(xg_worklist *list, unsigned takers, unsigned *slot)
{
    unsigned published = xg_count_read(&list->published);
    unsigned reserved = xg_load_relaxed(&list->reserved);
    const int seen = (int)xg_load_relaxed((const unsigned *)&list->available);
    int count = seen >= (int)(XG_WORKLIST_SLOTS * takers) ? XG_WORKLIST_SLOTS : 1;
    if (seen <= 0)
        return 0;
    while (atomicAdd(&list->available, -count) < count) {
        if (atomicAdd(&list->available, count) + count <= 0)
            return 0;
        count = 1;
    }
    *slot = atomicAdd(&list->taken, (unsigned)count);
    /* Once as many are published as are reserved at a later time all of these are. */
    while (published != reserved || *slot + (unsigned)count > reserved) {
        published = xg_load_relaxed(&list->reserved);
        xg_count_wait(&list->published, published);
        reserved = xg_load_relaxed(&list->reserved);
    }
    return count;
}

#endif
