/* SPDX-License-Identifier: BSD-3-Clause */
/* The public trace of a kernel of the user's own: compiled, run in a child, and reported. */
#include "base/numbers.h"
#include "device/occupancy.h"
#include "source/run.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A report with all that it points to. */
typedef struct {
    xgemm_source_report report;
    xgemm_trace_report trace;
    char kernel[XG_NAME_MOST];
    xgemm_trace_site *sites;
    xgemm_source_fault *faults;
    xgemm_source_request *requests;
    xgemm_source_line *lines;
    xg_text names; /* all strings but the file's, one after the other */
    xg_text file;
} owned_report;

/* What a call holds until its end. */
typedef struct {
    xg_compiled compiled;
    xg_image image;
    xg_arguments arguments;
    xg_run_result result;
} work;

static xgemm_status no_memory(xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
}

static double blocks_of(const xgemm_source_launch *launch)
{
    double blocks = 1.0;
    for (int d = 0; d < 3; d++)
        blocks *= launch->grid[d] ? launch->grid[d] : 1;
    return blocks;
}

/* ---- Strings, which outlive the call ---- */

/* First all are copied, while their places are noted as offsets; then these become pointers. */
static const char *keep(owned_report *owned, const char *text)
{
    const size_t at = owned->names.length;
    xg_text_add(&owned->names, text, strlen(text) + 1);
    return (const char *)(uintptr_t)at;
}

static void to_pointer(const owned_report *owned, const char **offset)
{
    *offset = owned->names.at + (uintptr_t)*offset;
}

static void to_pointers(owned_report *owned)
{
    for (int i = 0; i < owned->trace.site_count; i++) {
        to_pointer(owned, &owned->sites[i].file);
        to_pointer(owned, &owned->sites[i].source);
        to_pointer(owned, &owned->sites[i].array);
    }
    for (int i = 0; i < owned->report.fault_count; i++)
        to_pointer(owned, &owned->faults[i].text);
}

/* ---- The report's parts ---- */

static void add_sites(owned_report *owned, const xg_run_result *from, double scale)
{
    xgemm_trace_report *trace = &owned->trace;
    for (int i = 0; i < from->site_count; i++) {
        const xg_trace_site *s = &from->sites[i];
        owned->sites[i] = (xgemm_trace_site){.file = keep(owned, s->file),
                                             .line = s->line,
                                             .source = keep(owned, s->source),
                                             .array = keep(owned, xg_trace_array_of(s)),
                                             .is_shared = s->is_shared,
                                             .is_store = s->is_store,
                                             .is_atomic = s->is_atomic,
                                             .bytes = s->bytes,
                                             .requests = s->requests,
                                             .partial_requests = s->partial_requests,
                                             .lanes = s->lanes,
                                             .sectors = s->sectors,
                                             .ideal_sectors = s->ideal_sectors,
                                             .cache_lines = s->cache_lines,
                                             .wavefronts = s->wavefronts,
                                             .ideal_wavefronts = s->ideal_wavefronts,
                                             .most_sectors = s->most_sectors,
                                             .most_ways = s->most_ways,
                                             .is_constant = s->is_constant};
        owned->requests[i].lanes = s->request_lanes;
        memcpy(owned->requests[i].word, s->request_word, sizeof s->request_word);
        if (!s->is_shared && !s->is_constant) {
            trace->bytes_asked += scale * (double)s->lanes * s->bytes;
            trace->bytes_moved += scale * 32.0 * (double)s->sectors;
        }
    }
    trace->site_count = from->site_count;
}

static int public_kind(xg_fault_kind kind)
{
    static const int kinds[] = {
        [XG_FAULT_RACE] = XGEMM_FAULT_RACE,
        [XG_FAULT_BLOCKS_RACE] = XGEMM_FAULT_BLOCKS,
        [XG_FAULT_UNDEFINED] = XGEMM_FAULT_UNDEFINED,
        [XG_FAULT_OUTSIDE] = XGEMM_FAULT_OUTSIDE,
        [XG_FAULT_MISALIGNED] = XGEMM_FAULT_MISALIGNED,
        [XG_FAULT_CONSTANT] = XGEMM_FAULT_CONSTANT,
        [XG_FAULT_IN_FLIGHT] = XGEMM_FAULT_RACE,
        [XG_FAULT_DIVERGENT_BARRIER] = XGEMM_FAULT_BARRIER,
        [XG_FAULT_LAUNCH] = XGEMM_FAULT_STOPPED,
    };
    return kinds[kind];
}

/* Of the user's file, and not of a header; a site is not known of all faults. */
static bool is_of_file(const xg_compiled *compiled, int site)
{
    return site < 0 || *compiled->texts[site];
}

static void add_faults(owned_report *owned, const work *w)
{
    const xg_run_result *from = &w->result;
    for (int i = 0; i < from->fault_count; i++) {
        const xg_source_fault *f = &from->faults[i];
        const bool first = is_of_file(&w->compiled, f->site);
        const bool second = is_of_file(&w->compiled, f->other_site);
        owned->faults[i] = (xgemm_source_fault){.kind = public_kind(f->kind),
                                                .line = first ? f->line : 0,
                                                .other_line = second ? f->other_line : 0,
                                                .count = f->count,
                                                .text = keep(owned, f->text)};
    }
    owned->report.fault_count = from->fault_count;
}

static int by_line(const void *left, const void *right)
{
    const xgemm_source_line *a = left, *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

/* Basic blocks by their lines; the whole launch's operations, in proportion to its blocks. */
static void add_lines(owned_report *owned, const work *w, double scale)
{
    xgemm_source_report *report = &owned->report;
    int count = 0;
    double flops = 0.0, flops64 = 0.0, instructions = 0.0;
    for (int i = 0; i < w->result.step_count; i++) {
        const xg_code_site *site = &w->compiled.sites.sites[i];
        const xg_block_steps *steps = &w->result.steps[i];
        if (steps->lanes == 0 || site->line == 0)
            continue;
        const double lanes = (double)steps->lanes;
        flops += lanes * (site->flops + site->flops64);
        flops64 += lanes * site->flops64;
        instructions += lanes * site->instructions;
        if (!is_of_file(&w->compiled, i))
            continue;
        int at = 0;
        while (at < count && owned->lines[at].line != site->line)
            at++;
        if (at == count)
            owned->lines[count++] = (xgemm_source_line){.line = site->line};
        owned->lines[at].steps += steps->steps;
        owned->lines[at].lanes += steps->lanes;
        owned->lines[at].flops += lanes * (site->flops + site->flops64);
    }
    if (count > 0)
        qsort(owned->lines, (size_t)count, sizeof *owned->lines, by_line);
    report->line_count = count;
    owned->trace.flops = scale * flops;
    report->flops64 = scale * flops64;
    report->instructions = scale * instructions;
}

static void add_intensity(xgemm_trace_report *t)
{
    t->flop_per_byte_asked = t->bytes_asked > 0.0 ? t->flops / t->bytes_asked : 0.0;
    t->flop_per_byte_moved = t->bytes_moved > 0.0 ? t->flops / t->bytes_moved : 0.0;
    t->flop_per_byte_least = t->bytes_least > 0.0 ? t->flops / t->bytes_least : 0.0;
}

static double roof(const xgemm_trace_report *t, double flop_per_byte)
{
    const double by_memory = flop_per_byte * t->peak_gbs;
    return by_memory < t->peak_gflops ? by_memory : t->peak_gflops;
}

/* The peak is that of the type in which most operations are; on tensor cores it is theirs. */
static double peak_of(const xgemm_trace_report *t, const xgemm_device *device, double flops64,
                      const xg_trace_totals *totals)
{
    const double peaks[XG_TENSOR_TYPES] = {[XG_TENSOR_FP16] = device->peak_fp16_gflops,
                                           [XG_TENSOR_BF16] = device->peak_bf16_gflops,
                                           [XG_TENSOR_TF32] = device->peak_tf32_gflops};
    const double run = (double)t->blocks_run / (double)t->blocks;
    for (int type = 0; type < XG_TENSOR_TYPES; type++)
        if ((double)totals->tensor_flops[type] > 0.5 * run * t->flops)
            return peaks[type];
    return flops64 > 0.5 * t->flops ? device->peak_fp64_gflops : device->peak_fp32_gflops;
}

static xgemm_status add_gpu(xgemm_trace_report *t, const xgemm_device *device, double flops64,
                            const xg_trace_totals *totals)
{
    xgemm_occupancy_info occupancy = {.struct_size = sizeof occupancy};
    const int threads = t->block[0] * t->block[1] * t->block[2];
    const xgemm_status status =
        xgemm_occupancy(device, threads, t->registers, t->shared_bytes, 1, &occupancy);
    if (status)
        return status;
    const double held = (double)occupancy.blocks * device->multiprocessors;
    snprintf(t->device, sizeof t->device, "%s", device->name);
    t->blocks_per_sm = occupancy.blocks;
    t->warp_occupancy = occupancy.warp_occupancy;
    t->limiters = occupancy.limiters;
    if (occupancy.blocks == 0) /* it cannot run */
        return XGEMM_OK;
    t->waves = held > 0.0 ? (double)t->blocks / held : 0.0;
    t->peak_gflops = peak_of(t, device, flops64, totals);
    t->peak_gbs = device->peak_bandwidth_gbs;
    t->roof_asked_gflops = roof(t, t->flop_per_byte_asked);
    t->roof_moved_gflops = roof(t, t->flop_per_byte_moved);
    t->roof_least_gflops = roof(t, t->flop_per_byte_least);
    return XGEMM_OK;
}

static void add_launch(owned_report *owned, const xgemm_source_launch *launch, const work *w)
{
    xgemm_trace_report *t = &owned->trace;
    snprintf(owned->kernel, sizeof owned->kernel, "%s", w->compiled.kernel);
    t->struct_size = sizeof *t;
    t->kernel = owned->kernel;
    for (int d = 0; d < 3; d++) {
        t->grid[d] = launch->grid[d] ? launch->grid[d] : 1;
        t->block[d] = launch->block[d] ? (int)launch->block[d] : 1;
    }
    t->blocks = (int64_t)blocks_of(launch);
    t->k_parts = 1;
    t->blocks_run = w->result.totals.blocks;
    t->warps_run = w->result.totals.warps;
    t->barriers = w->result.totals.barriers;
    t->simt_efficiency = w->result.totals.steps ? (double)w->result.totals.step_lanes /
                                                      (32.0 * (double)w->result.totals.steps)
                                                : 0.0;
    if (t->blocks_run == t->blocks && w->result.ended)
        t->bytes_least = (double)(w->result.bytes_read + w->result.bytes_written);
    t->registers = launch->registers;
    owned->report.static_shared_bytes = w->result.static_shared_bytes;
    t->shared_bytes = w->result.static_shared_bytes + (int)launch->shared_bytes;
}

static xgemm_status make_report(const xgemm_source_launch *launch, const xgemm_device *device,
                                work *w, xgemm_source_report **result, xg_error *error)
{
    owned_report *owned = calloc(1, sizeof *owned);
    if (!owned)
        return no_memory(error);
    const size_t sites = (size_t)w->result.site_count + 1;
    owned->sites = calloc(sites, sizeof *owned->sites);
    owned->requests = calloc(sites, sizeof *owned->requests);
    owned->faults = calloc((size_t)w->result.fault_count + 1, sizeof *owned->faults);
    owned->lines = calloc((size_t)w->result.step_count + 1, sizeof *owned->lines);
    *result = &owned->report;
    if (!owned->sites || !owned->requests || !owned->faults || !owned->lines)
        return no_memory(error);
    add_launch(owned, launch, w);
    const double scale = owned->trace.blocks_run
                             ? (double)owned->trace.blocks / (double)owned->trace.blocks_run
                             : 0.0;
    add_sites(owned, &w->result, scale);
    add_faults(owned, w);
    add_lines(owned, w, scale);
    if (owned->names.failed)
        return no_memory(error);
    to_pointers(owned);
    add_intensity(&owned->trace);
    owned->trace.site_size = sizeof *owned->sites;
    owned->trace.sites = owned->sites;
    owned->report.struct_size = sizeof owned->report;
    owned->report.trace = &owned->trace;
    owned->report.seconds = w->result.seconds;
    owned->report.faults = owned->faults;
    owned->report.requests = owned->requests;
    owned->report.lines = owned->lines;
    owned->file = w->compiled.scan.original;
    w->compiled.scan.original = (xg_text){NULL, 0, 0, false};
    owned->report.text = owned->file.at;
    return device ? add_gpu(&owned->trace, device, owned->report.flops64, &w->result.totals)
                  : XGEMM_OK;
}

/* ---- The call ---- */

/*
 * As many blocks as take some seconds: one is run to see how long it takes, and where that is soon
 * done, more of them, since the first block of all takes longest.
 */
static xgemm_status run(const xgemm_source_launch *launch, work *w, xg_error *error)
{
    const double few = 8.0, budget = 8.0, soon = 0.05, blocks = blocks_of(launch);
    int64_t most = launch->most_blocks > 0 ? launch->most_blocks : 0;
    double fit = launch->most_blocks == 0 ? 0.0 : blocks;
    for (int64_t tried = 1; fit < blocks && blocks > few && tried <= 256; tried *= 256) {
        const xgemm_status status =
            xg_run(launch, &w->compiled, &w->image, &w->arguments, tried, &w->result, error);
        if (status || !w->result.ended)
            return status;
        const double taken = w->result.seconds > 1e-6 ? w->result.seconds : 1e-6;
        xg_run_result_free(&w->result);
        fit = budget * (double)tried / taken;
        most = fit >= blocks ? 0 : fit < few ? (int64_t)few : (int64_t)fit;
        if (taken > soon)
            break;
    }
    return xg_run(launch, &w->compiled, &w->image, &w->arguments, most, &w->result, error);
}

/* CUDA's limits, which all its GPUs have. */
static xgemm_status check_sizes(const xgemm_source_launch *launch, xg_error *error)
{
    static const struct {
        unsigned grid, block;
        char name;
    } most[3] = {{INT32_MAX, 1024, 'x'}, {65535, 1024, 'y'}, {65535, 64, 'z'}};
    for (int d = 0; d < 3; d++) {
        if (launch->grid[d] > most[d].grid)
            return xg_fail(error, XGEMM_ERROR_LAUNCH,
                           "a grid of %u blocks along %c; the most is %u", launch->grid[d],
                           most[d].name, most[d].grid);
        if (launch->block[d] > most[d].block)
            return xg_fail(error, XGEMM_ERROR_LAUNCH,
                           "a block of %u threads along %c; the most is %u", launch->block[d],
                           most[d].name, most[d].block);
    }
    return XGEMM_OK;
}

static xgemm_status check(const xgemm_source_launch *launch, xgemm_source_report **report,
                          xg_error *error)
{
    if (!launch || !report)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL",
                       !launch ? "launch" : "report");
    if (launch->struct_size < offsetof(xgemm_source_launch, messages) + sizeof launch->messages)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "struct_size is %zu; set it to sizeof(xgemm_source_launch)",
                       launch->struct_size);
    if (!launch->file)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "launch->file is NULL");
    if ((launch->argument_count > 0 && !launch->arguments) ||
        (launch->define_count > 0 && !launch->defines))
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "arguments or defines is NULL");
    if (launch->argument_count < 0 || launch->define_count < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "argument_count and define_count are %d and %d; each must be at least 0",
                       launch->argument_count, launch->define_count);
    if (launch->most_blocks < -1 || launch->seconds < 0 || launch->memory_bytes < 0 ||
        launch->registers < 0)
        return xg_fail(
            error, XGEMM_ERROR_INVALID_VALUE,
            "most_blocks, seconds, memory_bytes and registers are %lld, %d, %lld and %d; "
            "none may be negative, but most_blocks be -1",
            (long long)launch->most_blocks, launch->seconds, (long long)launch->memory_bytes,
            launch->registers);
    for (int i = 0; i < launch->argument_count; i++)
        if (!launch->arguments[i])
            return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "arguments[%d] is NULL", i);
    for (int i = 0; i < launch->define_count; i++)
        if (!launch->defines[i])
            return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "defines[%d] is NULL", i);
    return check_sizes(launch, error);
}

/* Of the arrays that were used; which a kernel's file has for others is not known before. */
static xgemm_status check_shared(const xgemm_source_launch *launch, const work *w, xg_error *error)
{
    enum { STATIC_MOST = 48 * 1024, MOST = 227 * 1024 }; /* nvcc's limit, and the largest GPU's */
    const int64_t bytes = w->result.static_shared_bytes;
    if (bytes > STATIC_MOST)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s has %lld bytes of static shared memory; the most is %d, and more "
                       "has to be dynamic",
                       w->compiled.kernel, (long long)bytes, STATIC_MOST);
    if (bytes + launch->shared_bytes > MOST)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s has %lld bytes of static and %u of dynamic shared memory; the "
                       "most is %d in all",
                       w->compiled.kernel, (long long)bytes, launch->shared_bytes, MOST);
    return XGEMM_OK;
}

/* Arguments that are no parameters must be variables, and fit in. */
static xgemm_status check_variables(const work *w, xg_error *error)
{
    for (int i = 0; i < w->arguments.variable_count; i++) {
        const xg_argument *a = &w->arguments.variables[i];
        const xg_image_object *variable = xg_image_variable(&w->image, a->name);
        if (!variable)
            return xg_no_such_parameter(w->compiled.found, a->name, error);
        if ((uint64_t)(a->count * a->type->bytes) > variable->bytes)
            return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                           "the variable %s has %llu bytes, and its argument %lld", a->name,
                           (unsigned long long)variable->bytes,
                           (long long)(a->count * a->type->bytes));
    }
    return XGEMM_OK;
}

static xgemm_status trace_source(const xgemm_source_launch *launch, const xgemm_device *device,
                                 work *w, xgemm_source_report **report, xg_error *error)
{
    xgemm_device gpu;
    xgemm_status status = device ? xg_device_complete(device, &gpu, error) : XGEMM_OK;
    if (!status)
        status = xg_compile(launch, &w->compiled, error);
    if (!status)
        status = xg_arguments_parse(launch, w->compiled.found, &w->arguments, error);
    if (!status)
        status = xg_image_read(w->compiled.object, &w->image, error);
    if (!status)
        status = check_variables(w, error);
    if (!status)
        status = run(launch, w, error);
    if (!status)
        status = check_shared(launch, w, error);
    if (!status)
        status = make_report(launch, device ? &gpu : NULL, w, report, error);
    return status;
}

xgemm_status xgemm_trace_source(const xgemm_source_launch *launch, const xgemm_device *device,
                                xgemm_source_report **report)
{
    xg_error *error = xg_thread_error();
    xgemm_source_launch own = {.struct_size = sizeof own};
    if (report)
        *report = NULL;
    xgemm_status status = check(launch, report, error);
    if (!status) { /* a newer program's is larger: what is not known is left out */
        memcpy(&own, launch, launch->struct_size < sizeof own ? launch->struct_size : sizeof own);
        launch = &own;
    }
    work *w = status ? NULL : calloc(1, sizeof *w);
    if (!status && !w)
        status = no_memory(error);
    const locale_t before = xg_numbers_begin();
    if (!status)
        status = trace_source(launch, device, w, report, error);
    xg_numbers_end(before);
    if (w) {
        xg_run_result_free(&w->result);
        xg_image_free(&w->image);
        xg_compiled_remove(&w->compiled);
    }
    free(w);
    if (status) {
        xgemm_source_report_free(report ? *report : NULL);
        if (report)
            *report = NULL;
        xg_error_prefix(error, __func__);
    }
    return status;
}

void xgemm_source_report_free(xgemm_source_report *report)
{
    owned_report *owned = (owned_report *)report; /* its first member */
    if (!owned)
        return;
    free(owned->sites);
    free(owned->requests);
    free(owned->faults);
    free(owned->lines);
    xg_text_free(&owned->names);
    xg_text_free(&owned->file);
    free(owned);
}
