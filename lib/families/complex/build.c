/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of complex.h. */
#include "args.h"
#include "complex.h"
#include "families/double/args.h"
#include "families/programs.h"
#include "families/typed.h"

#include <stddef.h>

_Static_assert(sizeof(xg_complex_args) <= XG_ARGUMENTS_BYTES, "see plan/plan.h");

/* The rooms in the workspace: bytes, where there are rows. */
typedef struct {
    int64_t a, b, c;
} rooms;

static bool reserve(const xg_complex_real *real, xg_plan *plan, rooms *at, xg_error *error)
{
    const struct {
        int64_t rows, stride, *at;
    } all[] = {{real->a_rows, real->a_stride, &at->a},
               {real->b_rows, real->b_stride, &at->b},
               {real->c_rows, real->c_stride, &at->c}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!xg_plan_reserve(plan, all[i].rows, all[i].stride, XG_F32, "the real product",
                             all[i].at, error))
            return false;
    return true;
}

static xg_complex_operand operand_a(const xg_problem *p, const xg_complex_real *real)
{
    return (xg_complex_operand){.count = p->k,
                                .length = p->m,
                                .from_stride = p->a_stride_k,
                                .to_stride = real->a_stride,
                                .apart = 1};
}

/* Conjugates are B's signs: a conjugate A changes that of what its imaginary parts multiply. */
static xg_complex_operand operand_b(const xg_problem *p, const xg_complex_real *real)
{
    const float a = p->a_conjugate ? -1.0f : 1.0f, b = p->b_conjugate ? -1.0f : 1.0f;
    const bool k_major = p->b_stride_k == 1;
    return (xg_complex_operand){.count = k_major ? p->n : p->k,
                                .length = k_major ? p->k : p->n,
                                .from_stride = k_major ? p->b_stride_n : p->b_stride_k,
                                .to_stride = real->b_stride,
                                .first_y = k_major ? -a * b : b,
                                .second_y = k_major ? b : -a * b,
                                .second_x = a};
}

/* B, and A unless it is K-major. */
static xgemm_status add_operands(const xg_problem *p, const xg_complex_real *real, const rooms *at,
                                 xg_plan *plan, xg_error *error)
{
    enum { THREADS_X = 64, THREADS_Y = 4, ELEMENTS = 2 };
    const bool both = real->a_rows > 0;
    const xg_complex_operand b = operand_b(p, real);
    const xg_complex_operand a = both ? operand_a(p, real) : (xg_complex_operand){.count = 0};
    const xg_complex_args args = {.operands = {b, a}};
    const size_t second = offsetof(xg_complex_args, operands[1]);
    const int64_t length = a.length > b.length ? a.length : b.length;
    const int64_t lines = xg_ceil_div(a.count > b.count ? a.count : b.count, THREADS_Y);
    xg_step *const step = xg_plan_add(plan, &xg_program_complex_to_real, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_complex_operand, from), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_complex_operand, to), xg_at_workspace(at->b));
    xg_region_b(step, plan, p);
    if (both) {
        xg_step_point(step, second + offsetof(xg_complex_operand, from), xg_at_a(plan, p));
        xg_step_point(step, second + offsetof(xg_complex_operand, to), xg_at_workspace(at->a));
        xg_region_a(step, plan, p);
    }
    xg_region_workspace(step, plan);
    const xgemm_status status =
        xg_step_grid(step, xg_ceil_div(length, THREADS_X * ELEMENTS),
                     lines < XG_GRID_Y_MAX ? lines : XG_GRID_Y_MAX, THREADS_X, THREADS_Y, error);
    step->grid[2] = both ? 2 : 1;
    return status;
}

/* The real product's launches, planned by themselves, behind those of the plan. */
static xgemm_status add_product(const xg_candidate *of, const xg_complex_real *real,
                                const rooms *at, xg_plan *plan, xg_error *error)
{
    xg_workspace_offsets places = {
        .a = real->a_rows > 0 ? at->a : -1, .b = at->b, .c = real->c_rows > 0 ? at->c : -1};
    xg_plan product;
    xg_plan_begin(&product, &real->request.problem);
    const xgemm_status status = of->kernel->family->build(of, &real->request, &product, error);
    if (status)
        return status;
    if (!xg_plan_reserve(plan, 1, (int64_t)(product.workspace_bytes / 4), XG_F32,
                         "the real product", &places.workspace, error))
        return XGEMM_ERROR_OVERFLOW;
    return xg_plan_append(plan, &product, places, error);
}

/* The sums in the workspace are double_reduce's of one split, in tiles of one row. */
static xgemm_status add_epilogue(const xg_problem *p, const xg_complex_real *real, const rooms *at,
                                 xg_plan *plan, xg_error *error)
{
    enum { THREADS = 256, ELEMENTS = 2 };
    const xg_typed_args typed = xg_typed_args_of(p);
    const int64_t columns = real->c_stride / 2;
    const xg_double_reduce_args args = {.m = p->m,
                                        .n = p->n,
                                        .c_stride_m = p->c_stride_m,
                                        .c_batch_stride = typed.c_batch_stride,
                                        .splits = 1,
                                        .split_tiles = (uint32_t)p->m,
                                        .tile_m = 1,
                                        .tile_n = (uint32_t)columns,
                                        .rows = (uint32_t)p->m,
                                        .columns = 1,
                                        .ways = 1,
                                        .epilogue = typed.epilogue};
    xg_step *const step =
        xg_plan_add(plan, &xg_program_double_reduce_c32, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_double_reduce_args, sums), xg_at_workspace(at->c));
    xg_region_workspace(step, plan);
    xg_step_uses_c(step, plan, p, offsetof(xg_double_reduce_args, c),
                   offsetof(xg_double_reduce_args, epilogue));
    return xg_step_grid(step, p->m * (columns / ELEMENTS / THREADS), 1, THREADS, 1, error);
}

xgemm_status xg_complex_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                              xg_error *error)
{
    const xg_problem *const p = &request->problem;
    rooms at;
    if (!xg_complex_fits(of->kernel, request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a product of this size or epilogue in %s; auto "
                       "can",
                       of->kernel->name, xg_type_name(p->type_a));
    const xg_complex_real real = xg_complex_real_of(request);
    if (!reserve(&real, plan, &at, error))
        return XGEMM_ERROR_OVERFLOW;
    xgemm_status status = add_operands(p, &real, &at, plan, error);
    if (!status)
        status = add_product(of, &real, &at, plan, error);
    return status || real.c_rows == 0 ? status : add_epilogue(p, &real, &at, plan, error);
}
