/* SPDX-License-Identifier: BSD-3-Clause */
/* $XGEMM_DEVICE, $XGEMM_KERNEL and $XGEMM_REPRODUCIBLE. */
#ifndef XGEMM_LIB_ENVIRONMENT_H
#define XGEMM_LIB_ENVIRONMENT_H

#include "base/error.h"

#include "xgemm.h"

/* XGEMM_DEVICE_AUTO when unset, empty or "auto". */
xgemm_status xg_environment_device(int *device, xg_error *error);

/* XGEMM_REPRODUCIBLE_RUN when unset, empty or "auto". */
xgemm_status xg_environment_reproducible(xgemm_reproducible *reproducible, xg_error *error);

/* A name; NULL when unset, empty or "auto". */
const char *xg_environment_kernel(void);

#endif
