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

/* Calls the function for each ragged group, with the arguments of its product. */
void xg_host_each_group(const xg_host_args *args, void (*function)(const void *));

/* Products, which take an xg_host_args, and where there are no groups read its product alone. */
void xg_host_reference(const void *args);
void xg_host_chain(const void *args);
void xg_host_blas(const void *args);
/* Takes an xg_typed_args, whose alpha is 0. */
void xg_host_finish(const void *args);
/* Takes an xg_scale_args. */
void xg_host_scale(const void *args);

#endif
