/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake driver: streams that are made, and graphs of the launches captured from them. */
#include "fake_cuda.h"

#include <stdlib.h>
#include <string.h>

enum { INVALIDATED = 901, NOT_CAPTURING = 903 };

/* The one capture there can be at a time: of that stream; nothing else is asked of the fake. */
static object *captured;
static xg_cu_stream capturing;

bool is_capturing(void)
{
    return capturing != NULL;
}

void invalidate_capture(void)
{
    if (captured)
        captured->ready = false;
}

bool is_captured(xg_cu_stream stream)
{
    return getenv("FAKE_CUDA_CAPTURE") || (capturing && stream == capturing);
}

bool capture(const recorded_launch *launch, xg_cu_stream stream)
{
    if (!capturing || stream != capturing)
        return false;
    void *more = realloc(captured->memory, (captured->count + 1) * sizeof *launch);
    if (!more) {
        captured->ready = false;
        return true;
    }
    captured->memory = more;
    memcpy((recorded_launch *)more + captured->count++, launch, sizeof *launch);
    return true;
}

xg_cu_result cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
    BEGIN(cuStreamCreate, INITIALISED | CONTEXT);
    if (flags & ~(unsigned)RECORDER_CU_STREAM_NON_BLOCKING)
        return fault(INVALID_VALUE, "cuStreamCreate with flags that are none");
    *stream = (xg_cu_stream)add(STREAM);
    return *stream ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

xg_cu_result cuStreamDestroy_v2(struct CUstream_st *stream)
{
    BEGIN(cuStreamDestroy_v2, INITIALISED);
    object *o = find(STREAM, stream);
    if (!o || stream == capturing)
        return fault(INVALID_HANDLE, "cuStreamDestroy of what is no stream, or is captured");
    drop(o);
    return 0;
}

xg_cu_result cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned mode)
{
    BEGIN(cuStreamBeginCapture_v2, INITIALISED);
    if (!find(STREAM, stream) || capturing || mode > XG_CU_STREAM_CAPTURE_MODE_RELAXED)
        return fault(INVALID_VALUE, "cuStreamBeginCapture of what cannot be captured");
    captured = add(GRAPH);
    if (!captured)
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    captured->ready = true;
    capturing = stream;
    return 0;
}

xg_cu_result cuStreamIsCapturing(struct CUstream_st *stream, int *status)
{
    enum { NONE = 0, ACTIVE = 1 };
    BEGIN(cuStreamIsCapturing, INITIALISED | CONTEXT);
    *status = is_captured(stream) ? ACTIVE : NONE;
    return 0;
}

xg_cu_result cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph)
{
    HOLD_LOCK;
    const xg_cu_result refused = admit(INDEX_cuStreamEndCapture, INITIALISED);
    if (!capturing || stream != capturing)
        return fault(NOT_CAPTURING, "cuStreamEndCapture of a stream that is not captured");
    const bool whole = captured->ready && !refused;
    *graph = whole ? (struct CUgraph_st *)captured : NULL;
    if (!whole)
        drop(captured);
    captured = NULL;
    capturing = NULL;
    return refused ? refused : whole ? 0 : INVALIDATED;
}

xg_cu_result cuGraphDestroy(struct CUgraph_st *graph)
{
    BEGIN(cuGraphDestroy, INITIALISED);
    return destroy(GRAPH, graph, "cuGraphDestroy of what is no graph");
}

xg_cu_result cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec, struct CUgraph_st *graph,
                                         unsigned long long flags)
{
    BEGIN(cuGraphInstantiateWithFlags, INITIALISED | CONTEXT);
    const object *from = find(GRAPH, graph);
    if (!from || flags)
        return fault(INVALID_VALUE, "cuGraphInstantiateWithFlags of what is no graph");
    object *o = add(GRAPH_EXEC);
    if (!o || (from->count > 0 && !(o->memory = malloc(from->count * sizeof(recorded_launch)))))
        return XG_CUDA_ERROR_OUT_OF_MEMORY;
    if (from->count > 0)
        memcpy(o->memory, from->memory, from->count * sizeof(recorded_launch));
    o->count = from->count;
    *exec = (struct CUgraphExec_st *)o;
    return 0;
}

/* On a stream that runs. */
static object *graph_to_run(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    object *o = find(GRAPH_EXEC, exec);
    return o && o->context == current() && find(STREAM, stream) && stream != capturing ? o : NULL;
}

xg_cu_result cuGraphUpload(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    BEGIN(cuGraphUpload, INITIALISED | CONTEXT);
    return graph_to_run(exec, stream) ? 0 : fault(INVALID_HANDLE, "cuGraphUpload of no graph");
}

xg_cu_result cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    BEGIN(cuGraphLaunch, INITIALISED | CONTEXT);
    const object *graph = graph_to_run(exec, stream);
    if (!graph)
        return fault(INVALID_HANDLE, "cuGraphLaunch of no graph, or on no stream");
    xg_cu_result failed = 0;
    for (size_t i = 0; i < graph->count && !failed; i++)
        failed = run_recorded((const recorded_launch *)graph->memory + i);
    return failed;
}

xg_cu_result cuGraphExecDestroy(struct CUgraphExec_st *exec)
{
    BEGIN(cuGraphExecDestroy, INITIALISED);
    return destroy(GRAPH_EXEC, exec, "cuGraphExecDestroy of what is no graph");
}
