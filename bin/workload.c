/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload.h"

#include "failure.h"
#include "host_clock.h"
#include "interrupt.h"
#include "random.h"
#include "statistics.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 256, SETS_MAX = 4096, SETS_ON_HOST = 2, REPEATS_MAX = 100000, HOST_CALLS = 32 };
enum { RECORDED_MAX = SETS_MAX }; /* calls */
#define FILL_FLOATS ((size_t)1 << 23)

static int64_t line_of(xgemm_order order, bool turned, int64_t rows, int64_t columns)
{
    const int64_t line = (order == XGEMM_ROW_MAJOR) == turned ? rows : columns;
    return line > 0 ? line : 1;
}

static int64_t lines_of(xgemm_order order, bool turned, int64_t rows, int64_t columns)
{
    return (order == XGEMM_ROW_MAJOR) == turned ? columns : rows;
}

workload workload_of(shape size, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                     float alpha, float beta, int64_t pad)
{
    workload work = {.size = size,
                     .order = order,
                     .transa = transa,
                     .transb = transb,
                     .alpha = alpha,
                     .beta = beta,
                     .batch = 1};
    work.lda = line_of(order, transa != XGEMM_NO_TRANS, size.m, size.k) + pad;
    work.ldb = line_of(order, transb != XGEMM_NO_TRANS, size.k, size.n) + pad;
    work.ldc = line_of(order, false, size.m, size.n) + pad;
    return work;
}

/* Floats from one matrix to the next; of sizes that no memory holds the largest number. */
static int64_t stride_of(int64_t lines, int64_t ld, int64_t between)
{
    const double floats = (double)lines * (double)ld + (double)between;
    return floats < 0x1p62 ? lines * ld + between : INT64_MAX;
}

void workload_repeat(workload *w, int64_t batch, int64_t between)
{
    const shape *s = &w->size;
    const bool turned_a = w->transa != XGEMM_NO_TRANS, turned_b = w->transb != XGEMM_NO_TRANS;
    w->batch = batch;
    w->stride_a = stride_of(lines_of(w->order, turned_a, s->m, s->k), w->lda, between);
    w->stride_b = stride_of(lines_of(w->order, turned_b, s->k, s->n), w->ldb, between);
    w->stride_c = stride_of(lines_of(w->order, false, s->m, s->n), w->ldc, between);
}

double workload_flops(const workload *w)
{
    return 2.0 * (double)w->batch * (double)w->size.m * (double)w->size.n * (double)w->size.k;
}

/* Elements of an operand with its leading dimension, those of a batch and after the last too. */
static double operand_floats(const workload *w, bool turned, int64_t rows, int64_t columns,
                             int64_t ld, int64_t stride)
{
    const double one = (double)lines_of(w->order, turned, rows, columns) * (double)ld;
    return w->batch > 1 ? (double)w->batch * fmax((double)stride, one) : one;
}

static double a_floats(const workload *w)
{
    return operand_floats(w, w->transa != XGEMM_NO_TRANS, w->size.m, w->size.k, w->lda,
                          w->stride_a);
}

static double b_floats(const workload *w)
{
    return operand_floats(w, w->transb != XGEMM_NO_TRANS, w->size.k, w->size.n, w->ldb,
                          w->stride_b);
}

static double c_floats(const workload *w)
{
    return operand_floats(w, false, w->size.m, w->size.n, w->ldc, w->stride_c);
}

/* Bytes up to the next alignment; at least one of these. */
static size_t aligned_bytes(double floats)
{
    const size_t bytes = (size_t)floats * sizeof(float);
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

double workload_bytes(const workload *w)
{
    return (a_floats(w) + b_floats(w) + c_floats(w)) * sizeof(float);
}

static size_t sets_wanted(const xgemm_handle *handle, size_t set_bytes)
{
    xgemm_device device = {.struct_size = sizeof device};
    if (xgemm_get_device(handle) < 0 || xgemm_device_get(xgemm_get_device(handle), &device))
        return SETS_ON_HOST;
    const size_t wanted = 2 * (size_t)device.l2_bytes / set_bytes + 2;
    return wanted < SETS_MAX ? wanted : SETS_MAX;
}

/* A block of random values, over and over at shifted places, so that sets differ. */
static bool fill(const rotation *sets, uint64_t seed)
{
    float *block = malloc(FILL_FLOATS * sizeof *block);
    random_source source = {seed};
    size_t left = sets->count * sets->set_bytes;
    char *to = sets->memory;
    bool done = block != NULL;

    if (block)
        random_fill(&source, block, FILL_FLOATS);
    while (done && left > 0) {
        const size_t skip = random_bits(&source) % (FILL_FLOATS / 2) / 64 * 64;
        const size_t room = (FILL_FLOATS - skip) * sizeof *block;
        const size_t bytes = left < room ? left : room;
        done = xgemm_upload(sets->handle, to, block + skip, bytes) == XGEMM_OK;
        to += bytes;
        left -= bytes;
    }
    free(block);
    return done;
}

data_operand workload_operand(const workload *w, bool is_b, float *memory, int64_t index)
{
    const bool by_rows = w->order == XGEMM_ROW_MAJOR;
    const bool transposed = (is_b ? w->transb : w->transa) != XGEMM_NO_TRANS;
    const bool k_major = is_b ? by_rows == transposed : by_rows != transposed;
    const int64_t ld = is_b ? w->ldb : w->lda;
    return (data_operand){.values = memory + index * (is_b ? w->stride_b : w->stride_a),
                          .is_b = is_b,
                          .rows = is_b ? w->size.n : w->size.m,
                          .depth = w->size.k,
                          .row_stride = k_major ? ld : 1,
                          .k_stride = k_major ? 1 : ld};
}

/* A or B of every set, each with a seed of its own. */
static bool fill_operand(const rotation *sets, const workload *w, const data_kind *kind, bool is_b,
                         uint64_t seed)
{
    const size_t bytes = is_b ? sets->b_bytes : sets->a_bytes;
    float *const host = calloc(1, bytes);
    random_source source = {seed};
    uint64_t own_seed = random_bits(&source);
    bool done = host != NULL;
    for (size_t set = 0; set < sets->count && done; set++) {
        const bool fill = set == 0 || !(kind->traits & DATA_FIXED);
        for (int64_t i = 0; i < w->batch && fill && done; i++) {
            const data_operand to = workload_operand(w, is_b, host, i);
            done = data_fill(kind, own_seed++, &to);
        }
        char *const memory =
            (char *)sets->memory + set * sets->set_bytes + (is_b ? sets->a_bytes : 0);
        done = done && xgemm_upload(sets->handle, memory, host, bytes) == XGEMM_OK;
    }
    free(host);
    return done;
}

static bool fill_all(const rotation *sets, const workload *w, const data_pair *data, uint64_t seed)
{
    return fill(sets, seed) && (!data || (fill_operand(sets, w, data->a, false, seed) &&
                                          fill_operand(sets, w, data->b, true, seed)));
}

bool rotation_open(rotation *sets, xgemm_handle *handle, const workload *work,
                   const data_pair *data, uint64_t seed, char *message, size_t message_size)
{
    uint64_t available = UINT64_MAX, total = 0;
    memset(sets, 0, sizeof *sets);
    sets->handle = handle;
    (void)xgemm_memory_info(handle, &available, &total);
    if (workload_bytes(work) > (double)available) {
        char needed[32];
        snprintf(needed, sizeof needed, "%s", bytes_text(workload_bytes(work)));
        snprintf(message, message_size, "the matrices take %s, and %s are free", needed,
                 bytes_text((double)available));
        return false;
    }
    sets->a_bytes = aligned_bytes(a_floats(work));
    sets->b_bytes = aligned_bytes(b_floats(work));
    sets->c_bytes = aligned_bytes(c_floats(work));
    sets->set_bytes = sets->a_bytes + sets->b_bytes + sets->c_bytes;
    sets->count = sets_wanted(handle, sets->set_bytes);
    while (sets->count > 1 && sets->count * sets->set_bytes > available / 10 * 9)
        sets->count--;
    if (xgemm_malloc(handle, sets->count * sets->set_bytes, &sets->memory) ||
        !fill_all(sets, work, data, seed)) {
        snprintf(message, message_size, "%s", failure_of(handle));
        rotation_close(sets);
        return false;
    }
    return true;
}

buffers rotation_at(const rotation *sets, size_t index)
{
    char *set = (char *)sets->memory + index % sets->count * sets->set_bytes;
    return (buffers){(float *)(void *)set, (float *)(void *)(set + sets->a_bytes),
                     (float *)(void *)(set + sets->a_bytes + sets->b_bytes)};
}

void rotation_close(rotation *sets)
{
    xgemm_free(sets->handle, sets->memory);
    sets->memory = NULL;
}

/* What one measurement needs at every step. */
typedef struct {
    xgemm_handle *handle;
    xgemm_timer *timer;
    const rotation *sets;
    const workload *work;
    enqueue call;
    void *context;
    recorder *recorder;
    int recorded; /* calls that a replay makes; 0: they are made one by one */
    size_t turn;
} run_state;

static bool call_some(run_state *state, int calls)
{
    bool done = true;
    for (int i = 0; i < calls && done; i++) {
        const buffers use = rotation_at(state->sets, state->turn++);
        done = state->call(state->context, state->work, &use);
    }
    return done;
}

/* Of recorded calls a multiple of their number. */
static bool enqueue_some(run_state *state, int calls)
{
    bool done = true;
    if (state->recorded == 0)
        return call_some(state, calls);
    for (int i = 0; i < calls && done; i += state->recorded)
        done = recorder_replay(state->recorder);
    return done;
}

/*
 * So many calls, or one for each set if these are more, so that no replay finds in the cache what
 * the one before has left there. Gives back how many, up to a whole number of replays.
 */
static bool record(run_state *state, int *calls)
{
    const int sets = (int)state->sets->count, least = *calls < sets ? sets : *calls;
    const int recorded = least < RECORDED_MAX ? least : RECORDED_MAX;
    if (!recorder_begin(state->recorder))
        return false;
    const bool called = call_some(state, recorded);
    if (!recorder_end(state->recorder, called) || !called)
        return false;
    state->recorded = recorded;
    *calls = (least + recorded - 1) / recorded * recorded;
    return true;
}

/* The time of some calls between two marks on the device. */
static bool time_some(run_state *state, int calls, double *us)
{
    return xgemm_timer_start(state->timer) == XGEMM_OK && enqueue_some(state, calls) &&
           xgemm_timer_stop(state->timer) == XGEMM_OK &&
           xgemm_timer_elapsed(state->timer, us) == XGEMM_OK;
}

/* Warms up and finds how many calls make a sample. */
static bool warm_up(run_state *state, const schedule *how, int *repeats)
{
    double us = 0.0, spent_us = 0.0;
    if (!time_some(state, 1, &us)) /* loads the kernel, makes the workspace */
        return false;
    for (*repeats = 1;; *repeats *= 2) {
        if (!time_some(state, *repeats, &us))
            return false;
        spent_us += us;
        if (us >= how->time_ms * 500.0 || *repeats >= REPEATS_MAX / 2)
            break;
    }
    const double one_us = us / *repeats;
    while (spent_us < how->warm_ms * 1e3 && !interrupted()) {
        if (!time_some(state, *repeats, &us))
            return false;
        spent_us += us;
    }
    const double wanted = one_us > 0.0 ? how->time_ms * 1e3 / one_us : 1.0;
    *repeats = wanted < 1.0 ? 1 : wanted > REPEATS_MAX ? REPEATS_MAX : (int)(wanted + 0.999);
    return !state->recorder || (record(state, repeats) && time_some(state, *repeats, &us));
}

static bool take_samples(run_state *state, const schedule *how, double *values, timing *result)
{
    const double start = now_us();
    const struct timespec rest = {
        (time_t)(how->rest_ms / 1e3),
        (long)((how->rest_ms - 1e3 * (double)(time_t)(how->rest_ms / 1e3)) * 1e6)};
    result->samples = 0;
    while (result->samples < how->samples &&
           (result->samples == 0 || (now_us() - start < how->limit_s * 1e6 && !interrupted()))) {
        double us;
        if (how->rest_ms > 0.0)
            nanosleep(&rest, NULL);
        if (!time_some(state, result->repeats, &us))
            return false;
        values[result->samples++] = us / result->repeats;
    }
    return true;
}

/* What a call costs the calling thread when the device has nothing queued: median of a few. */
static bool time_host(run_state *state, double *us)
{
    double values[HOST_CALLS];
    for (int i = 0; i < HOST_CALLS; i++) {
        if (xgemm_synchronize(state->handle))
            return false;
        const double start = now_us();
        if (!call_some(state, 1))
            return false;
        values[i] = now_us() - start;
    }
    sort_values(values, HOST_CALLS);
    *us = percentile(values, HOST_CALLS, 50.0);
    return xgemm_synchronize(state->handle) == XGEMM_OK;
}

bool measure(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
             void *context, const schedule *how, recorder *recorded_by, timing *result)
{
    run_state state = {handle, NULL, sets, work, call, context, recorded_by, 0, 0};
    double *values = malloc((size_t)how->samples * sizeof *values);
    bool done = values && xgemm_timer_create(handle, &state.timer) == XGEMM_OK;

    memset(result, 0, sizeof *result);
    done =
        done && warm_up(&state, how, &result->repeats) && take_samples(&state, how, values, result);
    if (done) {
        sort_values(values, (size_t)result->samples);
        result->median_us = percentile(values, (size_t)result->samples, 50.0);
        result->p1_us = percentile(values, (size_t)result->samples, 1.0);
        result->p99_us = percentile(values, (size_t)result->samples, 99.0);
        result->host_us = -1.0;
        /* On the CPU and the simulator a call is the whole work. */
        if (xgemm_get_device(handle) >= 0)
            done = time_host(&state, &result->host_us);
    }
    xgemm_timer_destroy(state.timer);
    free(values);
    return done;
}
