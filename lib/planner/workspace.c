/* SPDX-License-Identifier: BSD-3-Clause */
#include "workspace.h"

#include <stdlib.h>

/*
 * A workspace that was not used in so many calls of the handle is stale: of a thread that has
 * ended, or of a stream that is no more. So many of them are freed at once.
 */
enum { CALLS = 512, STALE_MOST = 128 };

struct xg_workspace {
    xg_workspace *next;
    const void *stream; /* its identity */
    void *memory;
    size_t bytes;
    xg_arena *arena;  /* NULL: a block of memory */
    uint64_t used;    /* the number of the last call that did */
    bool is_captured; /* by a graph, which may run at any time */
};

static xgemm_status grow_arena(xg_workspace *of, const xg_backend *backend, xg_device *device,
                               size_t bytes, xg_error *error)
{
    if (!backend->arena_grow)
        return XGEMM_ERROR_NOT_SUPPORTED;
    return backend->arena_grow(device, &of->arena, bytes, &of->memory, error);
}

static void free_memory(const xg_workspace *of, const xg_backend *backend, xg_device *device,
                        bool is_done)
{
    if (of->arena)
        (is_done ? backend->arena_free : backend->arena_keep)(device, of->arena);
    else if (of->memory)
        backend->release(device, of->memory, NULL);
}

/*
 * Waits for the device, and frees the workspaces that were last used before call number "since";
 * not those of graphs.
 */
static void free_unused(xg_workspace **list, const xg_backend *backend, xg_device *device,
                        uint64_t since)
{
    if (!backend->drain(device))
        return;
    while (*list) {
        xg_workspace *const of = *list;
        if (of->used >= since || of->is_captured) {
            list = &of->next;
            continue;
        }
        *list = of->next;
        free_memory(of, backend, device, true);
        free(of);
    }
}

/* Before call number "call", of a stream that is new. */
static void free_stale(xg_workspace **list, const xg_backend *backend, xg_device *device,
                       uint64_t call)
{
    int stale = 0;
    for (const xg_workspace *of = *list; of; of = of->next)
        stale += of->used + CALLS < call && !of->is_captured;
    if (stale >= STALE_MOST)
        free_unused(list, backend, device, call - CALLS);
}

/* The stream's, or a new one without memory at the end of the list; NULL: the host has none. */
static xg_workspace *workspace_of(xg_workspace **list, const xg_backend *backend, xg_device *device,
                                  const void *stream)
{
    uint64_t last = 0;
    xg_workspace *found = NULL, **end = list;
    for (xg_workspace *of = *list; of; of = of->next) {
        last = of->used > last ? of->used : last;
        if (!found && of->stream == stream) /* the first, which is in use */
            found = of;
    }
    if (!found) {
        free_stale(list, backend, device, last + 1);
        while (*end)
            end = &(*end)->next;
        found = *end = calloc(1, sizeof *found);
    }
    if (found) {
        found->stream = stream;
        found->used = last + 1;
    }
    return found;
}

/*
 * The block of a device with streams stays, in an entry of its own: queued or captured work may
 * still use it. Else a call has ended when it returns, and the block is released.
 */
static xgemm_status replace_block(xg_workspace *of, const xg_backend *backend, xg_device *device,
                                  size_t bytes, xg_error *error)
{
    void *memory;
    xg_workspace *kept = NULL;
    if (of->memory && backend->has_streams && !(kept = malloc(sizeof *kept)))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    if (of->memory && !backend->has_streams) {
        backend->release(device, of->memory, NULL);
        of->memory = NULL;
        of->bytes = 0;
    }
    const xgemm_status status = backend->allocate(device, bytes, &memory, error);
    if (status) {
        free(kept);
        return status;
    }
    if (kept) {
        *kept = *of;
        kept->is_captured = true; /* or may be */
        of->next = kept;          /* behind the one in use, which is found first */
    }
    of->memory = memory;
    of->bytes = bytes;
    return XGEMM_OK;
}

static xgemm_status grow(xg_workspace *of, const xg_backend *backend, xg_device *device,
                         size_t bytes, xg_error *error)
{
    xgemm_status status = of->memory && !of->arena ? XGEMM_ERROR_NOT_SUPPORTED
                                                   : grow_arena(of, backend, device, bytes, error);
    if (!status)
        of->bytes = bytes;
    return status == XGEMM_ERROR_NOT_SUPPORTED ? replace_block(of, backend, device, bytes, error)
                                               : status;
}

xgemm_status xg_workspace_get(xg_workspace **list, const xg_backend *backend, xg_device *device,
                              void *stream, size_t bytes, void **memory, xg_error *error)
{
    const void *const identity = xg_stream_identity(backend, stream);
    xg_workspace *const of = workspace_of(list, backend, device, identity);
    if (!of)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    /* The default stream is never captured. */
    if (!of->is_captured && identity && backend->is_captured)
        of->is_captured = backend->is_captured(device, stream);
    xgemm_status status = XGEMM_OK;
    if (!of->memory || of->bytes < bytes)
        status = grow(of, backend, device, bytes, error);
    if (status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY && (of->next || of != *list)) {
        free_unused(list, backend, device, of->used); /* of all other streams */
        status = grow(of, backend, device, bytes, error);
    }
    *memory = of->memory;
    return status;
}

void xg_workspace_free(xg_workspace **list, const xg_backend *backend, xg_device *device,
                       bool is_done)
{
    while (*list) {
        xg_workspace *of = *list;
        *list = of->next;
        free_memory(of, backend, device, is_done);
        free(of);
    }
}
