/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the fake driver and what its functions begin with. Hidden, as
 * all that is not EXPORT.
 */
#ifndef XGEMM_TESTS_FAKE_CUDA_H
#define XGEMM_TESTS_FAKE_CUDA_H

#include "../../bin/recorder_driver.h"
#include "backend/backend.h"
#include "backend/cuda/driver.h"
#include "plan/plan.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(member, symbol, parameters) EXPORT xg_cu_result symbol parameters;
XG_CU_FUNCTIONS(DECLARE)
XG_CU_NEWER_FUNCTIONS(DECLARE)
RECORDER_FUNCTIONS(DECLARE)
#undef DECLARE

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
    CAPTURED_EVENT = 907,
    UNKNOWN = 999
};

enum { DEVICES_MAX = 16, DEPTH_MAX = 64, BLOCK_MAX = 1024, GRID_YZ_MAX = 65535 };

struct CUctx_st {
    int device, retains;
    size_t used;
};

/* Everything that is given out; a module is also the token of its one function. */
typedef enum {
    MEMORY,
    MODULE,
    LIBRARY,
    EVENT,
    PINNED,
    STREAM,
    GRAPH,
    GRAPH_EXEC,
    RANGE,
    PHYSICAL
} object_kind;

typedef struct object {
    struct object *next;
    object_kind kind;
    xg_cu_context context;
    void *memory;
    size_t bytes;
    size_t
        count; /* a graph's: launches, in its memory; a range's: bytes, of which some are mapped */
    xg_program program;
    const size_t *argument_bytes;
    const char *ptx;  /* a module's, where that is what it was loaded from; a library's */
    struct object *library; /* a module's that is of one */
    int shared_bytes; /* a function's: dynamic, that it was allowed */
    bool ready;       /* a module's function was asked for; an event was recorded */
    bool captured;    /* an event was recorded into a graph: it cannot be waited for */
    struct timespec time;
} object;

enum {
#define INDEX(member, symbol, parameters) INDEX_##symbol,
    XG_CU_FUNCTIONS(INDEX) XG_CU_NEWER_FUNCTIONS(INDEX) RECORDER_FUNCTIONS(INDEX)
#undef INDEX
        FUNCTION_COUNT
};

/* The last asynchronous copy: done as late as the driver may do it. */
typedef struct {
    void *to;
    const void *from;
    size_t bytes;
    xg_cu_stream stream;
} pending_copy;

extern struct CUctx_st contexts[DEVICES_MAX];
extern object *objects;
extern const char *const kind_names[]; /* by object_kind */
extern bool initialised;
extern int faults;
enum { ARGUMENTS_BYTES = XG_ARGUMENTS_BYTES };
extern unsigned char last_arguments[ARGUMENTS_BYTES];
extern void *last_stream;

extern _Thread_local xg_cu_context stack[DEPTH_MAX];
extern _Thread_local int depth, pushed;
extern _Thread_local unsigned capture_mode;
extern _Thread_local pending_copy pending;

/* Does the pending copy. */
void flush(void);

/* What the environment says. */
unsigned long long setting(const char *variable, unsigned long long otherwise);
int device_count(void);
size_t memory_limit(void);
int compute_capability(void);
bool is_device(int device);

/* Counts a misuse and says it; gives back the result. */
xg_cu_result fault(xg_cu_result result, const char *what);

/* The thread's context; NULL: none. */
xg_cu_context current(void);

/* The object behind a token, NULL when it is none; a new one in the current context; its end. */
object *find(object_kind kind, const void *token);
object *add(object_kind kind);
void drop(object *o);

/* The end of the object behind a token; of a token that is none, the fault. */
xg_cu_result destroy(object_kind kind, const void *token, const char *otherwise);

/* A launch with its arguments, to be done later. */
typedef struct {
    xg_cu_function function;
    xg_launch launch;
    _Alignas(8) unsigned char arguments[ARGUMENTS_BYTES];
} recorded_launch;

/* False: the stream is not being captured. */
bool capture(const recorded_launch *launch, xg_cu_stream stream);
void invalidate_capture(void);
bool is_capturing(void);

/* Whether the stream is: it cannot be waited for. */
bool is_captured(xg_cu_stream stream);
xg_cu_result run_recorded(const recorded_launch *launch);

/* Memory of the current context that has these bytes. */
object *memory_at(const void *pointer, size_t bytes);

/* ---- What every function begins with ---- */

/* What a function wants; bits. */
enum { NOTHING = 0, INITIALISED = 1, CONTEXT = 2, NO_CAPTURE = 4 };

/* The failure to give back, 0 for none; with the lock held. */
xg_cu_result admit(int index, unsigned wants);
int hold(void);
void leave(const int *entered);

/* To the end of the function. */
#define HOLD_LOCK __attribute__((cleanup(leave), unused)) const int entered = hold()

/* Gives back the failure, if there is one. */
#define BEGIN(symbol, wants)                                                                       \
    HOLD_LOCK;                                                                                     \
    const xg_cu_result refused = admit(INDEX_##symbol, wants);                                     \
    if (refused)                                                                                   \
    return refused

/*
 * The same for what releases, which does so where it gives back a failure of earlier work, too; not
 * if the call itself cannot be.
 */
#define BEGIN_RELEASE(symbol, wants)                                                               \
    HOLD_LOCK;                                                                                     \
    const xg_cu_result refused = admit(INDEX_##symbol, wants);                                     \
    if (refused == STREAM_CAPTURE_UNSUPPORTED || refused == NOT_INITIALIZED ||                     \
        refused == INVALID_CONTEXT || refused == CONTEXT_IS_DESTROYED)                             \
    return refused

#endif
