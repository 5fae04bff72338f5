/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between matrices of the host and memory of a device, by threads of their own: one thread
 * packs a few GB/s, and a link to a GPU takes tens. Each has pinned memory for a chunk.
 */
#ifndef XGEMM_LIB_HOST_COPY_H
#define XGEMM_LIB_HOST_COPY_H

#include "handle.h"

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

enum { XG_COPIERS_MAX = 12, XG_COPY_CHUNK = 4 << 20 /* bytes */ };

/* A part of a row-major matrix. */
typedef struct {
    const char *host;
    int64_t rows, columns, ld; /* ld: elements of the host's rows */
    size_t bytes;              /* of an element */
} xg_part;

/* A copy in work; its rows are padded on the device (xg_host_leading_dimension). */
typedef struct xg_copy {
    xg_part part;
    char *device;
    bool to_device;
    int64_t rows, columns;       /* of a chunk */
    int64_t chunks, next, ended; /* next: that no thread has */
    xgemm_status status;         /* the first failure, and */
    xg_error error;
    struct xg_copy *after;
} xg_copy;

typedef struct xg_copiers {
    const xgemm_handle *handle; /* of the device */
    char *staging;              /* a chunk for each thread */
    pthread_t threads[XG_COPIERS_MAX];
    pid_t process; /* whose threads they are: a child of fork() has none */
    int count;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t begun, done;
    xg_copy *first; /* of those that have chunks left */
    int started;
    bool is_taken; /* the staging memory, by a caller, where there are no threads */
    bool is_ending;
} xg_copiers;

/*
 * Signals are the program's own threads': a thread that is made before the mask is "before" again
 * gets none.
 */
void xg_block_signals(sigset_t *before);

/* The leading dimension of a copy on the device: its columns, padded for vector loads. */
int64_t xg_host_leading_dimension(int64_t columns);

/*
 * How many threads there are for each of so many devices, by the host's CPUs; and starts them
 * on staging memory for as many, or fewer where no more can be made; NULL: the host has no memory.
 * They wait for copies until xg_copiers_end(), when none may be in work; NULL is for none.
 */
int xg_copiers_count(int devices);
bool xg_copiers_are_there(const xg_copiers *copiers); /* not of NULL, nor in a child of fork() */
xg_copiers *xg_copiers_begin(const xgemm_handle *handle, void *staging, int count);
void xg_copiers_end(xg_copiers *copiers);

/* Copies, and comes back when it is done. Any thread may call. */
xgemm_status xg_copy_to_device(xg_copiers *copiers, void *to, const xg_part *from, xg_error *error);
xgemm_status xg_copy_to_host(xg_copiers *copiers, const xg_part *to, const void *from,
                             xg_error *error);

#endif
