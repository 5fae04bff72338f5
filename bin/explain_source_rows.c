/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's own kernel, as CSV or JSON. */
#include "explain_source.h"
#include "explain_text.h"
#include "report.h"

/* A line of the source; 0, which is not known or of none, is null. */
static json_t *line_or_null(int line)
{
    return line > 0 ? json_integer(line) : json_null();
}

static const char *const kinds[] = {"",          "race",    "race between blocks",
                                    "undefined", "outside", "misaligned",
                                    "constant",  "barrier", "stopped"};

static json_t *faults_of(const xgemm_source_report *source)
{
    json_t *all = json_array();
    for (int i = 0; i < source->fault_count; i++) {
        const xgemm_source_fault *f = &source->faults[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:I, s:o}", "kind", kinds[f->kind],
                                             "line", line_or_null(f->line), "other_line",
                                             line_or_null(f->other_line), "count",
                                             (json_int_t)f->count, "text", report_text(f->text)));
    }
    return all;
}

static json_t *lines_of(const xgemm_source_report *source)
{
    json_t *all = json_array();
    for (int i = 0; i < source->line_count; i++) {
        const xgemm_source_line *l = &source->lines[i];
        json_array_append_new(all, json_pack("{s:i, s:I, s:I, s:f}", "line", l->line, "steps",
                                             (json_int_t)l->steps, "lanes", (json_int_t)l->lanes,
                                             "flops", l->flops));
    }
    return all;
}

static json_t *advice_of(const source_request *r, const xgemm_source_report *source)
{
    source_advice advice = source_advise(r, source);
    json_t *all = json_array();
    for (int i = 0; i < advice.count; i++)
        json_array_append_new(all, json_pack("{s:o, s:o}", "line", line_or_null(advice.lines[i]),
                                             "text", report_text(advice.sentences[i])));
    source_advice_free(&advice);
    return all;
}

/* What both results begin with. */
static json_t *facts_of(const command *which, const source_request *r,
                        const xgemm_source_report *source)
{
    json_t *facts = report_facts(which);
    json_object_set_new(facts, "kernel", report_text(source->trace->kernel));
    json_object_set_new(facts, "file", report_text(r->launch.file));
    json_object_set_new(facts, "check_only", json_boolean(r->check_only));
    return facts;
}

void source_rows(const command *which, const source_request *r, const xgemm_source_report *source)
{
    const xgemm_trace_report *t = source->trace;
    const explain_request like = {.gpu = r->gpu, .is_source = true};
    json_t *facts = facts_of(which, r, source);
    json_t *trace = explain_trace_facts(t);
    json_object_set_new(trace, "flops64", json_real(source->flops64));
    json_object_set_new(trace, "instructions", json_real(source->instructions));
    json_object_set_new(trace, "bytes_least", json_real(t->bytes_least));
    json_object_set_new(trace, "shared_bytes", json_integer(t->shared_bytes));
    json_object_set_new(trace, "seconds", json_real(source->seconds));
    json_object_set_new(facts, "trace", trace);
    explain_gpu_facts(facts, &like, t);
    json_object_set_new(facts, "faults", faults_of(source));
    json_object_set_new(facts, "lines", lines_of(source));
    json_object_set_new(facts, "advice", advice_of(r, source));
    explain_site_rows(&r->common, t, facts);
}

static cell line_cell(int line)
{
    return line > 0 ? cell_integer(line) : cell_none();
}

void source_fault_rows(const command *which, const source_request *r,
                       const xgemm_source_report *source)
{
    static const column columns[] = {
        {"kind", -12}, {"line", 6}, {"other_line", 10}, {"count", 8}, {"text", -1}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const xgemm_trace_report *t = source->trace;
    json_t *facts = facts_of(which, r, source);
    json_object_set_new(facts, "blocks", json_integer(t->blocks));
    json_object_set_new(facts, "blocks_run", json_integer(t->blocks_run));
    report out = report_open(&r->common, columns, COLUMNS, "faults", facts);
    for (int i = 0; i < source->fault_count; i++) {
        const xgemm_source_fault *f = &source->faults[i];
        const cell cells[COLUMNS] = {cell_text(kinds[f->kind]), line_cell(f->line),
                                     line_cell(f->other_line), cell_integer(f->count),
                                     cell_text(f->text)};
        report_row(&out, cells);
    }
    report_close(&out);
}
