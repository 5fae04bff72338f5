/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include "backup.h"
#include "shim/library.h"
#include "shim/options.h"
#include "shim/product.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What a CPU's core does at its best, a row a type, in 10^9 multiplications and additions of real
 * numbers a second: 16 of an H200's host reached 75 each in FP32. What has no row stays.
 */
static const struct {
    xgemm_type type;
    double core_gflops;
    int products; /* of real numbers, for one */
} rows[] = {{XGEMM_F32, 110, 1}, {XGEMM_F64, 55, 1}, {XGEMM_C32, 110, 4}, {XGEMM_C64, 55, 4}};
enum { ROWS = sizeof rows / sizeof *rows, DEVICES_MAX = 16 };

/*
 * Products of pageable memory on an H200 (doc/results/h200/host-memory.csv, 4096 to 16384 in FP32):
 * a time for any, and what the copies take, with which the product overlaps. The first one starts
 * the GPU, 0.3 s, which smaller ones would not make good.
 */
#define LEAST_MULTIPLY_ADDS (4096.0 * 4096.0 * 4096.0)
#define ANY_US              3000.0
#define COPIED_PER_US       36000.0 /* bytes */
#define BACKED_UP_PER_US    8000.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of products */
static xgemm_handle *handle;
static const char *no_handle; /* why; NULL: there is one */
static bool is_tried;
static bool is_measured; /* on such a GPU */
static pid_t process;    /* whose the handle is: a child of fork() cannot use it */

/* ---- The environment ---- */

static double least = LEAST_MULTIPLY_ADDS;
static bool decides_by_least; /* XGEMM_BLAS_LEAST: alone, for all types */
static int ordinals[DEVICES_MAX], device_count;
static const char *mistake; /* why nothing is served; NULL: there is none */

/* False: it is none to its end. */
static bool read_devices(const char *list)
{
    const char *rest = list && *list ? list : "0";
    while (rest && device_count < DEVICES_MAX) {
        char *end;
        const long number = strtol(rest, &end, 10);
        const bool is_number = end != rest && (*end == ',' || !*end);
        /* The CPU is none: its own products would come back here. */
        const bool may_be = (number >= 0 && number <= INT_MAX) || number == XGEMM_DEVICE_SIM;
        if (!is_number || !may_be)
            return false;
        ordinals[device_count++] = (int)number;
        rest = *end == ',' ? end + 1 : NULL;
    }
    return !rest;
}

/* False: it is no such number to its end. */
static bool read_least(const char *number)
{
    char *end;
    if (!number || !*number)
        return true;
    decides_by_least = true;
    least = strtod(number, &end);
    return end != number && !*end && least >= 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    if (!read_devices(secure_getenv("XGEMM_BLAS_DEVICES")))
        mistake = "XGEMM_BLAS_DEVICES is no list of GPUs";
    if (!read_least(secure_getenv("XGEMM_BLAS_LEAST")))
        mistake = "XGEMM_BLAS_LEAST is no number of multiply-adds";
}

/*
 * fork() does not wait for the lock: who has it may be loading a library, for which it needs the
 * dynamic linker's lock, and that may be with a thread that forks. A child of such a moment has a
 * new lock, and no GPU.
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
    if (is_locked_for_fork) {
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_init(&lock, NULL);
    is_tried = true;
    process = 0;
}

__attribute__((constructor)) static void at_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- Calls ---- */

typedef struct {
    double us, cpu_us; /* predicted; 0: unknown */
} times;

static bool reads_c(const xgemm_product *p)
{
    return !is_zero(p->type_a, p->beta);
}

/* Why the product stays with the BLAS below, by the environment and its sizes alone. */
static const char *refusal(const xgemm_product *p)
{
    if (options.mistake || mistake)
        return options.mistake ? options.mistake : mistake;
    if (p->m <= 0 || p->n <= 0 || p->k <= 0 || (double)p->m * (double)p->n * (double)p->k < least)
        return "it is too small for a GPU";
    return NULL;
}

/* Whether libxgemm itself calls: for a handle on the CPU, which must stay there. */
static bool is_own_call(const void *caller)
{
    static const char own[] = "libxgemm.so";
    Dl_info about;
    if (!dladdr(caller, &about) || !about.dli_fname)
        return false;
    const char *const slash = strrchr(about.dli_fname, '/');
    return strncmp(slash ? slash + 1 : about.dli_fname, own, strlen(own)) == 0;
}

/* NULL, or why there is no handle. */
static const char *make_handle(void)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    if (!library_load())
        return LIBRARY_MISSING;
    if (library.create_devices(&handle, ordinals, device_count))
        return library_failure();
    if (library.set_math(handle, options.math))
        return "libxgemm has no such math mode";
    is_measured = !library.device_get(ordinals[0], &gpu) && library_is_measured(handle, &gpu);
    return NULL;
}

/* With the lock; one attempt a process. NULL, or why there is no handle. */
static const char *have_handle(void)
{
    if (!is_tried) {
        is_tried = true;
        process = getpid();
        no_handle = make_handle();
    }
    return process == getpid() ? no_handle : "the process is another's child";
}

static double cpus(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return count > 0 ? count : (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* On the GPU, and on all the CPU's cores that the process may use. */
static times predict(const xgemm_product *p)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k, size = bytes_of(p->type_a);
    const double c = m * n * size, bytes = (m * k + k * n) * size + (reads_c(p) ? 2 : 1) * c;
    xgemm_plan plan = {.struct_size = sizeof plan};
    times of = {0, 0};
    for (int i = 0; i < ROWS; i++)
        if (rows[i].type == p->type_a)
            of.cpu_us = 2e-3 * rows[i].products * m * n * k / (rows[i].core_gflops * cpus());
    if (is_measured && !library.gemm_plan(handle, p, &plan) && plan.microseconds > 0)
        of.us = ANY_US + larger(bytes / COPIED_PER_US, plan.microseconds / device_count) +
                (reads_c(p) ? c / BACKED_UP_PER_US : 0);
    return of;
}

/* With the lock, and the handle. */
static const char *compare(const times *of)
{
    if (decides_by_least)
        return NULL;
    if (!is_measured || of->us == 0)
        return "nothing was measured on this GPU";
    return of->us < of->cpu_us ? NULL : "the CPU is as fast";
}

/* With the lock: a failure leaves C as it was, or, where it is not read, for the BLAS below. */
static const char *multiply(const xgemm_product *product)
{
    xgemm_product on_host = *product;
    xgemm_plan plan = {.struct_size = sizeof plan};
    if (!product->c || library.gemm_plan(handle, product, &plan)) /* C may not be there to read */
        return "libxgemm refused it, or failed";
    void *const backup = reads_c(product) ? backup_make(product) : NULL;
    if (reads_c(product) && !backup)
        return "there is no memory for a copy of C";
    on_host.flags = XGEMM_HOST_MEMORY;
    const bool is_done = library.gemm(handle, &on_host) == XGEMM_OK;
    if (!is_done && backup)
        backup_restore(product, backup);
    free(backup);
    return is_done ? NULL : "libxgemm refused it, or failed";
}

/* A thread that is cancelled meanwhile ends later: it would keep the lock, and leave a part of C.
 */
static const char *serve_locked(const xgemm_product *product, times *predicted)
{
    int cancelled;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    pthread_mutex_lock(&lock);
    const char *why = have_handle();
    if (!why) {
        *predicted = predict(product);
        why = compare(predicted);
        why = why ? why : multiply(product);
    }
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(cancelled, NULL);
    return why;
}

bool serve_host(const char *function, const xgemm_product *product, const void *caller)
{
    if (options.serves_none)
        return false;
    times predicted = {0, 0};
    const char *why = refusal(product);
    if (!why && is_own_call(caller))
        why = "libxgemm computes it on the CPU";
    if (!why)
        why = serve_locked(product, &predicted);
    count_call(function, product, options.math, why, predicted.us, predicted.cpu_us);
    return !why;
}
