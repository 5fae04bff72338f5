/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel's image is (xg_program's): with nvcc a fatbin, of which the driver chooses; with
 * clang a table of PTX, of which this chooses. ptx.sh writes the table.
 */
#ifndef XGEMM_CUDA_IMAGE_H
#define XGEMM_CUDA_IMAGE_H

#include <stdint.h>

/* A PTX of the table, which ends with a compute capability of 0; the newest comes first. */
typedef struct {
    int32_t compute_capability; /* the lowest that runs it, 10 * major + minor */
    int32_t offset;             /* of its text, from the table's beginning; ends with NUL */
} xg_cu_ptx;

/* The PTX of a table for a GPU; NULL: there is none, the GPU is older than all. */
const char *xg_cu_ptx_of(const xg_cu_ptx *table, int compute_capability);

/* What cuModuleLoadData takes of an image on a GPU; NULL likewise. */
const void *xg_cu_image_of(const void *image, int compute_capability);

#endif
