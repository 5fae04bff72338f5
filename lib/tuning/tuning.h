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

/* Whether constants can be scaled for the GPU. */
bool xg_peaks_known(const xgemm_device *gpu);

/*
 * The constants for a GPU: those that were measured on it; else, in *scaled, those of the GPU
 * nearest to it in multiprocessors and bandwidth, scaled by both GPUs' peaks. A GPU whose peaks are
 * not known: an H200's, which serve to choose a kernel but predict no time. NULL: an H200's.
 */
const xg_costs *xg_costs_of(const xgemm_device *gpu, xg_costs *scaled);

#endif
