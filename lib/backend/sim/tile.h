/* SPDX-License-Identifier: BSD-3-Clause */
/* What TMA's copies and stores of tiles have in common. */
#ifndef XGEMM_SIM_TILE_H
#define XGEMM_SIM_TILE_H

#include "sm90_shim.h"

enum { XG_SIM_TILE_UNIT = 16 /* bytes, which a swizzle moves */ };

/* Fails where a tile may not be at that address of shared memory, or begin there in the matrix. */
void xg_sim_check_tile(xg_tensor_map_ref map, unsigned address, int x, int y, int z,
                       const xg_sim_location *here);

/* The bytes of a tile's row in shared memory, at multiples of which its rows are; and of one of the
   matrix. */
unsigned xg_sim_tile_row_bytes(xg_tensor_map_ref map);
int64_t xg_sim_tile_matrix_row_bytes(xg_tensor_map_ref map);

/* Where in a row, which is at that address, its unit is that begins with byte "at". */
unsigned xg_sim_tile_place(xg_tensor_map_ref map, unsigned row_address, unsigned at);

#endif
