/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include "shim/counters.h"
#include "shim/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * From how many multiply-adds on a product goes to the GPU, a row a type; what has no row stays.
 * Below, copies cost more than is gained beside a BLAS on many cores.
 */
static const struct {
    xgemm_type type;
    double least;
} rows[] = {{XGEMM_F32, 4096.0 * 4096.0 * 4096.0}};
enum { ROWS = sizeof rows / sizeof *rows, DEVICES_MAX = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of products */
static xgemm_handle *handle;
static bool is_tried;
static pid_t process; /* whose the handle is: a child of fork() cannot use it */

/* ---- The environment ---- */

static double least_of_environment; /* XGEMM_BLAS_LEAST: for all types; 0: unset */
static xgemm_math math = XGEMM_MATH_DEFAULT;
static bool is_off;
static int ordinals[DEVICES_MAX], device_count;

static void read_devices(const char *list)
{
    char *end;
    for (; list && *list && device_count < DEVICES_MAX; list = *end == ',' ? end + 1 : end) {
        const long number = strtol(list, &end, 10);
        if (end == list || number < XGEMM_DEVICE_SIM || number > 1 << 20)
            break;
        ordinals[device_count++] = (int)number;
    }
    if (device_count == 0)
        device_count = 1; /* GPU 0 */
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *mode = secure_getenv("XGEMM_RUN_MATH");
    const char *serve = secure_getenv("XGEMM_SERVE");
    const char *least = secure_getenv("XGEMM_BLAS_LEAST");
    read_devices(secure_getenv("XGEMM_BLAS_DEVICES"));
    least_of_environment = least ? strtod(least, NULL) : 0;
    is_off = serve && strcmp(serve, "none") == 0;
    if (mode && strcmp(mode, "strict") == 0)
        math = XGEMM_MATH_STRICT;
    else if (mode && strcmp(mode, "tf32") == 0)
        math = XGEMM_MATH_TF32;
}

/* fork() waits for a product to end, so that the child's lock is free. */
static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void at_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- Calls ---- */

static void count(const char *function, const xgemm_product *p, const char *why)
{
    static const char *const types[] = {"?", "f32", "f64", "f16", "bf16", "c32", "c64"};
    static const char *const maths[] = {"default", "strict", "tf32"};
    counters_key key;
    if (!counters_open())
        return;
    memset(&key, 0, sizeof key);
    snprintf(key.function, sizeof key.function, "%s", function);
    snprintf(key.type, sizeof key.type, "%s", types[p->type_a]);
    snprintf(key.math, sizeof key.math, "%s", maths[math]);
    snprintf(key.transposes, sizeof key.transposes, "%c%c", p->transa == XGEMM_NO_TRANS ? 'N' : 'T',
             p->transb == XGEMM_NO_TRANS ? 'N' : 'T');
    snprintf(key.reason, sizeof key.reason, "%s", why ? why : "");
    key.m = p->m, key.n = p->n, key.k = p->k, key.batch = 1;
    counters_count(counters_find(&key, 0, 0));
}

static bool is_zero(const xgemm_product *p)
{
    const float *f = p->beta;
    const double *d = p->beta;
    switch (p->type_a) {
    case XGEMM_F32:
        return f[0] == 0.0f;
    case XGEMM_F64:
        return d[0] == 0.0;
    case XGEMM_C32:
        return f[0] == 0.0f && f[1] == 0.0f;
    default:
        return d[0] == 0.0 && d[1] == 0.0;
    }
}

/*
 * Why the product stays with the BLAS below, by its arguments alone. With a beta a failure of the
 * GPU could not be made good: a part of C would be lost.
 */
static const char *refusal(const xgemm_product *p)
{
    double least = least_of_environment;
    for (int i = 0; i < ROWS && least == 0; i++)
        if (rows[i].type == p->type_a)
            least = rows[i].least;
    if (least == 0)
        return "the CPU is as fast for this type";
    if (p->m <= 0 || p->n <= 0 || p->k <= 0 || (double)p->m * (double)p->n * (double)p->k < least)
        return "it is too small for a GPU";
    return is_zero(p) ? NULL : "C is added to";
}

/* With the lock; one attempt a process. */
static bool have_handle(void)
{
    if (is_tried)
        return handle && process == getpid();
    is_tried = true;
    process = getpid();
    if (!library_load() || library.create_devices(&handle, ordinals, device_count))
        return false;
    return library.set_math(handle, math) == XGEMM_OK;
}

bool serve_host(const char *function, const xgemm_product *product)
{
    if (is_off)
        return false;
    const char *why = refusal(product);
    if (!why) {
        xgemm_product on_host = *product;
        on_host.flags = XGEMM_HOST_MEMORY;
        pthread_mutex_lock(&lock);
        if (!have_handle())
            why = "there is no GPU, or the process is another's child";
        else if (library.gemm(handle, &on_host))
            why = "libxgemm refused it, or failed";
        pthread_mutex_unlock(&lock);
    }
    count(function, product, why);
    return !why;
}
