/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"

#include "device/fields.h"
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

xgemm_status xg_handle_done(xgemm_handle *handle, xgemm_status status, const char *function)
{
    if (status)
        xg_error_prefix(&handle->error, function);
    return status;
}

xgemm_status xg_no_handle(const char *function)
{
    return xg_fail(xg_thread_error(), XGEMM_ERROR_NULL_POINTER, "%s: handle is NULL", function);
}

/* GPU 0 if there is one that this build can use, else the CPU; a GPU that fails is a failure. */
static xgemm_status open_auto(xgemm_handle *handle, xg_error *error)
{
    xg_error why;
    handle->ordinal = 0;
    handle->backend = &xg_backend_cuda;
    const xgemm_status status = handle->backend->open(0, &handle->device, &why);
    if (status == XGEMM_OK)
        return XGEMM_OK;
    if (status != XGEMM_ERROR_NO_DRIVER && status != XGEMM_ERROR_DRIVER_TOO_OLD &&
        status != XGEMM_ERROR_NO_DEVICE && status != XGEMM_ERROR_NOT_SUPPORTED)
        return xg_fail(error, status, "%s", why.text);
    handle->ordinal = XGEMM_DEVICE_CPU;
    handle->backend = &xg_backend_cpu;
    return handle->backend->open(handle->ordinal, &handle->device, error);
}

static xgemm_status open_backend_device(xgemm_handle *handle, int device, xg_error *error)
{
    if (device == XGEMM_DEVICE_AUTO) {
        const xgemm_status status = xg_environment_device(&device, error);
        if (status)
            return status;
    }
    if (device == XGEMM_DEVICE_AUTO)
        return open_auto(handle, error);
    handle->ordinal = device;
    handle->backend = xg_backend_of(device);
    if (!handle->backend)
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                       "there is no device %d; valid are a GPU's ordinal from 0 on, "
                       "XGEMM_DEVICE_AUTO (-1), XGEMM_DEVICE_CPU (-2) and XGEMM_DEVICE_SIM (-3)",
                       device);
    return handle->backend->open(device, &handle->device, error);
}

static xgemm_status set_target(xgemm_handle *handle, xg_error *error)
{
    xgemm_device description;
    const bool is_gpu = handle->ordinal >= 0;
    if (is_gpu) {
        const xgemm_status status = xg_device_describe(handle->ordinal, &description, error);
        if (status)
            return status;
    }
    handle->target =
        xg_target_of(handle->backend, handle->device, is_gpu ? &description : NULL, &handle->costs);
    return XGEMM_OK;
}

xgemm_status xg_handle_find_kernel(const xgemm_handle *handle, const char *name,
                                   const xg_kernel **kernel, xg_error *error)
{
    const xg_backend *const backend = handle->backend;
    const xg_kernel *found = xg_kernel_named(name);
    if (!found)
        return xg_kernel_unknown(name, backend, error);
    if (!backend->can_run(found->programs[0]))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s is not for the %s device, or not in this build", name,
                       backend->name);
    const int wanted = found->programs[0]->compute_capability;
    const int here = backend->compute_capability(handle->device);
    const char *const lacks =
        backend->lacks_function ? backend->lacks_function(handle->device) : NULL;
    if (wanted && wanted != here && lacks)
        return xg_fail(error, XGEMM_ERROR_DRIVER_TOO_OLD,
                       "kernel %s needs a newer CUDA driver: libcuda.so.1 has no %s, which CUDA "
                       "12.0 has",
                       name, lacks);
    char device[64];
    snprintf(device, sizeof device, "the %s device", backend->name);
    const xgemm_status status =
        xg_kernel_check_device(found, here, handle->target.shared_per_block, device, error);
    if (!status)
        *kernel = found;
    return status;
}

static xgemm_status set_environment(xgemm_handle *handle, xg_error *error)
{
    const char *const name = xg_environment_kernel();
    if (name && xg_handle_find_kernel(handle, name, &handle->kernel, error))
        return xg_fail(error, XGEMM_ERROR_ENVIRONMENT,
                       "the environment has XGEMM_KERNEL=\"%.64s\"; %s", name, error->text);
    const xgemm_status status = xg_environment_reproducible(&handle->reproducible, error);
    return status ? status : xg_log_open(&handle->log, error);
}

static xgemm_status create(xgemm_handle **result, int device, bool by_environment, xg_error *error)
{
    if (!result)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "handle is NULL");
    *result = NULL;
    xgemm_handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    handle->log = XG_NO_LOG;
    xgemm_status status = open_backend_device(handle, device, error);
    if (!status) {
        status = set_target(handle, error);
        if (!status && by_environment)
            status = set_environment(handle, error);
        if (status)
            handle->backend->close(handle->device);
    }
    if (status) {
        free(handle);
        return status;
    }
    *result = handle;
    return XGEMM_OK;
}

xgemm_status xgemm_create(xgemm_handle **handle, int device)
{
    const xgemm_status status = create(handle, device, true, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), "xgemm_create");
    return status;
}

xgemm_status xg_handle_create(xgemm_handle **handle, int ordinal, xg_error *error)
{
    return create(handle, ordinal, false, error);
}

void xg_handle_destroy(xgemm_handle *handle, bool is_done)
{
    if (!handle)
        return;
    if (handle->host_close)
        handle->host_close(handle);
    /* Not the stream: the caller may have destroyed it. */
    is_done = is_done || handle->backend->drain(handle->device);
    xg_plan_cache_clear(&handle->plans);
    free(handle->compact);
    xg_workspace_free(&handle->workspaces, handle->backend, handle->device, is_done);
    handle->backend->close(handle->device);
    xg_log_close(handle->log);
    free(handle);
}

void xgemm_destroy(xgemm_handle *handle)
{
    xg_handle_destroy(handle, false);
}

xgemm_status xgemm_set_stream(xgemm_handle *handle, void *stream)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (stream && !handle->backend->has_streams)
        return xg_fail(&handle->error, XGEMM_ERROR_NOT_SUPPORTED,
                       "%s: the %s device has no streams; only NULL is one there", __func__,
                       handle->backend->name);
    handle->stream = stream;
    return XGEMM_OK;
}

xgemm_status xgemm_set_math(xgemm_handle *handle, xgemm_math math)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (math != XGEMM_MATH_DEFAULT && math != XGEMM_MATH_STRICT && math != XGEMM_MATH_TF32)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: math is %d; it must be XGEMM_MATH_DEFAULT (0), XGEMM_MATH_STRICT (1) "
                       "or XGEMM_MATH_TF32 (2)",
                       __func__, (int)math);
    handle->math = math;
    return XGEMM_OK;
}

xgemm_status xgemm_set_reproducible(xgemm_handle *handle, xgemm_reproducible reproducible)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (reproducible != XGEMM_REPRODUCIBLE_NONE && reproducible != XGEMM_REPRODUCIBLE_RUN &&
        reproducible != XGEMM_REPRODUCIBLE_ELEMENT)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: reproducible is %d; it must be XGEMM_REPRODUCIBLE_NONE (-1), "
                       "XGEMM_REPRODUCIBLE_RUN (0) or XGEMM_REPRODUCIBLE_ELEMENT (1)",
                       __func__, (int)reproducible);
    handle->reproducible = reproducible;
    return XGEMM_OK;
}

xgemm_status xgemm_set_kernel(xgemm_handle *handle, const char *name)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!name || strcmp(name, "auto") == 0) {
        handle->kernel = NULL;
        return XGEMM_OK;
    }
    const xg_kernel *kernel;
    xgemm_status status = xg_handle_find_kernel(handle, name, &kernel, &handle->error);
    if (!status)
        status = xg_kernel_check_math(kernel, handle->math, &handle->error);
    if (!status)
        handle->kernel = kernel;
    return xg_handle_done(handle, status, __func__);
}

xgemm_status xgemm_set_workspace(xgemm_handle *handle, void *device_memory, size_t bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!device_memory && bytes)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: device_memory is NULL and bytes is %zu; NULL goes with 0", __func__,
                       bytes);
    if ((uintptr_t)device_memory % 256)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: device_memory is %p, which is not aligned to 256 bytes", __func__,
                       device_memory);
    handle->recomputed.is_lost |= handle->recomputed.is_callers;
    handle->given_workspace = device_memory;
    handle->given_bytes = bytes;
    return XGEMM_OK;
}

int xgemm_get_device(const xgemm_handle *handle)
{
    return handle ? handle->ordinal : XGEMM_DEVICE_AUTO;
}

xgemm_status xgemm_synchronize(xgemm_handle *handle)
{
    if (!handle)
        return xg_no_handle(__func__);
    return xg_handle_done(
        handle, handle->backend->wait(handle->device, handle->stream, &handle->error), __func__);
}

xgemm_status xgemm_make_current(xgemm_handle *handle)
{
    if (!handle)
        return xg_no_handle(__func__);
    return xg_handle_done(handle, handle->backend->make_current(handle->device, &handle->error),
                          __func__);
}

const char *xgemm_last_error(const xgemm_handle *handle)
{
    return handle ? handle->error.text : xg_thread_error()->text;
}

const char *xgemm_last_kernel(const xgemm_handle *handle)
{
    return handle ? handle->ran.kernel : NULL;
}

int64_t xgemm_fallback_count(const xgemm_handle *handle)
{
    return handle ? handle->fallbacks : 0;
}

static xgemm_status resources(xgemm_handle *handle, const char *name,
                              xgemm_kernel_resources *result, xg_error *error)
{
    const xg_kernel *kernel;
    if (!name || !result)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL", name ? "resources" : "name");
    const size_t size = result->struct_size;
    xgemm_status status = xg_size_check(size, "xgemm_kernel_resources", error);
    if (!status)
        status = xg_handle_find_kernel(handle, name, &kernel, error);
    if (status)
        return status;

    xgemm_kernel_resources all = {.struct_size = size};
    status = handle->backend->resources(handle->device, kernel->programs[0], &all, error);
    if (!status)
        memcpy(result, &all, size < sizeof all ? size : sizeof all);
    return status;
}

xgemm_status xgemm_kernel_resources_get(xgemm_handle *handle, const char *name,
                                        xgemm_kernel_resources *result)
{
    if (!handle)
        return xg_no_handle(__func__);
    return xg_handle_done(handle, resources(handle, name, result, &handle->error), __func__);
}
