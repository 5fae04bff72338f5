/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the host. */
#ifndef XGEMM_HOST_FUNCTIONS_H
#define XGEMM_HOST_FUNCTIONS_H

#include "families/common/args.h"

/* The argument of products: room for operands as floats, where these are of 16 bits. */
typedef struct {
    xg_typed_args product;
    float *floats; /* A's, then B's, then the products' */
} xg_host_args;

void xg_host_reference(const void *args);
void xg_host_chain(const void *args);
void xg_host_blas(const void *args);
/* Takes an xg_typed_args, whose alpha is 0. */
void xg_host_finish(const void *args);
/* Takes an xg_scale_args. */
void xg_host_scale(const void *args);

#endif
