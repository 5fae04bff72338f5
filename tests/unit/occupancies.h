/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of occupancy share. */
#ifndef XGEMM_TESTS_OCCUPANCIES_H
#define XGEMM_TESTS_OCCUPANCIES_H

#include "device/limits.h"

#include <xgemm.h>

/* The rows of the table of limits. */
int known_limits(void);

/* A device of which only the compute capability is known. */
xgemm_device device_of(int compute_capability);

/* Fails the test when the arguments are refused. */
xgemm_occupancy_info occupancy(const xgemm_device *device, int threads, int registers,
                               int64_t shared, int cluster);

#endif
