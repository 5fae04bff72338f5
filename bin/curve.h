/* SPDX-License-Identifier: BSD-3-Clause */
/* --curve: the occupancy over one of its causes, the others as they are. */
#ifndef XGEMM_BIN_CURVE_H
#define XGEMM_BIN_CURVE_H

#include "options.h"

/* A block of a kernel. */
typedef struct {
    int threads, registers;
    int64_t shared;
    int cluster;
} configuration;

typedef enum { CURVE_NONE, CURVE_THREADS, CURVE_REGISTERS, CURVE_SHARED } curve_axis;

enum { CURVE_MAX = 40 };

typedef struct {
    configuration at;
    int64_t x; /* what the axis shows of it */
    xgemm_occupancy_info info;
    bool marked; /* the configuration itself */
} curve_point;

typedef struct {
    curve_axis axis;
    curve_point points[CURVE_MAX];
    int count;
} curve;

/* "threads", "registers" or "shared"; CURVE_NONE for anything else. */
curve_axis curve_axis_of(const char *word);

/* About 32 points that span what the GPU allows, the configuration among them. */
curve curve_make(const xgemm_device *gpu, const configuration *of, curve_axis axis);

/* Draws it on the terminal, in less than 80 columns. */
void curve_print(const curve *c);

/* Writes it, every step of it, as SVG; 0, or -1 with a sentence. */
int curve_plot(const xgemm_device *gpu, const configuration *of, curve_axis axis, const char *path,
               char *message, size_t message_size);

#endif
