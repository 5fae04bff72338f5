/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include "failure.h"
#include "host_clock.h"
#include "interrupt.h"
#include "random.h"
#include "statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALIGNMENT = 256, SETS_MAX = 4096, SETS_ON_HOST = 2, REPEATS_MAX = 100000, HOST_CALLS = 32 };
enum { RECORDED_MAX = SETS_MAX }; /* calls */
#define FILL_BYTES ((size_t)1 << 25)

/* ---- Sets of operands ---- */

/* Bytes up to the next alignment; at least one of these. */
static size_t aligned_bytes(double elements, xgemm_type type)
{
    const size_t bytes = (size_t)elements * type_bytes(type);
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

static size_t sets_wanted(const xgemm_handle *handle, size_t set_bytes)
{
    xgemm_device device = {.struct_size = sizeof device};
    if (xgemm_get_device(handle) < 0 || xgemm_device_get(xgemm_get_device(handle), &device))
        return SETS_ON_HOST;
    const size_t wanted = 2 * (size_t)device.l2_bytes / set_bytes + 2;
    return wanted < SETS_MAX ? wanted : SETS_MAX;
}

/* Random values of a type, uniform over [-1, 1) in each part. */
static void *random_block(xgemm_type type, random_source *source, size_t bytes)
{
    void *const block = malloc(bytes);
    const size_t count = bytes / type_bytes(type);
    if (block && type_part(type) == XGEMM_F32)
        random_fill(source, block, bytes / sizeof(float));
    else if (block)
        for (size_t i = 0; i < count; i++)
            element_store(type, block, (int64_t)i, scalar_random(type, source));
    return block;
}

/*
 * Part of each set, bytes from an offset on: a block of random values, over and over at shifted
 * places, so that sets differ.
 */
static bool fill_part(const rotation *sets, xgemm_type type, random_source *source, size_t offset,
                      size_t bytes, size_t times)
{
    const size_t size = bytes < FILL_BYTES / 2 ? 2 * bytes : FILL_BYTES;
    char *const block = random_block(type, source, size);
    bool done = block != NULL;
    for (size_t i = 0; i < times && done; i++) {
        char *to = (char *)sets->memory + i * sets->set_bytes + offset;
        for (size_t left = bytes; left > 0 && done;) {
            const size_t skip = random_bits(source) % (size / 2) / ALIGNMENT * ALIGNMENT;
            const size_t room = size - skip, now = left < room ? left : room;
            done = xgemm_upload(sets->handle, to, block + skip, now) == XGEMM_OK;
            to += now;
            left -= now;
        }
    }
    free(block);
    return done;
}

/* Everything as A's type, in few copies; then C and the bias where theirs is another. */
static bool fill(const rotation *sets, const workload *w, uint64_t seed)
{
    random_source source = {seed};
    const size_t c = sets->a_bytes + sets->b_bytes;
    return fill_part(sets, w->type, &source, 0, sets->count * sets->set_bytes, 1) &&
           (w->type == w->type_c ||
            fill_part(sets, w->type_c, &source, c, sets->set_bytes - c, sets->count));
}

/* A or B of every set, each with a seed of its own. */
static bool fill_operand(const rotation *sets, const workload *w, const data_kind *kind, bool is_b,
                         uint64_t seed)
{
    const size_t bytes = is_b ? sets->b_bytes : sets->a_bytes;
    void *const host = calloc(1, bytes);
    random_source source = {seed};
    uint64_t own_seed = random_bits(&source);
    bool done = host != NULL;
    for (size_t set = 0; set < sets->count && done; set++) {
        const bool fill = set == 0 || !(kind->traits & DATA_FIXED);
        for (int64_t i = 0; i < w->batch && fill && done; i++)
            done = workload_fill(w, is_b, kind, own_seed++, host, i);
        char *const memory =
            (char *)sets->memory + set * sets->set_bytes + (is_b ? sets->a_bytes : 0);
        done = done && xgemm_upload(sets->handle, memory, host, bytes) == XGEMM_OK;
    }
    free(host);
    return done;
}

static bool fill_all(const rotation *sets, const workload *w, const data_pair *data, uint64_t seed)
{
    return fill(sets, w, seed) && (!data || (fill_operand(sets, w, data->a, false, seed) &&
                                             fill_operand(sets, w, data->b, true, seed)));
}

bool rotation_open(rotation *sets, xgemm_handle *handle, const workload *work,
                   const data_pair *data, uint64_t seed, char *message, size_t message_size)
{
    uint64_t available = UINT64_MAX, total = 0;
    const workload_counts count = workload_elements(work);
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
    sets->a_bytes = aligned_bytes(count.a, work->type);
    sets->b_bytes = aligned_bytes(count.b, work->type);
    sets->c_bytes = aligned_bytes(count.c, work->type_c);
    sets->bias_bytes = work->has_bias ? aligned_bytes((double)count.bias, work->type_c) : 0;
    sets->set_bytes = sets->a_bytes + sets->b_bytes + sets->c_bytes + sets->bias_bytes;
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
    char *const c = set + sets->a_bytes + sets->b_bytes;
    return (buffers){set, set + sets->a_bytes, c, c + sets->c_bytes};
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

/*
 * Calls until one runs what was planned: until the driver has translated a kernel, other programs
 * serve, which the handle counts. It also counts calls that lack memory, which no patience helps: a
 * process has some seconds of it.
 */
static bool load_kernels(run_state *state)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    static double patience_us = 20e6;
    const double start = now_us();
    int64_t before;
    bool done, wanted;
    do {
        before = xgemm_fallback_count(state->handle);
        done = call_some(state, 1) && xgemm_synchronize(state->handle) == XGEMM_OK;
        wanted = xgemm_fallback_count(state->handle) == before;
        if (!wanted)
            nanosleep(&pause, NULL);
    } while (done && !wanted && now_us() - start < patience_us && !interrupted());
    patience_us -= wanted ? 0.0 : now_us() - start;
    return done;
}

/* Warms up and finds how many calls make a sample. */
static bool warm_up(run_state *state, const schedule *how, int *repeats)
{
    double us = 0.0, spent_us = 0.0;
    if (!load_kernels(state)) /* and makes the workspace */
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

/* To what JSON has of it, so that figures that are made of it again are the same. */
static double as_printed(double us)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", us);
    return strtod(text, NULL);
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
        result->median_us = as_printed(percentile(values, (size_t)result->samples, 50.0));
        result->p1_us = as_printed(percentile(values, (size_t)result->samples, 1.0));
        result->p99_us = as_printed(percentile(values, (size_t)result->samples, 99.0));
        result->host_us = -1.0;
        /* On the CPU and the simulator a call is the whole work. */
        if (xgemm_get_device(handle) >= 0)
            done = time_host(&state, &result->host_us);
    }
    xgemm_timer_destroy(state.timer);
    free(values);
    return done;
}
