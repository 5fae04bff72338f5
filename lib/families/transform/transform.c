/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform.h"

#include "args.h"
#include "families/programs.h"

#include <stddef.h>

int64_t xg_packed_stride(int64_t size)
{
    return xg_ceil_div(size, XG_PACK_ELEMENTS) * XG_PACK_ELEMENTS;
}

/* How many copies a pass makes of an operand: one where all products share it. */
static int64_t copies_of(int64_t batch_stride, int64_t batch_per_pass)
{
    return batch_stride ? batch_per_pass : 1;
}

static xgemm_status add_pack(xg_plan *plan, const xg_problem *p, unsigned operands,
                             const xg_packed *a, const xg_packed *b, xg_error *error)
{
    enum { WIDE = 64, DEEP = 32, THREADS = 256 };
    const bool both = operands == (XG_A | XG_B);
    const xg_pack_args args = {.m = p->m,
                               .n = p->n,
                               .k = p->k,
                               .a_stride_m = p->a_stride_m,
                               .a_stride_k = p->a_stride_k,
                               .b_stride_k = p->b_stride_k,
                               .b_stride_n = p->b_stride_n,
                               .a_copy_stride = a->stride,
                               .b_copy_stride = b->stride,
                               .a_batch_stride = p->a_batch_stride,
                               .b_batch_stride = p->b_batch_stride,
                               .operands = operands};
    const int64_t widest =
        operands & XG_A && (!both || a->stride > b->stride) ? a->stride : b->stride;
    const int64_t deep = xg_ceil_div(p->k, DEEP);
    const xg_packed *const first = operands & XG_A ? a : b, *const last = operands & XG_B ? b : a;
    const int64_t copies =
        copies_of(operands & XG_A ? p->a_batch_stride : p->b_batch_stride, plan->batch_per_pass);
    xg_step *step = xg_plan_add(plan, &xg_program_pack, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    step->covers_pass = copies == 1;
    if (operands & XG_A) {
        xg_step_point(step, offsetof(xg_pack_args, a), xg_at_a(plan, p));
        xg_step_point(step, offsetof(xg_pack_args, a_copy), xg_at_workspace(a->offset));
        xg_region_a(step, plan, p);
    }
    if (operands & XG_B) {
        xg_step_point(step, offsetof(xg_pack_args, b), xg_at_b(plan, p));
        xg_step_point(step, offsetof(xg_pack_args, b_copy), xg_at_workspace(b->offset));
        xg_region_b(step, plan, p);
    }
    const int64_t bytes = (int64_t)xg_type_bytes(p->type_a);
    const int64_t last_elements = p->k * last->stride;
    const int64_t elements = (last->offset - first->offset) / bytes + last_elements;
    xg_step_region(step, XG_REGION_C, "packed", xg_at_workspace(first->offset), 1, elements,
                   elements, p->type_a);
    step->regions[XG_REGION_C].batch_stride_bytes = elements * bytes;
    const xgemm_status status =
        xg_step_grid(step, xg_ceil_div(widest, WIDE), deep < XG_GRID_Y_MAX ? deep : XG_GRID_Y_MAX,
                     THREADS, 1, error);
    step->grid[2] = both ? 2 : 1;
    return status;
}

static bool reserve(xg_plan *plan, const xg_problem *p, int64_t size, int64_t batch_stride,
                    xg_packed *copy, xg_error *error)
{
    const int64_t copies = copies_of(batch_stride, plan->batch_per_pass);
    copy->stride = xg_packed_stride(size);
    copy->batch_stride = copies > 1 ? p->k * copy->stride : 0;
    return xg_plan_reserve(plan, p->k * copies, copy->stride, p->type_a, "the aligned copies",
                           &copy->offset, error);
}

xgemm_status xg_add_pack(xg_plan *plan, const xg_problem *problem, unsigned operands, xg_packed *a,
                         xg_packed *b, xg_error *error)
{
    *a = *b = (xg_packed){0, 0, 0};
    if (!operands)
        return XGEMM_OK;
    if ((operands & XG_A &&
         !reserve(plan, problem, problem->m, problem->a_batch_stride, a, error)) ||
        (operands & XG_B && !reserve(plan, problem, problem->n, problem->b_batch_stride, b, error)))
        return XGEMM_ERROR_OVERFLOW;
    if (plan->batch_per_pass == 1)
        return add_pack(plan, problem, operands, a, b, error);
    xgemm_status status = XGEMM_OK;
    if (operands & XG_A)
        status = add_pack(plan, problem, XG_A, a, b, error);
    if (operands & XG_B && !status)
        status = add_pack(plan, problem, XG_B, a, b, error);
    return status;
}

double xg_pack_bytes(const xg_problem *p, unsigned operands, int64_t batch_per_pass)
{
    const double k = (double)p->k;
    const double a = k * (double)copies_of(p->a_batch_stride, batch_per_pass);
    const double b = k * (double)copies_of(p->b_batch_stride, batch_per_pass);
    return (operands & XG_A ? xg_room_bytes(a, (double)xg_packed_stride(p->m), p->type_a) : 0.0) +
           (operands & XG_B ? xg_room_bytes(b, (double)xg_packed_stride(p->n), p->type_b) : 0.0);
}

/* Threads that share an element of C, a power of two: for a small C of many splits. */
static int64_t threads_per_element(int64_t elements, int64_t splits)
{
    enum { THREADS_MOST = 16, SPLITS_LEAST = 4, THREADS_ENOUGH = 1 << 17 };
    int64_t threads = 1;
    while (threads < THREADS_MOST && threads * 2 * SPLITS_LEAST <= splits &&
           elements * threads * 2 <= THREADS_ENOUGH)
        threads *= 2;
    return threads;
}

bool xg_reserve_partial_sums(xg_plan *plan, const xg_problem *p, int64_t splits, int64_t *offset,
                             xg_error *error)
{
    return xg_plan_reserve(plan, splits * plan->batch_per_pass, p->m * p->n, p->type_c,
                           "the partial sums", offset, error);
}

xgemm_status xg_add_reduce(xg_plan *plan, const xg_problem *p, int64_t splits, int64_t offset,
                           xg_error *error)
{
    enum { THREADS = 256 };
    const int64_t elements = p->m * p->n, threads = threads_per_element(elements, splits);
    const xg_reduce_args args = {.m = p->m,
                                 .n = p->n,
                                 .splits = splits,
                                 .c_stride_m = p->c_stride_m,
                                 .partial_batch_stride = splits * elements,
                                 .c_batch_stride = p->c_batch_stride,
                                 .alpha = p->epilogue.alpha.f32,
                                 .beta = p->epilogue.beta.f32,
                                 .threads_per_element = (uint64_t)threads};
    xg_step *step = xg_plan_add(plan, &xg_program_reduce, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_reduce_args, partial), xg_at_workspace(offset));
    xg_step_point(step, offsetof(xg_reduce_args, c), xg_at_c(plan, p));
    xg_step_region(step, XG_REGION_A, "partial sums", xg_at_workspace(offset), splits, elements,
                   elements, p->type_c);
    step->regions[XG_REGION_A].batch_stride_bytes =
        splits * elements * (int64_t)xg_type_bytes(p->type_c);
    xg_region_c(step, plan, p);
    return xg_step_grid(step, xg_ceil_div(elements, THREADS / threads), 1, THREADS, 1, error);
}

double xg_reduce_bytes(const xg_problem *p, int64_t splits, int64_t batch_per_pass)
{
    return splits > 1 ? xg_room_bytes((double)splits * (double)batch_per_pass,
                                      (double)p->m * (double)p->n, p->type_c)
                      : 0.0;
}

enum { SCALE_X = 32, SCALE_Y = 8 };

xgemm_status xg_add_scale(xg_plan *plan, const xg_problem *p, bool host, xg_error *error)
{
    const xg_scale_args args = {.m = p->m,
                                .n = p->n,
                                .c_stride_m = p->c_stride_m,
                                .c_batch_stride =
                                    p->pointer_arrays ? XG_POINTER_ARRAYS : p->c_batch_stride,
                                .beta = p->epilogue.beta.f32};
    xg_step *step = xg_plan_add(plan, host ? &xg_program_scale_host : &xg_program_scale, &args,
                                sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_scale_args, c), xg_at_c(plan, p));
    xg_region_c(step, plan, p);
    if (host)
        return xg_step_grid(step, 1, 1, 1, 1, error);
    const int64_t high = xg_ceil_div(p->m, SCALE_Y);
    return xg_step_grid(step, xg_ceil_div(p->n, SCALE_X),
                        high < XG_GRID_Y_MAX ? high : XG_GRID_Y_MAX, SCALE_X, SCALE_Y, error);
}

xgemm_status xg_add_zeros(xg_plan *plan, int64_t offset, int64_t count, xg_error *error)
{
    const xg_scale_args args = {.m = 1, .n = count, .c_stride_m = count};
    xg_step *step = xg_plan_add(plan, &xg_program_scale, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_scale_args, c), xg_at_workspace(offset));
    xg_step_region(step, XG_REGION_C, "C", xg_at_workspace(offset), 1, count, count, XG_F32);
    return xg_step_grid(step, xg_ceil_div(count, SCALE_X), 1, SCALE_X, SCALE_Y, error);
}

xgemm_status xg_add_pad(xg_plan *plan, xg_location from, xg_type type, int64_t rows,
                        int64_t columns, int64_t row_stride, int64_t column_stride,
                        const xg_padded *to, xg_error *error)
{
    enum { TILE = 32, THREADS_Y = 8 };
    const xg_pad_args args = {.rows = rows,
                              .columns = columns,
                              .from_row_stride = row_stride,
                              .from_column_stride = column_stride,
                              .to_rows = to->rows,
                              .to_columns = to->columns};
    const bool by_rows = column_stride == 1;
    xg_step *step = xg_plan_add(plan, &xg_program_pad, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_pad_args, from), from);
    xg_step_point(step, offsetof(xg_pad_args, to), xg_at_workspace(to->offset));
    xg_step_region(step, XG_REGION_A, "A", from, by_rows ? rows : columns, by_rows ? columns : rows,
                   by_rows ? row_stride : column_stride, type);
    xg_step_region(step, XG_REGION_C, "C", xg_at_workspace(to->offset), to->rows, to->columns,
                   to->columns, type);
    return xg_step_grid(step, xg_ceil_div(to->columns, TILE), xg_ceil_div(to->rows, TILE), TILE,
                        THREADS_Y, error);
}

xgemm_status xg_add_unpad(xg_plan *plan, const xg_problem *p, const xg_padded *from,
                          xg_error *error)
{
    enum { THREADS_X = 32, THREADS_Y = 8 };
    const xg_unpad_args args = {.m = p->m,
                                .n = p->n,
                                .from_stride = from->columns,
                                .c_stride_m = p->c_stride_m,
                                .alpha = p->epilogue.alpha.f32,
                                .beta = p->epilogue.beta.f32};
    xg_step *step = xg_plan_add(plan, &xg_program_unpad, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_unpad_args, from), xg_at_workspace(from->offset));
    xg_step_point(step, offsetof(xg_unpad_args, c), xg_at_c(plan, p));
    xg_step_region(step, XG_REGION_A, "A", xg_at_workspace(from->offset), p->m, p->n, from->columns,
                   p->type_c);
    xg_region_c(step, plan, p);
    return xg_step_grid(step, xg_ceil_div(p->n, THREADS_X), xg_ceil_div(p->m, THREADS_Y), THREADS_X,
                        THREADS_Y, error);
}
