/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ragged groups: lines (rows of A and C, or columns of B and C) "offsets[g]" to "offsets[g + 1]"
 * are group g, which has an operand of its own. Only the device knows the offsets; lines that they
 * put outside of the matrix, or before the group's first one, are in no group.
 */
#ifndef XGEMM_KERNELS_RAGGED_H
#define XGEMM_KERNELS_RAGGED_H

#include "dialect.h"
#include "ptx.h"

/*
 * A group's lines, and its tiles: so many, after those of the groups before it. The first tile
 * begins at "start": the first line, or a multiple of a unit before it.
 */
typedef struct {
    unsigned group, start, first, end;
    unsigned tiles, before;
} xg_ragged_group;

/* From which group on a warp looks: a multiple of 32, and the tiles before it. */
typedef struct {
    unsigned group, before;
} xg_ragged_cursor;

/* An offset, within the rows or columns that there are. */
XG_DEVICE unsigned xg_ragged_line(int64_t offset, unsigned lines)
{
    return offset <= 0 ? 0 : offset >= (int64_t)lines ? lines : (unsigned)offset;
}

/* A lane's value, which ptxas knows to be the same in all of the warp. */
XG_DEVICE unsigned xg_ragged_uniform(unsigned x, int lane)
{
    const unsigned of_lane = __shfl_sync(0xffffffffu, x, lane);
    return __shfl_sync(0xffffffffu, of_lane, 0);
}

/*
 * The group of a tile, by all threads of a warp; 0: there are not so many. Tiles have "size" lines,
 * and begin anew with each group, at multiples of "unit", a power of two. The cursor is {0, 0} at
 * first, and later tiles are asked for later.
 */
XG_DEVICE int xg_ragged_find(const int64_t *offsets, unsigned groups, unsigned lines, unsigned size,
                             unsigned unit, unsigned tile, xg_ragged_cursor *at,
                             xg_ragged_group *of)
{
    const unsigned all = 0xffffffffu, lane = threadIdx.x % 32;
    while (at->group < groups) {
        const unsigned group = at->group + lane;
        unsigned first = 0, end = 0;
        if (group < groups) {
            first = xg_ragged_line(offsets[group], lines);
            end = xg_ragged_line(offsets[group + 1], lines);
        }
        const unsigned start = first & ~(unit - 1);
        const unsigned tiles = end > first ? (end - start + size - 1) / size : 0;
        unsigned sum = tiles; /* of the lanes up to this one */
        XG_UNROLL
        for (int distance = 1; distance < 32; distance *= 2) {
            const unsigned other = __shfl_up_sync(all, sum, distance);
            sum += lane >= (unsigned)distance ? other : 0;
        }
        const unsigned those = __ballot_sync(all, at->before + sum > tile);
        const unsigned found = xg_ragged_uniform(those, 0);
        if (found) {
            const int from = xg_popcount(~found & (found - 1)); /* the lowest bit */
            of->group = at->group + (unsigned)from;
            of->first = xg_ragged_uniform(first, from);
            of->start = of->first & ~(unit - 1);
            of->end = xg_ragged_uniform(end, from);
            of->tiles = xg_ragged_uniform(tiles, from);
            of->before = at->before + xg_ragged_uniform(sum, from) - of->tiles;
            return 1;
        }
        at->before += xg_ragged_uniform(sum, 31);
        at->group += 32;
    }
    return 0;
}

#endif
