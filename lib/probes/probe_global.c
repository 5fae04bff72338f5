/* SPDX-License-Identifier: BSD-3-Clause */
/* The probes of global memory. */
#include "probe.h"

#include <math.h>

enum { THREADS = 256, LOADS = 8, PAIRS = 4, GRID_Y = 32768 };

static uint32_t blocks_for(int64_t elements, int per_block)
{
    return (uint32_t)((elements + per_block - 1) / per_block);
}

static xg_probe_case copy_of(const char *series, int parameter, int64_t count)
{
    return (xg_probe_case){.series = series,
                           .parameter = parameter,
                           .bytes = 8.0 * (double)count,
                           .program = &xg_program_probe_copy,
                           .grid = {blocks_for(count, THREADS * LOADS), 1, 1},
                           .threads = THREADS,
                           .args.copy = {.count = count, .from_stride = 1, .to_stride = 1},
                           .peak = XG_PEAK_MEMORY};
}

/* Only the source is misaligned, and so only the loads are counted. */
xgemm_status xg_probe_copy_offset(xg_probe_run *run)
{
    const size_t count = run->bytes / sizeof(float);
    xgemm_status status = xg_probe_arrays(run, count + XG_PROBE_STEPS, count);
    for (int offset = 0; offset <= XG_PROBE_STEPS && !status; offset++) {
        xg_probe_case copy = copy_of("offset", offset, (int64_t)count);
        copy.args.copy.from_offset = offset;
        copy.counted = XG_PROBE_LOADS;
        status = xg_probe_measure(run, &copy);
    }
    return status;
}

xgemm_status xg_probe_copy_stride(xg_probe_run *run)
{
    const size_t count = run->bytes / sizeof(float);
    xgemm_status status = xg_probe_arrays(run, count, count);
    for (int stride = 1; stride <= XG_PROBE_STEPS && !status; stride++) {
        /* Whole warps, so that every request is of 32 threads. */
        const int64_t elements = (int64_t)count / stride / 32 * 32;
        xg_probe_case copy = copy_of("stride", stride, elements);
        copy.args.copy.from_stride = copy.args.copy.to_stride = stride;
        copy.counted = XG_PROBE_LOADS | XG_PROBE_STORES;
        status = xg_probe_measure(run, &copy);
    }
    return status;
}

static xgemm_status read_lines(xg_probe_run *run, const char *series, int64_t side, bool rows)
{
    const uint32_t y = (uint32_t)(side < GRID_Y ? side : GRID_Y);
    const xg_probe_case lines = {
        .series = series,
        .parameter = (double)side,
        .bytes = 4.0 * (double)side * (double)side,
        .program = &xg_program_probe_lines,
        .grid = {blocks_for(side, THREADS * LOADS), y, (uint32_t)((side + y - 1) / y)},
        .threads = THREADS,
        .args.lines = {.rows = side,
                       .columns = side,
                       .row_stride = rows ? side : 1,
                       .column_stride = rows ? 1 : side,
                       .never = NAN},
        .counted = XG_PROBE_LOADS,
        .peak = XG_PEAK_MEMORY};
    return xg_probe_measure(run, &lines);
}

/* Sides that are powers of two, up to what fits the bytes. */
xgemm_status xg_probe_rows_columns(xg_probe_run *run)
{
    static const char *const series[] = {"rows", "columns"};
    enum { SIDES = 5, LEAST = 32 };
    int64_t most = LEAST;
    while (16 * most * most <= (int64_t)run->bytes)
        most *= 2;
    const int64_t least = most >> (SIDES - 1) > LEAST ? most >> (SIDES - 1) : LEAST;
    xgemm_status status = xg_probe_arrays(run, (size_t)(most * most), 1);
    for (int i = 0; i < 2; i++)
        for (int64_t side = least; side <= most && !status; side *= 2)
            status = read_lines(run, series[i], side, i == 0);
    return status;
}

/* The layouts of complex numbers; a number's parts are 4 bytes each, or 8. */
typedef enum { INTERLEAVED, SPLIT, COMPONENTWISE } layout;

static const xg_program *program_of(layout which, int part)
{
    if (which == INTERLEAVED)
        return part == 4 ? &xg_program_probe_pairs_float : &xg_program_probe_pairs_double;
    return part == 4 ? &xg_program_probe_parts_float : &xg_program_probe_parts_double;
}

static xgemm_status multiply(xg_probe_run *run, layout which, int part)
{
    static const char *const series[] = {"interleaved", "split", "componentwise"};
    const int64_t count = (int64_t)run->bytes / (2 * part);
    const xg_probe_case layout_case = {
        .series = series[which],
        .parameter = part,
        .bytes = 4.0 * part * (double)count,
        .program = program_of(which, part),
        .grid = {blocks_for(count, THREADS * PAIRS), 1, 1},
        .threads = THREADS,
        .args.complex_numbers = {.count = count,
                                 .stride = which == SPLIT ? 1 : 2,
                                 .imaginary_offset = which == SPLIT ? count : 1,
                                 .re = 0.5f,
                                 .im = 0.25f},
        .counted = XG_PROBE_LOADS | XG_PROBE_STORES,
        .peak = XG_PEAK_MEMORY};
    return xg_probe_measure(run, &layout_case);
}

xgemm_status xg_probe_complex_layout(xg_probe_run *run)
{
    const size_t count = run->bytes / sizeof(float);
    xgemm_status status = xg_probe_arrays(run, count, count);
    for (layout which = INTERLEAVED; which <= COMPONENTWISE; which++)
        for (int part = 4; part <= 8 && !status; part += 4)
            status = multiply(run, which, part);
    return status;
}
