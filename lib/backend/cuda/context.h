/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU in use: its primary context, retained once for all handles on it, and
 * the kernels loaded into it.
 */
#ifndef XGEMM_CUDA_CONTEXT_H
#define XGEMM_CUDA_CONTEXT_H

#include "backend/backend.h"
#include "driver.h"

struct xg_device {
    const xg_cu *driver;
    xg_device *next;
    int ordinal, users;
    xg_cu_device device;
    xg_cu_context context;
    int compute_capability, multiprocessors;
    int shared_in_all, shared_in_block, shared_reserved; /* bytes of a multiprocessor */
    xg_cu_module modules[XG_PROGRAMS_MAX];
    xg_cu_function functions[XG_PROGRAMS_MAX]; /* loaded when first used */
    bool pdl[XG_PROGRAMS_MAX];                 /* programmatic dependent launch is possible */
    bool large_clusters[XG_PROGRAMS_MAX];      /* it was allowed more than eight blocks */
    uint32_t shared_bytes[XG_PROGRAMS_MAX];    /* dynamic, that the function may have by now */
};

xgemm_status xg_cu_device_open(int ordinal, xg_device **device, xg_error *error);
void xg_cu_device_close(xg_device *device);

/* The kernel's function in the device's context, which must be current. */
xgemm_status xg_cu_function_of(xg_device *device, const xg_program *program,
                               xg_cu_function *function, xg_error *error);

/*
 * Between these two a first call's allocations and loads may stand inside a
 * graph capture of any thread. The second takes what the first gave.
 */
unsigned xg_cu_relax_capture(const xg_cu *driver);
void xg_cu_restore_capture(const xg_cu *driver, unsigned mode);

/* Makes the context current and says whether leave must undo it. */
xgemm_status xg_cu_enter(const xg_device *device, bool *pushed, xg_error *error);
void xg_cu_leave(const xg_device *device, bool pushed);

xgemm_status xg_cu_describe(int ordinal, xgemm_device *description, xg_error *error);
int xg_cu_count(void);

#endif
