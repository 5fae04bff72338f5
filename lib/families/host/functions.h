/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the host: products take an xg_product_args, scale an xg_scale_args. */
#ifndef XGEMM_HOST_FUNCTIONS_H
#define XGEMM_HOST_FUNCTIONS_H

void xg_host_reference(const void *args);
void xg_host_blas(const void *args);
void xg_host_scale(const void *args);

#endif
