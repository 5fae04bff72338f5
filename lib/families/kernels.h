/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kernels. */
#ifndef XGEMM_LIB_KERNELS_H
#define XGEMM_LIB_KERNELS_H

#include "backend/backend.h"
#include "planner/plan.h"

/* Pairs find places wherever there are two; of clusters of four a card may hold too few. */
enum { XG_CLUSTER_PARTS = 2 };

/* Kernels that read anything; aligned fours across k alone; A along k, too; or both operands. */
enum { XG_PACKS_NONE, XG_PACKS_UNLESS_ACROSS, XG_PACKS_UNLESS_A_ALONG, XG_PACKS_UNLESS_FOURS };

typedef struct xg_kernel {
    const char *name, *summary;
    const xg_program *program;
    int tile_m, tile_n, tile_k;
    int block_x, block_y;
    int shared_bytes;
    double flop_per_byte;
    int packs; /* XG_PACKS_...: operands that have to be copied first */
    /* The launches of a problem; xg_steps_single for most. */
    xgemm_status (*steps)(const struct xg_kernel *, const xg_args *, xg_plan *, xg_error *);
    int parts;       /* 0: plain FP32; 2: two of an element, with its accuracy; 1: of 11 bits */
    int cluster;     /* blocks; 0: none */
    bool adds_parts; /* of k, in clusters of XG_CLUSTER_PARTS blocks: sliced.inc */
    bool has_maps;   /* of A and B; of one product, whose parts of k are whole tiles: tma.inc */
} xg_kernel;

/* The blocks that work together: of a cluster, or one. */
static inline int xg_blocks_together(const xg_kernel *kernel)
{
    return kernel->cluster ? kernel->cluster : 1;
}

/* Programs that serve kernels and are no kernel themselves. */
extern const xg_program xg_program_pad, xg_program_unpad, xg_program_scale, xg_program_scale_host;
extern const xg_program xg_program_reduce, xg_program_pack;
extern const xg_program xg_program_fp16_split, xg_program_fp16_split_even;
extern const xg_program xg_program_fp16_split_strips, xg_program_fp16_vectors;

/* What the kernel "skinny" runs: one for each length of the shorter side, and two for vectors. */
extern const xg_program xg_program_skinny2, xg_program_skinny4, xg_program_skinny8,
    xg_program_skinny16, xg_program_skinny1_lines, xg_program_skinny1_across;
extern const xg_program xg_program_probe_copy, xg_program_probe_lines, xg_program_probe_pairs_float,
    xg_program_probe_pairs_double, xg_program_probe_parts_float, xg_program_probe_parts_double,
    xg_program_probe_banks, xg_program_probe_powers_shared, xg_program_probe_powers_global,
    xg_program_probe_empty;

int xg_kernel_count(void);
const xg_kernel *xg_kernel_at(int index);

/* What computes tiles of a problem whose operands lie as the kernel reads them. */
const xg_program *xg_kernel_program(const xg_kernel *kernel, const xg_args *problem);

/* Whether a kernel may serve in a math mode; and a sentence when it may not. */
bool xg_kernel_serves(const xg_kernel *kernel, xgemm_math math);
xgemm_status xg_kernel_check_math(const xg_kernel *kernel, xgemm_math math, xg_error *error);

/* NULL when there is none of that name. */
const xg_kernel *xg_kernel_named(const char *name);

/* Fails with a sentence that lists the kernels that the backend can run. */
xgemm_status xg_kernel_unknown(const char *name, const xg_backend *backend, xg_error *error);

#endif
