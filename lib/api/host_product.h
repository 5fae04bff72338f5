/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XGEMM_LIB_HOST_PRODUCT_H
#define XGEMM_LIB_HOST_PRODUCT_H

#include "handle.h"
#include "problem/call.h"

/* Checks and computes a call with XGEMM_HOST_MEMORY; C is done when it returns. */
xgemm_status xg_multiply_host(xgemm_handle *handle, const xg_call *call, const char *function);

#endif
