/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder.h"

#include "recorder_driver.h"
#include "symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
#define MEMBER(member, symbol, parameters) unsigned(*member) parameters;
    RECORDER_FUNCTIONS(MEMBER)
#undef MEMBER
} driver_functions;

struct recorder {
    xgemm_handle *handle;
    void *library;
    driver_functions driver;
    struct CUstream_st *stream;
    struct CUgraphExec_st *recorded;
    char error[96]; /* "": none */
};

static bool resolve(recorder *r, char *message, size_t message_size)
{
    const char *missing = NULL;
    r->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!r->library) {
        snprintf(message, message_size, "the CUDA driver cannot be loaded: %s", dlerror());
        return false;
    }
#define RESOLVE(member, symbol, parameters)                                                        \
    if (!find_symbol(r->library, #symbol, &r->driver.member))                                      \
        missing = #symbol;
    RECORDER_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (missing)
        snprintf(message, message_size, "this CUDA driver cannot record graphs: it lacks %s",
                 missing);
    return !missing;
}

static bool succeeds(recorder *r, unsigned result, const char *function)
{
    if (result && !r->error[0])
        snprintf(r->error, sizeof r->error, "%s failed with error %u of the CUDA driver", function,
                 result);
    return result == 0;
}

static bool use_stream(recorder *r, char *message, size_t message_size)
{
    if (xgemm_make_current(r->handle) == XGEMM_OK &&
        !succeeds(r, r->driver.stream_create(&r->stream, RECORDER_CU_STREAM_NON_BLOCKING),
                  "cuStreamCreate")) {
        snprintf(message, message_size, "%s", r->error);
        return false;
    }
    if (!r->stream || xgemm_set_stream(r->handle, r->stream)) {
        snprintf(message, message_size, "%s", xgemm_last_error(r->handle));
        return false;
    }
    return true;
}

recorder *recorder_open(xgemm_handle *handle, char *message, size_t message_size)
{
    recorder *r = calloc(1, sizeof *r);
    if (!r) {
        snprintf(message, message_size, "the host is out of memory");
        return NULL;
    }
    r->handle = handle;
    if (!resolve(r, message, message_size) || !use_stream(r, message, message_size)) {
        recorder_close(r);
        return NULL;
    }
    return r;
}

static void forget(recorder *r)
{
    if (r->recorded)
        r->driver.exec_destroy(r->recorded);
    r->recorded = NULL;
}

void recorder_close(recorder *r)
{
    if (!r)
        return;
    forget(r);
    if (r->stream) {
        (void)xgemm_set_stream(r->handle, NULL);
        r->driver.stream_destroy(r->stream);
    }
    if (r->library)
        dlclose(r->library);
    free(r);
}

void *recorder_stream(const recorder *r)
{
    return r ? r->stream : NULL;
}

bool recorder_begin(recorder *r)
{
    forget(r);
    return succeeds(r, r->driver.capture_begin(r->stream, RECORDER_CU_STREAM_CAPTURE_MODE_RELAXED),
                    "cuStreamBeginCapture");
}

bool recorder_end(recorder *r, bool keep)
{
    struct CUgraph_st *graph = NULL;
    bool done = succeeds(r, r->driver.capture_end(r->stream, &graph), "cuStreamEndCapture");
    if (done && keep)
        done = succeeds(r, r->driver.instantiate(&r->recorded, graph, 0),
                        "cuGraphInstantiateWithFlags") &&
               succeeds(r, r->driver.upload(r->recorded, r->stream), "cuGraphUpload");
    if (graph)
        r->driver.graph_destroy(graph);
    return done;
}

bool recorder_replay(recorder *r)
{
    return succeeds(r, r->driver.launch(r->recorded, r->stream), "cuGraphLaunch");
}

const char *recorder_error(const recorder *r)
{
    return r && r->error[0] ? r->error : NULL;
}
