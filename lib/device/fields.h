/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of xgemm_device that every way to fill one in shares. */
#ifndef XGEMM_LIB_DEVICE_FIELDS_H
#define XGEMM_LIB_DEVICE_FIELDS_H

#include "base/error.h"

#include <stdbool.h>

/* Whether the caller's struct can be filled in; else the sentence. */
xgemm_status xg_device_check(const xgemm_device *device, xg_error *error);

/* All that is known of a device, from its backend, the table of limits and the catalogue. */
xgemm_status xg_device_describe(int ordinal, xgemm_device *device, xg_error *error);

/* Copies as much as the caller's struct has room for. */
void xg_device_store(xgemm_device *device, const xgemm_device *full);

/* What no driver tells: granules, lanes and the like, from the compute capability. */
void xg_device_add_limits(xgemm_device *device);

/*
 * The peak in FP64, on CUDA cores or tensor cores, from the clock and what the compute capability
 * has; 0: none, or not known. Of devices that a caller made, too, whose structs may be older.
 */
double xg_device_fp64_gflops(const xgemm_device *device, bool tensor);

/* Peaks and balance, from clocks, lanes and bandwidth. */
void xg_device_derive(xgemm_device *device);

#endif
