/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake driver: memory, copies, streams and events. */
#include "fake_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 512, FILL_MAX = 1 << 24 };

#ifndef FAKE_CUDA_WITHOUT_cuMemAlloc
static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (memory)
        memset(memory, 0xff, bytes < FILL_MAX ? bytes : FILL_MAX); /* not a number */
    return memory;
}

xg_cu_result cuMemAlloc_v2(xg_cu_pointer *pointer, size_t bytes)
{
    BEGIN(cuMemAlloc_v2, INITIALISED | CONTEXT | NO_CAPTURE);
    if (!bytes)
        return fault(INVALID_VALUE, "cuMemAlloc of no bytes");
    if (current()->used > memory_limit() || bytes > memory_limit() - current()->used)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    void *memory = allocate(bytes);
    object *o = memory ? add(MEMORY) : NULL;
    if (!o) {
        free(memory);
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    }
    o->memory = memory;
    o->bytes = bytes;
    o->context->used += bytes;
    *pointer = (uintptr_t)memory;
    return 0;
}
#endif

xg_cu_result cuMemFree_v2(xg_cu_pointer pointer)
{
    BEGIN(cuMemFree_v2, INITIALISED | CONTEXT | NO_CAPTURE);
    flush();
    for (object *o = objects; o; o = o->next)
        if (o->kind == MEMORY && (uintptr_t)o->memory == pointer) {
            drop(o);
            return 0;
        }
    return fault(INVALID_VALUE, "cuMemFree of what was not allocated");
}

xg_cu_result cuMemAllocHost_v2(void **memory, size_t bytes)
{
    BEGIN(cuMemAllocHost_v2, INITIALISED | CONTEXT | NO_CAPTURE);
    if (!bytes)
        return fault(INVALID_VALUE, "cuMemAllocHost of no bytes");
    object *o = add(PINNED);
    if (!o || !(o->memory = malloc(bytes))) {
        if (o)
            drop(o);
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    }
    o->count = bytes; /* of the host's memory, of which none is left behind by bytes */
    *memory = o->memory;
    return 0;
}

xg_cu_result cuMemFreeHost(void *memory)
{
    BEGIN(cuMemFreeHost, INITIALISED | CONTEXT | NO_CAPTURE);
    flush();
    for (object *o = objects; o; o = o->next)
        if (o->kind == PINNED && o->memory == memory) {
            drop(o);
            return 0;
        }
    return fault(INVALID_VALUE, "cuMemFreeHost of what was not pinned");
}

xg_cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    BEGIN(cuMemGetInfo_v2, INITIALISED | CONTEXT);
    const size_t limit = memory_limit(), used = current()->used;
    *total = limit;
    *free_bytes = used < limit ? limit - used : 0;
    return 0;
}

static xg_cu_result copy_later(void *to, const void *from, size_t bytes, xg_cu_stream stream,
                               const void *on_device)
{
    flush();
    if (!memory_at(on_device, bytes))
        return fault(INVALID_VALUE, "a copy beyond the bounds of device memory");
    pending.to = to;
    pending.from = from;
    pending.bytes = bytes;
    pending.stream = stream;
    return 0;
}

xg_cu_result cuMemcpyHtoDAsync_v2(xg_cu_pointer to, const void *from, size_t bytes,
                                  xg_cu_stream stream)
{
    BEGIN(cuMemcpyHtoDAsync_v2, INITIALISED | CONTEXT);
    void *device = (void *)(uintptr_t)to;
    return copy_later(device, from, bytes, stream, device);
}

xg_cu_result cuMemcpyDtoHAsync_v2(void *to, xg_cu_pointer from, size_t bytes, xg_cu_stream stream)
{
    BEGIN(cuMemcpyDtoHAsync_v2, INITIALISED | CONTEXT);
    const void *device = (const void *)(uintptr_t)from;
    return copy_later(to, device, bytes, stream, device);
}

/* The host's side of rows is not pending: what is done late is that of the plain copies. */
static bool rows_fit(const xg_cu_copy_2d *of)
{
    const bool is_up = of->to_type == XG_CU_MEMORY_OF_DEVICE;
    const size_t pitch = is_up ? of->to_pitch : of->source_pitch;
    const uintptr_t device = (uintptr_t)(is_up ? of->to : of->source);
    return of->source_type != of->to_type && of->width <= of->source_pitch &&
           of->width <= of->to_pitch && of->height > 0 && !of->source_x && !of->source_y &&
           !of->to_x && !of->to_y &&
           memory_at((const void *)device, (of->height - 1) * pitch + of->width);
}

xg_cu_result cuMemcpy2DAsync_v2(const xg_cu_copy_2d *of, xg_cu_stream stream)
{
    BEGIN(cuMemcpy2DAsync_v2, INITIALISED | CONTEXT);
    const bool is_between = of->source_type == of->to_type; /* of the device's memory */
    (void)stream;
    flush();
    if (!is_between && !rows_fit(of))
        return fault(INVALID_VALUE, "a copy of rows beyond the bounds of device memory");
    const char *const from = of->source_type == XG_CU_MEMORY_OF_HOST
                                 ? of->source_host
                                 : (const char *)(uintptr_t)of->source;
    char *const to = of->to_type == XG_CU_MEMORY_OF_HOST ? of->to_host : (char *)(uintptr_t)of->to;
    for (size_t row = 0; row < of->height; row++)
        memcpy(to + row * of->to_pitch, from + row * of->source_pitch, of->width);
    return 0;
}

xg_cu_result cuPointerGetAttribute(void *value, unsigned attribute, xg_cu_pointer pointer)
{
    BEGIN(cuPointerGetAttribute, INITIALISED | CONTEXT);
    if (attribute != XG_CU_POINTER_MEMORY_TYPE)
        return fault(INVALID_VALUE, "cuPointerGetAttribute of another attribute");
    for (object *o = objects; o; o = o->next) {
        const uintptr_t from = (uintptr_t)o->memory;
        const size_t bytes = o->kind == PINNED ? o->count : o->bytes;
        if ((o->kind != PINNED && o->kind != MEMORY) || pointer < from || pointer >= from + bytes)
            continue;
        *(unsigned *)value = o->kind == PINNED ? XG_CU_MEMORY_OF_HOST : XG_CU_MEMORY_OF_DEVICE;
        return 0;
    }
    return INVALID_VALUE; /* of the host, pageable */
}

/* ---- Streams and events ---- */

xg_cu_result cuStreamSynchronize(xg_cu_stream stream)
{
    BEGIN(cuStreamSynchronize, INITIALISED | CONTEXT);
    if (is_captured(stream)) /* in any mode */
        return STREAM_CAPTURE_UNSUPPORTED;
    if (pending.stream == stream)
        flush();
    return 0;
}

xg_cu_result cuEventCreate(xg_cu_event *event, unsigned flags)
{
    BEGIN(cuEventCreate, INITIALISED | CONTEXT);
    if (flags != XG_CU_EVENT_DEFAULT)
        return fault(INVALID_VALUE, "cuEventCreate with flags: such an event may keep no time");
    *event = (xg_cu_event)add(EVENT);
    return *event ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

xg_cu_result cuEventDestroy_v2(xg_cu_event event)
{
    BEGIN_RELEASE(cuEventDestroy_v2, INITIALISED | CONTEXT);
    const xg_cu_result result = destroy(EVENT, event, "cuEventDestroy of what is no event");
    return refused ? refused : result;
}

xg_cu_result cuEventRecord(xg_cu_event event, xg_cu_stream stream)
{
    BEGIN(cuEventRecord, INITIALISED | CONTEXT);
    object *o = find(EVENT, event);
    if (!o || o->context != current())
        return fault(INVALID_HANDLE, "cuEventRecord of what is no event of the context");
    flush();
    clock_gettime(CLOCK_MONOTONIC, &o->time);
    o->ready = true;
    o->captured = is_captured(stream);
    last_stream = stream;
    return 0;
}

xg_cu_result cuEventSynchronize(xg_cu_event event)
{
    BEGIN(cuEventSynchronize, INITIALISED | CONTEXT);
    const object *o = find(EVENT, event);
    if (!o)
        return fault(INVALID_HANDLE, "cuEventSynchronize of what is no event");
    if (o->captured)
        return CAPTURED_EVENT;
    flush();
    return 0;
}

xg_cu_result cuEventElapsedTime(float *ms, xg_cu_event from, xg_cu_event to)
{
    BEGIN(cuEventElapsedTime, INITIALISED | CONTEXT);
    const object *first = find(EVENT, from), *last = find(EVENT, to);
    if (!first || !last)
        return fault(INVALID_HANDLE, "cuEventElapsedTime of what is no event");
    if (first->captured || last->captured)
        return CAPTURED_EVENT;
    if (!first->ready || !last->ready)
        return INVALID_HANDLE;
    *ms = (float)((double)(last->time.tv_sec - first->time.tv_sec) * 1e3 +
                  (double)(last->time.tv_nsec - first->time.tv_nsec) * 1e-6);
    return 0;
}
