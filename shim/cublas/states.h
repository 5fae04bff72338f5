/* SPDX-License-Identifier: BSD-3-Clause */
/* An xgemm handle for each cuBLAS handle and context, found by a hash without a lock. */
#ifndef XGEMM_SHIM_STATES_H
#define XGEMM_SHIM_STATES_H

#include <xgemm.h>

#include <pthread.h>
#include <stdbool.h>

struct decision;

typedef struct state {
    _Atomic(void *) handle; /* cuBLAS's or cublasLt's; NULL: the place is free */
    void *context;          /* of the driver: the one that is current in the calls */
    struct state *next;     /* in its bucket; places are reused and never freed */

    pthread_mutex_t lock;       /* of what follows: two threads may call with one handle */
    xgemm_handle *xgemm;        /* NULL: nothing is served */
    const char *why;            /* why, a static string */
    xgemm_device device;        /* its GPU */
    bool is_measured;           /* the cost models' constants are of this GPU */
    struct decision *decisions; /* decide.h */
} state;

/*
 * The state of the handle in the current context, made at the first call; NULL: there is no
 * memory, or no context. Any thread may call.
 */
state *state_of(void *handle);

/* Frees the handle's states: no other thread uses the handle any more. */
void states_forget(void *handle);

#endif
