/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rasterization: the order in which CTAs take the tiles of C. Tiles are counted down a group of
 * "raster_group" rows of tiles, then along it, so that CTAs that run at the same time share rows of
 * A and columns of B in L2.
 */
#ifndef XGEMM_KERNELS_RASTER_H
#define XGEMM_KERNELS_RASTER_H

#include "dialect.h"

typedef struct {
    unsigned m, n; /* counted in tiles */
} xg_raster_tile;

/* Tile number "tile" of the order; group_tiles: raster_group times the tiles along n. In 32 bits,
 * which the number of CTAs fits: a division of 64 bits takes hundreds of cycles. */
XG_DEVICE xg_raster_tile xg_raster_tile_of(unsigned tile, unsigned tiles_m, unsigned group_tiles,
                                           unsigned raster_group)
{
    const unsigned group = tile / group_tiles, inside = tile % group_tiles;
    const unsigned height = XG_MIN(tiles_m - group * raster_group, raster_group);
    const xg_raster_tile of = {group * raster_group + inside % height, inside / height};
    return of;
}

#endif
