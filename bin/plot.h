/* SPDX-License-Identifier: BSD-3-Clause */
/* Line plots, drawn by gnuplot as SVG or, where the file's name ends in .png, as PNG. */
#ifndef XGEMM_BIN_PLOT_H
#define XGEMM_BIN_PLOT_H

#include "shapes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct plot plot;

/*
 * To be called before long work: where a picture is wanted (path is not NULL), ends the program
 * with 1 and a sentence when gnuplot cannot be started or the file cannot be written; "-" is the
 * standard output, see stdout_for_file().
 */
void plot_prepare(const command *which, const settings *common, const char *path);

/* NULL when memory is out. Texts are copied. */
plot *plot_new(const char *title, const char *x_label, const char *y_label);

/* Adds a point to the line of that name, which is made when it is new. */
void plot_point(plot *p, const char *line, double x, double y);

/* The same for PLOT_SPEEDS; of several of one size, the first is drawn. */
void plot_speed(plot *p, const char *line, const shape *size, double gflops);

/*
 * Steps: each value, in percent, holds down to the x before, and a line of one
 * point is a mark. A roofline: both axes logarithmic, marks likewise. Speeds:
 * in GFLOP/s, which become TFLOP/s where they are large; see plot_speeds.c.
 */
typedef enum { PLOT_LINEAR, PLOT_LOGARITHMIC, PLOT_STEPS, PLOT_ROOFLINE, PLOT_SPEEDS } plot_scale;

/* Writes the picture by way of a temporary file; 0, or -1 with a sentence. */
int plot_write(const plot *p, const char *path, plot_scale scale, char *message,
               size_t message_size);
void plot_free(plot *p);

#endif
