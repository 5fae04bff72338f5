/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot_parts.h"

#include "replacement.h"
#include "stdout_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, HEIGHT = 600 };

typedef struct {
    const plot *plot;
    plot_scale scale;
} picture;

static int fail(char *message, size_t message_size, const char *path, const char *why)
{
    snprintf(message, message_size, "cannot write %s: %s", path, why);
    return -1;
}

void plot_prepare(const command *which, const settings *common, const char *path)
{
    char message[4352];
    replacement there;
    if (!path)
        return;
    if (!picture_is_possible(path))
        usage_error(which, "pictures are SVG or PNG; \"%s\" ends in neither .svg nor .png", path);
    stdout_for_file(which, common, path, "the picture");
    if (!gnuplot_possible(picture_format_of(path), message, sizeof message))
        exit(failed(which, "%s", message));
    if (!replacement_check(&there, path, 1))
        exit(failed(which, "cannot write %s: %s", path, there.why));
}

/* Text as gnuplot may have it between quotes: what it would execute or expand is replaced. */
static void copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || (unsigned char)*to >= 0x7f || strchr("\"'`\\$@!;", *to))
            *to = '?';
}

plot *plot_new(const char *title, const char *x_label, const char *y_label)
{
    plot *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    copy_text(p->title, sizeof p->title, title);
    copy_text(p->x_label, sizeof p->x_label, x_label);
    copy_text(p->y_label, sizeof p->y_label, y_label);
    return p;
}

static line *find_line(plot *p, const char *name)
{
    line wanted = {.points = NULL};
    copy_text(wanted.name, sizeof wanted.name, name);
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->lines[i].name, wanted.name) == 0)
            return &p->lines[i];
    line *lines = realloc(p->lines, (p->count + 1) * sizeof *lines);
    if (!lines)
        return NULL;
    p->lines = lines;
    lines[p->count] = wanted;
    return &lines[p->count++];
}

static void add_point(plot *p, const char *name, point added)
{
    line *to = p ? find_line(p, name) : NULL;
    point *points = to ? realloc(to->points, (to->count + 1) * sizeof *points) : NULL;
    if (!points)
        return;
    to->points = points;
    points[to->count++] = added;
}

void plot_point(plot *p, const char *name, double x, double y)
{
    add_point(p, name, (point){.x = x, .y = y});
}

void plot_speed(plot *p, const char *name, const shape *size, double gflops)
{
    add_point(p, name, (point){.y = gflops, .size = *size});
}

const char *plot_color(size_t index)
{
    static const char *const colors[PLOT_COLORS] = {
        "#000000", "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
        "#994f00", "#40b0a6", "#d35fb7", "#e66100", "#5d3a9b", "#999999",
    };
    return colors[index % PLOT_COLORS];
}

/* gnuplot makes no axis of a single place. */
static bool has_one_x(const plot *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->lines[i].count != 1)
            return false;
    return p->count > 0;
}

static void write_x_axis(const plot *p, plot_scale scale, FILE *to)
{
    fputs("set format x '%.9g'\n", to);
    if (scale == PLOT_LOGARITHMIC && has_one_x(p))
        fprintf(to, "set xrange [%.9g:%.9g]\n", p->lines[0].points[0].x / 2.0,
                p->lines[0].points[0].x * 2.0);
    if (scale == PLOT_STEPS)
        fputs("set xrange [0:*]\n", to);
    else if (scale == PLOT_LOGARITHMIC)
        fputs("set logscale x 2\nset xtics rotate by -45\n", to);
    else if (scale == PLOT_ROOFLINE)
        fputs("set logscale x 2\nset xtics rotate by -45\nset autoscale xfix\n", to);
}

static void write_y_axis(plot_scale scale, FILE *to)
{
    if (scale == PLOT_STEPS)
        fputs("set yrange [0:105]\nset key outside right top\n", to);
    else if (scale == PLOT_ROOFLINE)
        fputs("set logscale y 10\nset yrange [*:*]\nset key inside right bottom\n", to);
    else
        fputs("set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\n", to);
}

static void write_line(const plot *p, size_t i, plot_scale scale, FILE *to)
{
    const line *of = &p->lines[i];
    const bool marks = of->count == 1, plain = scale == PLOT_STEPS || scale == PLOT_ROOFLINE;
    fprintf(to, "%s $line%zu using 1:2 with ", i ? "," : "plot", i);
    if (plain && marks)
        fprintf(to, "points pointtype %zu pointsize 1.2", scale == PLOT_STEPS ? 7 : i + 4);
    else if (plain)
        fprintf(to, "%s linewidth 2", scale == PLOT_STEPS ? "fsteps" : "lines");
    else
        fprintf(to, "linespoints linewidth 2 dashtype %zu pointtype %zu pointsize 0.7",
                i / PLOT_COLORS + 1, i % PLOT_COLORS + 1);
    fprintf(to, " linecolor rgb '%s' title \"%s\"", plot_color(i), of->name);
}

static void write_commands(const void *context, FILE *to)
{
    const picture *of = context;
    const plot *p = of->plot;
    const plot_scale scale = of->scale;
    fprintf(to,
            "set title \"%s\" noenhanced\nset xlabel \"%s\" noenhanced\n"
            "set ylabel \"%s\" noenhanced\nset grid\nset key outside right noenhanced\n",
            p->title, p->x_label, p->y_label);
    write_x_axis(p, scale, to);
    write_y_axis(scale, to);
    for (size_t i = 0; i < p->count; i++) {
        fprintf(to, "$line%zu << end\n", i);
        for (size_t j = 0; j < p->lines[i].count; j++)
            fprintf(to, "%.9g %.9g\n", p->lines[i].points[j].x, p->lines[i].points[j].y);
        fputs("end\n", to);
    }
    for (size_t i = 0; i < p->count; i++)
        write_line(p, i, scale, to);
    fputc('\n', to);
}

int plot_write(const plot *p, const char *path, plot_scale scale, char *message,
               size_t message_size)
{
    const picture of = {p, scale};
    replacement output;
    if (!replacement_open(&output, path))
        return fail(message, message_size, path, output.why);
    const picture_format format = picture_format_of(path);
    const char *why = scale == PLOT_SPEEDS ? plot_draw_speeds(p, output.descriptor, format)
                                           : gnuplot_draw(output.descriptor, format, WIDTH, HEIGHT,
                                                          write_commands, &of);
    if (!why && replacement_commit(&output))
        return 0;
    replacement_abandon(&output);
    return fail(message, message_size, path, why ? why : output.why);
}

void plot_free(plot *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        free(p->lines[i].points);
    free(p->lines);
    free(p);
}
