/* SPDX-License-Identifier: BSD-3-Clause */
/* What the backends on the CPU share: host memory, the clock, facts about the machine. */
#ifndef XGEMM_LIB_HOST_H
#define XGEMM_LIB_HOST_H

#include "backend.h"

xgemm_status xg_host_allocate(xg_device *device, size_t bytes, void **memory, xg_error *error);
xgemm_status xg_host_release(xg_device *device, void *memory, xg_error *error);
xgemm_status xg_host_memory_info(xg_device *device, uint64_t *free_bytes, uint64_t *total,
                                 xg_error *error);
xgemm_status xg_host_copy(xg_device *device, void *stream, void *to, const void *from, size_t bytes,
                          xg_error *error);
xgemm_status xg_host_wait(xg_device *device, void *stream, xg_error *error);
bool xg_host_drain(xg_device *device);
xgemm_status xg_host_make_current(xg_device *device, xg_error *error);
xgemm_status xg_host_mark_create(xg_device *device, xg_mark **mark, xg_error *error);
void xg_host_mark_destroy(xg_device *device, xg_mark *mark);
xgemm_status xg_host_mark_record(xg_device *device, void *stream, xg_mark *mark, xg_error *error);
xgemm_status xg_host_mark_elapsed(xg_device *device, xg_mark *from, xg_mark *to, double *us,
                                  xg_error *error);
xgemm_status xg_host_resources(xg_device *device, const xg_program *program,
                               xgemm_kernel_resources *resources, xg_error *error);

/* These functions, as members of an xg_backend. */
#define XG_HOST_FUNCTIONS                                                                          \
    .make_current = xg_host_make_current, .allocate = xg_host_allocate,                            \
    .release = xg_host_release, .memory_info = xg_host_memory_info, .upload = xg_host_copy,        \
    .download = xg_host_copy, .wait = xg_host_wait, .drain = xg_host_drain,                        \
    .mark_create = xg_host_mark_create, .mark_destroy = xg_host_mark_destroy,                      \
    .mark_record = xg_host_mark_record, .mark_elapsed = xg_host_mark_elapsed,                      \
    .resources = xg_host_resources

/* The processor's name, the number of CPUs online, and the main memory. */
xgemm_status xg_host_describe(xgemm_device *device, xg_error *error);

#endif
