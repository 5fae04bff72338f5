/* SPDX-License-Identifier: BSD-3-Clause */
/* Occupancy, computed from a device's figures alone. */
#ifndef XGEMM_LIB_DEVICE_OCCUPANCY_H
#define XGEMM_LIB_DEVICE_OCCUPANCY_H

#include "base/error.h"

typedef struct {
    int threads, registers;
    int64_t shared;
    int cluster;
} xg_configuration;

enum { XG_WARP = 32 };

/*
 * Copies a device, its limits complete (those it lacks are of its compute
 * capability) and checked. Fails for a device that is no GPU.
 */
xgemm_status xg_device_complete(const xgemm_device *from, xgemm_device *all, xg_error *error);

/* Fails for what no launch on the device may ask for. */
xgemm_status xg_occupancy_check(const xgemm_device *all, const xg_configuration *c,
                                xg_error *error);

/* The occupancy of a checked configuration on a complete device. */
void xg_occupancy_compute(const xgemm_device *all, const xg_configuration *c,
                          xgemm_occupancy_info *info);

/* Blocks that the registers alone allow, INT_MAX when none are counted; those of a block. */
int xg_blocks_by_registers(const xgemm_device *all, int threads, int registers, int64_t *allocated);

#endif
