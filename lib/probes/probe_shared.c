/* SPDX-License-Identifier: BSD-3-Clause */
/* The probes of shared memory. */
#include "probe.h"

#include <math.h>

enum { BANKS_THREADS = 256, BANKS_READS = 32, BANKS_SHARED = 4 * (31 * 33 + BANKS_READS) };
enum { POWERS_THREADS = 128, POWERS_MOST = 32, POWERS_SHARED = 4 * POWERS_THREADS * 33 };

/* A launch moves so many times the bytes of an array: shared memory is that much faster. */
enum { TIMES = 8 };

/* Blocks, and rounds in each. */
typedef struct {
    uint32_t blocks;
    int64_t rounds;
} work;

/* One block and one round show the simulator all; a GPU has as many blocks as fit at once. */
static work work_for(const xg_probe_run *run, int threads, int shared, int round_bytes)
{
    enum { RESERVED = 1024 }; /* of each block's shared memory, by the system */
    const xgemm_device *d = &run->device;
    if (run->handle->backend == &xg_backend_sim)
        return (work){1, 1};
    const int64_t by_threads = d->threads_per_sm / threads;
    const int64_t by_memory = d->shared_per_sm / (shared + RESERVED);
    const int64_t each = by_threads < by_memory ? by_threads : by_memory;
    const int64_t wanted = (int64_t)run->bytes / round_bytes;
    int64_t blocks = d->multiprocessors * (each > 1 ? each : 1);
    if (blocks > wanted)
        blocks = wanted;
    if (blocks < 1)
        blocks = 1;
    const int64_t rounds = TIMES * (int64_t)run->bytes / (blocks * round_bytes);
    return (work){(uint32_t)blocks, rounds > 1 ? rounds : 1};
}

static xgemm_status read_banks(xg_probe_run *run, const char *series, int step)
{
    const int round_bytes = 4 * BANKS_READS * BANKS_THREADS;
    const work w = work_for(run, BANKS_THREADS, BANKS_SHARED, round_bytes);
    const xg_probe_case banks = {
        .series = series,
        .parameter = step,
        .bytes = (double)round_bytes * (double)w.rounds * w.blocks,
        .program = &xg_program_probe_banks,
        .grid = {w.blocks, 1, 1},
        .threads = BANKS_THREADS,
        .args.banks = {.rounds = w.rounds, .lane_stride = step, .never = NAN},
        .counted = XG_PROBE_SHARED | XG_PROBE_LOADS,
        .peak = XG_PEAK_SHARED};
    return xg_probe_measure(run, &banks);
}

xgemm_status xg_probe_banks(xg_probe_run *run)
{
    xgemm_status status = xg_probe_arrays(run, 1, 1);
    for (int step = 1; step <= XG_PROBE_STEPS && !status; step++)
        status = read_banks(run, "stride", step);
    if (!status)
        status = read_banks(run, "broadcast", 0);
    if (!status)
        status = read_banks(run, "unpadded", 32);
    return status ? status : read_banks(run, "padded", 33);
}

/* Which powers are neighbours: a thread's own, the same with a word of padding, or equal ones. */
typedef enum { BY_THREAD, BY_THREAD_PADDED, BY_POWER } order;

static xgemm_status store_shared(xg_probe_run *run, const char *series, order how, int powers)
{
    const int round_bytes = 4 * POWERS_THREADS * powers;
    const work w = work_for(run, POWERS_THREADS, POWERS_SHARED, round_bytes);
    const int64_t values = (int64_t)w.blocks * POWERS_THREADS;
    const int line = how == BY_POWER ? POWERS_THREADS : powers;
    const int apart = line + (how == BY_THREAD_PADDED);
    const xg_probe_case shared = {.series = series,
                                  .parameter = powers,
                                  .bytes = (double)round_bytes * (double)w.rounds * w.blocks,
                                  .program = &xg_program_probe_powers_shared,
                                  .grid = {w.blocks, 1, 1},
                                  .threads = POWERS_THREADS,
                                  .args.powers = {.threads = values,
                                                  .powers = powers,
                                                  .rounds = w.rounds,
                                                  .thread_stride = how == BY_POWER ? 1 : apart,
                                                  .power_stride = how == BY_POWER ? apart : 1,
                                                  .row = line,
                                                  .row_stride = apart},
                                  .counted = XG_PROBE_SHARED | XG_PROBE_STORES,
                                  .peak = XG_PEAK_SHARED};
    return xg_probe_measure(run, &shared);
}

static xgemm_status store_global(xg_probe_run *run, const char *series, order how, int powers)
{
    const int64_t room = (int64_t)run->bytes / 4 / powers;
    const int64_t values = room / POWERS_THREADS * POWERS_THREADS;
    const xg_probe_case global = {.series = series,
                                  .parameter = powers,
                                  .bytes = 4.0 * (double)values * (powers + 1),
                                  .program = &xg_program_probe_powers_global,
                                  .grid = {(uint32_t)(values / POWERS_THREADS), 1, 1},
                                  .threads = POWERS_THREADS,
                                  .args.powers = {.threads = values,
                                                  .powers = powers,
                                                  .thread_stride = how == BY_POWER ? 1 : powers,
                                                  .power_stride = how == BY_POWER ? values : 1},
                                  .counted = XG_PROBE_STORES,
                                  .peak = XG_PEAK_MEMORY};
    return xg_probe_measure(run, &global);
}

xgemm_status xg_probe_powers(xg_probe_run *run)
{
    static const struct {
        const char *series;
        order how;
        xgemm_status (*store)(xg_probe_run *, const char *, order, int);
    } orders[] = {
        {"shared-by-thread", BY_THREAD, store_shared},
        {"shared-by-power", BY_POWER, store_shared},
        {"shared-padded", BY_THREAD_PADDED, store_shared},
        {"global-by-thread", BY_THREAD, store_global},
        {"global-by-power", BY_POWER, store_global},
    };
    const size_t floats = run->bytes / sizeof(float); /* work_for() keeps to it */
    xgemm_status status = xg_probe_arrays(run, floats, floats);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int powers = 1; powers <= POWERS_MOST && !status; powers *= 2)
            status = orders[i].store(run, orders[i].series, orders[i].how, powers);
    return status;
}
