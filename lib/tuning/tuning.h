/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost models' constants, a data file a GPU, written by bench/fit. To add one: bench/tune.sh,
 * then its name here, in tuning.c and in lib.am.
 */
#ifndef XGEMM_LIB_TUNING_H
#define XGEMM_LIB_TUNING_H

#include "families/costs.h"

#include <xgemm.h>

extern const xg_costs xg_costs_h100, xg_costs_h200;

/* The constants of half/, by hand and by descent to times of an H100 and an H200, whose
   multiprocessors are the same. */
#define XG_HALF_COSTS                                                                              \
    .half = {{.in_l2_us = 0.60, .beyond_l2_us = 0.60, .tile_us = 0.2},                             \
             {.in_l2_us = 0.346, .beyond_l2_us = 0.36, .tile_us = 1.25},                           \
             {.in_l2_us = 0.658, .beyond_l2_us = 0.67, .tile_us = 1.8}},                           \
    .half_few_rows = 0.66, .half_store_us = {2.0, 1.65, 2.7}, .half_unaligned_us = {2.0, 1.4, 2.0}, \
    .half_split = {{.block_us = 0.33, .tile_us = 1.8, .cta_us = 0.38, .one_cta_us = 1.6},          \
                   {.block_us = 0.41, .tile_us = 1.75, .cta_us = 0.31},                            \
                   {.block_us = 0.275, .tile_us = 2.6, .cta_us = 0.97}},                           \
    .half_l2_rate = 9.5e6,                                                                         \
    .half_launch_us = 2.2, .half_align_us = 4.2,                                                   \
    .half_align_rate = 3.6e6, .half_reduce_us = 4.8, .half_reduce_rate = 1.2e6,                    \
    .half_skinny = {{.step_us = 0.55, .unaligned_step_us = 0.60, .tile_us = 0.8},                  \
                    {.step_us = 1.06, .unaligned_step_us = 2.20, .tile_us = 0.4}},                 \
    .half_thin = {.alone_us = 0.56, .alone_step_us = 1.5, .tile_us = 0.95, .step_us = 0.64}

/*
 * The constants of residue/, fitted by hand to doc/results/h100/residues.csv; block_us is more
 * than its part there, so that FP64 keeps 4096, where it was faster by 7 %; an H200's
 * multiprocessors are the same.
 */
#define XG_RESIDUE_COSTS                                                                           \
    .residue_launches_us = 55.0, .residue_block_us = 0.82, .residue_tile_us = 5.0,                 \
    .residue_rate = 3.3e6

/* Whether constants can be scaled for the GPU. */
bool xg_peaks_known(const xgemm_device *gpu);

/*
 * The constants for a GPU: those that were measured on it; else, in *scaled, those of the GPU
 * nearest to it in multiprocessors and bandwidth, scaled by both GPUs' peaks. A GPU whose peaks are
 * not known: an H200's, which serve to choose a kernel but predict no time. NULL: an H200's.
 */
const xg_costs *xg_costs_of(const xgemm_device *gpu, xg_costs *scaled);

/*
 * The constants of double/ for a multiprocessor of compute capability 9.0, in order of
 * double/tiles.c: CTAs, a k of one alone and of one where it is full, a round, and what a round
 * takes longer where C is not aligned. Rounds are of 4096 x 4096 x 1 and 4095 x 4095 x 8 on an
 * H200, on which the first of F64 and of C64, the reduction's and the launches' are measured, too.
 * The others follow from the tiles' shapes.
 */
#define XG_DOUBLE_COSTS_SM90                                                                       \
    {                                                                                              \
        {1, 0.0760, 0.0760, 5.7, 4.7}, {1, 0.0405, 0.0405, 3.6, 2.4},                              \
            {2, 0.0275, 0.0213, 4.0, 2.0}, {4, 0.0171, 0.0108, 3.0, 1.0},                          \
            {1, 0.1475, 0.1475, 5.6, 3.1}, {1, 0.0800, 0.0800, 3.6, 1.2},                          \
            {3, 0.0620, 0.0385, 4.0, 1.9}, {2, 0.1770, 0.1660, 5.5, 15.0},                         \
            {3, 0.0980, 0.0945, 3.3, 4.5}, {3, 0.0720, 0.0505, 2.6, 1.3},                          \
            {4, 0.0150, 0.0055, 2.8, 0.6}, {4, 0.0150, 0.0055, 2.8, 0.6},                          \
            {4, 0.0300, 0.0220, 4.0, 0.6}, {4, 0.0300, 0.0220, 4.0, 0.6},                          \
            {4, 0.0470, 0.0375, 2.4, 0.5}, {4, 0.0470, 0.0375, 2.4, 0.5},                          \
            {8, 0.0185, 0.0078, 2.8, 1.3}, {4, 0.0410, 0.0280, 1.7, 0.9},                          \
            {6, 0.0500, 0.0290, 2.65, 0.65},                                                       \
    }

/* Those of half/'s kernels by mma.sync, in order of half/mma_cost.c. */
#define XG_MMA_COSTS                                                                               \
    {                                                                                              \
        {2, 0.0120, 2.7, 0.0110, 2.0, 4.0, 0}, {3, 0.0032, 1.9, 0.0036, 1.0, 2.0, 0.0065},         \
            {4, 0.0030, 1.3, 0.0026, 0.62, 0.82, 0.0030}, {2, 0.0244, 0.9, 0.0115, 1.35, 1.35, 0}, \
            {3, 0.0200, 0.8, 0.0100, 0.50, 0.58, 0},                                               \
    }

/* Those of FP32's products by mma.sync: estimates, by wgmma's kernel of the same kind. */
#define XG_FP16X3_MMA_COST(ctas, us, share)                                                        \
    {                                                                                              \
        .ctas_per_sm = ctas, .us_per_k = us, .alone = share, .fixed_us = 2.6, .epilogue_k = 54,    \
        .unaligned_c_k = 43, .scalar_k_major = 0.53, .scalar_mn_major = 0.25, .vec4_k_major = 2    \
    }

#endif
