/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constants of the cost models: what is measured on a GPU, and written by bench/fit into a file
 * of lib/tuning/. The models are in the cost.c of the families' folders, which say how a
 * constant is used. Times are in microseconds, rates in bytes a microsecond.
 */
#ifndef XGEMM_LIB_COSTS_H
#define XGEMM_LIB_COSTS_H

#include "kernel_ids.h"

#include <stdbool.h>

/* A kernel of simt/, on one multiprocessor. All zero: it has no model. */
typedef struct {
    int ctas_per_sm;
    double us_per_k;        /* a wave's, where the multiprocessor is full */
    double alone;           /* the share of that which one CTA by itself takes */
    double fixed_us;        /* a wave's prologue */
    double scalar_k_major;  /* so much longer where both operands are K-major and copied by
                               scalars, or transposed; */
    double scalar_mn_major; /* and of that, where they are MN-major */
    double epilogue_k;      /* a CTA's epilogue, as k that takes as long, */
    double unaligned_c_k;   /* and that much more, or less, where C's rows are not aligned */
    double later_k;         /* thin kernels: k beyond the prefetch distance takes so many times as
                               long; 0: not a thin kernel */
    int vec4_k_major;       /* copied by vec4 though K-major: 1: A, 2: both operands */
    int k_multiple;         /* k is computed up to a multiple of that; 0: to a whole stage */
} xg_tile_cost;

/* A kernel of tensor/: a k-block (64 k) of a full wave whose operands are in L2, or come from
   memory beyond it; and the wave's time besides its k-blocks. */
typedef struct {
    double in_l2_us, beyond_l2_us, tile_us;
    double batch_block_us, batch_tile_us; /* more for each k-block, and tile, of a batch */
} xg_tensor_cost;

/* gemv/, by the length of C's short side. */
typedef struct {
    int side;
    double first_us, us_per_k, read_rate;
} xg_gemv_cost;

enum { XG_GEMV_SIDES = 5 };

/* A tile of double/, on one multiprocessor: see double/cost.c. */
typedef struct {
    int ctas_per_sm;
    double alone_us, full_us; /* a k of a CTA by itself, and of one where it is full */
    double tile_us;           /* and more for each round of CTAs, */
    double unaligned_us;      /* and yet more where C is not aligned */
} xg_double_cost;

/* A tile of half/ with split-K within a cluster: a stage; the other time of a CTA in a cluster of
   two, and more for each further CTA; and the other time of a CTA without split-K. */
typedef struct {
    double block_us, tile_us, cta_us, one_cta_us;
} xg_half_split_cost;

enum { XG_DOUBLE_TILES = 19, XG_MMA_TILES = 5 };

/* A CTA of half/ by mma.sync. */
typedef struct {
    int ctas_per_sm;
    double k_us, tile_us;           /* by itself: each k of it, and the rest */
    double full_k_us, full_tile_us; /* the same where the multiprocessor is full */
    double full_unaligned_tile_us;  /* and the rest where rows of C are not aligned */
    double memory_k_us; /* by itself, more for each k of which all comes from memory, not from L2 */
} xg_mma_cost;

/* A CTA of half/skinny.c by itself: a step of aligned lines and of others, and the rest. */
typedef struct {
    double step_us, unaligned_step_us, tile_us;
} xg_skinny_cost;

/* A CTA of half/thin.c, and each of its steps: where it has the multiprocessor to itself, and where
   that is full. */
typedef struct {
    double alone_us, alone_step_us, tile_us, step_us;
} xg_thin_cost;

/* A GPU's peaks. All zero: not asked for. */
typedef struct {
    double fp32_gflops, fp64_gflops, tensor_gflops, bandwidth_gbs;
} xg_roof;

typedef struct {
    /* What was measured, and its peaks, by which constants are scaled to other GPUs. */
    const char *gpu;
    int multiprocessors;
    double sm_fp32_gflops, sm_fp16_gflops; /* of a multiprocessor */
    double sm_fp64_gflops;                 /* of its CUDA cores */
    double bandwidth_gbs;
    xg_roof roof; /* of the GPU that constants are scaled for, whose time no prediction is below */
    /* Launches: the first of a call, one after another, one after another pass of a batch. */
    double launch_us, next_launch_us, next_pass_us;
    /* simt/ */
    xg_tile_cost tiles[XG_KERNEL_COUNT];
    double copy_rate, read_rate, write_rate, thin_write_rate, reduce_rate;
    double l2_copy_us, l2_copy_rate; /* copies of operands that L2 holds */
    double prefetched_k;             /* of a thin kernel */
    double stream_k_us, stream_k_part_us;
    double cluster_reduce_us;
    double overlap; /* what shows of the shorter one of computing and memory */
    /* gemv/ */
    xg_gemv_cost gemv[XG_GEMV_SIDES];
    double gemv_wave_us, gemv_step_us, gemv_mn_major_step_us;
    /* tensor/ */
    xg_tensor_cost tensor[XG_KERNEL_COUNT];
    double l2_bytes;
    double split_us, split_rate, split_wave_us, product_us, tensor_cluster_us;
    double last_store_rate, unaligned_store_rate, edge_store_us, edge_store_rate;
    double batch_edges_us, batch_edge_us; /* of a wave of a batch's tiles, by 128 columns: if C's
                                             edges cut some, and by the share of these */
    double tensor_stream_k_us, tensor_stream_k_column_us, tensor_stream_k_part_us;
    double strip_step_us, strip_step_narrow_us; /* of a warp; the second beside 64-column tiles */
    double strips_us, strips_rate, strips_few_warps_rate;
    double split_strips_us, split_strips_rate, split_strip_more;
    /* half/: tiles of 128 x 64, 128 and 256; launches, and bytes read and written by passes */
    xg_tensor_cost half[3];
    double half_store_us[3];          /* that a wave takes at least */
    double half_few_rows;             /* what a k-block of 64 x 64 takes of one of 128 x 64 */
    double half_unaligned_us[3];      /* and more where rows of C are not aligned */
    xg_half_split_cost half_split[3]; /* tiles of 64 x 64, 128 x 64 and 128 x 128 */
    double half_l2_rate;              /* what L2 delivers to all CTAs */
    double half_launch_us, half_align_us, half_align_rate, half_reduce_us, half_reduce_rate;
    double half_read_rate, half_write_rate; /* of operands and C */
    xg_skinny_cost half_skinny[2];          /* X K-major, or not */
    xg_thin_cost half_thin;
    xg_mma_cost mma[XG_MMA_TILES]; /* by the tile's number in half/mma_cost.c */
    /* double/: by the tile's number in double/tiles.c; rates of what L2 and memory deliver */
    xg_double_cost fp64[XG_DOUBLE_TILES];
    double double_launch_us, double_reduce_us, double_reduce_rate;
    double double_l2_rate, double_memory_rate;
    /* residue/: all launches, 128 of k of a tile, the rest of a tile; bytes of the other passes */
    double residue_launches_us, residue_block_us, residue_tile_us, residue_rate;
    double scalar_k_major_us, scalar_k_major_rate, scalar_mn_major_us, scalar_mn_major_rate;
} xg_costs;

#endif
