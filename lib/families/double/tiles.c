/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of double/, by kernel and type. */
#include "double.h"
#include "families/programs.h"

/* Stages of A's and B's tiles, as dmma.inc lays them out: k by tiles padded to other banks. */
#define DMMA_F64(stages, m, n) ((stages)*16 * (8 * (m) + 32 + 8 * (n) + 32))
#define DMMA_C64(stages, m, n) ((stages)*8 * (16 * (m) + 32 + 16 * (n) + 32))
/* ffma_copy.inc: of each k the planes of real and imaginary parts, padded. */
#define FFMA_PLANES(tile) (8 * (tile) + ((tile) % 32 == 0 ? 64 : 0))
#define FFMA_C32(stages, m, n)                                                                     \
    ((stages)*16 * ((FFMA_PLANES(m) + FFMA_PLANES(n) + 127) / 128 * 128 + 16))

static const xg_double_tile tiles[] = {
    {&xg_program_dmma_f64_128x128, XG_KERNEL_pipelined_128x128, XG_F64, 128, 128, 16, 256,
     DMMA_F64(4, 128, 128), 0},
    {&xg_program_dmma_f64_64x128, XG_KERNEL_pipelined_64x128, XG_F64, 64, 128, 16, 256,
     DMMA_F64(4, 64, 128), 1},
    {&xg_program_dmma_f64_64x64, XG_KERNEL_pipelined_64x128, XG_F64, 64, 64, 16, 128,
     DMMA_F64(4, 64, 64), 2},
    {&xg_program_dmma_f64_32x64, XG_KERNEL_pipelined_32x64, XG_F64, 32, 64, 16, 128,
     DMMA_F64(4, 32, 64), 3},
    {&xg_program_dmma_c64_64x128, XG_KERNEL_pipelined_128x128, XG_C64, 64, 128, 8, 256,
     DMMA_C64(4, 64, 128), 4},
    {&xg_program_dmma_c64_64x64, XG_KERNEL_pipelined_64x128, XG_C64, 64, 64, 8, 256,
     DMMA_C64(4, 64, 64), 5},
    {&xg_program_dmma_c64_32x64, XG_KERNEL_pipelined_32x64, XG_C64, 32, 64, 8, 128,
     DMMA_C64(4, 32, 64), 6},
    {&xg_program_ffma_c32_64x128, XG_KERNEL_pipelined_128x128, XG_C32, 64, 128, 16, 128,
     FFMA_C32(4, 64, 128), 7},
    {&xg_program_ffma_c32_64x64, XG_KERNEL_pipelined_64x128, XG_C32, 64, 64, 16, 128,
     FFMA_C32(4, 64, 64), 8},
    {&xg_program_ffma_c32_32x64, XG_KERNEL_pipelined_32x64, XG_C32, 32, 64, 16, 128,
     FFMA_C32(4, 32, 64), 9},
    {&xg_program_dmma_f64_64x16, XG_KERNEL_pipelined_32x64, XG_F64, 64, 16, 16, 128,
     DMMA_F64(4, 64, 16), 10},
    {&xg_program_dmma_f64_16x64, XG_KERNEL_pipelined_32x64, XG_F64, 16, 64, 16, 128,
     DMMA_F64(4, 16, 64), 11},
    {&xg_program_dmma_c64_64x16, XG_KERNEL_pipelined_32x64, XG_C64, 64, 16, 8, 128,
     DMMA_C64(4, 64, 16), 12},
    {&xg_program_dmma_c64_16x64, XG_KERNEL_pipelined_32x64, XG_C64, 16, 64, 8, 128,
     DMMA_C64(4, 16, 64), 13},
    {&xg_program_ffma_c32_64x16, XG_KERNEL_pipelined_32x64, XG_C32, 64, 16, 16, 128,
     FFMA_C32(4, 64, 16), 14},
    {&xg_program_ffma_c32_16x64, XG_KERNEL_pipelined_32x64, XG_C32, 16, 64, 16, 128,
     FFMA_C32(4, 16, 64), 15},
    {&xg_program_dmma_f64_32x32, XG_KERNEL_pipelined_32x64, XG_F64, 32, 32, 16, 128,
     DMMA_F64(3, 32, 32), 16},
    {&xg_program_dmma_c64_32x32, XG_KERNEL_pipelined_32x64, XG_C64, 32, 32, 8, 128,
     DMMA_C64(4, 32, 32), 17},
    {&xg_program_ffma_c32_32x32, XG_KERNEL_pipelined_32x64, XG_C32, 32, 32, 16, 128,
     FFMA_C32(3, 32, 32), 18},
};
enum { TILES = sizeof tiles / sizeof *tiles };

bool xg_double_takes(xg_type type)
{
    return type == XG_F64 || xg_type_is_complex(type);
}

bool xg_double_cost_is_fp64(int cost)
{
    for (int i = 0; i < TILES; i++)
        if (tiles[i].cost == cost)
            return tiles[i].type != XG_C32;
    return false;
}

const xg_double_tile *xg_double_tile_at(const xg_kernel *kernel, xg_type type, int i)
{
    for (int j = 0; j < TILES; j++)
        if (tiles[j].kernel == kernel->id && tiles[j].type == type && i-- == 0)
            return &tiles[j];
    return NULL;
}

const xg_double_tile *xg_double_tile_of(const xg_candidate *of, const xg_request *request)
{
    const xg_double_tile *tile;
    int i = 0;
    do
        tile = xg_double_tile_at(of->kernel, request->problem.type_a, i++);
    while (tile && (tile->m != of->tile_m || tile->n != of->tile_n));
    return tile;
}
