/* SPDX-License-Identifier: BSD-3-Clause */
/* gnuplot as a child process, which draws what it is told into a file. */
#ifndef XGEMM_BIN_GNUPLOT_H
#define XGEMM_BIN_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum { PICTURE_SVG, PICTURE_PNG } picture_format;

/* PNG where the name ends so, in letters of any case, else SVG. */
picture_format picture_format_of(const char *path);

/* False where the name ends as that of another format. */
bool picture_is_possible(const char *path);

/* Whether it can be started, and can draw in that format; why not, in message. */
bool gnuplot_possible(picture_format format, char *message, size_t message_size);

/* Writes gnuplot's commands, after the terminal has been set. */
typedef void (*gnuplot_commands)(const void *context, FILE *to);

/* Writes a picture of that size, in pixels, once it is drawn whole. NULL, or why it could not. */
const char *gnuplot_draw(int output, picture_format format, int width, int height,
                         gnuplot_commands write, const void *context);

#endif
