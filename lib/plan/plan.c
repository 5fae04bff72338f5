/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_ALIGN = 256 };

void xg_plan_begin(xg_plan *plan, const xg_problem *problem)
{
    memset(plan, 0, offsetof(xg_plan, steps));
    plan->batch_count = problem->batch_count;
    plan->batch_per_pass = 1;
    plan->a = problem->a;
    plan->b = problem->b;
    plan->c = problem->c;
}

size_t xg_plan_bytes(const xg_plan *plan)
{
    return offsetof(xg_plan, steps) + (size_t)plan->step_count * sizeof plan->steps[0];
}

void xg_plan_free(xg_plan *plan)
{
    for (int kind = 0; plan->panels && kind < XG_PANEL_KINDS; kind++)
        free(plan->panels->kinds[kind]);
    free(plan->panels);
    plan->panels = NULL;
}

xg_step *xg_plan_add(xg_plan *plan, const xg_program *program, const void *arguments, size_t size,
                     xg_error *error)
{
    if (plan->step_count >= XG_PLAN_STEPS || size > XG_ARGUMENTS_BYTES) {
        xg_fail(error, XGEMM_ERROR_INTERNAL, "a plan has no room for %s after %d launches",
                program->symbol, plan->step_count);
        return NULL;
    }
    xg_step *step = &plan->steps[plan->step_count++];
    memset(step, 0, sizeof *step);
    step->program = program;
    step->arguments_size = size;
    memcpy(step->arguments, arguments, size);
    return step;
}

xg_step *xg_plan_product(xg_plan *plan)
{
    int i = 0;
    while (!plan->steps[i].is_product)
        i++;
    return &plan->steps[i];
}

void xg_step_replace(xg_step *step, const xg_program *program, const void *arguments, size_t size,
                     int64_t ctas, int threads)
{
    step->program = program;
    step->arguments_size = size;
    memcpy(step->arguments, arguments, size);
    step->grid[0] = (uint32_t)ctas;
    step->block[0] = (uint32_t)threads;
    step->block[1] = step->block[2] = 1;
    step->cluster = step->shared_bytes = 0;
    step->pdl = step->spread = false;
}

static void move(xg_location *location, xg_workspace_offsets to)
{
    const int64_t room = location->base == XG_BASE_WORKSPACE ? to.workspace
                         : location->base == XG_BASE_A       ? to.a
                         : location->base == XG_BASE_B       ? to.b
                         : location->base == XG_BASE_C       ? to.c
                                                             : -1;
    if (room < 0)
        return;
    location->base = XG_BASE_WORKSPACE;
    location->offset += room;
    location->batch_stride = 0; /* each pass has the same room */
}

xgemm_status xg_plan_append(xg_plan *plan, const xg_plan *steps, xg_workspace_offsets at,
                            xg_error *error)
{
    for (int i = 0; i < steps->step_count; i++) {
        const xg_step *const from = &steps->steps[i];
        xg_step *const step =
            xg_plan_add(plan, from->program, from->arguments, from->arguments_size, error);
        if (!step)
            return XGEMM_ERROR_INTERNAL;
        *step = *from;
        for (int j = 0; j < step->pointer_count; j++)
            move(&step->pointers[j].to, at);
        for (int j = 0; j < XG_REGIONS_MAX; j++)
            move(&step->region_at[j], at);
        for (int j = 0; j < XG_TENSORS_MAX; j++)
            move(&step->tensor_at[j], at);
    }
    plan->recomputed = steps->recomputed ? (size_t)at.workspace + steps->recomputed : 0;
    return XGEMM_OK;
}

xgemm_status xg_step_grid(xg_step *step, int64_t x, int64_t y, int block_x, int block_y,
                          xg_error *error)
{
    const int64_t z = xg_ceil_div(y, XG_GRID_Y_MAX);
    if (x > INT32_MAX || z > XG_GRID_Z_MAX)
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED,
            "the launch would need %" PRId64 " x %" PRId64 " blocks, more than a grid holds", x, y);
    const uint32_t grid[3] = {(uint32_t)x, (uint32_t)(z == 1 ? y : XG_GRID_Y_MAX), (uint32_t)z};
    const uint32_t block[3] = {(uint32_t)block_x, (uint32_t)block_y, 1};
    memcpy(step->grid, grid, sizeof grid);
    memcpy(step->block, block, sizeof block);
    return XGEMM_OK;
}

void xg_step_point(xg_step *step, size_t argument, xg_location to)
{
    step->pointers[step->pointer_count++] = (xg_plan_pointer){argument, to};
}

void xg_step_region(xg_step *step, int index, const char *name, xg_location at, int64_t rows,
                    int64_t columns, int64_t row_stride, xg_type type)
{
    const int64_t bytes = (int64_t)xg_type_bytes(type);
    step->regions[index] = (xg_region){.name = name,
                                       .rows = rows,
                                       .row_bytes = columns * bytes,
                                       .stride_bytes = row_stride * bytes,
                                       .of_halves = bytes == 2};
    step->region_at[index] = at;
}

bool xg_plan_reserve(xg_plan *plan, int64_t rows, int64_t columns, xg_type type, const char *what,
                     int64_t *offset, xg_error *error)
{
    size_t bytes, end;
    *offset = (int64_t)plan->workspace_bytes;
    if (__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, xg_type_bytes(type), &bytes) ||
        __builtin_add_overflow(bytes, WORKSPACE_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(plan->workspace_bytes, bytes / WORKSPACE_ALIGN * WORKSPACE_ALIGN,
                               &end) ||
        end > PTRDIFF_MAX) {
        xg_fail(error, XGEMM_ERROR_OVERFLOW, "%s' size in bytes does not fit the address space",
                what);
        return false;
    }
    plan->workspace_bytes = end;
    return true;
}

double xg_room_bytes(double rows, double columns, xg_type type)
{
    const double bytes = rows * columns * (double)xg_type_bytes(type);
    return ceil(bytes / WORKSPACE_ALIGN) * WORKSPACE_ALIGN;
}

static xg_location at(xg_base base, const void *pointer, const void *from, int64_t batch_stride,
                      const xg_problem *problem, xg_type type)
{
    const int64_t stride = problem->pointer_arrays ? (int64_t)sizeof(void *)
                                                   : batch_stride * (int64_t)xg_type_bytes(type);
    return (xg_location){base, (int64_t)((uintptr_t)pointer - (uintptr_t)from), stride};
}

xg_location xg_at_a(const xg_plan *plan, const xg_problem *part)
{
    return at(XG_BASE_A, part->a, plan->a, part->a_batch_stride, part, part->type_a);
}

xg_location xg_at_b(const xg_plan *plan, const xg_problem *part)
{
    return at(XG_BASE_B, part->b, plan->b, part->b_batch_stride, part, part->type_b);
}

xg_location xg_at_c(const xg_plan *plan, const xg_problem *part)
{
    return at(XG_BASE_C, part->c, plan->c, part->c_batch_stride, part, part->type_c);
}

xg_location xg_at_bias(void)
{
    return (xg_location){XG_BASE_BIAS, 0, 0};
}

xg_location xg_at_alpha(void)
{
    return (xg_location){XG_BASE_ALPHA, 0, 0};
}

xg_location xg_at_beta(void)
{
    return (xg_location){XG_BASE_BETA, 0, 0};
}

xg_location xg_at_offsets(void)
{
    return (xg_location){XG_BASE_OFFSETS, 0, 0};
}

xg_location xg_at_workspace(int64_t offset)
{
    return (xg_location){XG_BASE_WORKSPACE, offset, 0};
}

/* A rows x columns matrix, one of whose strides is 1, by its contiguous rows. */
static void set_region(xg_step *step, int index, const char *name, xg_location at, int64_t rows,
                       int64_t columns, int64_t row_stride, int64_t column_stride, xg_type type,
                       bool pointer_array)
{
    const bool by_rows = column_stride == 1 && (row_stride != 1 || rows == 1);
    xg_step_region(step, index, name, at, by_rows ? rows : columns, by_rows ? columns : rows,
                   by_rows ? row_stride : column_stride, type);
    step->regions[index].is_pointer_array = pointer_array;
    step->regions[index].batch_stride_bytes = pointer_array ? 0 : at.batch_stride;
}

/* The operand of which each ragged group has a matrix of its own. */
static void repeat_for_groups(xg_region *region, const xg_problem *p)
{
    if (region->batch_stride_bytes != 0)
        region->matrices = p->groups;
}

void xg_region_a(xg_step *step, const xg_plan *plan, const xg_problem *part)
{
    set_region(step, XG_REGION_A, "A", xg_at_a(plan, part), part->m, part->k, part->a_stride_m,
               part->a_stride_k, part->type_a, part->pointer_arrays);
    if (part->ragged_columns)
        repeat_for_groups(&step->regions[XG_REGION_A], part);
}

void xg_region_b(xg_step *step, const xg_plan *plan, const xg_problem *part)
{
    set_region(step, XG_REGION_B, "B", xg_at_b(plan, part), part->k, part->n, part->b_stride_k,
               part->b_stride_n, part->type_b, part->pointer_arrays);
    if (!part->ragged_columns)
        repeat_for_groups(&step->regions[XG_REGION_B], part);
}

void xg_region_c(xg_step *step, const xg_plan *plan, const xg_problem *part)
{
    set_region(step, XG_REGION_C, "C", xg_at_c(plan, part), part->m, part->n, part->c_stride_m, 1,
               part->type_c, part->pointer_arrays);
}

void xg_region_workspace(xg_step *step, const xg_plan *plan)
{
    const int64_t words = (int64_t)(plan->workspace_bytes / 4);
    if (words > 0)
        xg_step_region(step, XG_REGION_WORKSPACE, "workspace", xg_at_workspace(0), 1, words, words,
                       XG_F32);
}

void xg_region_offsets(xg_step *step, const xg_problem *problem)
{
    const int64_t count = problem->groups > 0 ? problem->groups + 1 : 0;
    if (count > 0) /* 64-bit integers, as wide as doubles */
        xg_step_region(step, XG_REGION_OFFSETS, "offsets", xg_at_offsets(), 1, count, count,
                       XG_F64);
}

void xg_regions_of_epilogue(xg_step *step, const xg_problem *problem)
{
    const xg_epilogue_params *e = &problem->epilogue;
    const int64_t length = e->bias_per_row ? problem->m : problem->n;
    if (e->bias)
        xg_step_region(step, XG_REGION_BIAS, "bias", xg_at_bias(), 1, length, length, e->bias_type);
    if (e->alpha_at)
        xg_step_region(step, XG_REGION_ALPHA, "alpha", xg_at_alpha(), 1, 1, 1, e->type);
    if (e->beta_at)
        xg_step_region(step, XG_REGION_BETA, "beta", xg_at_beta(), 1, 1, 1, e->type);
}

int64_t xg_plan_passes(const xg_plan *plan)
{
    return xg_ceil_div(plan->batch_count, plan->batch_per_pass);
}

int xg_panel_kind(const xg_panels *panels, const int64_t number[3])
{
    const bool last_m = number[0] == panels->counts[0] - 1;
    const bool last_n = number[1] == panels->counts[1] - 1;
    const int kind_k = number[2] == 0 ? 0 : number[2] < panels->counts[2] - 1 ? 1 : 2;
    return (last_m ? 6 : 0) + (last_n ? 3 : 0) + kind_k;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

xg_problem xg_panel_problem(const xg_panels *panels, const xg_problem *problem,
                            const int64_t number[3])
{
    const int64_t row = number[0] * panels->sizes[0], column = number[1] * panels->sizes[1];
    const int64_t first_k = number[2] * panels->sizes[2];
    const xg_problem part =
        xg_problem_part(problem, row, smaller(panels->sizes[0], problem->m - row), column,
                        smaller(panels->sizes[1], problem->n - column));
    xg_problem panel =
        xg_problem_slice(&part, first_k, smaller(panels->sizes[2], problem->k - first_k));
    if (first_k > 0)
        panel.epilogue.beta = xg_scalar_of(panel.epilogue.type, 1);
    return panel;
}
