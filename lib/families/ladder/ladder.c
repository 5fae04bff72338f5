/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of the textbook's kernels: one launch, of whole tiles or with bounds checked. */
#include "families/common/args.h"
#include "families/family.h"
#include "families/transform/transform.h"

#include <stddef.h>

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    (void)kernel, (void)request;
    return false; /* they are there to be read and measured, and have no cost model */
}

static xgemm_status set_grid(xg_step *step, const xg_kernel *kernel, int64_t m, int64_t n,
                             xg_error *error)
{
    const int64_t down = xg_ceil_div(m, kernel->tile_m), across = xg_ceil_div(n, kernel->tile_n);
    return kernel->rows_on_x
               ? xg_step_grid(step, down, across, kernel->block_x, kernel->block_y, error)
               : xg_step_grid(step, across, down, kernel->block_x, kernel->block_y, error);
}

/* The kernel "padded": copies with zeros around, the product, and the way back. */
typedef struct {
    xg_padded a, b, c;
} padded;

static padded padded_of(const xg_candidate *of, const xg_problem *p)
{
    const int64_t tile = of->kernel->tile_m;
    const int64_t m = xg_ceil_div(p->m, tile) * tile, n = xg_ceil_div(p->n, tile) * tile;
    const int64_t k = xg_ceil_div(p->k, tile) * tile;
    return (padded){{0, m, k}, {0, k, n}, {0, m, n}};
}

static double padded_bytes(const xg_padded *x)
{
    return xg_room_bytes((double)x->rows, (double)x->columns, XG_F32);
}

static bool reserve(xg_plan *plan, xg_padded *x, xg_type type, xg_error *error)
{
    return xg_plan_reserve(plan, x->rows, x->columns, type, "the padded matrices", &x->offset,
                           error);
}

static xgemm_status add_padded_product(const xg_kernel *kernel, xg_plan *plan, const padded *x,
                                       xg_type type, xg_error *error)
{
    const xg_product_args args = {.m = x->c.rows,
                                  .n = x->c.columns,
                                  .k = x->a.columns,
                                  .a_stride_m = x->a.columns,
                                  .a_stride_k = 1,
                                  .b_stride_k = x->b.columns,
                                  .b_stride_n = 1,
                                  .c_stride_m = x->c.columns,
                                  .alpha = 1.0f};
    static const struct {
        const char *name;
        size_t argument;
    } matrices[] = {{"A", offsetof(xg_product_args, a)},
                    {"B", offsetof(xg_product_args, b)},
                    {"C", offsetof(xg_product_args, c)}};
    const xg_padded *const copies[] = {&x->a, &x->b, &x->c};
    xg_step *step = xg_plan_add(plan, kernel->programs[0], &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    for (int i = 0; i < 3; i++) {
        const xg_location at = xg_at_workspace(copies[i]->offset);
        xg_step_point(step, matrices[i].argument, at);
        xg_step_region(step, XG_REGION_A + i, matrices[i].name, at, copies[i]->rows,
                       copies[i]->columns, copies[i]->columns, type);
    }
    return set_grid(step, kernel, args.m, args.n, error);
}

static xgemm_status build_padded(const xg_candidate *of, const xg_problem *p, xg_plan *plan,
                                 xg_error *error)
{
    padded x = padded_of(of, p);
    if (!reserve(plan, &x.a, p->type_a, error) || !reserve(plan, &x.b, p->type_b, error) ||
        !reserve(plan, &x.c, p->type_c, error))
        return XGEMM_ERROR_OVERFLOW;
    xgemm_status status = xg_add_pad(plan, xg_at_a(plan, p), p->type_a, p->m, p->k, p->a_stride_m,
                                     p->a_stride_k, &x.a, error);
    if (!status)
        status = xg_add_pad(plan, xg_at_b(plan, p), p->type_b, p->k, p->n, p->b_stride_k,
                            p->b_stride_n, &x.b, error);
    if (!status)
        status = add_padded_product(of->kernel, plan, &x, p->type_c, error);
    return status ? status : xg_add_unpad(plan, p, &x.c, error);
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    const padded x = padded_of(of, &request->problem);
    return of->kernel->pads_operands ? padded_bytes(&x.a) + padded_bytes(&x.b) + padded_bytes(&x.c)
                                     : 0.0;
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *p = &request->problem;
    if (of->kernel->pads_operands)
        return build_padded(of, p, plan, error);
    xg_step *const step = xg_add_plain_product(of->kernel, plan, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_region_c(step, plan, p);
    return set_grid(step, of->kernel, p->m, p->n, error);
}

const xg_family xg_family_ladder = {
    .name = "ladder",
    .applies = applies,
    .candidate = xg_only_candidate,
    .workspace = workspace,
    .build = build,
};
