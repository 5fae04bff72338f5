/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel's image is (xg_program's): with nvcc a fatbin, of which the driver chooses; with
 * clang a table of PTX, of which this chooses. ptx.sh writes the table.
 */
#ifndef XGEMM_CUDA_IMAGE_H
#define XGEMM_CUDA_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* A PTX of the table, which ends with a compute capability of 0; the newest comes first. */
typedef struct {
    int32_t compute_capability; /* the lowest that runs it, 10 * major + minor */
    int32_t offset;             /* of its text, from the table's beginning; ends with NUL */
    int32_t bytes;              /* of its text */
} xg_cu_ptx;

/* What the driver is given on a GPU. */
typedef struct {
    const void *data; /* NULL: there is none, the GPU is older than all */
    size_t ptx_bytes; /* that the driver translates; 0: a fatbin */
} xg_cu_image;

xg_cu_image xg_cu_image_of(const void *image, int compute_capability);

/*
 * The CUDA version of the oldest driver that takes a PTX, by the version that it begins with: 1000 *
 * major + 10 * minor. Of PTX ISA 7.0 to 8.8, as the PTX ISA's release history has them.
 */
int xg_cu_driver_for_ptx(const void *ptx);

#endif
