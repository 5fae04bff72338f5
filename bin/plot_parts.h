/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of plot.h's implementation share. */
#ifndef XGEMM_BIN_PLOT_PARTS_H
#define XGEMM_BIN_PLOT_PARTS_H

#include "gnuplot.h"
#include "plot.h"

typedef struct {
    double x, y;
    shape size; /* of a speed, which has it instead of x */
} point;

typedef struct {
    char name[64];
    point *points;
    size_t count;
} line;

struct plot {
    char title[256], x_label[64], y_label[64];
    line *lines;
    size_t count;
};

/* That can be told apart, dark first; from the fourteenth line on again. */
enum { PLOT_COLORS = 13 };
const char *plot_color(size_t index);

/* Draws speeds over sizes, as gnuplot_draw() does. */
const char *plot_draw_speeds(const plot *p, int output, picture_format format);

#endif
