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
 *   FAKE_CUDA_RANGES   whether physical memory can be mapped into ranges of addresses (0)
 *   FAKE_CUDA_FAIL     symbol:result[:nth[:times]], commas between several: the
 *                      function gives this result from its nth call on, always or
 *                      so many times; the symbol * is all functions, their calls counted together
 *   FAKE_CUDA_CAPTURE  if set, a graph is being captured: what that forbids
 *                      outside the relaxed mode fails
 *   FAKE_CUDA_TRANSLATION  milliseconds that cuLibraryLoadData takes, beside other calls (0)
 *   FAKE_CUDA_IDLE     if set, kernels are launched, with all that is checked
 *                      of that, and do nothing
 *   FAKE_CUDA_LEAKS    the process's exit status if something leaked
 *   FAKE_CUDA_COUNT    a file for the number of all calls, at the process's end
 *
 * With FAKE_CUDA_WITHOUT_cuMemAlloc defined, a driver that lacks that symbol; with other
 * names for cuTensorMapEncodeTiled and cuLibraryLoadData, one of CUDA 11.8, which lacks them.
 */
#include "fake_cuda.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For test_driver.c, which has the same declarations. */
EXPORT int fake_cuda_leaks(void);
EXPORT int fake_cuda_calls(const char *symbol);
EXPORT int fake_cuda_retains(int device);
EXPORT int fake_cuda_depth(void);
EXPORT const char *fake_cuda_refused(void);
EXPORT const void *fake_cuda_last_arguments(void);
EXPORT void *fake_cuda_last_stream(void);

typedef struct {
    const char *symbol;
    int calls;
} function_record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static function_record functions[] = {
#define RECORD(member, symbol, parameters) {#symbol, 0},
    XG_CU_FUNCTIONS(RECORD) XG_CU_NEWER_FUNCTIONS(RECORD) RECORDER_FUNCTIONS(RECORD)
#undef RECORD
};
struct CUctx_st contexts[DEVICES_MAX];
object *objects;
const char *const kind_names[] = {"device memory",  "a module",          "a library",
                                  "an event",       "pinned memory",     "a stream",
                                  "a graph",        "a graph to launch", "a range of addresses",
                                  "physical memory"};
bool initialised;
int faults;
unsigned char last_arguments[ARGUMENTS_BYTES];
void *last_stream;
static bool reported;
static int all_calls;
static const char *last_refused = "";

_Thread_local xg_cu_context stack[DEPTH_MAX];
_Thread_local int depth, pushed; /* a thread's stack of contexts ends with it */
_Thread_local unsigned capture_mode;

_Thread_local pending_copy pending;

void flush(void)
{
    if (pending.bytes)
        memcpy(pending.to, pending.from, pending.bytes);
    pending.bytes = 0;
}

unsigned long long setting(const char *variable, unsigned long long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

int device_count(void)
{
    const unsigned long long count = setting("FAKE_CUDA_DEVICES", 1);
    return count < DEVICES_MAX ? (int)count : DEVICES_MAX;
}

size_t memory_limit(void)
{
    return (size_t)setting("FAKE_CUDA_MEMORY", 1ull << 30);
}

xg_cu_result fault(xg_cu_result result, const char *what)
{
    fprintf(stderr, "fake libcuda: %s\n", what);
    faults++;
    return result;
}

xg_cu_context current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

object *find(object_kind kind, const void *token)
{
    for (object *o = objects; o; o = o->next)
        if (o->kind == kind && (const void *)o == token)
            return o;
    return NULL;
}

object *add(object_kind kind)
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

void drop(object *o)
{
    object **link = &objects;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    o->context->used -= o->bytes;
    free(o->memory);
    free(o);
}

xg_cu_result destroy(object_kind kind, const void *token, const char *otherwise)
{
    object *o = find(kind, token);
    if (!o)
        return fault(INVALID_HANDLE, otherwise);
    drop(o);
    return 0;
}

object *memory_at(const void *pointer, size_t bytes)
{
    const uintptr_t first = (uintptr_t)pointer;
    for (object *o = objects; o; o = o->next)
        if ((o->kind == MEMORY || o->kind == RANGE) && o->context == current() &&
            first >= (uintptr_t)o->memory && first - (uintptr_t)o->memory <= o->bytes &&
            bytes <= o->bytes - (first - (uintptr_t)o->memory))
            return o;
    return NULL;
}

/* What one part of FAKE_CUDA_FAIL says of a function's call; moves to the next part. */
static xg_cu_result injected_by(const char **part, const function_record *function)
{
    const char *text = *part;
    const bool every = text[0] == '*';
    const size_t length = every ? 1 : strlen(function->symbol);
    char *end;
    *part = strchr(text, ',');
    *part += *part != NULL;
    if ((!every && strncmp(text, function->symbol, length) != 0) || text[length] != ':')
        return 0;
    const int calls = every ? all_calls : function->calls;
    const unsigned long result = strtoul(text + length + 1, &end, 10);
    const long nth = *end == ':' ? strtol(end + 1, &end, 10) : 1;
    const long times = *end == ':' ? strtol(end + 1, NULL, 10) : INT_MAX;
    return calls >= nth && calls - nth < times ? (xg_cu_result)result : 0;
}

static xg_cu_result injected(const function_record *function)
{
    xg_cu_result result = 0;
    for (const char *part = getenv("FAKE_CUDA_FAIL"); part && !result;)
        result = injected_by(&part, function);
    return result;
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

xg_cu_result admit(int index, unsigned wants)
{
    function_record *function = &functions[index];
    function->calls++;
    all_calls++;
    xg_cu_result refused = injected(function);
    if (!refused && wants && !initialised)
        refused = fault(NOT_INITIALIZED, "a call before cuInit");
    if (!refused && (wants & CONTEXT))
        refused = context_missing(function);
    if (!refused && (wants & NO_CAPTURE) && (getenv("FAKE_CUDA_CAPTURE") || is_capturing()) &&
        capture_mode != XG_CU_STREAM_CAPTURE_MODE_RELAXED)
        refused = STREAM_CAPTURE_UNSUPPORTED;
    if (!refused)
        return 0;
    last_refused = function->symbol;
    /* Its host memory may be gone after a failure, but for those that a caller may ignore. */
    if (index != INDEX_cuCtxGetCurrent && index != INDEX_cuCtxPopCurrent_v2 &&
        index != INDEX_cuThreadExchangeStreamCaptureMode)
        pending.bytes = 0;
    return refused;
}

int hold(void)
{
    return pthread_mutex_lock(&lock);
}

void leave(const int *entered)
{
    (void)entered;
    pthread_mutex_unlock(&lock);
}

/* ---- For the test ---- */

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
    if (strcmp(symbol, "*") == 0)
        return all_calls;
    return -1;
}

int fake_cuda_retains(int device)
{
    HOLD_LOCK;
    return contexts[device].retains;
}

/* Of the calling thread's stack of contexts. */
/* The function that was refused last. */
const char *fake_cuda_refused(void)
{
    HOLD_LOCK;
    return last_refused;
}

int fake_cuda_depth(void)
{
    return depth;
}

/* Of the last launch. */
const void *fake_cuda_last_arguments(void)
{
    return last_arguments;
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
    const char *const path = getenv("FAKE_CUDA_COUNT");
    FILE *const file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%d\n", all_calls);
        fclose(file);
    }
    if (!reported && fake_cuda_leaks() && status)
        _exit(status);
}
