/* SPDX-License-Identifier: BSD-3-Clause */
/* Drawings on the page of a user's own kernel: a warp's addresses, and the roofline. */
#include "explain_page.h"
#include "explain_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WARP = 32, CELL = 20, SECTOR = 8, BANKS = 32, ROWS_MOST = 32 };

/* The rows of a drawing: sectors of 8 words, or the words of all banks. */
typedef struct {
    uint32_t row[WARP]; /* in rising order */
    int count;
} rows;

static void add_row(rows *all, uint32_t row)
{
    int at = 0;
    while (at < all->count && all->row[at] < row)
        at++;
    if (at < all->count && all->row[at] == row)
        return;
    if (all->count == WARP)
        return;
    memmove(&all->row[at + 1], &all->row[at], (size_t)(all->count - at) * sizeof *all->row);
    all->row[at] = row;
    all->count++;
}

/* How many lanes want the word, or a part of it; the first of them in *lane. */
static int wanting(const xgemm_source_request *request, uint32_t words, uint32_t word, int *lane)
{
    int count = 0;
    for (int i = WARP - 1; i >= 0; i--)
        if ((request->lanes >> i & 1) && word - request->word[i] < words) {
            *lane = i;
            count++;
        }
    return count;
}

static void cell(FILE *to, int x, int y, int lanes, int lane, const char *colour)
{
    fprintf(to,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"var(--%s)\" "
            "stroke=\"var(--line)\"/>",
            x, y, CELL, CELL, lanes ? colour : "cell");
    if (lanes == 1)
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>", x + CELL / 2,
                y + 14, lane);
    else if (lanes > 1)
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">×%d</text>", x + CELL / 2,
                y + 14, lanes);
}

/* Rows of so many words each; in a word stands the thread that wants it, or how many do. */
static void drawing(FILE *to, const xgemm_trace_site *s, const xgemm_source_request *request)
{
    const uint32_t words = (uint32_t)(s->bytes + 3) / 4, width = s->is_shared ? BANKS : SECTOR;
    const char *colour = strcmp(source_class(s), "not coalesced") == 0 ||
                                 (s->is_shared && s->wavefronts > s->ideal_wavefronts)
                             ? "bad-back"
                             : "good-back";
    rows all = {.count = 0};
    for (int lane = 0; lane < WARP; lane++)
        for (uint32_t w = 0; (request->lanes >> lane & 1) && w < words; w++)
            add_row(&all, (request->word[lane] + w) / width);
    const int shown = all.count < ROWS_MOST ? all.count : ROWS_MOST;
    fprintf(to, "<svg width=\"%d\" height=\"%d\" role=\"img\">", (int)width * CELL + 110,
            (shown + 1) * CELL + 4);
    fprintf(to, "<text x=\"0\" y=\"14\">%s</text>", s->is_shared ? "bank" : "sector");
    for (uint32_t w = 0; w < width; w++)
        fprintf(to, "<text x=\"%d\" y=\"14\" text-anchor=\"middle\">%u</text>",
                100 + (int)w * CELL + CELL / 2, w);
    for (int i = 0; i < shown; i++) {
        const int y = (i + 1) * CELL;
        fprintf(to, "<text x=\"0\" y=\"%d\">%s %u</text>", y + 14, s->is_shared ? "row" : "+32 ×",
                all.row[i]);
        for (uint32_t w = 0; w < width; w++) {
            int lane = 0;
            const int lanes = wanting(request, words, all.row[i] * width + w, &lane);
            cell(to, 100 + (int)w * CELL, y, lanes, lane, colour);
        }
    }
    fputs("</svg>\n", to);
}

/* The access that is furthest from what could be: its drawing is the one that is open. */
static int worst_access(const xgemm_trace_report *t)
{
    double worst = 0.0;
    int at = 0;
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        const double ideal = (double)(s->is_shared ? s->ideal_wavefronts : s->ideal_sectors);
        const double work = (double)(s->is_shared ? s->wavefronts : s->sectors);
        if (!s->is_constant && ideal > 0.0 && work / ideal > worst) {
            worst = work / ideal;
            at = i;
        }
    }
    return at;
}

void page_accesses(FILE *to, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    fputs("<h2>Where a warp goes</h2>\n<p class=\"faint\">The worst request of each access. A cell "
          "is a word of 4 bytes, with the number of the thread of the warp that wants it, or how "
          "many do; a row is a sector of 32 bytes, or one word of each bank.</p>\n",
          to);
    const int open = worst_access(t);
    for (int i = 0; i < t->site_count; i++) {
        const xgemm_trace_site *s = &t->sites[i];
        if (s->is_constant)
            continue;
        fprintf(to, "<details%s><summary>line %d", i == open ? " open" : "", s->line);
        if (!*s->source) {
            fputs(" of ", to);
            page_text(to, s->file);
        }
        fputs(": ", to);
        page_text(to, s->is_atomic ? "atomic on " : s->is_store ? "store to " : "load of ");
        page_text(to, s->array);
        fprintf(to, ", %d bytes a thread: %s %d %s</summary><div class=\"scroll\">\n", s->bytes,
                "at most", s->is_shared ? s->most_ways : s->most_sectors,
                s->is_shared ? (s->most_ways == 1 ? "word of one bank" : "words of one bank")
                             : (s->most_sectors == 1 ? "sector" : "sectors"));
        drawing(to, s, &report->requests[i]);
        fputs("</div></details>\n", to);
    }
}

/* ---- The roofline ---- */

typedef struct {
    double x_from, x_to, y_from, y_to; /* logarithms to base 10 */
} axes;

enum { WIDTH = 640, HEIGHT = 320, MARGIN = 60 };

static double x_of(const axes *a, double value)
{
    return MARGIN + (WIDTH - 2 * MARGIN) * (log10(value) - a->x_from) / (a->x_to - a->x_from);
}

static double y_of(const axes *a, double value)
{
    return HEIGHT - MARGIN -
           (HEIGHT - 2 * MARGIN) * (log10(value) - a->y_from) / (a->y_to - a->y_from);
}

static void point(FILE *to, const axes *a, double intensity, double roof, const char *name, int row)
{
    if (intensity <= 0.0)
        return;
    const double x = x_of(a, intensity);
    const int left = x > WIDTH / 2; /* of the point, where there is room */
    fprintf(to,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"var(--mark)\"/><text x=\"%.1f\" "
            "y=\"%.1f\" text-anchor=\"%s\">%s: %.2f OP/B, at most %.0f GFLOP/s</text>\n",
            x, y_of(a, roof), left ? x - 9 : x + 9, y_of(a, roof) + (left ? -9 : 14 + 13 * row),
            left ? "end" : "start", name, intensity, roof);
}

void page_roofline(FILE *to, const source_request *r, const xgemm_source_report *report)
{
    const xgemm_trace_report *t = report->trace;
    fputs("<h2>Roofline</h2>\n", to);
    if (*t->device && t->blocks_per_sm == 0) {
        fputs("<p>None of a kernel that cannot run.</p>\n", to);
        return;
    }
    if (!*t->device || t->peak_gflops <= 0.0 || t->flop_per_byte_moved <= 0.0) {
        fputs("<p class=\"faint\">No GPU was named (--gpu), or the kernel computes nothing in "
              "floating point.</p>\n",
              to);
        return;
    }
    const double balance = t->peak_gflops / t->peak_gbs;
    const double low = fmin(t->flop_per_byte_moved, balance) / 4.0;
    const double high = fmax(fmax(t->flop_per_byte_least, t->flop_per_byte_asked), balance) * 8.0;
    const axes a = {log10(low), log10(high), log10(low * t->peak_gbs / 2.0),
                    log10(t->peak_gflops * 2.0)};
    fprintf(to, "<p>");
    page_text(to, t->device);
    fprintf(to, ": %.0f GFLOP/s %s, %.0f GB/s; %.1f %% of its warps fit.</p>\n", t->peak_gflops,
            source_peak(&r->gpu, t, is_mostly_fp64(report)), t->peak_gbs,
            100.0 * t->warp_occupancy);
    fprintf(to, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">", WIDTH, HEIGHT, WIDTH);
    fprintf(to,
            "<polyline fill=\"none\" stroke=\"var(--faint)\" stroke-width=\"2\" points=\"%.1f,%.1f "
            "%.1f,%.1f %.1f,%.1f\"/>\n",
            x_of(&a, low), y_of(&a, low * t->peak_gbs), x_of(&a, balance), y_of(&a, t->peak_gflops),
            x_of(&a, high), y_of(&a, t->peak_gflops));
    fprintf(to,
            "<text x=\"%d\" y=\"%d\">operations a byte of global memory (logarithmic)</text>"
            "<text x=\"4\" y=\"14\">GFLOP/s (logarithmic)</text>\n",
            WIDTH / 3, HEIGHT - 12);
    point(to, &a, t->flop_per_byte_asked, t->roof_asked_gflops, "asked", 0);
    point(to, &a, t->flop_per_byte_moved, t->roof_moved_gflops, "in sectors", 1);
    point(to, &a, t->flop_per_byte_least, t->roof_least_gflops, "least", 0);
    fputs("</svg>\n", to);
}
