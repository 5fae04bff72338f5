/* SPDX-License-Identifier: BSD-3-Clause */
/* Two kernels of the user's own side by side: what the change did to each count. */
#include "explain_source.h"
#include "report.h"

/* Sums over the sites, each of its memory. */
typedef struct {
    double load_requests, store_requests, sectors, ideal_sectors, shared_requests, passes,
        ideal_passes, partial;
} sums;

static sums sums_of(const xgemm_trace_report *t)
{
    const double scale = t->blocks_run ? (double)t->blocks / (double)t->blocks_run : 0.0;
    sums all = {0};
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        all.partial += scale * (double)s->partial_requests;
        if (s->is_shared || s->is_constant) {
            all.shared_requests += scale * (double)s->requests;
            all.passes += scale * (double)s->wavefronts;
            all.ideal_passes += scale * (double)s->ideal_wavefronts;
            continue;
        }
        *(s->is_store ? &all.store_requests : &all.load_requests) += scale * (double)s->requests;
        all.sectors += scale * (double)s->sectors;
        all.ideal_sectors += scale * (double)s->ideal_sectors;
    }
    return all;
}

static void row(report *to, const char *name, double before, double after, int digits)
{
    const cell cells[] = {cell_text(name), cell_real(before, digits), cell_real(after, digits),
                          before != 0.0 ? cell_real(after / before, 3) : cell_none()};
    report_row(to, cells);
}

void source_compare(const command *which, const source_request *r,
                    const xgemm_source_report *before, const xgemm_source_report *after)
{
    static const column columns[] = {{"name", -32}, {"before", 16}, {"after", 16}, {"ratio", 9}};
    const xgemm_trace_report *a = before->trace, *b = after->trace;
    const sums from = sums_of(a), to = sums_of(b);
    json_t *facts = report_facts(which);
    json_object_set_new(facts, "kernel_before", report_text(a->kernel));
    json_object_set_new(facts, "kernel_after", report_text(b->kernel));
    if (r->common.format == FORMAT_TEXT) {
        printf("before: %s of %s; after: %s of %s; counts of all blocks\n\n", a->kernel,
               r->launch.file, b->kernel, r->other ? r->other : r->launch.file);
    }
    report out = report_open(&r->common, columns, 4, "counts", facts);
    row(&out, "global load requests", from.load_requests, to.load_requests, 0);
    row(&out, "global store requests", from.store_requests, to.store_requests, 0);
    row(&out, "sectors", from.sectors, to.sectors, 0);
    row(&out, "sectors needed", from.ideal_sectors, to.ideal_sectors, 0);
    row(&out, "shared requests", from.shared_requests, to.shared_requests, 0);
    row(&out, "bank passes", from.passes, to.passes, 0);
    row(&out, "bank passes needed", from.ideal_passes, to.ideal_passes, 0);
    row(&out, "divergent requests", from.partial, to.partial, 0);
    row(&out, "barriers",
        (double)a->barriers * (a->blocks_run ? (double)a->blocks / (double)a->blocks_run : 0.0),
        (double)b->barriers * (b->blocks_run ? (double)b->blocks / (double)b->blocks_run : 0.0), 0);
    row(&out, "share of threads at work", a->simt_efficiency, b->simt_efficiency, 4);
    row(&out, "operations", a->flops, b->flops, 0);
    row(&out, "instructions of the host", before->instructions, after->instructions, 0);
    row(&out, "bytes asked", a->bytes_asked, b->bytes_asked, 0);
    row(&out, "bytes in sectors", a->bytes_moved, b->bytes_moved, 0);
    row(&out, "operations a byte asked", a->flop_per_byte_asked, b->flop_per_byte_asked, 3);
    row(&out, "operations a byte in sectors", a->flop_per_byte_moved, b->flop_per_byte_moved, 3);
    row(&out, "shared memory, bytes", a->shared_bytes, b->shared_bytes, 0);
    if (*a->device && *b->device) {
        row(&out, "share of warps that fit", a->warp_occupancy, b->warp_occupancy, 3);
        row(&out, "roofline, GFLOP/s at most", a->roof_moved_gflops, b->roof_moved_gflops, 0);
    }
    row(&out, "faults", before->fault_count, after->fault_count, 0);
    report_close(&out);
    if (r->common.format == FORMAT_TEXT && before->fault_count + after->fault_count > 0) {
        printf("\n");
        source_faults(before);
        source_faults(after);
    }
}
