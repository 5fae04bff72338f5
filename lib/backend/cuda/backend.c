/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU, through the CUDA driver. */
#include "backend/backend.h"

#include "context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static bool can_run(const xg_program *program)
{
    return program->image != NULL;
}

static xgemm_status make_current(xg_device *device, xg_error *error)
{
    return xg_cu_result_of(device, device->driver->context_set(device->context), "cuCtxSetCurrent",
                           error);
}

xgemm_status xg_cu_out_of_memory(const xg_device *device, size_t bytes, xg_error *error)
{
    size_t available = 0, total = 0;
    device->driver->memory_info(&available, &total);
    return xg_fail(error, XGEMM_ERROR_OUT_OF_DEVICE_MEMORY,
                   "GPU %d has no %zu bytes of memory left: %zu of %zu are free", device->ordinal,
                   bytes, available, total);
}

static xgemm_status allocate(xg_device *device, size_t bytes, void **memory, xg_error *error)
{
    const xg_cu *driver = device->driver;
    xg_cu_pointer pointer = 0;
    xgemm_status status;
    bool pushed;

    status = xg_cu_enter(device, &pushed, error);
    if (status)
        return status;
    const unsigned mode = xg_cu_relax_capture(driver);
    const xg_cu_result result = driver->memory_allocate(&pointer, bytes);
    xg_cu_restore_capture(driver, mode);
    if (result == XG_CUDA_ERROR_OUT_OF_MEMORY)
        status = xg_cu_out_of_memory(device, bytes, error);
    else
        status = xg_cu_result_of(device, result, "cuMemAlloc", error);
    xg_cu_leave(device, pushed);
    *memory = (void *)(uintptr_t)pointer;
    return status;
}

static xgemm_status release(xg_device *device, void *memory, xg_error *error)
{
    xg_cu_result result;
    XG_CU_RELAXED_IN_CONTEXT(device, result, device->driver->memory_free((uintptr_t)memory), error);
    return xg_cu_result_of(device, result, "cuMemFree", error);
}

static xgemm_status allocate_pinned(xg_device *device, size_t bytes, void **memory, xg_error *error)
{
    xg_cu_result result;
    *memory = NULL;
    XG_CU_RELAXED_IN_CONTEXT(device, result, device->driver->memory_allocate_pinned(memory, bytes),
                             error);
    if (result == XG_CUDA_ERROR_OUT_OF_MEMORY)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                       "the host has no %zu bytes of memory left that could be pinned", bytes);
    return xg_cu_result_of(device, result, "cuMemAllocHost", error);
}

static xgemm_status release_pinned(xg_device *device, void *memory, xg_error *error)
{
    xg_cu_result result;
    XG_CU_RELAXED_IN_CONTEXT(device, result, device->driver->memory_free_pinned(memory), error);
    return xg_cu_result_of(device, result, "cuMemFreeHost", error);
}

static xgemm_status memory_info(xg_device *device, uint64_t *free_bytes, uint64_t *total,
                                xg_error *error)
{
    size_t available = 0, all = 0;
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->memory_info(&available, &all), error);
    *free_bytes = available;
    *total = all;
    return xg_cu_result_of(device, result, "cuMemGetInfo", error);
}

/*
 * The default stream has two tokens; and one token means a stream of each thread's own, which then
 * has a number, far below any address.
 */
static const void *stream_identity(void *stream)
{
    static atomic_uint threads;
    static _Thread_local unsigned number;
    const uintptr_t token = (uintptr_t)stream;
    if (token == XG_CU_STREAM_LEGACY)
        return NULL;
    if (token != XG_CU_STREAM_PER_THREAD)
        return stream;
    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return (const void *)((uintptr_t)number << 4 | XG_CU_STREAM_PER_THREAD);
}

static bool drain(xg_device *device)
{
    bool pushed;
    if (xg_cu_enter(device, &pushed, NULL))
        return false;
    xg_arena *const kept = xg_cu_arena_take_kept(device);
    const bool is_done = device->driver->context_wait() == 0;
    xg_cu_leave(device, pushed);
    xg_cu_arena_end_kept(device, kept, is_done);
    return is_done;
}

static int multiprocessors(const xg_device *device)
{
    return device ? device->multiprocessors : 1;
}

/* 0 without a device. A driver that lacks a function runs none of 9.0's own kernels: its GPU counts
   as one of 8.9. */
static int compute_capability(const xg_device *device)
{
    enum { HOPPER = 90, BEFORE_HOPPER = 89 };
    if (!device)
        return 0;
    return device->lacks && device->compute_capability >= HOPPER ? BEFORE_HOPPER
                                                                 : device->compute_capability;
}

static const char *lacks_function(const xg_device *device)
{
    return compute_capability(device) < device->compute_capability ? device->lacks : NULL;
}

static int64_t shared_per_block(const xg_device *device)
{
    return device->shared_in_block;
}

/*
 * With programmatic dependent launch, the multiprocessors that the previous launch leaves first
 * would take several CTAs of the next one, and others none. So a launch with "spread" asks for so
 * much shared memory that none can hold more than CTAs / multiprocessors, rounded up.
 */
static uint32_t shared_of(const xg_device *device, const xg_launch *what)
{
    const int64_t blocks = (int64_t)what->grid[0] * what->grid[1] * what->grid[2];
    const int64_t share = (blocks + device->multiprocessors - 1) / device->multiprocessors;
    const int64_t bytes = device->shared_in_all / (share + 1) - device->shared_reserved + 1;
    const int64_t rounded = (bytes + 127) / 128 * 128;
    return what->spread && rounded > (int64_t)what->shared_bytes ? (uint32_t)rounded
                                                                 : what->shared_bytes;
}

/*
 * More shared memory than that a function must be allowed, once for each larger number: a smaller
 * one, set by another thread, would take back what a launch needs.
 */
static xgemm_status allow_shared(xg_device *device, const xg_launch *what, uint32_t bytes,
                                 xg_cu_function function, xg_error *error)
{
    enum { WITHOUT_ASKING = 48 * 1024 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint32_t *allowed = &device->shared_bytes[what->program->index];
    xg_cu_result result = 0;
    if (bytes <= WITHOUT_ASKING || bytes <= __atomic_load_n(allowed, __ATOMIC_ACQUIRE))
        return XGEMM_OK;
    pthread_mutex_lock(&lock);
    if (bytes > *allowed)
        result = device->driver->function_set(
            function, XG_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    if (!result && bytes > *allowed)
        __atomic_store_n(allowed, bytes, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return xg_cu_result_of(device, result, "cuFuncSetAttribute", error);
}

/* A cluster that is not portable a function must be allowed, once. */
static xgemm_status allow_cluster(xg_device *device, const xg_launch *what, xg_cu_function function,
                                  xg_error *error)
{
    bool *allowed = &device->large_clusters[what->program->index];
    if (what->cluster <= XG_CU_PORTABLE_CLUSTER || __atomic_load_n(allowed, __ATOMIC_RELAXED))
        return XGEMM_OK;
    const xg_cu_result result = device->driver->function_set(
        function, XG_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (!result)
        __atomic_store_n(allowed, true, __ATOMIC_RELAXED);
    return xg_cu_result_of(device, result, "cuFuncSetAttribute", error);
}

static xgemm_status lacks(const char *function, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_DRIVER_TOO_OLD,
                   "the CUDA driver is too old: libcuda.so.1 has no %s, which CUDA 12.0 has",
                   function);
}

/* A launch in clusters, or with programmatic dependent launch. */
static xgemm_status launch_with(xg_device *device, void *stream, const xg_launch *what, bool pdl,
                                uint32_t shared_bytes, xg_cu_function function, void **arguments,
                                xg_error *error)
{
    xg_cu_attribute attributes[2] = {0};
    xg_cu_launch_config how = {
        .shared_bytes = shared_bytes, .stream = stream, .attributes = attributes};
    memcpy(how.grid, what->grid, sizeof how.grid);
    memcpy(how.block, what->block, sizeof how.block);
    if (!device->driver->launch_with)
        return lacks("cuLaunchKernelEx", error);
    if (what->cluster > 1) {
        attributes[how.count].id = XG_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[how.count].value.cluster[0] = what->cluster;
        attributes[how.count].value.cluster[1] = 1;
        attributes[how.count++].value.cluster[2] = 1;
    }
    if (pdl) {
        attributes[how.count].id = XG_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[how.count++].value.allowed = 1;
    }
    const xgemm_status status = allow_cluster(device, what, function, error);
    return status ? status
                  : xg_cu_result_of(device,
                                    device->driver->launch_with(&how, function, arguments, NULL),
                                    "cuLaunchKernelEx", error);
}

/* The type of elements that are copied as bits. */
static unsigned bits_type(int element_bytes)
{
    switch (element_bytes) {
    case 1:
        return XG_CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case 2:
        return XG_CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case 4:
        return XG_CU_TENSOR_MAP_DATA_TYPE_UINT32;
    default:
        return XG_CU_TENSOR_MAP_DATA_TYPE_UINT64;
    }
}

/* Elements outside of the matrix are copied as zeros. */
static xgemm_status encode(xg_device *device, const xg_tensor *tensor, xg_cu_tensor_map *map,
                           xg_error *error)
{
    enum { MOST = 3 };
    const unsigned rank = tensor->matrices > 0 ? 3 : 2;
    const uint64_t sizes[MOST] = {(uint64_t)tensor->columns, (uint64_t)tensor->rows,
                                  (uint64_t)tensor->matrices};
    const uint64_t strides[MOST - 1] = {(uint64_t)tensor->stride_bytes,
                                        (uint64_t)tensor->matrix_stride_bytes};
    const unsigned box[MOST] = {(unsigned)tensor->box_columns, (unsigned)tensor->box_rows, 1};
    const unsigned element_strides[MOST] = {1, 1, 1};
    if (!device->driver->encode_tiled)
        return lacks("cuTensorMapEncodeTiled", error);
    const xg_cu_result result = device->driver->encode_tiled(
        map, bits_type(tensor->element_bytes), rank, (void *)(uintptr_t)tensor->base, sizes,
        strides, box, element_strides, XG_CU_TENSOR_MAP_INTERLEAVE_NONE,
        tensor->swizzled ? XG_CU_TENSOR_MAP_SWIZZLE_128B : XG_CU_TENSOR_MAP_SWIZZLE_NONE,
        XG_CU_TENSOR_MAP_L2_PROMOTION_L2_256B, XG_CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return xg_cu_result_of(device, result, "cuTensorMapEncodeTiled", error);
}

/* The tensor maps of a kernel that has them. */
static xgemm_status encode_all(xg_device *device, const xg_launch *what, xg_cu_tensor_map *maps,
                               xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < XG_TENSORS_MAX && what->tensors[i].box_rows > 0 && !status; i++)
        status = encode(device, &what->tensors[i], &maps[i], error);
    return status;
}

static xgemm_status launch_current(xg_device *device, void *stream, const xg_launch *what,
                                   xg_error *error)
{
    xg_cu_function function;
    xgemm_status status = xg_cu_function_of(device, what->program, &function, error);
    const uint32_t shared_bytes = shared_of(device, what);
    if (!status)
        status = allow_shared(device, what, shared_bytes, function, error);
    xg_cu_tensor_map maps[XG_TENSORS_MAX] = {0}; /* one argument */
    if (!status)
        status = encode_all(device, what, maps, error);
    if (status)
        return status;
    void *arguments[2] = {NULL, maps}; /* the driver takes as many as the kernel has */
    *(const void **)arguments = what->arguments;
    const bool pdl = what->pdl && device->pdl[what->program->index];
    if (what->cluster > 1 || pdl)
        return launch_with(device, stream, what, pdl, shared_bytes, function, arguments, error);
    return xg_cu_result_of(device,
                           device->driver->launch(function, what->grid[0], what->grid[1],
                                                  what->grid[2], what->block[0], what->block[1],
                                                  what->block[2], shared_bytes, stream, arguments,
                                                  NULL),
                           "cuLaunchKernel", error);
}

static xgemm_status load(xg_device *device, const xg_program *program, xg_error *error)
{
    bool pushed;
    if (xg_cu_is_loaded(device, program))
        return XGEMM_OK;
    xgemm_status status = xg_cu_enter(device, &pushed, error);
    if (status)
        return status;
    xg_cu_function function;
    status = xg_cu_function_of(device, program, &function, error);
    xg_cu_leave(device, pushed);
    return status;
}

/* Where the driver does not say, it may be. */
static bool is_captured(xg_device *device, void *stream)
{
    enum { NOT_CAPTURED = 0 };
    int how = NOT_CAPTURED;
    bool pushed;
    if (!device->driver->stream_is_captured || xg_cu_enter(device, &pushed, NULL))
        return true;
    const xg_cu_result failed = device->driver->stream_is_captured(stream, &how);
    xg_cu_leave(device, pushed);
    return failed || how != NOT_CAPTURED;
}

static xgemm_status launch(xg_device *device, void *stream, const xg_launch *what, xg_error *error)
{
    bool pushed;
    xgemm_status status = xg_cu_enter(device, &pushed, error);
    if (status)
        return status;
    status = launch_current(device, stream, what, error);
    xg_cu_leave(device, pushed);
    return status;
}

static xgemm_status mark_create(xg_device *device, xg_mark **mark, xg_error *error)
{
    xg_cu_event event = NULL;
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->event_create(&event, XG_CU_EVENT_DEFAULT),
                     error);
    *mark = (xg_mark *)event;
    return xg_cu_result_of(device, result, "cuEventCreate", error);
}

static void mark_destroy(xg_device *device, xg_mark *mark)
{
    bool pushed;
    if (xg_cu_enter(device, &pushed, NULL))
        return;
    device->driver->event_destroy((xg_cu_event)mark);
    xg_cu_leave(device, pushed);
}

static xgemm_status mark_record(xg_device *device, void *stream, xg_mark *mark, xg_error *error)
{
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->event_record((xg_cu_event)mark, stream),
                     error);
    return xg_cu_result_of(device, result, "cuEventRecord", error);
}

static xgemm_status mark_elapsed(xg_device *device, xg_mark *from, xg_mark *to, double *us,
                                 xg_error *error)
{
    float milliseconds = 0.0f;
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->event_wait((xg_cu_event)to), error);
    if (result)
        return xg_cu_result_of(device, result, "cuEventSynchronize", error);
    XG_CU_IN_CONTEXT(
        device, result,
        device->driver->event_elapsed(&milliseconds, (xg_cu_event)from, (xg_cu_event)to), error);
    *us = (double)milliseconds * 1e3;
    return xg_cu_result_of(device, result, "cuEventElapsedTime", error);
}

static xgemm_status resources_current(xg_device *device, const xg_program *program,
                                      xgemm_kernel_resources *out, xg_error *error)
{
    const struct {
        unsigned attribute;
        int *value;
    } wanted[] = {
        {XG_CU_FUNC_ATTRIBUTE_NUM_REGS, &out->registers},
        {XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &out->shared_bytes},
        {XG_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->local_bytes},
        {XG_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &out->constant_bytes},
        {XG_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->max_threads},
        {XG_CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binary_version},
    };
    xg_cu_function function;
    const xgemm_status status = xg_cu_function_of(device, program, &function, error);
    if (status)
        return status;
    xg_cu_result result = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !result; i++)
        result = device->driver->function_attribute(wanted[i].value, wanted[i].attribute, function);
    return xg_cu_result_of(device, result, "cuFuncGetAttribute", error);
}

static xgemm_status resources(xg_device *device, const xg_program *program,
                              xgemm_kernel_resources *out, xg_error *error)
{
    bool pushed;
    xgemm_status status = xg_cu_enter(device, &pushed, error);
    if (status)
        return status;
    status = resources_current(device, program, out, error);
    xg_cu_leave(device, pushed);
    return status;
}

const xg_backend xg_backend_cuda = {
    .name = "CUDA",
    .has_streams = true,
    .can_run = can_run,
    .count = xg_cu_count,
    .multiprocessors = multiprocessors,
    .shared_per_block = shared_per_block,
    .compute_capability = compute_capability,
    .lacks_function = lacks_function,
    .describe = xg_cu_describe,
    .open = xg_cu_device_open,
    .close = xg_cu_device_close,
    .make_current = make_current,
    .allocate = allocate,
    .release = release,
    .arena_grow = xg_cu_arena_grow,
    .arena_free = xg_cu_arena_free,
    .arena_keep = xg_cu_arena_keep,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .memory_info = memory_info,
    .upload = xg_cu_upload,
    .download = xg_cu_download,
    .upload_begin = xg_cu_upload_begin,
    .download_begin = xg_cu_download_begin,
    .is_pinned = xg_cu_is_pinned,
    .copy_rows = xg_cu_copy_rows,
    .load = load,
    .ptx_bytes = xg_cu_ptx_bytes,
    .load_begin = xg_cu_load_begin,
    .load_wait = xg_cu_load_wait,
    .is_captured = is_captured,
    .launch = launch,
    .stream_identity = stream_identity,
    .wait = xg_cu_wait,
    .drain = drain,
    .mark_create = mark_create,
    .mark_destroy = mark_destroy,
    .mark_record = mark_record,
    .mark_elapsed = mark_elapsed,
    .resources = resources,
};
