/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters for skinny products of F16 operands, X's lines are k. */
#define KERNEL    half_skinny_cluster_mn_major_f16
#define TYPE      "f16"
#define X_K_MAJOR 0
#define CLUSTERS  1
#include "half_skinny.inc"
