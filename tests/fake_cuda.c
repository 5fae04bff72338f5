/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcuda.so.1 for machines without a GPU. Device memory is host memory and
 * kernels run on the simulator, of which this object has its own copy. It is
 * strict: it wants a current context where the driver does, knows every object
 * it gave out, and counts what is misused or not given back.
 *
 * Read from the environment at every call, so that a test can change it:
 *   FAKE_CUDA_VERSION  what cuDriverGetVersion gives (13000)
 *   FAKE_CUDA_INIT     cuInit's result (0)
 *   FAKE_CUDA_DEVICES  how many there are (1)
 *   FAKE_CUDA_CC       their compute capability (90)
 *   FAKE_CUDA_PTX      what kernels were compiled for (80); from 90 on they overlap
 *   FAKE_CUDA_NAME     their name ("Fake CUDA device N")
 *   FAKE_CUDA_MEMORY   bytes of memory of each (1 GiB)
 *   FAKE_CUDA_FAIL     symbol:result[:nth[:times]]: the function gives this
 *                      result from its nth call on, always or so many times
 *   FAKE_CUDA_CAPTURE  if set, a graph is being captured: what that forbids
 *                      outside the relaxed mode fails
 *   FAKE_CUDA_LEAKS    the process's exit status if something leaked
 *
 * With FAKE_CUDA_WITHOUT_cuMemAlloc defined, a driver that lacks that symbol.
 */
#include "cuda/driver.h"
#include "kernels/args.h"
#include "sim/scheduler.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(member, symbol, parameters) EXPORT xg_cu_result symbol parameters;
XG_CU_FUNCTIONS(DECLARE)
XG_CU_NEWER_FUNCTIONS(DECLARE)
#undef DECLARE

/* For test_driver.c, which has the same declarations. */
EXPORT int fake_cuda_leaks(void);
EXPORT int fake_cuda_calls(const char *symbol);
EXPORT int fake_cuda_retains(int device);
EXPORT int fake_cuda_depth(void);
EXPORT const xg_args *fake_cuda_last_arguments(void);
EXPORT void *fake_cuda_last_stream(void);

/* Results that libxgemm has no name for. */
enum {
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    CONTEXT_IS_DESTROYED = 709,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    UNKNOWN = 999
};

enum { DEVICES_MAX = 16, DEPTH_MAX = 64, BLOCK_MAX = 1024, GRID_YZ_MAX = 65535 };

#define FATBIN_MAGIC 0xba55ed50u

struct CUctx_st {
    int device, retains;
    size_t used;
};

/* Everything that is given out; a module is also the token of its one function. */
typedef enum { MEMORY, MODULE, EVENT, PINNED } object_kind;

typedef struct object {
    struct object *next;
    object_kind kind;
    xg_cu_context context;
    void *memory;
    size_t bytes;
    xg_program program;
    int shared_bytes; /* a function's: dynamic, that it was allowed */
    bool ready;       /* a module's function was asked for; an event was recorded */
    struct timespec time;
} object;

typedef struct {
    const char *symbol;
    int calls;
} function_record;

enum {
#define INDEX(member, symbol, parameters) INDEX_##symbol,
    XG_CU_FUNCTIONS(INDEX) XG_CU_NEWER_FUNCTIONS(INDEX)
#undef INDEX
        FUNCTION_COUNT
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static function_record functions[] = {
#define RECORD(member, symbol, parameters) {#symbol, 0},
    XG_CU_FUNCTIONS(RECORD) XG_CU_NEWER_FUNCTIONS(RECORD)
#undef RECORD
};
static struct CUctx_st contexts[DEVICES_MAX];
static object *objects;
static bool initialised, reported;
static int faults, pushed;
static xg_args last_arguments;
static void *last_stream;

static _Thread_local xg_cu_context stack[DEPTH_MAX];
static _Thread_local int depth;
static _Thread_local unsigned capture_mode;

/* The last asynchronous copy: done as late as the driver may do it. */
static _Thread_local struct {
    void *to;
    const void *from;
    size_t bytes;
    xg_cu_stream stream;
} pending;

static void flush(void)
{
    if (pending.bytes)
        memcpy(pending.to, pending.from, pending.bytes);
    pending.bytes = 0;
}

static unsigned long long setting(const char *variable, unsigned long long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static int device_count(void)
{
    const unsigned long long count = setting("FAKE_CUDA_DEVICES", 1);
    return count < DEVICES_MAX ? (int)count : DEVICES_MAX;
}

static size_t memory_limit(void)
{
    return (size_t)setting("FAKE_CUDA_MEMORY", 1ull << 30);
}

static xg_cu_result fault(xg_cu_result result, const char *what)
{
    fprintf(stderr, "fake libcuda: %s\n", what);
    faults++;
    return result;
}

static xg_cu_context current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

static object *find(object_kind kind, const void *token)
{
    for (object *o = objects; o; o = o->next)
        if (o->kind == kind && (const void *)o == token)
            return o;
    return NULL;
}

static object *add(object_kind kind)
{
    object *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->kind = kind;
    o->context = current();
    o->next = objects;
    objects = o;
    return o;
}

static void drop(object *o)
{
    object **link = &objects;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    o->context->used -= o->bytes;
    free(o->memory);
    free(o);
}

/* Memory of the current context that has these bytes. */
static object *memory_at(const void *pointer, size_t bytes)
{
    const uintptr_t first = (uintptr_t)pointer;
    for (object *o = objects; o; o = o->next)
        if (o->kind == MEMORY && o->context == current() && first >= (uintptr_t)o->memory &&
            first - (uintptr_t)o->memory <= o->bytes &&
            bytes <= o->bytes - (first - (uintptr_t)o->memory))
            return o;
    return NULL;
}

static xg_cu_result injected(const function_record *function)
{
    const char *text = getenv("FAKE_CUDA_FAIL");
    const size_t length = strlen(function->symbol);
    char *end;
    if (!text || strncmp(text, function->symbol, length) != 0 || text[length] != ':')
        return 0;
    const unsigned long result = strtoul(text + length + 1, &end, 10);
    const long nth = *end == ':' ? strtol(end + 1, &end, 10) : 1;
    const long times = *end == ':' ? strtol(end + 1, NULL, 10) : INT_MAX;
    const bool fails = function->calls >= nth && function->calls - nth < times;
    return fails ? (xg_cu_result)result : 0;
}

static xg_cu_result context_missing(const function_record *function)
{
    char text[128];
    const bool destroyed = current() != NULL;
    if (current() && current()->retains)
        return 0;
    snprintf(text, sizeof text, "%s with %s", function->symbol,
             destroyed ? "a context that was released" : "no context current");
    return fault(destroyed ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT, text);
}

/* What a function wants; bits. */
enum { NOTHING = 0, INITIALISED = 1, CONTEXT = 2, NO_CAPTURE = 4 };

static xg_cu_result admit(int index, unsigned wants)
{
    function_record *function = &functions[index];
    function->calls++;
    xg_cu_result refused = injected(function);
    if (!refused && wants && !initialised)
        refused = fault(NOT_INITIALIZED, "a call before cuInit");
    if (!refused && (wants & CONTEXT))
        refused = context_missing(function);
    if (!refused && (wants & NO_CAPTURE) && getenv("FAKE_CUDA_CAPTURE") &&
        capture_mode != XG_CU_STREAM_CAPTURE_MODE_RELAXED)
        refused = STREAM_CAPTURE_UNSUPPORTED;
    if (refused)
        pending.bytes = 0; /* its host memory may be gone after a failure */
    return refused;
}

static void leave(const int *entered)
{
    (void)entered;
    pthread_mutex_unlock(&lock);
}

/* To the end of the function. */
#define HOLD_LOCK                                                                                  \
    __attribute__((cleanup(leave), unused)) const int entered = pthread_mutex_lock(&lock)

/* Gives back the failure, if there is one. */
#define BEGIN(symbol, wants)                                                                       \
    HOLD_LOCK;                                                                                     \
    const xg_cu_result refused = admit(INDEX_##symbol, wants);                                     \
    if (refused)                                                                                   \
    return refused

/* --- errors, initialisation, devices --- */

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

static bool is_device(int device)
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

xg_cu_result cuDeviceTotalMem_v2(size_t *bytes, xg_cu_device device)
{
    BEGIN(cuDeviceTotalMem_v2, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    *bytes = memory_limit();
    return 0;
}

static int compute_capability(void)
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
        return 232448;
    case XG_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return 32;
    case XG_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return 1024;
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

/* --- contexts --- */

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

static const char *const kind_names[] = {"device memory", "a module", "an event", "pinned memory"};

/* The driver frees them too, but a library that shares the context must not leave it that. */
static void drop_all(xg_cu_context context)
{
    object *next;
    for (object *o = objects; o; o = next) {
        next = o->next;
        if (o->context != context)
            continue;
        fprintf(stderr, "fake libcuda: %s was left in a released context\n", kind_names[o->kind]);
        faults++;
        drop(o);
    }
}

xg_cu_result cuDevicePrimaryCtxRelease_v2(xg_cu_device device)
{
    BEGIN(cuDevicePrimaryCtxRelease_v2, INITIALISED);
    if (!is_device(device))
        return XG_CUDA_ERROR_INVALID_DEVICE;
    flush();
    if (!contexts[device].retains)
        return fault(INVALID_CONTEXT, "a context was released that was not retained");
    if (--contexts[device].retains == 0)
        drop_all(&contexts[device]);
    return 0;
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

xg_cu_result cuCtxPushCurrent_v2(xg_cu_context context)
{
    BEGIN(cuCtxPushCurrent_v2, INITIALISED);
    const xg_cu_result result = push(context);
    pushed += !result;
    return result;
}

xg_cu_result cuCtxPopCurrent_v2(xg_cu_context *context)
{
    BEGIN(cuCtxPopCurrent_v2, INITIALISED);
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

/* --- kernels --- */

/* Made by make: KERNEL(name) for each. */
#define KERNEL(id) extern void xg_simulated_##id(const void *);
#include "fake_kernels.inc"
#undef KERNEL

static const xg_program kernels[] = {
#define KERNEL(id) {.symbol = "xg_" #id, .simulated = xg_simulated_##id},
#include "fake_kernels.inc"
#undef KERNEL
};

xg_cu_result cuModuleLoadData(xg_cu_module *module, const void *image)
{
    BEGIN(cuModuleLoadData, INITIALISED | CONTEXT | NO_CAPTURE);
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic != FATBIN_MAGIC)
        return fault(INVALID_IMAGE, "cuModuleLoadData of something that is no fatbin");
    *module = (xg_cu_module)add(MODULE);
    return *module ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

xg_cu_result cuModuleUnload(xg_cu_module module)
{
    BEGIN(cuModuleUnload, INITIALISED | CONTEXT | NO_CAPTURE);
    object *o = find(MODULE, module);
    if (!o || o->context != current())
        return fault(INVALID_HANDLE, "cuModuleUnload of what is no module of the context");
    drop(o);
    return 0;
}

xg_cu_result cuModuleGetFunction(xg_cu_function *function, xg_cu_module module, const char *name)
{
    BEGIN(cuModuleGetFunction, INITIALISED | CONTEXT);
    object *o = find(MODULE, module);
    if (!o || o->context != current())
        return fault(INVALID_HANDLE, "cuModuleGetFunction of what is no module of the context");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].symbol, name) == 0) {
            o->program = kernels[i];
            o->ready = true;
            *function = (xg_cu_function)o;
            return 0;
        }
    return NOT_FOUND;
}

static object *function_of(xg_cu_function token)
{
    object *o = find(MODULE, token);
    return o && o->ready && o->context == current() ? o : NULL;
}

xg_cu_result cuFuncSetAttribute(xg_cu_function token, unsigned attribute, int value)
{
    BEGIN(cuFuncSetAttribute, INITIALISED | CONTEXT);
    object *function = function_of(token);
    if (!function)
        return fault(INVALID_HANDLE, "cuFuncSetAttribute of what is no function of the context");
    if (attribute != XG_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > 227 * 1024)
        return fault(INVALID_VALUE, "cuFuncSetAttribute of more shared memory than there is");
    function->shared_bytes = value;
    return 0;
}

xg_cu_result cuFuncGetAttribute(int *value, unsigned attribute, xg_cu_function function)
{
    BEGIN(cuFuncGetAttribute, INITIALISED | CONTEXT);
    if (!function_of(function))
        return fault(INVALID_HANDLE, "cuFuncGetAttribute of what is no function of the context");
    switch (attribute) {
    case XG_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 768;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = 8192;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 24;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 16;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 40;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = compute_capability();
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)setting("FAKE_CUDA_PTX", 80);
        return 0;
    default:
        return INVALID_VALUE;
    }
}

static bool is_launch(const xg_launch *launch)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return launch->grid[0] && launch->grid[0] <= INT32_MAX && launch->grid[1] &&
           launch->grid[1] <= GRID_YZ_MAX && launch->grid[2] && launch->grid[2] <= GRID_YZ_MAX &&
           threads && threads <= BLOCK_MAX;
}

static bool readable(const void *pointer)
{
    return !pointer || memory_at(pointer, sizeof(float));
}

/* As on a GPU, a kernel reads the memory of its device only. */
static bool are_on_device(const xg_program *program, const xg_args *arguments)
{
    const bool scales = strcmp(program->symbol, "xg_scale") == 0;
    return readable(arguments->c) && (scales || (readable(arguments->a) && readable(arguments->b)));
}

static xg_cu_result simulate(const xg_launch *launch)
{
    xg_error error;
    const xgemm_status status = xg_sim_launch(launch, &(xg_sim_options){0}, &error);
    if (!status)
        return 0;
    fprintf(stderr, "fake libcuda: %s\n", error.text);
    return status == XGEMM_ERROR_LAUNCH ? XG_CUDA_ERROR_LAUNCH_FAILED : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

static xg_cu_result start(xg_cu_function token, xg_launch *launch, xg_cu_stream stream,
                          void **arguments, void **extra)
{
    const object *function = function_of(token);
    xg_args copy;
    launch->program = function ? &function->program : NULL;
    launch->arguments = &copy;
    launch->arguments_size = sizeof copy;
    if (!function)
        return fault(INVALID_HANDLE, "a launch of what is no function of the context");
    if (launch->shared_bytes > 48 * 1024 && (int)launch->shared_bytes > function->shared_bytes)
        return fault(INVALID_VALUE, "a launch with more shared memory than was allowed");
    if (!is_launch(launch) || extra)
        return fault(INVALID_VALUE, "a launch with a grid or a block that cannot be");
    flush();
    memcpy(&copy, arguments[0], sizeof copy);
    if (!are_on_device(launch->program, &copy))
        return fault(XG_CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel with memory of another device");
    last_arguments = copy;
    last_stream = stream;
    return simulate(launch);
}

xg_cu_result cuLaunchKernel(xg_cu_function token, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, xg_cu_stream stream, void **arguments,
                            void **extra)
{
    BEGIN(cuLaunchKernel, INITIALISED | CONTEXT);
    xg_launch launch = {.grid = {grid_x, grid_y, grid_z},
                        .block = {block_x, block_y, block_z},
                        .shared_bytes = shared_bytes};
    return start(token, &launch, stream, arguments, extra);
}

xg_cu_result cuLaunchKernelEx(const xg_cu_launch_config *how, xg_cu_function token,
                              void **arguments, void **extra)
{
    BEGIN(cuLaunchKernelEx, INITIALISED | CONTEXT);
    xg_launch launch = {.grid = {how->grid[0], how->grid[1], how->grid[2]},
                        .block = {how->block[0], how->block[1], how->block[2]},
                        .shared_bytes = how->shared_bytes};
    for (unsigned i = 0; i < how->count; i++) {
        const xg_cu_attribute *attribute = &how->attributes[i];
        if (attribute->id == XG_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            launch.cluster = attribute->value.cluster[0];
        else if (attribute->id != XG_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return fault(INVALID_VALUE, "a launch with an attribute that is not known");
    }
    return start(token, &launch, how->stream, arguments, extra);
}

/* --- memory --- */

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

/* --- streams and events --- */

xg_cu_result cuStreamSynchronize(xg_cu_stream stream)
{
    BEGIN(cuStreamSynchronize, INITIALISED | CONTEXT);
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
    BEGIN(cuEventDestroy_v2, INITIALISED | CONTEXT);
    object *o = find(EVENT, event);
    if (!o)
        return fault(INVALID_HANDLE, "cuEventDestroy of what is no event");
    drop(o);
    return 0;
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
    last_stream = stream;
    return 0;
}

xg_cu_result cuEventSynchronize(xg_cu_event event)
{
    BEGIN(cuEventSynchronize, INITIALISED | CONTEXT);
    if (!find(EVENT, event))
        return fault(INVALID_HANDLE, "cuEventSynchronize of what is no event");
    flush();
    return 0;
}

xg_cu_result cuEventElapsedTime(float *ms, xg_cu_event from, xg_cu_event to)
{
    BEGIN(cuEventElapsedTime, INITIALISED | CONTEXT);
    const object *first = find(EVENT, from), *last = find(EVENT, to);
    if (!first || !last)
        return fault(INVALID_HANDLE, "cuEventElapsedTime of what is no event");
    if (!first->ready || !last->ready)
        return INVALID_HANDLE;
    *ms = (float)((double)(last->time.tv_sec - first->time.tv_sec) * 1e3 +
                  (double)(last->time.tv_nsec - first->time.tv_nsec) * 1e-6);
    return 0;
}

/* --- for the test --- */

/* How many things were misused, or not given back yet; says so to stderr. */
int fake_cuda_leaks(void)
{
    HOLD_LOCK;
    int leaks = faults;
    reported = true;
    if (faults)
        fprintf(stderr, "fake libcuda: %d misuses (said above)\n", faults);
    for (const object *o = objects; o; o = o->next, leaks++)
        fprintf(stderr, "fake libcuda: leak: %s (%zu bytes) on device %d\n", kind_names[o->kind],
                o->bytes, o->context->device);
    for (int device = 0; device < DEVICES_MAX; device++)
        if (contexts[device].retains) {
            fprintf(stderr, "fake libcuda: leak: device %d's context is still retained %d times\n",
                    device, contexts[device].retains);
            leaks += contexts[device].retains;
        }
    if (pushed)
        fprintf(stderr, "fake libcuda: leak: contexts pushed less those popped are %d\n", pushed);
    return leaks + abs(pushed);
}

/* -1 for a symbol that is not here. */
int fake_cuda_calls(const char *symbol)
{
    HOLD_LOCK;
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].symbol, symbol) == 0)
            return functions[i].calls;
    return -1;
}

int fake_cuda_retains(int device)
{
    HOLD_LOCK;
    return contexts[device].retains;
}

/* Of the calling thread's stack of contexts. */
int fake_cuda_depth(void)
{
    return depth;
}

/* Of the last launch. */
const xg_args *fake_cuda_last_arguments(void)
{
    return &last_arguments;
}

/* Of the last launch or event. */
void *fake_cuda_last_stream(void)
{
    return last_stream;
}

/* For programs that do not ask. */
__attribute__((destructor)) static void report_at_exit(void)
{
    const int status = (int)setting("FAKE_CUDA_LEAKS", 0);
    if (!reported && fake_cuda_leaks() && status)
        _exit(status);
}
