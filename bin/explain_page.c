/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's own kernel as one page of HTML, which needs nothing else. */
#include "explain_page.h"

#include "replacement.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void page_bytes(FILE *to, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*text, to);
        }
}

void page_text(FILE *to, const char *text)
{
    page_bytes(to, text, strlen(text));
}

static void head(FILE *to, const source_request *r, const xgemm_trace_report *t)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          to);
    page_text(to, t->kernel);
    fputs(
        "</title>\n<style>\n"
        ":root{color-scheme:light dark;--back:#fff;--text:#1b1b1b;--faint:#6b6b6b;--line:#ddd;"
        "--bad:#b3261e;--bad-back:#fde7e4;--fair:#8a5a00;--fair-back:#fff3d6;--good:#1a6b34;"
        "--good-back:#e6f4ea;--mark:#2459c4;--cell:#f3f3f3}\n"
        "@media (prefers-color-scheme:dark){:root{--back:#16181b;--text:#e6e6e6;--faint:#9a9a9a;"
        "--line:#383b40;--bad:#ff9a8f;--bad-back:#47201c;--fair:#f3c65b;--fair-back:#3f3212;"
        "--good:#86d69c;--good-back:#183522;--mark:#8ab4f8;--cell:#24272b}}\n"
        "@media print{:root{--back:#fff;--text:#000;--faint:#444;--line:#bbb;--bad:#a00;"
        "--bad-back:#fdd;--fair:#750;--fair-back:#fec;--good:#050;--good-back:#dfd;--mark:#003a9e;"
        "--cell:#eee}details{break-inside:avoid}}\n"
        "body{background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;"
        "max-width:75rem;margin:0 auto;padding:1rem}\n"
        "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\n"
        "p.faint,.faint{color:var(--faint)}\n.scroll{overflow-x:auto}\n"
        "table{border-collapse:collapse;font-size:.85rem}td,th{padding:.1rem .6rem;"
        "text-align:right;white-space:nowrap}td.left,th.left{text-align:left}\n"
        "td.code{font-family:ui-monospace,monospace;white-space:pre-wrap;"
        "overflow-wrap:anywhere;text-align:left}\n"
        "tr.line:hover{background:var(--cell)}th{color:var(--faint);font-weight:600;"
        "border-bottom:1px solid var(--line)}\n"
        ".bad{color:var(--bad);background:var(--bad-back)}.fair{color:var(--fair);"
        "background:var(--fair-back)}.good{color:var(--good)}\n"
        "li{margin:.3rem 0}svg{max-width:100%;height:auto}svg text{fill:var(--text);"
        "font:11px ui-monospace,monospace}summary{cursor:pointer;padding:.2rem 0}\n"
        "@media print{body{font-size:9pt;padding:0}.scroll{overflow:visible}td,th{padding:0 .3rem}"
        "td.code{font-size:7.5pt}td.left{white-space:normal}}\n"
        "</style></head><body>\n<h1>",
        to);
    page_text(to, t->kernel);
    fputs("</h1>\n<p class=\"faint\">", to);
    page_text(to, r->launch.file);
    fprintf(to,
            ", grid %" PRId64 " × %" PRId64 " × %" PRId64 ", blocks of %d × %d × %d threads; %s "
            "%" PRId64 " of %" PRId64 " block%s counted by xgemm explain, of the source: nvcc may "
            "merge accesses.</p>\n",
            t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2],
            t->blocks_run == t->blocks ? "all," : "a sample,", t->blocks_run, t->blocks,
            plural(t->blocks));
}

static void faults(FILE *to, const xgemm_source_report *report)
{
    if (report->fault_count == 0) {
        fputs("<p class=\"good\">No faults.</p>\n", to);
        return;
    }
    fputs("<h2>Faults</h2>\n<ul>\n", to);
    for (int i = 0; i < report->fault_count; i++) {
        fputs("<li class=\"bad\">", to);
        page_text(to, report->faults[i].text);
        fprintf(to, " (%" PRId64 " time%s)</li>\n", report->faults[i].count,
                plural(report->faults[i].count));
    }
    fputs("</ul>\n", to);
}

static void advice(FILE *to, const source_request *r, const xgemm_source_report *report)
{
    source_advice all = source_advise(r, report);
    fputs("<h2>Advice</h2>\n<ul>\n", to);
    for (int i = 0; i < all.count; i++) {
        fputs("<li>", to);
        page_text(to, all.sentences[i]);
        fputs("</li>\n", to);
    }
    if (all.count == 0)
        fprintf(to, "<li>None: %s.</li>\n", source_no_advice(report));
    fputs("</ul>\n", to);
    source_advice_free(&all);
}

/* ---- The source, line by line ---- */

/* What a line's accesses are like, the worst of them; and its counts as text. */
static const char *line_counts(const xgemm_source_report *report, int line, char *text, size_t size)
{
    const xgemm_trace_report *t = report->trace;
    const char *like = "";
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (s->line != line || *s->source == '\0' || used >= size || s->requests == 0)
            continue;
        const bool banks = s->is_shared || s->is_constant;
        const double each = (double)(banks ? s->wavefronts : s->sectors) / (double)s->requests;
        const double ideal =
            (double)(banks ? s->ideal_wavefronts : s->ideal_sectors) / (double)s->requests;
        const double share = ideal > 0.0 ? each / ideal : 1.0;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s %.3g/%.3g", used ? ", " : "",
                                 s->is_atomic  ? "atomic"
                                 : s->is_store ? "store"
                                               : "load",
                                 s->array, each, ideal);
        if (share >= 2.0)
            like = "bad";
        else if (share > 1.05 && strcmp(like, "bad") != 0)
            like = "fair";
        else if (!*like)
            like = "good";
    }
    return like;
}

static const xgemm_source_line *work_of(const xgemm_source_report *report, int line)
{
    for (int i = 0; i < report->line_count; i++)
        if (report->lines[i].line == line)
            return &report->lines[i];
    return NULL;
}

static bool is_faulty(const xgemm_source_report *report, int line)
{
    for (int i = 0; i < report->fault_count; i++)
        if (report->faults[i].line == line || report->faults[i].other_line == line)
            return true;
    return false;
}

static int64_t requests_of(const xgemm_trace_report *t, int line)
{
    int64_t all = 0;
    for (int i = 0; i < t->site_count; i++)
        all += t->sites[i].line == line && *t->sites[i].source ? t->sites[i].requests : 0;
    return all;
}

static void source_line(FILE *to, const xgemm_source_report *report, int number, const char *text,
                        size_t length)
{
    char counts[400];
    const char *like = line_counts(report, number, counts, sizeof counts);
    const xgemm_source_line *work = work_of(report, number);
    const int64_t requests = requests_of(report->trace, number);
    fprintf(to, "<tr class=\"line\" id=\"L%d\"><td class=\"%s\">%d</td><td class=\"code\">", number,
            is_faulty(report, number) ? "bad" : "faint", number);
    page_bytes(to, text, length);
    fputs("</td>", to);
    if (requests > 0)
        fprintf(to, "<td>%" PRId64 "</td>", requests);
    else
        fputs("<td></td>", to);
    fprintf(to, "<td class=\"left %s\">", like);
    page_text(to, counts);
    fputs("</td>", to);
    if (work) {
        const double share = (double)work->lanes / (32.0 * (double)work->steps);
        fprintf(to, "<td class=\"%s\">%.1f</td>",
                share < 0.75   ? "bad"
                : share < 0.95 ? "fair"
                               : "",
                32.0 * share);
    } else {
        fputs("<td></td>", to);
    }
    fputs("</tr>\n", to);
}

/* The lines from the first to the last that works or accesses, with some around them. */
static void source(FILE *to, const xgemm_source_report *report)
{
    enum { AROUND = 5 };
    const xgemm_trace_report *t = report->trace;
    int first = 1 << 30, last = 0;
    for (int i = 0; i < report->line_count; i++) {
        first = report->lines[i].line < first ? report->lines[i].line : first;
        last = report->lines[i].line > last ? report->lines[i].line : last;
    }
    for (int i = 0; i < t->site_count; i++) {
        const int line = *t->sites[i].source ? t->sites[i].line : last; /* else of a header */
        first = line && line < first ? line : first;
        last = line > last ? line : last;
    }
    fputs(
        "<h2>Source</h2>\n<p class=\"faint\">Beside each access: sectors of a request (passes, in "
        "shared memory) as they are / as few as could be; then how many of a warp's 32 threads "
        "are at work.</p>\n<div class=\"scroll\"><table>\n<tr><th></th><th class=\"left\">"
        "</th><th>requests</th><th class=\"left\">sectors or passes</th><th>threads</th></tr>\n",
        to);
    const char *at = report->text;
    for (int number = 1; *at; number++) {
        if (number >= first - AROUND && number <= last + AROUND)
            source_line(to, report, number, at, strcspn(at, "\r\n"));
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    fputs("</table></div>\n", to);
}

/* ---- The page ---- */

static int write_page(FILE *to, const source_request *r, const xgemm_source_report *report)
{
    head(to, r, report->trace);
    faults(to, report);
    advice(to, r, report);
    source(to, report);
    page_accesses(to, report);
    page_roofline(to, r, report);
    fputs("</body></html>\n", to);
    return ferror(to) ? -1 : 0;
}

int source_page(const source_request *r, const xgemm_source_report *report, char *why,
                size_t why_size)
{
    replacement output;
    if (!replacement_open(&output, r->html)) {
        snprintf(why, why_size, "cannot write %s: %s", r->html, output.why);
        return -1;
    }
    const int descriptor = dup(output.descriptor);
    FILE *to = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    int result = to ? write_page(to, r, report) : -1;
    if (to ? fclose(to) != 0 : descriptor >= 0 && close(descriptor) != 0)
        result = -1;
    if (result) {
        snprintf(why, why_size, "cannot write %s: %s", r->html, strerror(errno));
    } else if (!replacement_commit(&output)) {
        snprintf(why, why_size, "cannot write %s: %s", r->html, output.why);
        result = -1;
    }
    replacement_abandon(&output);
    return result;
}
