/* SPDX-License-Identifier: BSD-3-Clause */
#include "split_search.h"

#include "problem/problem.h"

/* Whether so many splits of some tiles begin before the GPU is full. */
static bool begins_in_time(const xg_split_search *s, int64_t splits, int64_t tiles)
{
    return (splits - 1) * tiles < s->held;
}

/* Whether k has so many splits, and not fewer with as many steps each. */
static bool divides(const xg_split_search *s, int64_t splits)
{
    return xg_ceil_div(s->steps, xg_ceil_div(s->steps, splits)) == splits;
}

bool xg_next_splits(xg_split_search *s)
{
    const bool may_split_last = s->last_wave > 0 && s->last_wave < s->tiles;
    if (s->splits == 0) {
        s->splits = 1;
        s->split_tiles = 0;
        return true;
    }
    if (s->splits > 1 && s->split_tiles == s->tiles && may_split_last &&
        begins_in_time(s, s->splits, s->last_wave)) {
        s->split_tiles = s->last_wave;
        return true;
    }
    while (++s->splits <= s->most_splits) {
        const bool all = begins_in_time(s, s->splits, s->tiles);
        const bool last = may_split_last && begins_in_time(s, s->splits, s->last_wave);
        if (xg_ceil_div(s->steps, s->splits) < s->least_steps || !(all || last))
            return false;
        if (!divides(s, s->splits))
            continue;
        s->split_tiles = all ? s->tiles : s->last_wave;
        return true;
    }
    return false;
}
