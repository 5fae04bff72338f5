/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as who asked for them has them: made, read, and freed. */
#include "trace.h"
#include "source_memory.h"
#include "trace_state.h"
#include "trace_tables.h"

#include <stdlib.h>
#include <string.h>

bool xg_trace_available(void)
{
    return xg_trace_site_total() > 0;
}

xg_trace *xg_trace_new(void)
{
    const size_t total = (size_t)xg_trace_site_total();
    xg_trace *trace = total > 0 ? calloc(1, sizeof *trace) : NULL;
    if (!trace)
        return NULL;
    trace->code_total = (int)total;
    trace->code = calloc(total, sizeof *trace->code);
    trace->touched = calloc(total, sizeof *trace->touched);
    trace->shared = calloc(shared_words(), sizeof *trace->shared);
    if (!trace->code || !trace->touched || !trace->shared) {
        xg_trace_free(trace);
        return NULL;
    }
    for (size_t i = 0; i < total; i++)
        trace->code[i].merged = -1;
    return trace;
}

void xg_trace_free(xg_trace *trace)
{
    if (!trace)
        return;
    for (int i = 0; trace->code && i < trace->code_total; i++)
        free(trace->code[i].requests), free(trace->code[i].slots);
    free(trace->code);
    free(trace->touched);
    free(trace->shared);
    xg_source_free(trace->source);
    free(trace->sites);
    free(trace);
}

const char *xg_trace_array_of(const xg_trace_site *site)
{
    return site->array ? site->array : site->joined;
}

static int by_source(const void *left, const void *right)
{
    const xg_trace_site *a = left, *b = right;
    const int file = strcmp(a->file, b->file);
    if (file || a->line != b->line)
        return file ? file : a->line - b->line;
    return strcmp(xg_trace_array_of(a), xg_trace_array_of(b));
}

const xg_trace_site *xg_trace_sites(xg_trace *trace, int *count)
{
    int kept = 0;
    for (int i = 0; i < trace->site_count; i++) /* of some each request was to other arrays, too */
        if (trace->sites[i].requests > 0 || !trace->sites[i].is_joined)
            trace->sites[kept++] = trace->sites[i];
    *count = trace->site_count = kept;
    if (trace->site_count > 0)
        qsort(trace->sites, (size_t)trace->site_count, sizeof *trace->sites, by_source);
    /* The order changed: accesses in the code find their sites again. */
    for (int i = 0; i < trace->code_total; i++) {
        trace->code[i].merged = -1;
        if (trace->source)
            trace->source->last_at[i].merged = -1;
    }
    return trace->sites;
}

int64_t xg_trace_static_bytes(const xg_trace *trace)
{
    int64_t bytes = 0;
    for (int i = 0; i < trace->site_count; i++) {
        bool is_first = trace->sites[i].is_shared;
        for (int j = 0; j < i && is_first; j++)
            is_first = trace->sites[j].array != trace->sites[i].array; /* each has its own name */
        if (is_first)
            bytes += xg_trace_array_bytes(trace->sites[i].array);
    }
    return bytes;
}

const xg_trace_totals *xg_trace_get_totals(const xg_trace *trace)
{
    return &trace->totals;
}
