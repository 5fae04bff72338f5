/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a kernel: of all that may serve the one whose best shape takes least by the model
 * (choice_model.c, choice_skinny.c, choice_fp16.c), and has the workspace it needs.
 */
#include "families/simt/choice_tiles.h"
#include "families/tensor/fp16_layout.h"

#include <stddef.h>

bool xg_has_workspace(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape)
{
    if (request->workspace_limit == SIZE_MAX)
        return true;
    xg_plan plan = {
        .processors = request->processors, .architecture = request->architecture, .shape = *shape};
    return kernel->steps(kernel, &request->problem, &plan, NULL) == XGEMM_OK &&
           plan.workspace_bytes <= request->workspace_limit;
}

/* The strips, where operands are split, in the product or after it, whichever is fastest. */
static void add_fp16_strips(const xg_kernel *kernel, const xg_request *request, xg_shape *shape)
{
    const xg_args *p = &request->problem;
    const double after = xg_strips_us(request, shape->m, shape->n);
    const double in_product = xg_fp16_strips_us(kernel, request, shape);
    const double in_split = xg_fp16_split_strips_us(kernel, request, shape);
    const bool split = in_split >= 0.0 && in_split < in_product;
    const double inside = split ? in_split : in_product;
    shape->strips_inside = xg_strips_fit_inside(p) && inside < after;
    shape->strips_split = shape->strips_inside && split;
    shape->microseconds += shape->strips_inside ? inside : after;
}

/* With or without strips at the edges, where there is memory for C in one go. */
static xg_shape shape_of_fp16(const xg_kernel *kernel, const xg_request *request)
{
    const xg_args *p = &request->problem;
    const int64_t high = (int64_t)kernel->tile_m * xg_blocks_together(kernel);
    const int64_t m = xg_without_strip(p->m, (int)high), n = xg_without_strip(p->n, kernel->tile_n);
    xg_shape best = {.together = 0};
    for (int strips = 0; strips < 4; strips++) {
        if ((strips & 1 && m == p->m) || (strips & 2 && n == p->n))
            continue;
        xg_shape shape =
            xg_fp16_shape(kernel, request, strips & 1 ? m : p->m, strips & 2 ? n : p->n);
        shape.microseconds = xg_launched_us(shape.microseconds);
        if (strips > 0 && shape.panels > 1)
            continue;
        if (strips > 0)
            add_fp16_strips(kernel, request, &shape);
        if (best.together == 0 || shape.microseconds < best.microseconds)
            best = shape;
    }
    best.microseconds = xg_repeated_us(best.microseconds, request->products);
    return best;
}

static xg_shape shape_of_skinny(const xg_request *request)
{
    xg_shape shape = xg_whole_shape(request, 1);
    shape.microseconds =
        xg_repeated_us(xg_launched_us(xg_skinny_us(&request->problem, request)), request->products);
    return shape;
}

xg_shape xg_shape_of(const xg_kernel *kernel, const xg_request *request)
{
    const xg_speed *s = xg_speed_of(kernel);
    if (s)
        return xg_tiles_shape(s, kernel, request);
    if (kernel->steps == xg_steps_fp16)
        return shape_of_fp16(kernel, request);
    return kernel->steps == xg_steps_skinny ? shape_of_skinny(request) : xg_whole_shape(request, 1);
}

bool xg_takes_lists(const xg_kernel *kernel)
{
    return xg_batches(kernel) && !kernel->packs;
}

static bool fits(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape)
{
    enum { SHARED_BESIDE = 1024 }; /* what a kernel has beside its stages */
    if (request->block_shared > 0 && kernel->program->architecture == 0 &&
        kernel->shared_bytes + SHARED_BESIDE > request->block_shared)
        return false;
    return xg_has_workspace(kernel, request, shape);
}

/* Whether the model knows the kernel, and it may serve. */
static bool is_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const int architecture = kernel->program->architecture;
    const xg_speed *const s = xg_speed_of(kernel);
    const bool known =
        (s && !s->estimated) || kernel->steps == xg_steps_skinny || kernel->steps == xg_steps_fp16;
    /* In short sums the parts' own rounding shows: they would go to plain FP32. */
    const bool exact =
        kernel->steps != xg_steps_fp16 || kernel->parts != 2 || request->problem.k >= XG_UNIT_K;
    const bool reached = !kernel->has_maps || xg_maps_reach(&request->problem);
    return known && exact && reached &&
           (!xg_has_lists(&request->problem) || xg_takes_lists(kernel)) &&
           xg_kernel_serves(kernel, (xgemm_math)request->math) &&
           (architecture == 0 || architecture == request->architecture);
}

const xg_kernel *xg_choose(const xg_request *request, xg_shape *shape)
{
    const bool lists = xg_has_lists(&request->problem);
    const xg_kernel *best = NULL;
    for (int i = 0; i < xg_kernel_count(); i++) {
        const xg_kernel *kernel = xg_kernel_at(i);
        if (!is_candidate(kernel, request))
            continue;
        const xg_shape found = xg_shape_of(kernel, request);
        if ((!best || found.microseconds < shape->microseconds) && fits(kernel, request, &found)) {
            best = kernel;
            *shape = found;
        }
    }
    if (!best) { /* its steps say what is wrong */
        best = xg_kernel_named(lists ? "pipelined-words-32x64" : "vectorized");
        *shape = xg_shape_of(best, request);
    }
    return best;
}
