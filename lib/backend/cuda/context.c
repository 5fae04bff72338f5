/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"

#include "image.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, users and functions */
static xg_device *devices;

/* In a child of fork(), which has no thread that could release a lock; nor does CUDA work there. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    xg_cu_driver_after_fork();
    xg_cu_translation_after_fork();
    xg_cu_arena_after_fork();
}

__attribute__((constructor)) static void at_fork(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static xgemm_status compute_capability(const xg_cu *driver, xg_cu_device device, int *result,
                                       xg_error *error)
{
    int major = 0, minor = 0;
    xg_cu_result failed =
        driver->device_attribute(&major, XG_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (!failed)
        failed = driver->device_attribute(&minor, XG_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                          device);
    *result = 10 * major + minor;
    return failed ? xg_cu_fail(driver, failed, "cuDeviceGetAttribute", error) : XGEMM_OK;
}

/* What the driver lacks; and whether it and the GPU can map physical memory at an address. */
static xg_cu_result find_abilities(xg_device *device)
{
    const xg_cu *const driver = device->driver;
    int supported = 0;
    const xg_cu_result failed =
        xg_cu_attribute_of(driver, device->device,
                           XG_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, &supported);
    device->lacks = !driver->launch_with    ? "cuLaunchKernelEx"
                    : !driver->encode_tiled ? "cuTensorMapEncodeTiled"
                                            : NULL;
    device->maps_memory = supported && driver->address_reserve && driver->address_free &&
                          driver->physical_granularity && driver->physical_create &&
                          driver->physical_release && driver->map && driver->unmap &&
                          driver->map_access;
    return failed;
}

static xgemm_status fill(xg_device *device, xg_error *error)
{
    xgemm_status status = xg_cu_open(&device->driver, error);
    if (status)
        return status;
    status = xg_cu_find_device(device->driver, device->ordinal, &device->device, error);
    if (!status)
        status =
            compute_capability(device->driver, device->device, &device->compute_capability, error);
    if (status)
        return status;
    if (device->compute_capability < XGEMM_CUDA_OLDEST)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "GPU %d has compute capability %d.%d; this build's kernels need %d.%d",
                       device->ordinal, device->compute_capability / 10,
                       device->compute_capability % 10, XGEMM_CUDA_OLDEST / 10,
                       XGEMM_CUDA_OLDEST % 10);
    const struct {
        unsigned attribute;
        int *value;
    } wanted[] = {
        {XG_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->multiprocessors},
        {XG_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &device->shared_in_all},
        {XG_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device->shared_in_block},
        {XG_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &device->shared_reserved}};
    xg_cu_result failed = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !failed; i++)
        failed =
            device->driver->device_attribute(wanted[i].value, wanted[i].attribute, device->device);
    if (!failed)
        failed = find_abilities(device);
    if (failed)
        return xg_cu_fail(device->driver, failed, "cuDeviceGetAttribute", error);
    failed = device->driver->context_retain(&device->context, device->device);
    return failed ? xg_cu_fail(device->driver, failed, "cuDevicePrimaryCtxRetain", error)
                  : XGEMM_OK;
}

/* The device if it is open; with the lock. */
static xg_device *open_device(int ordinal)
{
    xg_device *device = devices;
    while (device && device->ordinal != ordinal)
        device = device->next;
    return device;
}

static xgemm_status open_locked(int ordinal, xg_device **result, xg_error *error)
{
    xg_device *device = open_device(ordinal);
    if (device) {
        device->users++;
        *result = device;
        return XGEMM_OK;
    }
    device = calloc(1, sizeof *device);
    if (!device)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    device->ordinal = ordinal;
    device->users = 1;
    const xgemm_status status = fill(device, error);
    if (status) {
        free(device);
        return status;
    }
    device->next = devices;
    devices = device;
    *result = device;
    return XGEMM_OK;
}

xgemm_status xg_cu_device_open(int ordinal, xg_device **device, xg_error *error)
{
    if (!XGEMM_WITH_CUDA)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "this libxgemm was built without CUDA kernels (--without-cuda)");
    pthread_mutex_lock(&lock);
    const xgemm_status status = open_locked(ordinal, device, error);
    pthread_mutex_unlock(&lock);
    return status;
}

static void unload(xg_device *device)
{
    bool pushed;
    if (xg_cu_enter(device, &pushed, NULL) == XGEMM_OK) {
        const unsigned mode = xg_cu_relax_capture(device->driver);
        for (int i = 0; i < XG_PROGRAMS_MAX; i++)
            if (device->modules[i] && !device->libraries[i])
                device->driver->module_unload(device->modules[i]);
        xg_cu_restore_capture(device->driver, mode);
        xg_cu_leave(device, pushed);
    }
    for (int i = 0; i < XG_PROGRAMS_MAX; i++) {
        xg_cu_translation_end(&device->translations[i]);
        if (device->libraries[i])
            device->driver->library_unload(device->libraries[i]);
    }
    xg_cu_arena_forget_kept(device);
    device->driver->context_release(device->device);
}

/* Unloaded without the lock: a translation that is under way takes seconds. */
void xg_cu_device_close(xg_device *device)
{
    pthread_mutex_lock(&lock);
    const bool is_last = --device->users == 0;
    if (is_last) {
        xg_device **link = &devices;
        while (*link != device)
            link = &(*link)->next;
        *link = device->next;
    }
    pthread_mutex_unlock(&lock);
    if (is_last) {
        unload(device);
        free(device);
    }
}

bool xg_cu_recall(int ordinal, xgemm_device *description)
{
    pthread_mutex_lock(&lock);
    const xg_device *const device = open_device(ordinal);
    const bool is_known = device && device->described_in == getpid();
    if (is_known)
        *description = device->description;
    pthread_mutex_unlock(&lock);
    return is_known;
}

void xg_cu_remember(int ordinal, const xgemm_device *description)
{
    pthread_mutex_lock(&lock);
    xg_device *const device = open_device(ordinal);
    if (device) {
        device->description = *description;
        device->described_in = getpid();
    }
    pthread_mutex_unlock(&lock);
}

/* Code for a GPU before Hopper does not wait for its predecessor itself. */
static xg_cu_result has_pdl(const xg_cu *driver, xg_cu_function function, bool *can)
{
    int compiled_for = 0;
    *can = false;
    if (!driver->launch_with || driver->driver_version < XG_CU_PDL_CAPTURE)
        return 0;
    const xg_cu_result failed =
        driver->function_attribute(&compiled_for, XG_CU_FUNC_ATTRIBUTE_PTX_VERSION, function);
    *can = compiled_for >= 90;
    return failed;
}

/*
 * Whether a load says that the image has no code for this GPU, or PTX that the driver does not
 * translate. Of other calls these are failures.
 */
static bool is_not_for_gpu(xg_cu_result result)
{
    return result == XG_CUDA_ERROR_NO_BINARY_FOR_GPU || result == XG_CUDA_ERROR_INVALID_PTX ||
           result == XG_CUDA_ERROR_JIT_COMPILER_NOT_FOUND ||
           result == XG_CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           result == XG_CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

/* The kernel's module: a translated one, or the driver loads it here and now. */
static xg_cu_translated load_module(xg_device *device, const xg_program *program)
{
    xg_cu_translated loaded = {.what = "cuModuleLoadData"};
    if (xg_cu_translation_take(&device->translations[program->index], &loaded))
        return loaded;
    const void *const image = xg_cu_image_of(program->image, device->compute_capability).data;
    loaded.failed = image ? device->driver->module_load(&loaded.module, image)
                          : XG_CUDA_ERROR_NO_BINARY_FOR_GPU;
    return loaded;
}

static void unload_module(const xg_cu *driver, const xg_cu_translated *loaded)
{
    if (loaded->module && loaded->library)
        driver->library_unload(loaded->library);
    else if (loaded->module)
        driver->module_unload(loaded->module);
}

static xgemm_status load(xg_device *device, const xg_program *program, xg_error *error)
{
    const xg_cu *driver = device->driver;
    xg_cu_function function = NULL;

    const unsigned mode = xg_cu_relax_capture(driver);
    const xg_cu_translated loaded = load_module(device, program);
    xg_cu_result failed = loaded.failed;
    const char *what = loaded.what;
    if (!failed) {
        what = "cuModuleGetFunction";
        failed = driver->module_function(&function, loaded.module, program->symbol);
    }
    if (!failed) {
        what = "cuFuncGetAttribute";
        failed = has_pdl(driver, function, &device->pdl[program->index]);
    }
    if (failed)
        unload_module(driver, &loaded);
    xg_cu_restore_capture(driver, mode);
    if (failed) {
        xg_error why;
        const xgemm_status status = xg_cu_fail(driver, failed, what, &why);
        return xg_fail(error, is_not_for_gpu(failed) ? XGEMM_ERROR_NOT_SUPPORTED : status,
                       "kernel %s cannot be loaded on GPU %d, of compute capability %d.%d: %s",
                       program->symbol + strlen("xg_"), device->ordinal,
                       device->compute_capability / 10, device->compute_capability % 10, why.text);
    }
    device->libraries[program->index] = loaded.library;
    device->modules[program->index] = loaded.module;
    __atomic_store_n(&device->functions[program->index], function, __ATOMIC_RELEASE);
    return XGEMM_OK;
}

bool xg_cu_is_loaded(const xg_device *device, const xg_program *program)
{
    return __atomic_load_n(&device->functions[program->index], __ATOMIC_ACQUIRE) != NULL;
}

size_t xg_cu_ptx_bytes(const xg_device *device, const xg_program *program)
{
    return xg_cu_is_loaded(device, program)
               ? 0
               : xg_cu_image_of(program->image, device->compute_capability).ptx_bytes;
}

bool xg_cu_load_begin(xg_device *device, const xg_program *program)
{
    const xg_cu_image image = xg_cu_image_of(program->image, device->compute_capability);
    if (image.ptx_bytes == 0 || xg_cu_is_loaded(device, program) ||
        device->driver->driver_version < xg_cu_driver_for_ptx(image.data))
        return false;
    /* With the lock, under which load() takes a translation from its place. */
    pthread_mutex_lock(&lock);
    const bool begins = !xg_cu_is_loaded(device, program) &&
                        xg_cu_translation_begin(&device->translations[program->index],
                                                device->driver, device->context, image.data);
    pthread_mutex_unlock(&lock);
    return begins;
}

bool xg_cu_load_wait(xg_device *device, const xg_program *program, int milliseconds)
{
    return xg_cu_translation_wait(&device->translations[program->index], milliseconds);
}

xgemm_status xg_cu_function_of(xg_device *device, const xg_program *program,
                               xg_cu_function *function, xg_error *error)
{
    xg_cu_function *slot = &device->functions[program->index];
    xgemm_status status = XGEMM_OK;
    *function = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (*function)
        return XGEMM_OK;
    xg_cu_load_begin(device, program);
    xg_cu_load_wait(device, program, -1);
    pthread_mutex_lock(&lock);
    if (!*slot)
        status = load(device, program, error);
    *function = *slot;
    pthread_mutex_unlock(&lock);
    return status;
}

xgemm_status xg_cu_enter(const xg_device *device, bool *pushed, xg_error *error)
{
    xg_cu_context current = NULL;
    *pushed = false;
    xg_cu_result failed = device->driver->context_current(&current);
    if (!failed && current == device->context)
        return XGEMM_OK;
    failed = device->driver->context_push(device->context);
    if (failed)
        return xg_cu_fail(device->driver, failed, "cuCtxPushCurrent", error);
    *pushed = true;
    return XGEMM_OK;
}

void xg_cu_leave(const xg_device *device, bool pushed)
{
    xg_cu_context popped;
    if (pushed)
        device->driver->context_pop(&popped);
}
