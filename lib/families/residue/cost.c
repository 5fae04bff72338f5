/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether residues compute a product of F64 or C64, and how long they take:
 *
 *     time = launches + bytes / rate + waves * (k-blocks * block_us + tile_us)
 *
 * Bytes are those of the passes before and after the products: A and B are read three times, their
 * planes and C's residues written once and read once. A wave is a tile of a plane on each
 * multiprocessor. 16 moduli are counted, and a plane of magnitudes, which of complex numbers is
 * twice as wide and as long.
 */
#include "args.h"
#include "residue.h"

/* Sums of k products of bytes, at most 2^14 each, fit 31 bits; sizes fit 32. */
enum { K_MOST = (1 << 17) - 1, SIZE_MOST = 1 << 24, MODULI = 16 };

#define WORKSPACE_MOST 0x1p34
#define STRIDE_MOST    0x1p36

/* Doubles of an element. */
static int parts_of(const xg_problem *p)
{
    return p->type_a == XG_C64 ? 2 : 1;
}

xg_residue_sizes xg_residue_sizes_of(const xg_problem *p)
{
    const int64_t parts = parts_of(p);
    xg_residue_sizes of = {.parts = parts,
                           .planes = XG_RESIDUE_PRODUCTS(parts) * XG_RESIDUES_MOST,
                           .ratios = sizeof(xg_residue_ratios),
                           .about_a = p->m * (int64_t)sizeof(xg_residue_stats),
                           .about_b = parts * p->n * (int64_t)sizeof(xg_residue_stats),
                           .k_stride = xg_round_up(p->k, XG_RESIDUE_TILE_K),
                           .others_stride = xg_round_up(parts * p->n, 16),
                           .n_stride = xg_round_up(p->n, 16)};
    of.magnitudes_a = parts * p->m * of.k_stride;
    of.magnitudes_b = parts * parts * p->n * of.k_stride;
    of.others = p->m * of.others_stride;
    of.planes_a = of.planes * p->m * of.k_stride;
    of.planes_b = of.planes * p->n * of.k_stride;
    of.residues = of.planes * p->m * of.n_stride;
    return of;
}

static double room(int64_t bytes)
{
    return xg_room_bytes(1.0, (double)(bytes / 4), XG_F32);
}

double xg_residue_workspace(const xg_candidate *of, const xg_request *request)
{
    const xg_residue_sizes sizes = xg_residue_sizes_of(&request->problem);
    (void)of;
    return room(sizes.ratios) + room(sizes.about_a) + room(sizes.about_b) +
           room(sizes.magnitudes_a) + room(sizes.magnitudes_b) + room(sizes.others) +
           room(sizes.planes_a) + room(sizes.planes_b) + room(sizes.residues);
}

/* A bias or an activation adds to the error, which is as large as it may be without. */
bool xg_residue_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    if (!kernel->typed[p->type_a] || p->pointer_arrays || p->groups > 0 || p->epilogue.bias ||
        p->epilogue.activation || p->m > SIZE_MOST || p->n > SIZE_MOST ||
        p->k > K_MOST / parts_of(p) || (double)p->m * (double)p->n * (double)p->k > 0x1p60)
        return false;
    return xg_residue_workspace(NULL, request) < WORKSPACE_MOST;
}

xg_candidate xg_residue_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int64_t rows = xg_ceil_div(p->m, XG_RESIDUE_TILE_M);
    const int64_t parts = parts_of(p), planes = XG_RESIDUE_PRODUCTS(parts) * MODULI;
    const int64_t rows_of_pairs = xg_round_up(rows, rows > 1 ? 2 : 1);
    const int64_t tiles = rows_of_pairs * xg_ceil_div(p->n, XG_RESIDUE_TILE_N);
    const int64_t guard_tiles = rows_of_pairs * xg_ceil_div(parts * p->n, XG_RESIDUE_TILE_N);
    const double waves = (double)xg_ceil_div(tiles * planes, request->target.multiprocessors);
    const double guard_waves = (double)xg_ceil_div(guard_tiles, request->target.multiprocessors);
    const double operands = ((double)p->m + (double)p->n) * (double)p->k;
    const double elements = (double)p->m * (double)p->n;
    const double bytes =
        operands * (3.0 * 8.0 * (double)parts + (double)planes + (double)(parts * parts)) +
        elements * (2.0 * (double)planes + 8.0 * (double)parts);
    const double blocks = (double)xg_ceil_div(p->k, XG_RESIDUE_TILE_K);
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.tile_m = XG_RESIDUE_TILE_M;
    of.tile_n = XG_RESIDUE_TILE_N;
    of.tile_k = XG_RESIDUE_TILE_K;
    const double us =
        costs->residue_launches_us + bytes / costs->residue_rate +
        waves * (blocks * costs->residue_block_us + costs->residue_tile_us) +
        guard_waves * ((double)parts * blocks * costs->residue_block_us + costs->residue_tile_us);
    of.microseconds = xg_passes_us(costs, us, p->batch_count);
    return of;
}
