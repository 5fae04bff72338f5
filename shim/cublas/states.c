/* SPDX-License-Identifier: BSD-3-Clause */
#include "states.h"

#include "shim/library.h"
#include "real.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };

typedef int context_get(void **context);
typedef int context_set(void *context);
typedef int device_get(int *ordinal);

static real_function current = {REAL_DRIVER, "cuCtxGetCurrent", NULL};
static real_function make_current = {REAL_DRIVER, "cuCtxSetCurrent", NULL};
static real_function current_device = {REAL_DRIVER, "cuCtxGetDevice", NULL};

static _Atomic(state *) buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of making and forgetting */

/*
 * A child of fork() finds the lock free. fork() does not wait for it: who has it may be loading a
 * library, for which it needs the dynamic linker's lock, and that may be with a thread that forks.
 */
static _Thread_local bool is_locked_for_fork;

static void before_fork(void)
{
    is_locked_for_fork = pthread_mutex_trylock(&lock) == 0;
}

static void after_fork(void)
{
    if (is_locked_for_fork)
        pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    if (is_locked_for_fork)
        pthread_mutex_unlock(&lock);
    else
        pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void at_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static _Atomic(state *) *bucket_of(const void *handle)
{
    return &buckets[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

static state *find(void *handle, const void *context)
{
    state *s = atomic_load_explicit(bucket_of(handle), memory_order_acquire);
    while (s && (atomic_load_explicit(&s->handle, memory_order_acquire) != handle ||
                 s->context != context))
        s = s->next;
    return s;
}

/* libxgemm works in the primary context of the device; another one's memory is not reached from it.
 */
static bool is_primary(xgemm_handle *xgemm, void *context)
{
    context_get *const get = REAL(context_get, &current);
    context_set *const set = REAL(context_set, &make_current);
    void *primary = NULL;
    if (!set || library.make_current(xgemm))
        return false;
    const bool known = get(&primary) == 0;
    return set(context) == 0 && known && primary == context;
}

static void open_xgemm(state *s)
{
    device_get *const get = REAL(device_get, &current_device);
    int ordinal;
    s->device = (xgemm_device){.struct_size = sizeof s->device};
    s->why = LIBRARY_MISSING;
    if (!library_load())
        return;
    s->why = "the driver does not say which GPU is current";
    if (!get || get(&ordinal))
        return;
    if (library.create(&s->xgemm, ordinal)) {
        s->why = library_failure();
        return;
    }
    if (!is_primary(s->xgemm, s->context)) {
        s->why = "the context is not the GPU's primary one";
    } else if (library.device_get(ordinal, &s->device)) {
        s->why = library_failure();
    } else {
        s->is_measured = library_is_measured(s->xgemm, &s->device);
        return;
    }
    library.destroy(s->xgemm);
    s->xgemm = NULL;
}

/* A place that was forgotten, or a new one. */
static state *place_in(_Atomic(state *) *bucket)
{
    state *s = atomic_load(bucket);
    while (s && atomic_load(&s->handle))
        s = s->next;
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s || pthread_mutex_init(&s->lock, NULL)) {
        free(s);
        return NULL;
    }
    s->next = atomic_load(bucket);
    atomic_store_explicit(bucket, s, memory_order_release);
    return s;
}

state *state_of(void *handle)
{
    context_get *const get = REAL(context_get, &current);
    void *context = NULL;
    if (!handle || !get || get(&context) || !context)
        return NULL;
    state *s = find(handle, context);
    if (s)
        return s;
    pthread_mutex_lock(&lock);
    s = find(handle, context);
    if (!s && (s = place_in(bucket_of(handle))) != NULL) {
        s->context = context;
        open_xgemm(s);
        atomic_store_explicit(&s->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return s;
}

void states_forget(void *handle)
{
    int cancelled;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled); /* as serve() does */
    pthread_mutex_lock(&lock);
    for (state *s = atomic_load(bucket_of(handle)); s; s = s->next) {
        if (!handle || atomic_load(&s->handle) != handle)
            continue;
        if (s->xgemm)
            library.destroy(s->xgemm);
        free(s->decisions);
        s->xgemm = NULL;
        s->decisions = NULL;
        s->is_measured = false;
        atomic_store_explicit(&s->handle, NULL, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(cancelled, NULL);
}
