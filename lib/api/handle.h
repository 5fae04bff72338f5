/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XGEMM_LIB_HANDLE_H
#define XGEMM_LIB_HANDLE_H

#include "log.h"

#include "planner/cache.h"
#include "planner/workspace.h"

enum { XG_HOST_DEVICES_MAX = 16 };

/* What the last product tells of the elements of C that it recomputed. */
typedef struct {
    int64_t elements;   /* where nothing is counted on the device */
    const void *count;  /* in its workspace; NULL: see above */
    int64_t most;       /* of C, all products of a batch */
    const void *stream; /* that it ran on: its identity */
    bool is_callers;    /* that workspace is the caller's, */
    bool is_lost;       /* who has given another one since, so that it may be gone */
} xg_recomputed;

/* What products of matrices in host memory keep of a device. */
typedef struct {
    xgemm_handle *open;
    void *staging;              /* pinned memory for copies, */
    struct xg_copiers *copiers; /* by these threads */
    void *memory;               /* of a product, while it runs */
} xg_host_device;

struct xgemm_handle {
    int ordinal;
    const xg_backend *backend;
    xg_device *device;
    xg_target target; /* of the device, for plans */
    xg_costs costs;   /* the target's, where they are scaled */
    void *stream;
    xgemm_math math;
    xgemm_reproducible reproducible;
    const xg_kernel *kernel; /* NULL: chosen for every call */
    xg_ran ran;
    int64_t fallbacks; /* products that did not run what was wanted */
    int log;           /* a descriptor, or XG_NO_LOG */
    xg_plan_cache plans;
    xg_cached_plan *compact; /* the last one of compact programs; NULL: there was none */
    xg_workspace *workspaces;
    void *given_workspace; /* the caller's; NULL: the library's own */
    size_t given_bytes;
    xg_recomputed recomputed;
    int host_devices; /* that share products of matrices in host memory; 0: its own device alone */
    int host_ordinals[XG_HOST_DEVICES_MAX];
    xg_host_device host[XG_HOST_DEVICES_MAX];
    void (*host_close)(xgemm_handle *); /* gives them back; NULL: there are none yet */
    xg_error error;
};

/* For a public function's end: keeps the sentence with the function's name before it. */
xgemm_status xg_handle_done(xgemm_handle *handle, xgemm_status status, const char *function);

/* Waits for the last product and tells how many elements of C it recomputed. */
xgemm_status xg_recomputed_get(xgemm_handle *handle, int64_t *elements);

/* A handle of the library's own, on a device by its ordinal: the environment sets nothing. */
xgemm_status xg_handle_create(xgemm_handle **handle, int ordinal, xg_error *error);

/*
 * is_done: nothing of the handle's runs any more. Otherwise the GPU's context is waited for, which
 * makes any capture of a stream invalid.
 */
void xg_handle_destroy(xgemm_handle *handle, bool is_done);

/* A kernel of that name that the handle's device can run. */
xgemm_status xg_handle_find_kernel(const xgemm_handle *handle, const char *name,
                                   const xg_kernel **kernel, xg_error *error);

/* A function was given a NULL handle. */
xgemm_status xg_no_handle(const char *function);

#endif
