/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speeds over sizes. Sizes that grow in a dimension while none of the others falls have an order:
 * each kernel is a line over the logarithm of that dimension, with its name where it ends. A size
 * between the round ones, such as 4097, is then a point of its own: a line through it would be a
 * zigzag. Other sizes stand side by side under their names, and nothing joins the points. Of more
 * than eight kernels, the fastest eight are drawn so, and all are bars beside them, at the largest
 * size that most of them have. One size alone is bars alone.
 */
#include "plot_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_MOST = 8,
    TICKS_MOST = 128,
    BARS_MOST = 400, /* a PNG has at most 32767 rows */
    ROUND = 16,
    NO_ORDER = -1
};

/* In pixels. */
enum {
    LETTER = 8,
    HEIGHT = 600,
    LINES_WIDTH = 700, /* without the kernels' names, as the others */
    LINES_WIDTH_MOST = 2400,
    BARS_WIDTH = 460,
    BESIDE = 30,      /* from the axes to the names or the edge */
    ABOUT_BARS = 140, /* title and axes */
    BAR = 20,
    BETWEEN_TICKS = 26
};

/* One line, as it is drawn. */
typedef struct {
    const char *name, *color;
    const double *speeds; /* over the sizes; negative: not measured */
    double last, label;   /* the y of its end, and where its name stands */
    double at_bars;
} drawn;

typedef struct {
    const plot *plot;
    shape *sizes; /* the smallest product first */
    size_t size_count;
    double *speeds;
    drawn *lines; /* the fastest first */
    size_t shown; /* lines of the panel of lines, which is not there where it is 0 */
    size_t bars;  /* likewise */
    size_t bars_at;
    int along; /* the dimension of the order */
    bool mixed;
    double most, unit;
} layout;

/* ---- Sizes ---- */

static bool is_round(const shape *s)
{
    return s->m % ROUND == 0 && s->n % ROUND == 0 && s->k % ROUND == 0;
}

/* Those of all points, each once; without the empty ones, which have no speed, unless all are. */
static bool find_sizes(layout *l)
{
    const plot *p = l->plot;
    size_t points = 0, count = 0;
    for (size_t i = 0; i < p->count; i++)
        points += p->lines[i].count;
    l->sizes = malloc((points + 1) * sizeof *l->sizes);
    if (!l->sizes)
        return false;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++)
            l->sizes[count++] = p->lines[i].points[j].size;
    qsort(l->sizes, count, sizeof *l->sizes, shape_by_work);
    const bool empty = count == 0 || shape_work(&l->sizes[count - 1]) == 0.0;
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || shape_by_work(&l->sizes[i - 1], &l->sizes[i]) != 0) &&
            (empty || shape_work(&l->sizes[i]) > 0.0))
            l->sizes[l->size_count++] = l->sizes[i];
    return true;
}

static bool grows(const layout *l, int along)
{
    for (size_t i = 0; i + 1 < l->size_count; i++) {
        const shape *a = &l->sizes[i], *b = &l->sizes[i + 1];
        if (shape_extent(a, along) >= shape_extent(b, along) || a->m > b->m || a->n > b->n ||
            a->k > b->k)
            return false;
    }
    return shape_extent(&l->sizes[0], along) > 0;
}

static int find_order(const layout *l)
{
    for (int d = 0; d < 3; d++)
        if (grows(l, d))
            return d;
    return NO_ORDER;
}

static bool is_mixed(const layout *l)
{
    size_t round = 0;
    for (size_t i = 0; i < l->size_count; i++)
        round += is_round(&l->sizes[i]);
    return l->along != NO_ORDER && round > 0 && round < l->size_count;
}

/* Where a size stands on the x axis. */
static double place(const layout *l, size_t size)
{
    return l->along == NO_ORDER ? (double)size
                                : log2((double)shape_extent(&l->sizes[size], l->along));
}

/* ---- Lines ---- */

static bool find_speeds(layout *l)
{
    const plot *p = l->plot;
    l->speeds = calloc(p->count * l->size_count, sizeof *l->speeds);
    if (!l->speeds)
        return false;
    for (size_t i = 0; i < p->count * l->size_count; i++)
        l->speeds[i] = -1.0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++) {
            const point *at = &p->lines[i].points[j];
            const shape *size =
                bsearch(&at->size, l->sizes, l->size_count, sizeof *l->sizes, shape_by_work);
            double *speed = size ? &l->speeds[i * l->size_count + (size_t)(size - l->sizes)] : NULL;
            if (speed && *speed < 0.0)
                *speed = at->y;
            l->most = at->y > l->most ? at->y : l->most;
        }
    return true;
}

/* The largest of the sizes that most lines have. */
static size_t size_of_bars(const layout *l)
{
    size_t best = 0, most = 0;
    for (size_t size = 0; size < l->size_count; size++) {
        size_t count = 0;
        for (size_t i = 0; i < l->plot->count; i++)
            count += l->speeds[i * l->size_count + size] >= 0.0;
        if (count >= most) {
            most = count;
            best = size;
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

/* The end of the line: of its round sizes, where there are others too. */
static double last_speed(const layout *l, const double *speeds)
{
    for (size_t i = l->size_count; i > 0; i--)
        if (speeds[i - 1] >= 0.0 && (!l->mixed || is_round(&l->sizes[i - 1])))
            return speeds[i - 1];
    return 0.0;
}

static bool find_lines(layout *l)
{
    const size_t count = l->plot->count;
    l->lines = calloc(count, sizeof *l->lines);
    if (!l->lines)
        return false;
    for (size_t i = 0; i < count; i++) {
        const double *speeds = &l->speeds[i * l->size_count];
        l->lines[i] = (drawn){.name = l->plot->lines[i].name,
                              .speeds = speeds,
                              .last = last_speed(l, speeds),
                              .at_bars = speeds[l->bars_at]};
    }
    qsort(l->lines, count, sizeof *l->lines, by_speed);
    l->shown = l->size_count == 1 ? 0 : count < LINES_MOST ? count : LINES_MOST;
    while (l->shown < count && l->bars < BARS_MOST && l->bars < count &&
           l->lines[l->bars].at_bars >= 0.0)
        l->bars++;
    for (size_t i = 0; i < count; i++)
        l->lines[i].color = i < l->shown ? plot_color(i) : l->shown ? "#bbbbbb" : plot_color(1);
    return true;
}

/* NULL, or why there is none. */
static const char *find_layout(const plot *p, layout *l)
{
    *l = (layout){.plot = p};
    if (!find_sizes(l))
        return "out of memory";
    if (l->size_count == 0)
        return "there are no results";
    l->along = find_order(l);
    l->mixed = is_mixed(l);
    if (!find_speeds(l))
        return "out of memory";
    l->bars_at = size_of_bars(l);
    l->unit = l->most >= 1000.0 ? 1000.0 : 1.0;
    return find_lines(l) ? NULL : "out of memory";
}

/* Names one above the other, each as near to the end of its line as the one below lets it be. */
static void place_labels(layout *l)
{
    const double gap = l->most * 0.045, top = l->most * 1.02;
    double floor = 0.0;
    qsort(l->lines, l->shown, sizeof *l->lines, by_end);
    for (size_t i = 0; i < l->shown; i++) {
        const double y = l->lines[i].last;
        l->lines[i].label = y > floor ? y : floor;
        floor = l->lines[i].label + gap;
    }
    double ceiling = top;
    for (size_t i = l->shown; i > 0 && l->lines[i - 1].label > ceiling; i--) {
        l->lines[i - 1].label = ceiling;
        ceiling -= gap;
    }
}

/* ---- The two panels ---- */

/* Of the longest name, and what is beside it. */
static int names_width(const layout *l, size_t count)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(l->lines[i].name);
        longest = length > longest ? length : longest;
    }
    return BESIDE + LETTER * (int)longest;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int title_width(const layout *l)
{
    return LETTER * (int)strlen(l->plot->title);
}

/* Of the axes of lines: wider for many names of sizes. */
static int axes_width(const layout *l)
{
    const size_t most = LINES_WIDTH_MOST / BETWEEN_TICKS;
    const size_t names = l->along != NO_ORDER ? 0 : l->size_count < most ? l->size_count : most;
    return larger(larger(LINES_WIDTH, title_width(l)), BETWEEN_TICKS * (int)names);
}

static int lines_width(const layout *l)
{
    return l->shown ? axes_width(l) + names_width(l, l->shown) : 0;
}

static int bars_width(const layout *l)
{
    const int axes = l->shown ? BARS_WIDTH : larger(BARS_WIDTH, title_width(l));
    return l->bars ? names_width(l, l->bars) + axes + BESIDE : 0;
}

static int picture_height(const layout *l)
{
    const int needed = ABOUT_BARS + BAR * (int)l->bars;
    return l->shown && needed < HEIGHT ? HEIGHT : needed;
}

/* At the top: the bars may need more height than the lines. */
static void write_panel(const layout *l, int left, int panel_width, int panel_height, FILE *to)
{
    const double width = lines_width(l) + bars_width(l), height = picture_height(l);
    fprintf(to, "set origin %.9g,%.9g\nset size %.9g,%.9g\n", left / width,
            1.0 - panel_height / height, panel_width / width, panel_height / height);
}

/* Where the axes end: gnuplot's guess at the names' width leaves too little or much. */
static void write_margin(const layout *l, char side, int at, FILE *to)
{
    fprintf(to, "set %cmargin at screen %.9g\n", side,
            at / (double)(lines_width(l) + bars_width(l)));
}

/* How often 2 divides the number: the larger, the rounder it is. */
static int evenness(int64_t x)
{
    int count = 0;
    for (; x != 0 && x % 2 == 0; x /= 2)
        count++;
    return x == 0 ? 64 : count;
}

/* Ticks at sizes alone, at the roundest ones where there is no room for all. */
static void write_ticks(const layout *l, FILE *to)
{
    const double first = place(l, 0), length = place(l, l->size_count - 1) - first;
    const size_t room = (size_t)axes_width(l) / BETWEEN_TICKS;
    double taken[TICKS_MOST];
    size_t count = 0;
    fputs("set xtics noenhanced rotate by 45 right (", to);
    for (int even = 64; even >= 0; even--)
        for (size_t i = 0; i < l->size_count; i++) {
            const int64_t number =
                l->along == NO_ORDER ? (int64_t)i : shape_extent(&l->sizes[i], l->along);
            const double at = (place(l, i) - first) / length * (double)room;
            bool fits = evenness(number) == even && count < TICKS_MOST;
            for (size_t j = 0; j < count && fits; j++)
                fits = fabs(at - taken[j]) >= 0.99;
            if (!fits)
                continue;
            char name[64];
            if (l->along == NO_ORDER)
                shape_text(&l->sizes[i], name);
            else
                snprintf(name, sizeof name, "%" PRId64, number);
            fprintf(to, "%s\"%s\" %.9g", count ? ", " : "", name, place(l, i));
            taken[count++] = at;
        }
    fputs(")\n", to);
}

static void write_x_axis(const layout *l, FILE *to)
{
    const shape *first = &l->sizes[0], *last = &l->sizes[l->size_count - 1];
    const double from = place(l, 0), until = place(l, l->size_count - 1);
    const double margin = l->along == NO_ORDER ? 0.5 : 0.02 * (until - from);
    char one[64], other[64];
    bool squares = true;
    for (size_t i = 0; i < l->size_count; i++)
        squares = squares && shape_is_square(&l->sizes[i]);
    if (squares)
        fputs("set xlabel \"m = n = k", to);
    else if (l->along == NO_ORDER)
        fprintf(to, "set xlabel \"%s", l->plot->x_label);
    else
        fprintf(to, "set xlabel \"%c, from %s to %s", "mnk"[l->along], shape_text(first, one),
                shape_text(last, other));
    fprintf(to, "%s\" noenhanced\nset xrange [%.9g:%.9g]\n",
            l->mixed ? "\\n(circles: no multiple of 16)" : "", from - margin, until + margin);
    write_ticks(l, to);
}

/* The points of a line that are joined, or are not. */
static void write_points(const layout *l, size_t number, bool joined, FILE *to)
{
    size_t count = 0;
    fprintf(to, "$%s%zu << end\n", joined ? "line" : "points", number);
    for (size_t i = 0; i < l->size_count; i++)
        if (l->lines[number].speeds[i] >= 0.0 &&
            (l->along != NO_ORDER && (!l->mixed || is_round(&l->sizes[i]))) == joined) {
            fprintf(to, "%.9g %.9g\n", place(l, i), l->lines[number].speeds[i] / l->unit);
            count++;
        }
    /* gnuplot refuses a block without points. */
    if (count == 0)
        fputs("NaN NaN\n", to);
    fputs("end\n", to);
}

/* Where nothing leads from the points to their names, they have marks of their own. */
static void write_lines(const layout *l, FILE *to)
{
    static const int marks[LINES_MOST] = {7, 5, 9, 11, 13, 4, 8, 12};
    char mark[64] = "";
    for (size_t i = 0; i < l->shown; i++) {
        const drawn *d = &l->lines[i];
        write_points(l, i, true, to);
        write_points(l, i, false, to);
        if (l->along == NO_ORDER)
            snprintf(mark, sizeof mark, " point pointtype %d linecolor rgb '%s' offset 1", marks[i],
                     d->color);
        fprintf(to,
                "set label %zu \"%s\" at graph 1.015, first %.9g left noenhanced textcolor rgb "
                "'%s'%s\n",
                i + 1, d->name, d->label / l->unit, d->color, mark);
    }
    for (size_t i = 0; i < l->shown; i++)
        fprintf(to,
                "%s $line%zu with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor rgb "
                "'%s', $points%zu with points pointtype %d pointsize 0.9 linecolor rgb '%s'",
                i ? "," : "plot", i, l->lines[i].color, i, l->along == NO_ORDER ? marks[i] : 6,
                l->lines[i].color);
    fputs("\nunset label\n", to);
}

/* First, so that the bars find the order by speed as it was. */
static void write_line_panel(layout *l, FILE *to)
{
    write_panel(l, 0, lines_width(l), HEIGHT, to);
    write_margin(l, 'r', lines_width(l) - names_width(l, l->shown), to);
    fprintf(to, "set title \"%s\" noenhanced\nset ylabel \"%s\"\nset grid\nset yrange [0:%.9g]\n",
            l->plot->title, l->unit == 1.0 ? "GFLOP/s" : "TFLOP/s",
            l->most > 0.0 ? 1.06 * l->most / l->unit : 1.0);
    write_x_axis(l, to);
    place_labels(l);
    write_lines(l, to);
    qsort(l->lines, l->shown, sizeof *l->lines, by_speed);
}

static void write_bars(const layout *l, FILE *to)
{
    const size_t count = l->plot->count;
    const double most = l->lines[0].at_bars / l->unit;
    char size[64];
    write_panel(l, lines_width(l), bars_width(l), picture_height(l), to);
    write_margin(l, 'l', lines_width(l) + names_width(l, l->bars), to);
    write_margin(l, 'r', lines_width(l) + bars_width(l) - BESIDE, to);
    fputs("$bars << end\n", to);
    /* The fastest on top: gnuplot counts from below. */
    for (size_t i = 0; i < l->bars; i++)
        fprintf(to, "%zu %.9g \"%s\" 0x%s\n", l->bars - 1 - i, l->lines[i].at_bars / l->unit,
                l->lines[i].name, l->lines[i].color + 1);
    fprintf(to, "end\nset title \"%s%s", l->shown ? "" : l->plot->title, l->shown ? "" : "\\n");
    if (l->bars < count)
        fprintf(to, "%zu of %zu, ", l->bars, count);
    else if (l->shown)
        fputs("all, ", to);
    fprintf(to,
            "at %s\" noenhanced\nset xlabel \"%s\"\nunset ylabel\n"
            "set xtics norotate autojustify autofreq\nset xrange [0:%.9g]\nset yrange [-0.7:%.1f]\n"
            "set ytics noenhanced font ',10' scale 0\nset grid noytics xtics\n"
            "plot $bars using (0.5*$2):1:(0.5*$2):(0.38):4:ytic(3) with boxxyerror fillstyle solid "
            "linecolor rgb variable\n",
            shape_text(&l->sizes[l->bars_at], size), l->unit == 1.0 ? "GFLOP/s" : "TFLOP/s",
            most > 0.0 ? 1.03 * most : 1.0, (double)l->bars - 0.3);
}

static void write_panels(const void *context, FILE *to)
{
    layout l = *(const layout *)context;
    fputs("unset key\nset multiplot\n", to);
    if (l.shown)
        write_line_panel(&l, to);
    if (l.bars)
        write_bars(&l, to);
    fputs("unset multiplot\n", to);
}

const char *plot_draw_speeds(const plot *p, int output, picture_format format)
{
    layout l;
    const char *why = find_layout(p, &l);
    if (!why)
        why = gnuplot_draw(output, format, lines_width(&l) + bars_width(&l), picture_height(&l),
                           write_panels, &l);
    free(l.sizes);
    free(l.speeds);
    free(l.lines);
    return why;
}
