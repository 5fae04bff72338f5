/* SPDX-License-Identifier: BSD-3-Clause */
/* What could be better in a user's own kernel, by its counts. */
#include "explain_source.h"
#include "gpu.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADVICE_MOST = sizeof((source_advice *)0)->lines / sizeof(int) };

__attribute__((format(printf, 3, 4))) static void add(source_advice *to, int line,
                                                      const char *format, ...)
{
    va_list arguments;
    char text[600];
    if (to->count == ADVICE_MOST)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    to->sentences[to->count] = strdup(text);
    to->lines[to->count] = line;
    to->count += to->sentences[to->count] != NULL;
}

/* Words from a thread to its neighbour, if that is so for most of the warp; 0: it is not. */
static int64_t stride_of(const xgemm_source_request *request)
{
    int64_t apart[32];
    int count = 0;
    for (int lane = 1; lane < 32; lane++)
        if ((request->lanes >> lane & 1) && (request->lanes >> (lane - 1) & 1))
            apart[count++] = (int64_t)request->word[lane] - (int64_t)request->word[lane - 1];
    for (int i = 0; i < count; i++) {
        int same = 0;
        for (int j = 0; j < count; j++)
            same += apart[j] == apart[i];
        if (4 * same >= 3 * count)
            return apart[i];
    }
    return 0;
}

static double each(int64_t sum, const xgemm_trace_site *s)
{
    return s->requests ? (double)sum / (double)s->requests : 0.0;
}

static const char *access_of(const xgemm_trace_site *s)
{
    return s->is_atomic ? "atomic on" : s->is_store ? "store to" : "load of";
}

static void on_coalescing(source_advice *to, const xgemm_trace_site *s,
                          const xgemm_source_request *request)
{
    const double sectors = each(s->sectors, s), ideal = each(s->ideal_sectors, s);
    const int64_t stride = stride_of(request);
    if (strcmp(source_class(s), "not coalesced") != 0)
        return;
    if (s->is_atomic)
        add(to, s->line,
            "line %d: the atomics on %s of a warp touch %.1f sectors; private copies in shared "
            "memory, added up at the end, would leave one request an element and block",
            s->line, s->array, sectors);
    else if (stride > 1 || stride < -1)
        add(to, s->line,
            "line %d: neighbouring threads are %" PRId64 " bytes apart in the %s %s; with "
            "threadIdx.x along the contiguous index, or by way of a tile in shared memory "
            "(transposing the %s), it would take %.1f of its %.1f sectors and save %.1f",
            s->line, 4 * (stride < 0 ? -stride : stride), access_of(s), s->array,
            s->is_store ? "store" : "load", ideal, sectors, sectors - ideal);
    else
        add(to, s->line,
            "line %d: the %s %s touches %.1f sectors a request where %.1f could hold it: threads "
            "of a warp go to scattered places; neighbours should go to neighbours",
            s->line, access_of(s), s->array, sectors, ideal);
}

static void on_banks(source_advice *to, const xgemm_trace_site *s,
                     const xgemm_source_request *request)
{
    const int64_t stride = stride_of(request);
    const double passes = each(s->wavefronts, s), ideal = each(s->ideal_wavefronts, s);
    if (passes < 1.1 * ideal)
        return;
    if (s->is_atomic)
        add(to, s->line,
            "line %d: the atomics on %s meet in their banks: %.1f passes a request where %.1f "
            "would do (threads that meet at one word wait for one another beyond that)",
            s->line, s->array, passes, ideal);
    else if (stride != 0 && stride % 2 == 0)
        add(to, s->line,
            "line %d: neighbouring threads are %" PRId64 " words apart in %s, %d of them in one "
            "bank: %.1f passes a request for %.1f; one more column (padding) would give each its "
            "own bank",
            s->line, stride, s->array, s->most_ways, passes, ideal);
    else
        add(to, s->line, "line %d: bank conflicts on %s: %.1f passes a request where %.1f would do",
            s->line, s->array, passes, ideal);
}

static void on_sites(source_advice *to, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (s->is_constant) {
            if (each(s->wavefronts, s) > 1.5)
                add(to, s->line,
                    "line %d: threads of a warp want %.1f different words of the constant %s, one "
                    "after the other; global or shared memory serves them together",
                    s->line, each(s->wavefronts, s), s->array);
        } else if (s->is_shared) {
            on_banks(to, s, &report->requests[i]);
        } else {
            on_coalescing(to, s, &report->requests[i]);
        }
    }
}

/* Lines with the most threads that wait for others of their warp. */
static void on_divergence(source_advice *to, const xgemm_source_report *report)
{
    double all = 0.0;
    for (int i = 0; i < report->line_count; i++)
        all += (double)report->lines[i].steps;
    for (int i = 0; i < report->line_count; i++) {
        const xgemm_source_line *l = &report->lines[i];
        const double share = (double)l->lanes / (32.0 * (double)l->steps);
        if (share < 0.75 && (double)l->steps > 0.05 * all)
            add(to, l->line,
                "line %d: %.1f of a warp's 32 threads are at work, in %.0f %% of all steps; a "
                "condition that whole warps agree on would leave none idle",
                l->line, 32.0 * share, 100.0 * (double)l->steps / all);
    }
}

static void on_reuse(source_advice *to, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    if (t->bytes_least <= 0.0 || t->bytes_asked < 4.0 * t->bytes_least)
        return;
    add(to, 0,
        "each element of global memory is asked for %.1f times on average; %s would bring %.2f "
        "OP/B nearer to the %.2f that a perfect cache leaves",
        t->bytes_asked / t->bytes_least,
        t->shared_bytes > 0 ? "larger tiles, or several results a thread (coarsening),"
                            : "tiles in shared memory",
        t->flop_per_byte_asked, t->flop_per_byte_least);
}

static void on_occupancy(source_advice *to, const source_request *r, const xgemm_trace_report *t)
{
    const int threads = t->block[0] * t->block[1] * t->block[2];
    if (threads % 32)
        add(to, 0,
            "blocks of %d threads: the last of their warps has %d of 32; a multiple of 32 "
            "wastes none",
            threads, threads % 32);
    if (!*t->device)
        return;
    if (t->blocks_per_sm == 0) {
        add(to, 0, "no block fits on a multiprocessor of %s, limited by %s: it cannot be launched",
            t->device, limiters_text(t->limiters, LIMITERS_IN_A_SENTENCE));
        return;
    }
    if (t->waves < 1.0)
        add(to, 0, "%" PRId64 " blocks fill %.0f %% of %s: more blocks, or less for each thread",
            t->blocks, 100.0 * t->waves, t->device);
    if (t->warp_occupancy < 0.5)
        add(to, 0, "%.0f %% of a multiprocessor's warps fit, limited by %s%s",
            100.0 * t->warp_occupancy, limiters_text(t->limiters, LIMITERS_IN_A_SENTENCE),
            r->launch.registers ? "" : " (registers left out: --registers)");
}

/* Whether any request was counted: of a block that a fault stopped none is. */
static bool is_counted(const xgemm_source_report *report)
{
    for (int i = 0; i < report->trace->site_count; i++)
        if (report->trace->sites[i].requests > 0)
            return true;
    return false;
}

const char *source_no_advice(const xgemm_source_report *report)
{
    return is_counted(report)
               ? "accesses are coalesced, without bank conflicts or divergence to speak of"
               : "no request of a warp was counted";
}

source_advice source_advise(const source_request *r, const xgemm_source_report *report)
{
    source_advice advice = {.count = 0};
    if (report->fault_count > 0 && !is_counted(report))
        return advice;
    on_sites(&advice, report);
    on_divergence(&advice, report);
    on_reuse(&advice, report);
    on_occupancy(&advice, r, report->trace);
    return advice;
}

void source_advice_free(source_advice *advice)
{
    for (int i = 0; i < advice->count; i++)
        free(advice->sentences[i]);
    advice->count = 0;
}
