/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of plot.h's implementation share. */
#ifndef XGEMM_BIN_PLOT_PARTS_H
#define XGEMM_BIN_PLOT_PARTS_H

#include "plot.h"

#include <stdio.h>

typedef struct {
    double x, y;
    char x_name[48];
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

/* How high the picture of speeds over sizes has to be, and how wide, in pixels. */
int plot_speeds_width(const plot *p);
int plot_speeds_height(const plot *p);

/* Its commands for gnuplot. */
void plot_write_speeds(const plot *p, FILE *to);

#endif
