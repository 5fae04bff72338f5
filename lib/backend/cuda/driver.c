/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include "advice.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xg_cu functions;
static void *library; /* stays open: a driver that was initialised has threads of its own */

#define XG_LIBRARY "libcuda.so.1"
#define XG_UPDATE  "; update NVIDIA's driver (package nvidia-driver)"

void xg_cu_driver_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
}

static xgemm_status resolve(xg_error *error)
{
#define RESOLVE(member, symbol, parameters)                                                        \
    {                                                                                              \
        void *address = dlsym(library, #symbol);                                                   \
        if (!address)                                                                              \
            return xg_fail(error, XGEMM_ERROR_DRIVER_TOO_OLD,                                      \
                           "the CUDA driver is too old: libcuda.so.1 has no %s, which CUDA 11.0 "  \
                           "has" XG_UPDATE,                                                        \
                           #symbol);                                                               \
        memcpy(&functions.member, &address, sizeof address);                                       \
    }
    XG_CU_FUNCTIONS(RESOLVE)
#undef RESOLVE
#define RESOLVE_NEWER(member, symbol, parameters)                                                  \
    {                                                                                              \
        void *address = dlsym(library, #symbol);                                                   \
        memcpy(&functions.member, &address, sizeof address);                                       \
    }
    XG_CU_NEWER_FUNCTIONS(RESOLVE_NEWER)
#undef RESOLVE_NEWER
    return XGEMM_OK;
}

xgemm_status xg_cu_no_device(xg_error *error)
{
    char advice[XG_CU_ADVICE];
    return xg_fail(error, XGEMM_ERROR_NO_DEVICE, "the CUDA driver finds no GPU%s",
                   xg_cu_access_advice(XG_CU_CONTROL, advice));
}

static xgemm_status initialise(xg_error *error)
{
    xg_cu_result result = functions.version(&functions.driver_version);
    if (result)
        return xg_cu_fail(&functions, result, "cuDriverGetVersion", error);
    if (functions.driver_version < XG_CU_OLDEST)
        return xg_fail(
            error, XGEMM_ERROR_DRIVER_TOO_OLD,
            "the CUDA driver is of version %d.%d; libxgemm needs 11.0 or later" XG_UPDATE,
            functions.driver_version / 1000, functions.driver_version % 1000 / 10);
    result = functions.init(0);
    if (result == XG_CUDA_ERROR_NO_DEVICE)
        return xg_cu_no_device(error);
    if (result == XG_CUDA_ERROR_UNKNOWN || result == XG_CUDA_ERROR_INVALID_DEVICE) {
        char advice[XG_CU_ADVICE];
        xg_error why;
        const xgemm_status status = xg_cu_fail(&functions, result, "cuInit", &why);
        return xg_fail(error, status, "%s%s", why.text, xg_cu_access_advice(XG_CU_CONTROL, advice));
    }
    return result ? xg_cu_fail(&functions, result, "cuInit", error) : XGEMM_OK;
}

/*
 * Whether the file that the linker's sentence begins with is empty: the place that an image keeps
 * for the driver, which a container without a GPU leaves as it is.
 */
static bool is_placeholder(const char *sentence)
{
    char path[PATH_MAX];
    struct stat file;
    const char *const end = strstr(sentence, XG_LIBRARY ": ");
    if (!end)
        return false;
    snprintf(path, sizeof path, "%.*s" XG_LIBRARY, (int)(end - sentence), sentence);
    return stat(path, &file) == 0 && file.st_size == 0;
}

/*
 * There is no driver where there is no such file. One that cannot be loaded is a failure: a broken
 * file, too few descriptors, or a dependency of its own that is missing, by whose name the sentence
 * begins. In every language it ends with the system's words.
 */
static xgemm_status cannot_load(xg_error *error)
{
    const char *const said = dlerror();
    const char *const why = said ? said : XG_LIBRARY;
    const char *const words = strerror(ENOENT);
    const size_t length = strlen(why), tail = strlen(words);
    const bool is_missing =
        length >= tail && strcmp(why + length - tail, words) == 0 && strstr(why, XG_LIBRARY);
    if (is_missing || is_placeholder(why))
        return xg_fail(error, XGEMM_ERROR_NO_DRIVER,
                       "no CUDA driver can be loaded: %s; it comes with NVIDIA's driver (package "
                       "libcuda1)",
                       why);
    return xg_fail(error, XGEMM_ERROR_DRIVER, "the CUDA driver cannot be loaded: %s", why);
}

/* Of the program, which is the first object: no dynamic linker is asked for. */
static int find_linker(struct dl_phdr_info *object, size_t size, void *is_static)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)is_static = false;
    return 1;
}

/*
 * Whether the program is linked statically as a whole. glibc's dlopen() in such a one gives
 * libraries no memory for their threads' own variables, of which the driver has some.
 */
static bool is_static_program(void)
{
    bool is_static = true;
    dl_iterate_phdr(find_linker, &is_static);
    return is_static;
}

static xgemm_status load(xg_error *error)
{
    if (is_static_program())
        return xg_fail(
            error, XGEMM_ERROR_NO_DRIVER,
            "a statically linked program cannot load the CUDA driver; link the C library "
            "dynamically");
    /* Twice: for want of memory for the path that it found, the linker says that there is none. */
    for (int i = 0; i < 2 && !library; i++)
        library = dlopen(XG_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return cannot_load(error);
    xgemm_status status = resolve(error);
    if (!status)
        status = initialise(error);
    if (status) {
        dlclose(library);
        library = NULL;
    }
    return status;
}

xgemm_status xg_cu_open(const xg_cu **driver, xg_error *error)
{
    pthread_mutex_lock(&lock);
    const xgemm_status status = library ? XGEMM_OK : load(error);
    pthread_mutex_unlock(&lock);
    *driver = status ? NULL : &functions;
    return status;
}

static xgemm_status status_of(xg_cu_result result)
{
    if (result == XG_CUDA_ERROR_OUT_OF_MEMORY)
        return XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
    if (result == XG_CUDA_ERROR_STUB_LIBRARY)
        return XGEMM_ERROR_NO_DRIVER;
    if (result == XG_CUDA_ERROR_NO_DEVICE || result == XG_CUDA_ERROR_INVALID_DEVICE)
        return XGEMM_ERROR_NO_DEVICE;
    if ((result >= XG_CUDA_ERROR_ILLEGAL_ADDRESS && result <= XG_CUDA_ERROR_LAUNCH_TIMEOUT) ||
        (result >= XG_CUDA_ERROR_HARDWARE_STACK_ERROR && result <= XG_CUDA_ERROR_LAUNCH_FAILED))
        return XGEMM_ERROR_LAUNCH;
    return XGEMM_ERROR_DRIVER;
}

xgemm_status xg_cu_fail(const xg_cu *driver, xg_cu_result result, const char *function,
                        xg_error *error)
{
    const char *name = NULL, *text = NULL;
    char number[32];
    driver->error_name(result, &name);
    driver->error_string(result, &text);
    snprintf(number, sizeof number, "unknown error %u", (unsigned)result);
    return xg_fail(error, status_of(result), "%s failed: %s (%s)%s", function, name ? name : number,
                   text ? text : "no text", xg_cu_advice(result));
}

#define CAPTURE_UNCHANGED (~0u)

unsigned xg_cu_relax_capture(const xg_cu *driver)
{
    unsigned mode = XG_CU_STREAM_CAPTURE_MODE_RELAXED;
    return driver->capture_mode(&mode) ? CAPTURE_UNCHANGED : mode;
}

void xg_cu_restore_capture(const xg_cu *driver, unsigned mode)
{
    if (mode != CAPTURE_UNCHANGED)
        driver->capture_mode(&mode);
}

xgemm_status xg_cu_find_device(const xg_cu *driver, int ordinal, xg_cu_device *device,
                               xg_error *error)
{
    int count = 0;
    const xg_cu_result failed = driver->device_get(device, ordinal);
    if (!failed)
        return XGEMM_OK;
    if (failed != XG_CUDA_ERROR_INVALID_DEVICE && failed != XG_CUDA_ERROR_NO_DEVICE)
        return xg_cu_fail(driver, failed, "cuDeviceGet", error);
    driver->device_count(&count);
    if (count == 0)
        return xg_cu_no_device(error);
    return xg_fail(error, XGEMM_ERROR_NO_DEVICE, "there is no GPU %d; the CUDA driver has %d",
                   ordinal, count);
}
