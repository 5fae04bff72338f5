/* SPDX-License-Identifier: BSD-3-Clause */
#include "curve.h"

#include "host_clock.h"
#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 32, HEIGHT = 16, REGISTERS_MAX = 255, WARP = 32 };

curve_axis curve_axis_of(const char *word)
{
    return strcmp(word, "threads") == 0     ? CURVE_THREADS
           : strcmp(word, "registers") == 0 ? CURVE_REGISTERS
           : strcmp(word, "shared") == 0    ? CURVE_SHARED
                                            : CURVE_NONE;
}

static const char *label_of(curve_axis axis)
{
    return axis == CURVE_THREADS     ? "threads a block"
           : axis == CURVE_REGISTERS ? "registers a thread"
                                     : "bytes of shared memory a block";
}

static int64_t value_of(const configuration *c, curve_axis axis)
{
    return axis == CURVE_THREADS ? c->threads : axis == CURVE_REGISTERS ? c->registers : c->shared;
}

static configuration with_value(const configuration *c, curve_axis axis, int64_t value)
{
    configuration changed = *c;
    if (axis == CURVE_THREADS)
        changed.threads = (int)value;
    else if (axis == CURVE_REGISTERS)
        changed.registers = (int)value;
    else
        changed.shared = value;
    return changed;
}

static int64_t least_of(curve_axis axis)
{
    return axis == CURVE_SHARED ? 0 : 1;
}

static int64_t most_of(const xgemm_device *gpu, curve_axis axis)
{
    return axis == CURVE_THREADS     ? gpu->threads_per_block
           : axis == CURVE_REGISTERS ? REGISTERS_MAX
                                     : gpu->shared_per_block;
}

static bool point_at(const xgemm_device *gpu, const configuration *of, curve_axis axis, int64_t x,
                     curve_point *point)
{
    *point = (curve_point){.at = with_value(of, axis, x), .x = x};
    point->info.struct_size = sizeof point->info;
    point->marked = x == value_of(of, axis);
    return xgemm_occupancy(gpu, point->at.threads, point->at.registers, point->at.shared,
                           point->at.cluster, &point->info) == XGEMM_OK;
}

static void append(curve *c, const xgemm_device *gpu, const configuration *of, int64_t x)
{
    if (c->count < CURVE_MAX && point_at(gpu, of, c->axis, x, &c->points[c->count]))
        c->count++;
}

curve curve_make(const xgemm_device *gpu, const configuration *of, curve_axis axis)
{
    curve c = {.axis = axis, .count = 0};
    const int64_t own = value_of(of, axis), most = most_of(gpu, axis);
    int64_t last = -1;
    for (int i = axis == CURVE_SHARED ? 0 : 1; i <= COLUMNS; i++) {
        const int64_t x = axis == CURVE_REGISTERS && i == COLUMNS ? most
                          : axis == CURVE_REGISTERS               ? 8 * i
                                                                  : most * i / COLUMNS;
        if (own > last && own < x && own >= least_of(axis))
            append(&c, gpu, of, own);
        append(&c, gpu, of, x);
        last = x;
    }
    return c;
}

static void print_row(const curve *c, int row)
{
    char line[2 * CURVE_MAX + 1];
    int end = 0;
    for (int i = 0; i < c->count; i++) {
        const curve_point *point = &c->points[i];
        const bool filled = point->info.warp_occupancy * HEIGHT >= row - 0.5;
        memset(line + 2 * i, !filled ? ' ' : point->marked ? '@' : '#', 2);
        if (filled)
            end = 2 * i + 2;
    }
    line[end] = '\0';
    if (row % (HEIGHT / 4) == 0)
        printf("%3d %% |%s\n", 100 * row / HEIGHT, line);
    else
        printf("      |%s\n", line);
}

static void print_mark(const curve *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->points[i].marked && 2 * i < c->count)
            printf("%*s^ %" PRId64 "\n", 7 + 2 * i, "", c->points[i].x);
        else if (c->points[i].marked)
            printf("%*" PRId64 " ^\n", 6 + 2 * i, c->points[i].x);
}

void curve_print(const curve *c)
{
    char first[24];
    if (c->count == 0)
        return;
    printf("warps in use over %s (@: as asked for)\n", label_of(c->axis));
    for (int row = HEIGHT; row > 0; row--)
        print_row(c, row);
    fputs("  0 % +", stdout);
    for (int i = 0; i < c->count; i++)
        fputs("--", stdout);
    snprintf(first, sizeof first, "%" PRId64, c->points[0].x);
    printf("\n       %s%*" PRId64 "\n", first, 2 * c->count - (int)strlen(first),
           c->points[c->count - 1].x);
    print_mark(c);
}

static void add_point(plot *drawing, const char *line, const curve_point *point)
{
    plot_point(drawing, line, (double)point->x, 100.0 * point->info.warp_occupancy);
}

int curve_plot(const xgemm_device *gpu, const configuration *of, curve_axis axis, const char *path,
               char *message, size_t message_size)
{
    char title[160], name[48], date[DATE_SIZE];
    curve_point point;
    const int64_t step = axis == CURVE_REGISTERS ? 1 : axis == CURVE_THREADS ? WARP : 128;
    now_date(date);
    snprintf(title, sizeof title, "%.64s: occupancy over %s, %.10s", gpu->name, label_of(axis),
             date);
    plot *drawing = plot_new(title, label_of(axis), "warps in use, %");
    if (!drawing) {
        snprintf(message, message_size, "there is not enough memory for the plot");
        return -1;
    }
    for (int64_t x = least_of(axis); x <= most_of(gpu, axis); x = (x / step + 1) * step)
        if (point_at(gpu, of, axis, x, &point))
            add_point(drawing, "occupancy", &point);
    snprintf(name, sizeof name, "as asked for: %" PRId64, value_of(of, axis));
    if (value_of(of, axis) > 0 && point_at(gpu, of, axis, value_of(of, axis), &point))
        add_point(drawing, name, &point);
    const int result = plot_write(drawing, path, PLOT_STEPS, message, message_size);
    plot_free(drawing);
    return result;
}
