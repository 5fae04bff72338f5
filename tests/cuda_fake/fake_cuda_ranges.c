/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake driver: ranges of addresses, and physical memory mapped into them. What is not mapped,
 * or has no access yet, cannot be touched. A range is mapped from its beginning on.
 */
#include "fake_cuda.h"

#include <string.h>
#include <sys/mman.h>

enum { GRANULARITY = 65536 };

static object *range_at(xg_cu_pointer at)
{
    for (object *o = objects; o; o = o->next)
        if (o->kind == RANGE && at >= (uintptr_t)o->memory && at - (uintptr_t)o->memory < o->count)
            return o;
    return NULL;
}

static bool is_allocation(const xg_cu_allocation *how)
{
    return how->allocation_type == XG_CU_MEM_ALLOCATION_TYPE_PINNED &&
           how->location_type == XG_CU_MEM_LOCATION_TYPE_DEVICE && is_device(how->location) &&
           how->handle_types == 0;
}

xg_cu_result cuMemGetAllocationGranularity(size_t *bytes, const xg_cu_allocation *how,
                                           unsigned option)
{
    BEGIN(cuMemGetAllocationGranularity, INITIALISED);
    if (!is_allocation(how) || option != XG_CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        return fault(INVALID_VALUE, "cuMemGetAllocationGranularity of an unknown allocation");
    *bytes = GRANULARITY;
    return 0;
}

xg_cu_result cuMemAddressReserve(xg_cu_pointer *pointer, size_t bytes, size_t alignment,
                                 xg_cu_pointer at, unsigned long long flags)
{
    BEGIN(cuMemAddressReserve, INITIALISED | CONTEXT | NO_CAPTURE);
    if (!bytes || bytes % GRANULARITY || alignment || at || flags)
        return fault(INVALID_VALUE, "cuMemAddressReserve of no whole pages, or with wishes");
    void *const memory =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    object *o = memory != MAP_FAILED ? add(RANGE) : NULL;
    if (!o)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    o->memory = memory;
    o->count = bytes;
    *pointer = (uintptr_t)memory;
    return 0;
}

xg_cu_result cuMemAddressFree(xg_cu_pointer pointer, size_t bytes)
{
    BEGIN_RELEASE(cuMemAddressFree, INITIALISED | CONTEXT | NO_CAPTURE);
    object *o = range_at(pointer);
    if (!o || (uintptr_t)o->memory != pointer || o->count != bytes || o->bytes > 0)
        return fault(INVALID_VALUE, "cuMemAddressFree of what is no range, or is mapped");
    munmap(o->memory, o->count);
    o->memory = NULL;
    drop(o);
    return refused;
}

xg_cu_result cuMemCreate(xg_cu_physical *physical, size_t bytes, const xg_cu_allocation *how,
                         unsigned long long flags)
{
    BEGIN(cuMemCreate, INITIALISED | CONTEXT | NO_CAPTURE);
    if (!bytes || bytes % GRANULARITY || !is_allocation(how) || flags)
        return fault(INVALID_VALUE, "cuMemCreate of no whole pages");
    if (current()->used > memory_limit() || bytes > memory_limit() - current()->used)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    object *o = add(PHYSICAL);
    if (!o)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    o->bytes = bytes;
    o->context->used += bytes;
    *physical = (uintptr_t)o;
    return 0;
}

static object *physical_of(xg_cu_physical physical)
{
    return find(PHYSICAL, (const void *)(uintptr_t)physical);
}

xg_cu_result cuMemRelease(xg_cu_physical physical)
{
    BEGIN_RELEASE(cuMemRelease, INITIALISED | CONTEXT);
    const xg_cu_result result =
        destroy(PHYSICAL, physical_of(physical), "cuMemRelease of what is no memory");
    return refused ? refused : result;
}

xg_cu_result cuMemMap(xg_cu_pointer at, size_t bytes, size_t offset, xg_cu_physical physical,
                      unsigned long long flags)
{
    BEGIN(cuMemMap, INITIALISED | CONTEXT | NO_CAPTURE);
    object *o = range_at(at);
    const object *of = physical_of(physical);
    if (!o || !of || of->bytes != bytes || offset || flags)
        return fault(INVALID_VALUE, "cuMemMap of a part, or elsewhere than in a range");
    if (at != (uintptr_t)o->memory + o->bytes || bytes > o->count - o->bytes)
        return fault(INVALID_VALUE, "cuMemMap that does not continue the range");
    o->bytes += bytes;
    o->context->used += bytes;
    return 0;
}

xg_cu_result cuMemSetAccess(xg_cu_pointer at, size_t bytes, const xg_cu_access *access,
                            size_t count)
{
    BEGIN(cuMemSetAccess, INITIALISED | CONTEXT);
    const object *o = range_at(at);
    void *const memory = (void *)(uintptr_t)at;
    if (!o || at + bytes > (uintptr_t)o->memory + o->bytes || count != 1 ||
        access->location_type != XG_CU_MEM_LOCATION_TYPE_DEVICE ||
        access->access != XG_CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return fault(INVALID_VALUE, "cuMemSetAccess of what is not mapped");
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE))
        return UNKNOWN;
    memset(memory, 0xff, bytes); /* not a number */
    return 0;
}

xg_cu_result cuMemUnmap(xg_cu_pointer at, size_t bytes)
{
    BEGIN_RELEASE(cuMemUnmap, INITIALISED | CONTEXT | NO_CAPTURE);
    object *o = range_at(at);
    if (!o || at + bytes != (uintptr_t)o->memory + o->bytes)
        return fault(INVALID_VALUE, "cuMemUnmap of what is not mapped, or not the end of it");
    flush();
    mprotect((void *)(uintptr_t)at, bytes, PROT_NONE);
    o->bytes -= bytes;
    o->context->used -= bytes;
    return refused;
}
