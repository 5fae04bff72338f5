/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u

static xg_cu_image ptx_of(const xg_cu_ptx *table, int compute_capability)
{
    for (const xg_cu_ptx *ptx = table; ptx->compute_capability > 0; ptx++)
        if (ptx->compute_capability <= compute_capability)
            return (xg_cu_image){(const char *)table + ptx->offset, (size_t)ptx->bytes};
    return (xg_cu_image){NULL, 0};
}

xg_cu_image xg_cu_image_of(const void *image, int compute_capability)
{
    return *(const uint32_t *)image == FATBIN_MAGIC ? (xg_cu_image){image, 0}
                                                    : ptx_of(image, compute_capability);
}

int xg_cu_driver_for_ptx(const void *ptx)
{
    enum { CUDA_MAJOR_BEYOND = 4, SKIPPED = 5 }; /* 8.5 is of CUDA 12.5, 8.6 of 12.7 */
    static const char begins[] = ".version ";
    char *end;
    if (strncmp(ptx, begins, strlen(begins)) != 0)
        return 0;
    /* Not sscanf(), which looks for the end of all the text. */
    const int major = (int)strtol((const char *)ptx + strlen(begins), &end, 10);
    const int minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
    return 1000 * (major + CUDA_MAJOR_BEYOND) + 10 * (minor + (major == 8 && minor > SKIPPED));
}
