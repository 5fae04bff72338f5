/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend.h"

const xg_backend *xg_backend_of(int device)
{
    if (device >= 0)
        return &xg_backend_cuda;
    if (device == XGEMM_DEVICE_CPU)
        return &xg_backend_cpu;
    if (device == XGEMM_DEVICE_SIM)
        return &xg_backend_sim;
    return NULL;
}
