/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of the kernels on FP16 parts: the split goes at the memory's speed, a wave of tiles,
 * one for each multiprocessor, takes its time for each 64 of k, and a launch more looks whether
 * tiles were left out. Constants as in choice.c.
 *
 * Where the parts would need more workspace than there is, or more than WORKSPACE_MOST, the product
 * is computed in panels: pieces of C, and of k, one after the other.
 */
#include "choice.h"
#include "kernels/fp16_layout.h"
#include "steps.h"

#include <string.h>

static const size_t workspace_most = (size_t)4 << 30;
static const double split_us = 4.0, split_rate = 3.65e6, product_us = 7.0, rest_us = 2.0;

static const struct {
    const char *kernel;
    double wave; /* for 64 k, microseconds */
} speeds[] = {{"fp16x3-128x64", 0.55},
              {"fp16x3-128x128", 1.05},
              {"fp16x3-128x256", 2.0},
              {"fp16x1-128x128", 0.40},
              {"fp16x1-128x256", 0.75}};

static double wave_of(const xg_kernel *kernel)
{
    size_t i = 0;
    while (strcmp(speeds[i].kernel, kernel->name) != 0)
        i++;
    return speeds[i].wave;
}

/* The time of one panel. */
static double panel_us(const xg_kernel *kernel, int processors, int64_t m, int64_t n, int64_t k)
{
    const int64_t high = kernel->tile_m * (kernel->cluster ? kernel->cluster : 1);
    const int64_t tiles =
        xg_tiles_of(m, high) * (high / kernel->tile_m) * xg_tiles_of(n, kernel->tile_n);
    const double bytes = (4.0 + 2.0 * kernel->fp16_parts) * (double)(m + n) * (double)k;
    const double waves = (double)xg_tiles_of(tiles, processors);
    return split_us + bytes / split_rate + product_us +
           waves * (double)xg_tiles_of(k, XG_UNIT_K) * wave_of(kernel) + rest_us;
}

static int64_t half_of(int64_t size, int64_t step)
{
    return xg_tiles_of(xg_tiles_of(size, 2), step) * step;
}

/* Smaller along the way that costs least; false when it is as small as it may be. */
static bool shrink(xg_shape *shape)
{
    enum { LONG_K = 4096, SHORT_K = 512 };
    int64_t *const longer = shape->panel_m > shape->panel_n ? &shape->panel_m : &shape->panel_n;
    if (shape->panel_k > LONG_K)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    else if (*longer > XG_LINES_STEP)
        *longer = half_of(*longer, XG_LINES_STEP);
    else if (shape->panel_k > SHORT_K)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    else
        return false;
    return true;
}

static void choose_panels(const xg_kernel *kernel, const xg_request *request, xg_shape *shape)
{
    const size_t limit =
        request->workspace_limit < workspace_most ? request->workspace_limit : workspace_most;
    const int64_t k = request->problem.k;
    shape->panel_m = shape->m;
    shape->panel_n = shape->n;
    shape->panel_k = k;
    while (shape->panel_k > XG_SPLIT_K_MOST)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    while ((size_t)xg_fp16_layout_of(shape->panel_m, shape->panel_n, shape->panel_k,
                                     kernel->fp16_parts)
                       .bytes +
                   XG_WORKSPACE_ALIGN >
               limit &&
           shrink(shape))
        ;
    shape->panels = xg_tiles_of(shape->m, shape->panel_m) * xg_tiles_of(shape->n, shape->panel_n) *
                    xg_tiles_of(k, shape->panel_k);
}

xg_shape xg_fp16_shape(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n)
{
    const xg_args *p = &request->problem;
    xg_shape shape = {.m = m, .n = n, .k_part = p->k, .together = 1};
    choose_panels(kernel, request, &shape);
    shape.microseconds = (double)shape.panels * panel_us(kernel, request->processors, shape.panel_m,
                                                         shape.panel_n, shape.panel_k);
    return shape;
}
