/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speeds over sizes: a line for each kernel with its name where it ends. Where there are more than
 * eight, the fastest eight are lines, and all are bars beside them, at the largest size that most
 * of them have. A size between the round ones, such as 4097, is a point of its own: a line through
 * it would be a zigzag.
 */
#include "plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_MOST = 8,
    ROUND = 16,
    WIDTH = 960,
    WIDTH_WITH_BARS = 1400,
    HEIGHT = 600,
    ABOUT_BARS = 140, /* pixels of title and axes */
    BAR = 17          /* pixels of height */
};

/* One line, as it is drawn. */
typedef struct {
    const line *of;
    const char *color;
    double last, label; /* the y of its end, and where its name stands */
    double at_bars;     /* its y at the size of the bars; negative: it has none */
} drawn;

typedef struct {
    const plot *plot;
    drawn *lines; /* the fastest first */
    double most;  /* y */
    double bars_x;
} layout;

static bool has_bars(const plot *p)
{
    return p->count > LINES_MOST;
}

int plot_speeds_width(const plot *p)
{
    return has_bars(p) ? WIDTH_WITH_BARS : WIDTH;
}

int plot_speeds_height(const plot *p)
{
    const int needed = ABOUT_BARS + BAR * (int)p->count;
    return has_bars(p) && needed > HEIGHT ? needed : HEIGHT;
}

/* ---- What stands where ---- */

static bool is_round(double x)
{
    return fmod(x, ROUND) == 0.0;
}

/* Whether a line has sizes of both sorts: one of odd sizes alone is a line through them. */
static bool is_mixed(const line *of)
{
    size_t round = 0;
    for (size_t i = 0; i < of->count; i++)
        round += is_round(of->points[i].x);
    return round > 0 && round < of->count;
}

static bool any_mixed(const plot *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (is_mixed(&p->lines[i]))
            return true;
    return false;
}

static double y_at(const line *of, double x)
{
    for (size_t i = 0; i < of->count; i++)
        if (of->points[i].x == x)
            return of->points[i].y;
    return -1.0;
}

static size_t lines_with(const plot *p, double x)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += y_at(&p->lines[i], x) >= 0.0;
    return count;
}

static double size_of_bars(const plot *p)
{
    double best = 0.0;
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++) {
            const double x = p->lines[i].points[j].x;
            const size_t count = lines_with(p, x);
            if (count > most || (count == most && x > best)) {
                most = count;
                best = x;
            }
        }
    return best;
}

static int by_speed(const void *left, const void *right)
{
    const drawn *a = left, *b = right;
    return (a->at_bars < b->at_bars) - (a->at_bars > b->at_bars);
}

static int by_end(const void *left, const void *right)
{
    const drawn *a = left, *b = right;
    return (a->last > b->last) - (a->last < b->last);
}

/* The end of the line: of its round sizes, where it has others too. */
static double last_y(const line *of)
{
    const bool mixed = is_mixed(of);
    double x = -1.0, y = 0.0;
    for (size_t i = 0; i < of->count; i++)
        if (of->points[i].x >= x && (!mixed || is_round(of->points[i].x))) {
            x = of->points[i].x;
            y = of->points[i].y;
        }
    return y;
}

/* Names one above the other, each as near to the end of its line as the one below lets it be. */
static void place_labels(layout *l, size_t shown)
{
    const double gap = l->most * 0.045, top = l->most * 1.02;
    double floor = 0.0;
    qsort(l->lines, shown, sizeof *l->lines, by_end);
    for (size_t i = 0; i < shown; i++) {
        const double y = l->lines[i].last;
        l->lines[i].label = y > floor ? y : floor;
        floor = l->lines[i].label + gap;
    }
    double ceiling = top;
    for (size_t i = shown; i > 0 && l->lines[i - 1].label > ceiling; i--) {
        l->lines[i - 1].label = ceiling;
        ceiling -= gap;
    }
}

static bool find_layout(const plot *p, layout *l)
{
    *l = (layout){.plot = p, .lines = calloc(p->count + 1, sizeof *l->lines)};
    if (!l->lines)
        return false;
    l->bars_x = size_of_bars(p);
    for (size_t i = 0; i < p->count; i++) {
        const line *of = &p->lines[i];
        l->lines[i] = (drawn){
            .of = of, .color = plot_color(i), .last = last_y(of), .at_bars = y_at(of, l->bars_x)};
        for (size_t j = 0; j < of->count; j++)
            if (of->points[j].y > l->most)
                l->most = of->points[j].y;
    }
    qsort(l->lines, p->count, sizeof *l->lines, by_speed);
    if (has_bars(p))
        for (size_t i = 0; i < p->count; i++)
            l->lines[i].color = i < LINES_MOST ? plot_color(i) : "#bbbbbb";
    return true;
}

/* ---- gnuplot ---- */

/* The points of a line that are round, or are not; a size of 0 has no place on the axis. */
static void write_points(const drawn *d, size_t number, bool round, double unit, FILE *to)
{
    const bool mixed = is_mixed(d->of);
    size_t count = 0;
    fprintf(to, "$%s%zu << end\n", round ? "line" : "odd", number);
    for (size_t i = 0; i < d->of->count; i++) {
        const point *at = &d->of->points[i];
        if (at->x > 0.0 && (mixed ? is_round(at->x) : true) == round) {
            fprintf(to, "%.9g %.9g\n", at->x, at->y / unit);
            count++;
        }
    }
    /* gnuplot refuses a block without points. */
    if (count == 0)
        fputs("NaN NaN\n", to);
    fputs("end\n", to);
}

/* gnuplot makes no axis of a single place. */
static void write_x_axis(const plot *p, FILE *to)
{
    double least = INFINITY, most = 0.0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++) {
            const double x = p->lines[i].points[j].x;
            least = x > 0.0 && x < least ? x : least;
            most = x > most ? x : most;
        }
    if (most == 0.0)
        least = most = 1.0;
    fprintf(to,
            "set format x '%%.9g'\nset logscale x 2\nset xtics rotate by -45\n"
            "set xrange [%.9g:%.9g]\n",
            least == most ? least / 2.0 : least / 1.05, least == most ? most * 2.0 : most * 1.05);
}

static void write_lines(const layout *l, size_t shown, double unit, FILE *to)
{
    const char *separator = "plot";
    for (size_t i = 0; i < shown; i++)
        fprintf(
            to,
            "set label %zu \"%s\" at graph 1.015, first %.9g left noenhanced textcolor rgb '%s'\n",
            i + 1, l->lines[i].of->name, l->lines[i].label / unit, l->lines[i].color);
    for (size_t i = 0; i < shown; i++) {
        write_points(&l->lines[i], i, true, unit, to);
        write_points(&l->lines[i], i, false, unit, to);
    }
    for (size_t i = 0; i < shown; i++) {
        fprintf(to,
                "%s $line%zu using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.5 "
                "linecolor rgb '%s' notitle, $odd%zu using 1:2 with points pointtype 6 pointsize "
                "0.9 linecolor rgb '%s' notitle",
                separator, i, l->lines[i].color, i, l->lines[i].color);
        separator = ",";
    }
    fputc('\n', to);
    for (size_t i = 0; i < shown; i++)
        fprintf(to, "unset label %zu\n", i + 1);
}

static void write_bars(const layout *l, double unit, FILE *to)
{
    const plot *p = l->plot;
    size_t bars = 0;
    fputs("$bars << end\n", to);
    /* The fastest on top: gnuplot counts from below. */
    for (size_t i = p->count; i > 0; i--)
        if (l->lines[i - 1].at_bars >= 0.0)
            fprintf(to, "%zu %.9g \"%s\" 0x%s\n", bars++, l->lines[i - 1].at_bars / unit,
                    l->lines[i - 1].of->name, l->lines[i - 1].color + 1);
    fprintf(
        to,
        "end\nunset logscale x\nset title \"all, at %.9g\" noenhanced\nset xlabel \"%s\"\n"
        "unset ylabel\nset format x '%%g'\nset xtics norotate\nset xrange [0:*]\n"
        "set yrange [-0.7:%.1f]\nset ytics noenhanced font ',10' scale 0\nset grid noytics xtics\n"
        "plot $bars using (0.5*$2):1:(0.5*$2):(0.38):4:ytic(3) with boxxyerror fillstyle solid "
        "linecolor rgb variable notitle\n",
        l->bars_x, unit == 1.0 ? "GFLOP/s" : "TFLOP/s", (double)bars - 0.3);
}

static size_t longest_name(const layout *l, size_t shown)
{
    size_t longest = 0;
    for (size_t i = 0; i < shown; i++) {
        const size_t length = strlen(l->lines[i].of->name);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* The lines themselves: first, so that the bars find the order by speed as it was. */
static void write_line_panel(layout *l, size_t shown, double unit, FILE *to)
{
    const plot *p = l->plot;
    fprintf(to,
            "set title \"%s\" noenhanced\nset xlabel \"%s%s\" noenhanced\nset ylabel \"%s\"\n"
            "set grid\nunset key\nset yrange [0:%.9g]\nset rmargin %zu\n",
            p->title, p->x_label, any_mixed(p) ? " (circles: no multiple of 16)" : "",
            unit == 1.0 ? "GFLOP/s" : "TFLOP/s", l->most > 0.0 ? 1.06 * l->most / unit : 1.0,
            longest_name(l, shown) + 2);
    write_x_axis(p, to);
    place_labels(l, shown);
    write_lines(l, shown, unit, to);
    qsort(l->lines, p->count, sizeof *l->lines, by_speed);
}

void plot_write_speeds(const plot *p, FILE *to)
{
    layout l;
    if (p->count == 0 || !find_layout(p, &l)) {
        fputs("exit status 1\n", to);
        return;
    }
    const double unit = l.most >= 1000.0 ? 1000.0 : 1.0;
    if (has_bars(p))
        fputs("set multiplot layout 1,2\n", to);
    write_line_panel(&l, has_bars(p) ? LINES_MOST : p->count, unit, to);
    if (has_bars(p)) {
        fputs("set rmargin 3\n", to);
        write_bars(&l, unit, to);
        fputs("unset multiplot\n", to);
    }
    free(l.lines);
}
