/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for other blocks' counts. Blocks (clusters) run one after the other, in the order of
 * their numbers: who counts for this one has run, or the wait would have no end on a card where
 * not all find room at once.
 */
#include "scheduler.h"
#include "sm90_shim.h"
#include "specialised.h"

void xg_sim_count_wait(unsigned value, unsigned least, const xg_sim_place *here)
{
    if (value < least && !xg_sim_is_sample())
        xg_sim_blame(here,
                     "waits for a count of %u that is %u, and no block of a higher number may be "
                     "waited for",
                     least, value);
}
