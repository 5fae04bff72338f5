/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that grows where it is: a range of addresses as large as the GPU's memory, into which
 * more and more physical memory is mapped. What runs, or was captured, with its beginning is not
 * disturbed, and nothing is copied or freed as it grows.
 */
#include "context.h"

#include <pthread.h>
#include <stdlib.h>

struct xg_arena {
    xg_arena *next; /* of those that a device keeps */
    xg_cu_pointer base;
    size_t reserved, mapped, granularity; /* bytes */
};

static size_t round_up(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

static xg_cu_allocation allocation_on(const xg_device *device)
{
    return (xg_cu_allocation){.allocation_type = XG_CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location_type = XG_CU_MEM_LOCATION_TYPE_DEVICE,
                              .location = device->device};
}

/*
 * An arena of addresses alone. XGEMM_ERROR_NOT_SUPPORTED where there are none left: each takes as
 * many as the GPU has memory, and the driver has a thousand times that.
 */
static xgemm_status reserve(const xg_device *device, xg_arena **result, xg_error *error)
{
    const xg_cu *const driver = device->driver;
    const xg_cu_allocation how = allocation_on(device);
    size_t total = 0;
    xg_arena *const arena = calloc(1, sizeof *arena);
    if (!arena)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    xg_cu_result failed = driver->device_memory(&total, device->device);
    if (!failed)
        failed = driver->physical_granularity(&arena->granularity, &how,
                                              XG_CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (!failed) {
        arena->reserved = round_up(total, arena->granularity);
        failed = driver->address_reserve(&arena->base, arena->reserved, 0, 0, 0);
    }
    if (failed) {
        free(arena);
        if (failed == XG_CUDA_ERROR_OUT_OF_MEMORY || failed == XG_CUDA_ERROR_NOT_SUPPORTED)
            return XGEMM_ERROR_NOT_SUPPORTED;
        return xg_cu_fail(driver, failed, "cuMemAddressReserve", error);
    }
    *result = arena;
    return XGEMM_OK;
}

/* Maps so many bytes more, a multiple of the granularity. */
static xg_cu_result map_more(const xg_device *device, xg_arena *arena, size_t bytes)
{
    const xg_cu *const driver = device->driver;
    const xg_cu_allocation how = allocation_on(device);
    const xg_cu_access access = {how.location_type, how.location,
                                 XG_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const xg_cu_pointer at = arena->base + arena->mapped;
    xg_cu_physical physical;
    if (bytes > arena->reserved - arena->mapped)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    xg_cu_result failed = driver->physical_create(&physical, bytes, &how, 0);
    if (failed)
        return failed;
    failed = driver->map(at, bytes, 0, physical, 0);
    driver->physical_release(physical); /* kept while it is mapped */
    if (failed)
        return failed;
    failed = driver->map_access(at, bytes, &access, 1);
    if (failed)
        driver->unmap(at, bytes);
    else
        arena->mapped += bytes;
    return failed;
}

/* A quarter more than there is, so that many small steps do not each map; or what is asked for. */
static xgemm_status grow(const xg_device *device, xg_arena *arena, size_t bytes, xg_error *error)
{
    if (bytes > arena->reserved)
        return xg_cu_out_of_memory(device, bytes, error);
    const size_t wanted = round_up(bytes, arena->granularity) - arena->mapped;
    const size_t quarter = round_up(arena->mapped / 4, arena->granularity);
    xg_cu_result failed = XG_CUDA_ERROR_OUT_OF_MEMORY;
    if (quarter > wanted)
        failed = map_more(device, arena, quarter);
    if (failed == XG_CUDA_ERROR_OUT_OF_MEMORY)
        failed = map_more(device, arena, wanted);
    if (failed == XG_CUDA_ERROR_OUT_OF_MEMORY)
        return xg_cu_out_of_memory(device, bytes, error);
    return failed ? xg_cu_fail(device->driver, failed, "cuMemMap", error) : XGEMM_OK;
}

xgemm_status xg_cu_arena_grow(xg_device *device, xg_arena **arena, size_t bytes, void **memory,
                              xg_error *error)
{
    bool pushed;
    if (!device->maps_memory)
        return XGEMM_ERROR_NOT_SUPPORTED;
    xgemm_status status = xg_cu_enter(device, &pushed, error);
    if (status)
        return status;
    const unsigned mode = xg_cu_relax_capture(device->driver);
    xg_arena *now = *arena;
    if (!now)
        status = reserve(device, &now, error);
    if (!status && bytes > now->mapped)
        status = grow(device, now, bytes, error);
    if (!status)
        *memory = (void *)(uintptr_t)now->base; /* NOLINT(performance-no-int-to-ptr) */
    if (status && now && !*arena) {
        device->driver->address_free(now->base, now->reserved);
        free(now);
        now = NULL;
    }
    *arena = now;
    xg_cu_restore_capture(device->driver, mode);
    xg_cu_leave(device, pushed);
    return status;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the arenas that devices keep */

void xg_cu_arena_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
}

void xg_cu_arena_keep(xg_device *device, xg_arena *arena)
{
    pthread_mutex_lock(&lock);
    arena->next = device->kept;
    device->kept = arena;
    pthread_mutex_unlock(&lock);
}

/* Their memory is the context's, for as long as that is there. */
void xg_cu_arena_forget_kept(xg_device *device)
{
    while (device->kept) {
        xg_arena *const arena = device->kept;
        device->kept = arena->next;
        free(arena);
    }
}

xg_arena *xg_cu_arena_take_kept(xg_device *device)
{
    pthread_mutex_lock(&lock);
    xg_arena *const first = device->kept;
    device->kept = NULL;
    pthread_mutex_unlock(&lock);
    return first;
}

void xg_cu_arena_end_kept(xg_device *device, xg_arena *first, bool is_done)
{
    while (first) {
        xg_arena *const arena = first;
        first = arena->next;
        (is_done ? xg_cu_arena_free : xg_cu_arena_keep)(device, arena);
    }
}

void xg_cu_arena_free(xg_device *device, xg_arena *arena)
{
    bool pushed;
    if (xg_cu_enter(device, &pushed, NULL) == XGEMM_OK) {
        const unsigned mode = xg_cu_relax_capture(device->driver);
        if (arena->mapped > 0)
            device->driver->unmap(arena->base, arena->mapped);
        device->driver->address_free(arena->base, arena->reserved);
        xg_cu_restore_capture(device->driver, mode);
        xg_cu_leave(device, pushed);
    }
    free(arena);
}
