/* SPDX-License-Identifier: BSD-3-Clause */
/* Line plots as SVG, drawn by gnuplot. */
#ifndef XGEMM_BIN_PLOT_H
#define XGEMM_BIN_PLOT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct plot plot;

/*
 * Whether gnuplot can be started and the file be written, to be asked before
 * long work; if not, the sentence is in message.
 */
bool plot_possible(const char *path, char *message, size_t message_size);

/* NULL when memory is out. Texts are copied. */
plot *plot_new(const char *title, const char *x_label, const char *y_label);

/*
 * Adds a point to the line of that name, which is made when it is new; the same
 * x_name twice in a row is one point, the first.
 */
void plot_point(plot *p, const char *line, double x, const char *x_name, double y);

/*
 * How points stand along x: in their order under their x_name, or where their x
 * is. Steps: each value, in percent, holds down to the x before, and a line of
 * one point is a mark. A roofline: both axes logarithmic, marks likewise.
 */
typedef enum { PLOT_NAMES, PLOT_LINEAR, PLOT_LOGARITHMIC, PLOT_STEPS, PLOT_ROOFLINE } plot_scale;

/* Writes the SVG by way of a temporary file; 0, or -1 with a sentence. */
int plot_write(plot *p, const char *path, plot_scale scale, char *message, size_t message_size);
void plot_free(plot *p);

#endif
