/* SPDX-License-Identifier: BSD-3-Clause */
#include "turns.h"

#include "running.h"

enum { WARP = XG_SIM_WARP, WARPS_MAX = XG_SIM_THREADS_MAX / WARP };

static void shuffle(int *numbers, int count, uint64_t *state)
{
    for (int i = count - 1; i > 0; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        const int j = (int)((*state >> 33) % (uint64_t)(i + 1)), swapped = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = swapped;
    }
}

/* The numbers from first on, in the order; "count" of them. */
static void put_in_order(int *numbers, int first, int count, xg_sim_order order, uint64_t *state)
{
    for (int i = 0; i < count; i++)
        numbers[i] = first + (order == XG_SIM_REVERSE ? count - 1 - i : i);
    if (order == XG_SIM_SHUFFLE)
        shuffle(numbers, count, state);
}

void xg_sim_set_turns(int *turns, int threads, xg_sim_order order, uint64_t seed)
{
    const int warps = (threads + WARP - 1) / WARP;
    int warp_order[WARPS_MAX], *turn = turns;
    put_in_order(warp_order, 0, warps, order, &seed);
    for (int i = 0; i < warps; i++) {
        const int first = warp_order[i] * WARP;
        const int lanes = threads - first < WARP ? threads - first : WARP;
        put_in_order(turn, first, lanes, order, &seed);
        turn += lanes;
    }
}
