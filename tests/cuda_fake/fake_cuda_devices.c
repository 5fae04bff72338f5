/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake driver: errors, initialisation, devices, contexts. */
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct {
    xg_cu_result result;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {XG_CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {XG_CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {XG_CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {XG_CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {XG_CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {XG_CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
     "PTX JIT compiler library not found"},
    {XG_CUDA_ERROR_JIT_COMPILATION_DISABLED, "CUDA_ERROR_JIT_COMPILATION_DISABLED",
     "PTX JIT compilation was disabled"},
    {XG_CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {XG_CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {XG_CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

xg_cu_result cuGetErrorName(xg_cu_result result, const char **name)
{
    BEGIN(cuGetErrorName, NOTHING);
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result)
            *name = errors[i].name;
    return *name ? 0 : INVALID_VALUE;
}

xg_cu_result cuGetErrorString(xg_cu_result result, const char **text)
{
    BEGIN(cuGetErrorString, NOTHING);
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result)
            *text = errors[i].text;
    return *text ? 0 : INVALID_VALUE;
}

xg_cu_result cuInit(unsigned flags)
{
    BEGIN(cuInit, NOTHING);
    const xg_cu_result result = (xg_cu_result)setting("FAKE_CUDA_INIT", 0);
    if (flags)
        return fault(INVALID_VALUE, "cuInit with flags");
    initialised = result == 0;
    return result;
}

xg_cu_result cuDriverGetVersion(int *version)
{
    BEGIN(cuDriverGetVersion, NOTHING);
    *version = (int)setting("FAKE_CUDA_VERSION", 13000);
    return 0;
}

xg_cu_result cuDeviceGetCount(int *count)
{
    BEGIN(cuDeviceGetCount, INITIALISED);
    *count = device_count();
    return 0;
}

bool is_device(int device)
{
    return device >= 0 && device < device_count();
}

xg_cu_result cuDeviceGet(xg_cu_device *device, int ordinal)
{
    BEGIN(cuDeviceGet, INITIALISED);
    if (!is_device(ordinal))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

xg_cu_result cuDeviceGetName(char *name, int length, xg_cu_device device)
{
    BEGIN(cuDeviceGetName, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    const char *given = getenv("FAKE_CUDA_NAME");
    if (given)
        snprintf(name, (size_t)length, "%s", given);
    else
        snprintf(name, (size_t)length, "Fake CUDA device %d", device);
    return 0;
}

xg_cu_result cuDeviceGetPCIBusId(char *text, int length, xg_cu_device device)
{
    BEGIN(cuDeviceGetPCIBusId, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, (size_t)length, "0000:%02X:00.0", 0x18 + device);
    return 0;
}

xg_cu_result cuDeviceGetUuid_v2(unsigned char *uuid, xg_cu_device device)
{
    BEGIN(cuDeviceGetUuid_v2, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(16 * i + device);
    return 0;
}

xg_cu_result cuDeviceTotalMem_v2(size_t *bytes, xg_cu_device device)
{
    BEGIN(cuDeviceTotalMem_v2, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    *bytes = memory_limit();
    return 0;
}

int compute_capability(void)
{
    return (int)setting("FAKE_CUDA_CC", 90);
}

/* An H200's, more or less. */
static int attribute_of(unsigned attribute)
{
    switch (attribute) {
    case XG_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return BLOCK_MAX;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return 49152;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        return 65536;
    case XG_CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return 1980000;
    case XG_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return 132;
    case XG_CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
        return (int)setting("FAKE_CUDA_ECC", 1);
    case XG_CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
        return (int)setting("FAKE_CUDA_NUMA", 0);
    case XG_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return 3201000;
    case XG_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 6144;
    case XG_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return 62914560;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case XG_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return compute_capability() / 10;
    case XG_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return compute_capability() % 10;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return 233472;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return 65536;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return (int)setting("FAKE_CUDA_SHARED", 232448);
    case XG_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return 32;
    case XG_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return 1024;
    case XG_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        return (int)setting("FAKE_CUDA_RANGES", 0);
    case XG_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
        return compute_capability() >= 90;
    default:
        return -1;
    }
}

xg_cu_result cuDeviceGetAttribute(int *value, unsigned attribute, xg_cu_device device)
{
    BEGIN(cuDeviceGetAttribute, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    if (attribute_of(attribute) < 0)
        return INVALID_VALUE;
    *value = attribute_of(attribute);
    return 0;
}

/* ---- Contexts ---- */

xg_cu_result cuDevicePrimaryCtxRetain(xg_cu_context *context, xg_cu_device device)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    nanosleep(&pause, NULL); /* the driver is slow here, too: races of the caller come to light */
    BEGIN(cuDevicePrimaryCtxRetain, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    contexts[device].device = device;
    contexts[device].retains++;
    *context = &contexts[device];
    return 0;
}

static bool push_refused; /* since a context was last released: then something may be left in it */

/* The driver frees them too, but a library that shares the context must not leave it that. */
static void drop_all(xg_cu_context context)
{
    object *next;
    for (object *o = objects; o; o = next) {
        next = o->next;
        if (o->context != context)
            continue;
        if (!push_refused) {
            fprintf(stderr, "fake libcuda: %s was left in a released context\n",
                    kind_names[o->kind]);
            faults++;
        }
        drop(o);
    }
    push_refused = false;
}

xg_cu_result cuDevicePrimaryCtxRelease_v2(xg_cu_device device)
{
    BEGIN_RELEASE(cuDevicePrimaryCtxRelease_v2, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    flush();
    if (!contexts[device].retains)
        return fault(INVALID_CONTEXT, "a context was released that was not retained");
    if (--contexts[device].retains == 0)
        drop_all(&contexts[device]);
    return refused;
}

xg_cu_result cuCtxGetCurrent(xg_cu_context *context)
{
    BEGIN(cuCtxGetCurrent, INITIALISED);
    *context = current();
    return 0;
}

static bool is_context(xg_cu_context context)
{
    for (int device = 0; device < DEVICES_MAX; device++)
        if (context == &contexts[device])
            return context->retains > 0;
    return false;
}

static xg_cu_result push(xg_cu_context context)
{
    if (!is_context(context) || depth == DEPTH_MAX)
        return fault(INVALID_CONTEXT, "something was made current that is no context");
    stack[depth++] = context;
    return 0;
}

xg_cu_result cuCtxSetCurrent(xg_cu_context context)
{
    BEGIN(cuCtxSetCurrent, INITIALISED);
    if (context && !is_context(context))
        return push(context);
    depth -= depth > 0;
    return context ? push(context) : 0;
}

/* What a thread pushed it has popped when it ends, but for what the driver refused to pop. */
static _Thread_local int pops_refused;
static pthread_key_t threads_end;

static void check_ended_thread(void *of_thread)
{
    const int left = *(const int *)of_thread - pops_refused;
    HOLD_LOCK;
    if (left > 0)
        fault(INVALID_CONTEXT, "a thread ended that left a context pushed");
}

__attribute__((constructor)) static void watch_threads(void)
{
    pthread_key_create(&threads_end, check_ended_thread);
}

__attribute__((destructor)) static void watch_threads_no_more(void)
{
    pthread_key_delete(threads_end);
}

xg_cu_result cuCtxPushCurrent_v2(xg_cu_context context)
{
    BEGIN_RELEASE(cuCtxPushCurrent_v2, INITIALISED);
    push_refused |= refused != 0;
    if (refused)
        return refused;
    const xg_cu_result result = push(context);
    pushed += !result;
    pthread_setspecific(threads_end, &pushed);
    return result;
}

xg_cu_result cuCtxPopCurrent_v2(xg_cu_context *context)
{
    BEGIN_RELEASE(cuCtxPopCurrent_v2, INITIALISED);
    if (refused) {
        pops_refused++;
        return refused;
    }
    if (!depth)
        return fault(INVALID_CONTEXT, "a context was popped where none is current");
    *context = current();
    depth--;
    pushed--;
    return 0;
}

xg_cu_result cuCtxSynchronize(void)
{
    BEGIN(cuCtxSynchronize, INITIALISED | CONTEXT);
    if (is_capturing()) { /* in any mode; the capture cannot go on */
        invalidate_capture();
        return STREAM_CAPTURE_UNSUPPORTED;
    }
    flush();
    return 0;
}

xg_cu_result cuThreadExchangeStreamCaptureMode(unsigned *mode)
{
    BEGIN(cuThreadExchangeStreamCaptureMode, INITIALISED);
    const unsigned before = capture_mode;
    if (*mode > XG_CU_STREAM_CAPTURE_MODE_RELAXED)
        return fault(INVALID_VALUE, "a stream capture mode that is none");
    capture_mode = *mode;
    *mode = before;
    return 0;
}
