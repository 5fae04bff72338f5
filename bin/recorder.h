/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls recorded as a CUDA graph: the GPU then runs their kernels one after the other without
 * waiting for the host, as short ones otherwise would.
 */
#ifndef XGEMM_BIN_RECORDER_H
#define XGEMM_BIN_RECORDER_H

#include <xgemm.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct recorder recorder;

/*
 * For what runs on the handle's GPU, on a stream of its own, which becomes the handle's. NULL on
 * failure, the sentence in message.
 */
recorder *recorder_open(xgemm_handle *handle, char *message, size_t message_size);

/* When the stream has nothing left to do; gives the handle the default stream again. NULL is fine.
 */
void recorder_close(recorder *);

/* The CUstream; NULL, the default one, of none. */
void *recorder_stream(const recorder *);

/* What is enqueued on the stream from here on is recorded and does not run... */
bool recorder_begin(recorder *);

/* ...up to here; without keep it is forgotten. What was recorded before is, in any case. */
bool recorder_end(recorder *, bool keep);

/* Enqueues what was recorded. */
bool recorder_replay(recorder *);

/* Why one of the above has failed; NULL: none has. */
const char *recorder_error(const recorder *);

#endif
