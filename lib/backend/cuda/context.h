/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU in use: its primary context, retained once for all handles on it, and
 * the kernels loaded into it.
 */
#ifndef XGEMM_CUDA_CONTEXT_H
#define XGEMM_CUDA_CONTEXT_H

#include "backend/backend.h"
#include "translation.h"

#include <sys/types.h>

struct xg_device {
    const xg_cu *driver;
    xg_device *next;
    int ordinal, users;
    xg_cu_device device;
    xg_cu_context context;
    int compute_capability, multiprocessors;
    const char *lacks; /* a function without which no kernel for 9.0 alone runs; NULL: none */
    int shared_in_all, shared_in_block, shared_reserved; /* bytes of a multiprocessor */
    xg_cu_translation *translations[XG_PROGRAMS_MAX];
    xg_cu_library libraries[XG_PROGRAMS_MAX]; /* whose module it is; NULL: a module by itself */
    xg_cu_module modules[XG_PROGRAMS_MAX];
    xg_cu_function functions[XG_PROGRAMS_MAX]; /* loaded when first used */
    bool maps_memory;                          /* see arena.c */
    xg_arena *kept;                            /* arenas of handles that ended in a capture */
    bool pdl[XG_PROGRAMS_MAX];                 /* programmatic dependent launch is possible */
    bool large_clusters[XG_PROGRAMS_MAX];      /* it was allowed more than eight blocks */
    uint32_t shared_bytes[XG_PROGRAMS_MAX];    /* dynamic, that the function may have by now */
    xgemm_device description;
    pid_t described_in; /* the process in which it was; 0: it was not */
};

xgemm_status xg_cu_device_open(int ordinal, xg_device **device, xg_error *error);
void xg_cu_device_close(xg_device *device);

/* The kernel's function in the device's context, which must be current. */
xgemm_status xg_cu_function_of(xg_device *device, const xg_program *program,
                               xg_cu_function *function, xg_error *error);

bool xg_cu_is_loaded(const xg_device *device, const xg_program *program);

/* See xg_backend's ptx_bytes, load_begin and load_wait; with -1 this waits until it is done. */
size_t xg_cu_ptx_bytes(const xg_device *device, const xg_program *program);
bool xg_cu_load_begin(xg_device *device, const xg_program *program);
bool xg_cu_load_wait(xg_device *device, const xg_program *program, int milliseconds);

/* Makes the context current and says whether leave must undo it. */
xgemm_status xg_cu_enter(const xg_device *device, bool *pushed, xg_error *error);
void xg_cu_leave(const xg_device *device, bool pushed);

/* Wraps a driver call in the device's context; the rest of the function sees its result. */
#define XG_CU_IN_CONTEXT(device, result, call, error) XG_CU_WITHIN(device, (result) = (call), error)

/* The same of a call that is forbidden while any thread captures, unless in relaxed mode. */
#define XG_CU_RELAXED_IN_CONTEXT(device, result, call, error)                                      \
    XG_CU_WITHIN(device, const unsigned mode = xg_cu_relax_capture((device)->driver);              \
                 (result) = (call); xg_cu_restore_capture((device)->driver, mode), error)

#define XG_CU_WITHIN(device, statements, error)                                                    \
    {                                                                                              \
        bool pushed;                                                                               \
        const xgemm_status entered = xg_cu_enter(device, &pushed, error);                          \
        if (entered)                                                                               \
            return entered;                                                                        \
        statements;                                                                                \
        xg_cu_leave(device, pushed);                                                               \
    }

static inline xgemm_status xg_cu_result_of(const xg_device *device, xg_cu_result result,
                                           const char *function, xg_error *error)
{
    return result ? xg_cu_fail(device->driver, result, function, error) : XGEMM_OK;
}

/* For the backend's table (arena.c, backend.c, copies.c). */
xgemm_status xg_cu_arena_grow(xg_device *device, xg_arena **arena, size_t bytes, void **memory,
                              xg_error *error);
void xg_cu_arena_free(xg_device *device, xg_arena *arena);
void xg_cu_arena_keep(xg_device *device, xg_arena *arena);
void xg_cu_arena_forget_kept(xg_device *device); /* when it is closed */
void xg_cu_arena_after_fork(void);               /* in a child */

/* Those that a device keeps; and frees them after a wait that began later, or keeps them again. */
xg_arena *xg_cu_arena_take_kept(xg_device *device);
void xg_cu_arena_end_kept(xg_device *device, xg_arena *first, bool is_done);

xgemm_status xg_cu_out_of_memory(const xg_device *device, size_t bytes, xg_error *error);

xgemm_status xg_cu_wait(xg_device *device, void *stream, xg_error *error);
xgemm_status xg_cu_upload(xg_device *device, void *stream, void *to, const void *from, size_t bytes,
                          xg_error *error);
xgemm_status xg_cu_download(xg_device *device, void *stream, void *to, const void *from,
                            size_t bytes, xg_error *error);
xgemm_status xg_cu_upload_begin(xg_device *device, void *stream, void *to, const void *from,
                                size_t bytes, xg_error *error);
xgemm_status xg_cu_download_begin(xg_device *device, void *stream, void *to, const void *from,
                                  size_t bytes, xg_error *error);
bool xg_cu_is_pinned(xg_device *device, const void *first, const void *last);
xgemm_status xg_cu_copy_rows(xg_device *device, void *stream, const xg_row_copy *what,
                             xg_error *error);

/* A device's attribute; 0, and no failure, where an older driver does not know it. */
xg_cu_result xg_cu_attribute_of(const xg_cu *driver, xg_cu_device device, unsigned which,
                                int *value);

/*
 * The description of an open device, if this process has asked the driver for it, which takes
 * milliseconds; false: it has not yet.
 */
bool xg_cu_recall(int ordinal, xgemm_device *description);
void xg_cu_remember(int ordinal, const xgemm_device *description);

xgemm_status xg_cu_describe(int ordinal, xgemm_device *description, xg_error *error);
int xg_cu_count(xg_error *error);

#endif
