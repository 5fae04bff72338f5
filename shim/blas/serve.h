/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of BLAS as one of libxgemm's over matrices in host memory, computed or passed on. */
#ifndef XGEMM_SHIM_BLAS_SERVE_H
#define XGEMM_SHIM_BLAS_SERVE_H

#include <xgemm.h>

#include <stdbool.h>

/*
 * Computes the product, if it is large enough to be faster on the GPU; false: the BLAS below has
 * to, and C is as before. The function's name is for the log; "caller" is an address in who called
 * it. Any thread may call; products of several threads wait for each other.
 */
bool serve_host(const char *function, const xgemm_product *product, const void *caller);

#endif
