/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"

#include <stddef.h>

const char *xg_cu_ptx_of(const xg_cu_ptx *table, int compute_capability)
{
    for (const xg_cu_ptx *ptx = table; ptx->compute_capability > 0; ptx++)
        if (ptx->compute_capability <= compute_capability)
            return (const char *)table + ptx->offset;
    return NULL;
}

const void *xg_cu_image_of(const void *image, int compute_capability)
{
    return XGEMM_WITH_PTX ? xg_cu_ptx_of(image, compute_capability) : image;
}
