/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's own kernel, as text. */
#include "explain_source.h"
#include "explain_text.h"
#include "gpu.h"
#include "shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *source_class(const xgemm_trace_site *site)
{
    if (!site->is_constant || site->requests == 0)
        return site_class(site);
    return site->wavefronts > site->ideal_wavefronts ? "serialised" : "one word";
}

void source_fault_messages(const command *which, const xgemm_source_report *report)
{
    for (int i = 0; i < report->fault_count; i++)
        failed(which, "%s: %s", report->trace->kernel, report->faults[i].text);
}

void source_faults(const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    if (report->fault_count == 0)
        printf("%s: no faults in %" PRId64 " of %" PRId64 " block%s\n", t->kernel, t->blocks_run,
               t->blocks, plural(t->blocks));
    for (int i = 0; i < report->fault_count; i++) {
        const xgemm_source_fault *f = &report->faults[i];
        printf("%s: %s", t->kernel, f->text);
        if (f->count > 1)
            printf(" (the first of %" PRId64 ")", f->count);
        printf("\n");
    }
}

static void print_head(const source_request *r, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    printf("%s of %s\n", t->kernel, r->launch.file);
    printf("grid %" PRId64 " x %" PRId64 " x %" PRId64 " of blocks of %d x %d x %d threads; shared "
           "memory: %d bytes static, %u dynamic\n",
           t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2],
           report->static_shared_bytes, r->launch.shared_bytes);
    if (t->blocks_run == t->blocks)
        printf("counted on the simulator: all %" PRId64 " block%s", t->blocks, plural(t->blocks));
    else
        printf("counted on the simulator: a sample of %" PRId64 " of %" PRId64
               " blocks, spread over the grid (--blocks)",
               t->blocks_run, t->blocks);
    printf(", %" PRId64 " warp%s; source-level: nvcc may merge accesses\n", t->warps_run,
           plural(t->warps_run));
}

static void print_constant(const xgemm_trace_report *t)
{
    bool any = false;
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (!s->is_constant)
            continue;
        if (!any)
            printf("\nConstant memory      requests  words of one request  source\n");
        any = true;
        printf("  load  %-8s %2d B %9" PRId64 "  %20.2f  %s:%d: %.60s\n", s->array, s->bytes,
               s->requests, s->requests ? (double)s->wavefronts / (double)s->requests : 0.0,
               s->file, s->line, s->source);
    }
    if (any)
        printf("  (each different word of a request is one pass; one, where all threads want the "
               "same)\n");
}

/* Lines where a noticeable part of the threads waits for others of their warp. */
static void print_divergence(const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    int64_t all = 0;
    int shown = 0;
    printf("\nDivergence: %.2f %% of a warp's threads at work in a basic block\n",
           100.0 * t->simt_efficiency);
    for (int i = 0; i < report->line_count; i++)
        all += report->lines[i].steps;
    for (int i = 0; i < report->line_count && shown < 12; i++) {
        const xgemm_source_line *l = &report->lines[i];
        const double share = (double)l->lanes / (32.0 * (double)l->steps);
        if (share > 0.95 || (double)l->steps < 0.005 * (double)all)
            continue;
        printf("  line %d: %.1f of 32 threads at work, in %.1f %% of the warps' steps\n", l->line,
               32.0 * share, 100.0 * (double)l->steps / (double)all);
        shown++;
    }
}

bool is_mostly_fp64(const xgemm_source_report *report)
{
    return report->flops64 > 0.5 * report->trace->flops;
}

static void print_intensity(const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    printf("\nArithmetic: %.4g floating-point operations%s; %.4g instructions of the host's code\n",
           t->flops, is_mostly_fp64(report) ? " (mostly FP64)" : "", report->instructions);
    printf("Arithmetic intensity (operations a byte of global memory)\n");
    printf("  bytes that threads ask for:     %8.2f OP/B (%s)\n", t->flop_per_byte_asked,
           bytes_text(t->bytes_asked));
    printf("  sectors that requests touch:    %8.2f OP/B (%s)\n", t->flop_per_byte_moved,
           bytes_text(t->bytes_moved));
    if (t->bytes_least > 0.0)
        printf("  each element once, the least:   %8.2f OP/B (%s)\n", t->flop_per_byte_least,
               bytes_text(t->bytes_least));
}

static void print_gpu(const source_request *r, const xgemm_source_report *report)
{
    explain_request like = {
        .gpu = r->gpu, .is_source = true, .is_fp64 = is_mostly_fp64(report), .by_nvcc = r->by_nvcc};
    like.info.math = XGEMM_MATH_STRICT;
    explain_gpu(&like, report->trace);
}

static void print_advice(const source_request *r, const xgemm_source_report *report)
{
    source_advice advice = source_advise(r, report);
    printf("\nAdvice\n");
    for (int i = 0; i < advice.count; i++)
        printf("  - %s\n", advice.sentences[i]);
    if (advice.count == 0)
        printf("  none: %s\n", source_no_advice(report));
    source_advice_free(&advice);
}

void source_text(const source_request *r, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    print_head(r, report);
    if (report->fault_count > 0) {
        printf("\nFaults\n");
        source_faults(report);
    }
    if (t->blocks_run == 0)
        return;
    explain_warp_map(t);
    explain_accesses(t);
    print_constant(t);
    print_divergence(report);
    print_intensity(report);
    print_gpu(r, report);
    print_advice(r, report);
}
