/* SPDX-License-Identifier: BSD-3-Clause */
/* What a multiprocessor can hold, by compute capability. */
#ifndef XGEMM_LIB_DEVICE_LIMITS_H
#define XGEMM_LIB_DEVICE_LIMITS_H

#include <stdint.h>

typedef struct {
    int compute_capability;
    int fp32_lanes, fp64_lanes,
        fp64_tensor_lanes; /* the last: of tensor cores; 0: they have none */
    int threads_per_sm, blocks_per_sm;
    int registers_per_sm, registers_per_thread, register_granule, warp_granule;
    int shared_per_sm, shared_per_block, shared_reserved, shared_granule;
    int cluster_blocks;
} xg_limits;

/* The limits of a compute capability, else of the nearest older one, else of the oldest. */
const xg_limits *xg_limits_of(int compute_capability);

/* The limits by index, oldest first; NULL past the last. */
const xg_limits *xg_limits_at(int index);

#endif
