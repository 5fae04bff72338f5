/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What recorder.c calls of the CUDA driver, in our own declarations; a test compares them with
 * cuda.h where that is installed. Results are 0, or the driver's error.
 */
#ifndef XGEMM_BIN_RECORDER_DRIVER_H
#define XGEMM_BIN_RECORDER_DRIVER_H

/* X(member, symbol, parameters) */
#define RECORDER_FUNCTIONS(X)                                                                      \
    X(stream_create, cuStreamCreate, (struct CUstream_st **, unsigned flags))                      \
    X(stream_destroy, cuStreamDestroy_v2, (struct CUstream_st *))                                  \
    X(capture_begin, cuStreamBeginCapture_v2, (struct CUstream_st *, unsigned mode))               \
    X(capture_end, cuStreamEndCapture, (struct CUstream_st *, struct CUgraph_st **))               \
    X(graph_destroy, cuGraphDestroy, (struct CUgraph_st *))                                        \
    X(instantiate, cuGraphInstantiateWithFlags,                                                    \
      (struct CUgraphExec_st **, struct CUgraph_st *, unsigned long long flags))                   \
    X(upload, cuGraphUpload, (struct CUgraphExec_st *, struct CUstream_st *))                      \
    X(launch, cuGraphLaunch, (struct CUgraphExec_st *, struct CUstream_st *))                      \
    X(exec_destroy, cuGraphExecDestroy, (struct CUgraphExec_st *))

/* Values of cuda.h. X(name, value) */
#define RECORDER_CONSTANTS(X)                                                                      \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                   \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)

enum {
#define RECORDER_VALUE(name, value) RECORDER_##name = (value),
    RECORDER_CONSTANTS(RECORDER_VALUE)
#undef RECORDER_VALUE
};

struct CUstream_st;
struct CUgraph_st;
struct CUgraphExec_st;

#endif
