/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of C, which is put back where a product that adds to C fails after it wrote a part. */
#ifndef XGEMM_SHIM_BLAS_BACKUP_H
#define XGEMM_SHIM_BLAS_BACKUP_H

#include <xgemm.h>

#include <stdbool.h>

/* Copies C of a product by several threads; NULL: the host has no memory. To be freed by free(). */
void *backup_make(const xgemm_product *product);

/* Puts C back as it was; what lies between its rows is left alone. */
void backup_restore(const xgemm_product *product, void *backup);

#endif
