/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that are plain functions on the CPU; each takes an xg_args. */
#ifndef XGEMM_KERNELS_HOST_H
#define XGEMM_KERNELS_HOST_H

void xg_host_reference(const void *args);
void xg_host_blas(const void *args);
void xg_host_scale(const void *args);

#endif
