/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain_text.h"
#include "gpu.h"

#include "report.h"
#include "shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WARP = 32, OLDEST = 80 /* compute capability that kernels are compiled for */ };

const char *site_class(const xgemm_trace_site *site)
{
    if (site->is_shared || site->is_constant || site->requests == 0)
        return "not applicable";
    /* One sector more for each request is what a line that begins anywhere costs. */
    return site->sectors <= site->ideal_sectors + site->requests ? "coalesced" : "not coalesced";
}

static const char *access_word(const xgemm_trace_site *site)
{
    return site->is_atomic ? "atomic" : site->is_store ? "store" : "load";
}

static double each(int64_t sum, const xgemm_trace_site *site)
{
    return site->requests ? (double)sum / (double)site->requests : 0.0;
}

/* Types are named where they are not f32. */
static void print_product(const workload *w)
{
    printf("C = op(A) op(B)%s", w->has_bias ? " + bias" : "");
    if (w->activation)
        printf(", %s", activation_word(w->activation));
    if (w->type != XGEMM_F32)
        printf(", of %s", type_word(w->type));
    if (w->type_c != w->type)
        printf(", C of %s", type_word(w->type_c));
}

static void print_head(const explain_request *r, const xgemm_trace_report *t)
{
    const workload *w = &r->work;
    const bool is_older = r->gpu.struct_size && r->gpu.compute_capability < OLDEST;
    printf("%s: %s\n", r->info.name, r->info.summary);
    print_product(w);
    printf(", %s%s, %s order, m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64 ", %.4g GFLOP\n",
           transpose_letter(w->transa), transpose_letter(w->transb), order_word(w->order),
           w->size.m, w->size.n, w->size.k, t->flops * 1e-9);
    printf("grid %" PRId64 " x %" PRId64 " x %" PRId64
           " of blocks of %d x %d x %d threads, as on %s\n",
           t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2],
           *t->device && !is_older ? t->device : "an H200");
    if (is_older)
        printf(
            "libxgemm does not run on it: compute capability %d.%d, and its kernels need %d.%d\n",
            r->gpu.compute_capability / 10, r->gpu.compute_capability % 10, OLDEST / 10,
            OLDEST % 10);
    if (t->blocks_run == t->blocks)
        printf("counted on the simulator: all %" PRId64 " block%s", t->blocks, plural(t->blocks));
    else
        printf("counted on the simulator: a sample of %" PRId64 " of %" PRId64
               " blocks, spread over the grid",
               t->blocks_run, t->blocks);
    printf(", %" PRId64 " warp%s; source-level: nvcc may merge accesses\n", t->warps_run,
           plural(t->warps_run));
}

/* Threads of the first and second warp, as x, y. */
void explain_warp_map(const xgemm_trace_report *t)
{
    const int x = t->block[0], threads = x * t->block[1] * t->block[2];
    const int warps = (threads + WARP - 1) / WARP;
    printf("\nWarps: thread (x, y, z) is number x + %d y + %d z of the block; 32 in a row are a "
           "warp\n",
           x, x * t->block[1]);
    for (int warp = 0; warp < warps && warp < 3; warp++) {
        const int first = warp * WARP;
        const int last = (first + WARP < threads ? first + WARP : threads) - 1;
        printf("  warp %d: (%d, %d, %d) to (%d, %d, %d)\n", warp, first % x,
               first / x % t->block[1], first / x / t->block[1], last % x, last / x % t->block[1],
               last / x / t->block[1]);
    }
    if (warps > 3)
        printf("  ... %d warps in all%s\n", warps, threads % WARP ? ", the last one not full" : "");
}

static void print_global(const xgemm_trace_report *t)
{
    printf("\nGlobal memory   requests  threads  sectors  needed   class          source\n");
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (!s->is_shared && !s->is_constant)
            printf("  %-6s %-3s %2d B %8" PRId64 "  %7.2f  %7.2f %7.2f   %-13s  %s:%d: %.60s\n",
                   access_word(s), s->array, s->bytes, s->requests, each(s->lanes, s),
                   each(s->sectors, s), each(s->ideal_sectors, s),
                   s->requests ? site_class(s) : "-", s->file, s->line, s->source);
    }
    printf("  (threads, sectors of 32 bytes, and sectors needed: of one request of a warp)\n");
}

static void print_shared(const xgemm_trace_report *t)
{
    bool any = false;
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (!s->is_shared)
            continue;
        if (!any)
            printf("\nShared memory        requests  passes  needed  conflict  source\n");
        any = true;
        printf("  %-5s %-8s %2d B %9" PRId64 "  %6.2f  %6.2f  %-8s  %s:%d: %.60s\n", access_word(s),
               s->array, s->bytes, s->requests, each(s->wavefronts, s),
               each(s->ideal_wavefronts, s), s->wavefronts > s->ideal_wavefronts ? "yes" : "none",
               s->file, s->line, s->source);
    }
    if (any)
        printf("  (passes over the 32 banks, of one request; needed: without conflicts)\n");
}

void explain_accesses(const xgemm_trace_report *t)
{
    print_global(t);
    print_shared(t);
}

/* Requests of an array's loads in which a part of the warp took part, over all its sites. */
static int64_t divergent_loads(const xgemm_trace_report *t, const char *array)
{
    int64_t partial = 0;
    for (int i = 0; i < t->site_count; i++)
        if (!t->sites[i].is_store && strcmp(t->sites[i].array, array) == 0)
            partial += t->sites[i].partial_requests;
    return partial;
}

static void print_divergence(const explain_request *r, const xgemm_trace_report *t)
{
    const int64_t depth = r->info.tile_k > 0 ? r->info.tile_k : 1;
    const int64_t phases = (r->work.size.k + depth - 1) / depth;
    const int64_t all = t->warps_run * phases;
    const char *const arrays[] = {"A", "B"};
    printf("\nDivergence: %.2f %% of a warp's threads at work in a basic block\n",
           100.0 * t->simt_efficiency);
    for (int i = 0; i < 2; i++) {
        const int64_t partial = divergent_loads(t, arrays[i]);
        printf("  loading %s: %" PRId64 " divergent request%s; %" PRId64 " warp%s x %" PRId64
               " phase%s = %" PRId64 " warp-phase%s: %.2f %%\n",
               arrays[i], partial, plural(partial), t->warps_run, plural(t->warps_run), phases,
               plural(phases), all, plural(all), all ? 100.0 * (double)partial / (double)all : 0.0);
    }
}

static void print_intensity(const explain_request *r, const xgemm_trace_report *t)
{
    const workload *w = &r->work;
    const int bytes = (int)type_bytes(w->type), bytes_c = (int)type_bytes(w->type_c);
    const double untiled =
        (double)w->size.m * (double)w->size.n * (2.0 * bytes * (double)w->size.k + bytes_c);
    char asked[32], moved[32];
    snprintf(asked, sizeof asked, "%s", bytes_text(t->bytes_asked));
    snprintf(moved, sizeof moved, "%s", bytes_text(t->bytes_moved));
    printf("\nArithmetic intensity (%s operations a byte of global memory)\n",
           type_part(w->type) == XGEMM_F64 ? "FP64" : "FP32");
    if (w->type == XGEMM_F32) /* as the kernel's facts have it */
        printf("  by formula, for large sizes:    %8.2f OP/B\n", r->info.flop_per_byte);
    printf("  bytes that threads ask for:     %8.2f OP/B (%s)\n", t->flop_per_byte_asked, asked);
    printf("  sectors that requests touch:    %8.2f OP/B (%s)\n", t->flop_per_byte_moved, moved);
    printf("  one thread an element would ask for m n (2 * %d k + %d) bytes = %s: %.1f times as "
           "much\n",
           bytes, bytes_c, bytes_text(untiled),
           t->bytes_asked > 0.0 ? untiled / t->bytes_asked : 0.0);
    printf("  each matrix once, the least:    %8.2f OP/B (%s)\n", t->flop_per_byte_least,
           bytes_text(t->bytes_least));
}

/* The site that wastes most sectors, of those that are not coalesced or else of all; NULL: none. */
static const xgemm_trace_site *worst_site(const xgemm_trace_report *t, bool only_uncoalesced)
{
    const xgemm_trace_site *worst = NULL;
    int64_t most = 0;
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        const int64_t wasted = s->sectors - s->ideal_sectors;
        if (s->is_shared || wasted <= most ||
            (only_uncoalesced && strcmp(site_class(s), "not coalesced") != 0))
            continue;
        most = wasted;
        worst = s;
    }
    return worst;
}

static void print_coalescing_verdict(const xgemm_trace_report *t)
{
    const xgemm_trace_site *bad = worst_site(t, true), *unaligned = worst_site(t, false);
    if (bad)
        printf("  coalescing:    not done: %s:%d touches %.1f times the sectors it needs (%s)\n",
               bad->file, bad->line, (double)bad->sectors / (double)bad->ideal_sectors, bad->array);
    else if (unaligned)
        printf("  coalescing:    done, not aligned: %s:%d (%s) touches %.2f sectors a request and "
               "needs %.2f, as rows begin between sectors\n",
               unaligned->file, unaligned->line, unaligned->array,
               each(unaligned->sectors, unaligned), each(unaligned->ideal_sectors, unaligned));
    else
        printf("  coalescing:    done: every global access is in full sectors\n");
}

/* Warps enough to hide latency, and blocks enough for every multiprocessor. */
static void print_occupancy_verdict(const xgemm_trace_report *t)
{
    const int threads = t->block[0] * t->block[1] * t->block[2];
    if (!*t->device)
        printf("  occupancy:     not known without --gpu: %d threads and %d bytes of shared memory "
               "a block; %" PRId64 " block%s\n",
               threads, t->shared_bytes, t->blocks, plural(t->blocks));
    else
        printf("  occupancy:     %s: %.1f %% of the warps fit, limited by %s; the blocks make %.2f "
               "waves%s\n",
               t->warp_occupancy >= 0.5 && t->waves >= 1.0 ? "done" : "not done",
               100.0 * t->warp_occupancy, limiters_text(t->limiters, LIMITERS_IN_A_SENTENCE),
               t->waves, t->waves < 1.0 ? ": the GPU is not full" : "");
}

/* Split-K: each slice of k has blocks of its own, with a private copy of the partial sums. */
static void print_privatisation_verdict(const explain_request *r, const xgemm_trace_report *t)
{
    const int sms = *t->device ? r->gpu.multiprocessors : 0;
    if (t->k_parts > 1)
        printf("  privatisation: done: %" PRId64
               " blocks each sum a slice of k for an element of C, "
               "and a second launch reduces the partial sums (split-K)\n",
               t->k_parts);
    else if (t->shared_tiles > 0)
        printf("  privatisation: done: the last %" PRId64
               " tiles are distributed evenly over all blocks; the block that stores a tile "
               "reduces its partial sums (stream-K)\n",
               t->shared_tiles);
    else if (sms > 0 && t->blocks < sms && r->work.size.k >= 1024)
        printf("  privatisation: not done: %" PRId64 " block%s %" PRId64
               " of %d multiprocessors idle, and k = %" PRId64 " could be split (split-K)\n",
               t->blocks, t->blocks == 1 ? " leaves" : "s leave", sms - t->blocks, sms,
               r->work.size.k);
    else
        printf("  privatisation: not needed: each element of C is summed in one block (no "
               "split-K)\n");
}

/* How often an element that is loaded from global memory is multiplied, on average. */
static double uses(const workload *w, const xgemm_trace_report *t)
{
    const double operations = type_is_complex(w->type) ? 4.0 : 1.0;
    double loaded = 0.0; /* bytes, by the blocks that ran */
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *const site = &t->sites[i];
        if (!site->is_shared && !site->is_store && !site->is_atomic)
            loaded += (double)site->lanes * site->bytes;
    }
    const double all = loaded * (double)t->blocks / (double)t->blocks_run;
    return all > 0.0 ? (double)type_bytes(w->type) * t->flops / operations / all : 0.0;
}

static void print_checklist(const explain_request *r, const xgemm_trace_report *t)
{
    const int threads = t->block[0] * t->block[1] * t->block[2];
    const double tile = (double)r->info.tile_m * r->info.tile_n, per_thread = tile / threads;
    const double divergent = 1.0 - t->simt_efficiency, used = uses(&r->work, t);

    printf("\nChecklist\n");
    print_occupancy_verdict(t);
    print_coalescing_verdict(t);
    printf("  divergence:    %s: %.2f %% of threads idle in the blocks that ran\n",
           divergent < 0.02 ? "not needed" : "not done", 100.0 * divergent);
    printf("  tiling:        %s: an element that is loaded is used %.1f times on average\n",
           t->shared_bytes > 0 && used >= 1.05 ? "done" : "not done", used);
    print_privatisation_verdict(r, t);
    printf("  coarsening:    %s: a block of %d thread%s computes %.0f element%s of C\n",
           per_thread > 1.0 ? "done" : "not done", threads, plural(threads), tile,
           plural((int64_t)tile));
}

void explain_text(const explain_request *r, const xgemm_trace_report *t)
{
    print_head(r, t);
    explain_warp_map(t);
    explain_accesses(t);
    print_divergence(r, t);
    print_intensity(r, t);
    explain_gpu(r, t);
    if (r->dram.channels > 0)
        explain_dram(r);
    print_checklist(r, t);
}

json_t *explain_trace_facts(const xgemm_trace_report *t)
{
    return json_pack(
        "{s:s, s:[I,I,I], s:[i,i,i], s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "level",
        "source", "grid", (json_int_t)t->grid[0], (json_int_t)t->grid[1], (json_int_t)t->grid[2],
        "block", t->block[0], t->block[1], t->block[2], "blocks", (json_int_t)t->blocks,
        "blocks_run", (json_int_t)t->blocks_run, "warps_run", (json_int_t)t->warps_run, "barriers",
        (json_int_t)t->barriers, "flops", t->flops, "bytes_asked", t->bytes_asked, "bytes_moved",
        t->bytes_moved, "flop_per_byte_asked", t->flop_per_byte_asked, "flop_per_byte_moved",
        t->flop_per_byte_moved, "simt_efficiency", t->simt_efficiency);
}

static json_t *facts_of(const explain_request *r, const command *which, const xgemm_trace_report *t)
{
    const shape *s = &r->work.size;
    json_t *facts = report_facts(which), *how = problem_settings(&r->problem);
    report_add(how, json_pack("{s:s, s:I, s:I, s:I}", "kernel", t->kernel, "m", (json_int_t)s->m,
                              "n", (json_int_t)s->n, "k", (json_int_t)s->k));
    json_object_set_new(facts, "settings", how);
    json_object_set_new(facts, "trace", explain_trace_facts(t));
    explain_gpu_facts(facts, r, t);
    return facts;
}

void explain_rows(const explain_request *r, const command *which, const xgemm_trace_report *t)
{
    explain_site_rows(&r->common, t, facts_of(r, which, t));
}

void explain_site_rows(const settings *common, const xgemm_trace_report *t, json_t *facts)
{
    static const column columns[] = {
        {"file", 0},         {"line", 0},       {"array", 0},
        {"memory", 0},       {"access", 0},     {"bytes", 0},
        {"class", 0},        {"requests", 0},   {"partial_requests", 0},
        {"lanes", 0},        {"sectors", 0},    {"ideal_sectors", 0},
        {"cache_lines", 0},  {"wavefronts", 0}, {"ideal_wavefronts", 0},
        {"most_sectors", 0}, {"most_ways", 0},  {"source", 0},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    report to = report_open(common, columns, COLUMNS, "sites", facts);
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        const bool banks = s->is_shared || s->is_constant;
        const cell cells[COLUMNS] = {
            cell_text(s->file),
            cell_integer(s->line),
            cell_text(s->array),
            cell_text(s->is_constant ? "constant"
                      : s->is_shared ? "shared"
                                     : "global"),
            cell_text(access_word(s)),
            cell_integer(s->bytes),
            cell_text(site_class(s)),
            cell_integer(s->requests),
            cell_integer(s->partial_requests),
            cell_integer(s->lanes),
            banks ? cell_none() : cell_integer(s->sectors),
            banks ? cell_none() : cell_integer(s->ideal_sectors),
            banks ? cell_none() : cell_integer(s->cache_lines),
            banks ? cell_integer(s->wavefronts) : cell_none(),
            banks ? cell_integer(s->ideal_wavefronts) : cell_none(),
            banks ? cell_none() : cell_integer(s->most_sectors),
            banks ? cell_integer(s->most_ways) : cell_none(),
            cell_text(s->source),
        };
        report_row(&to, cells);
    }
    report_close(&to);
}
