/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of residue.h. */
#include "args.h"
#include "families/double/double.h"
#include "families/programs.h"
#include "families/typed.h"
#include "residue.h"

#include <math.h>
#include <stddef.h>

_Static_assert(sizeof(xg_residue_split_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_residue_product_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_residue_reduce_args) <= XG_ARGUMENTS_BYTES,
               "see plan/plan.h");

enum {
    LINE_THREADS = 256,
    LINES = 16,   /* of a CTA of residue_scale.cu and residue_split.cu */
    SLAB_K = 256, /* of residue_split.cu */
    PRODUCT_THREADS = 384,
    BOX_ROWS = 128,
    OTHERS = 1024, /* elements, of which one may be computed from A and B */
    STAGES = 4,
    RING_BYTES = STAGES * (XG_RESIDUE_TILE_M + XG_RESIDUE_TILE_N) * XG_RESIDUE_TILE_K,
    STAGED_BYTES = 8 * 16 * (XG_RESIDUE_TILE_N + 16), /* residue_store.inc */
    SHARED_BYTES = RING_BYTES + 16 * STAGES + STAGED_BYTES
};

/* What the launches have in common; places in the workspace are bytes. */
typedef struct {
    const xg_problem *problem;
    xg_residue_sizes sizes;
    int64_t ratios, about_a, about_b, planes_a, planes_b, residues;
    int64_t words; /* of the workspace */
    int multiprocessors;
} launches;

static bool reserve(launches *of, xg_plan *plan, xg_error *error)
{
    const struct {
        int64_t bytes, *at;
    } rooms[] = {{of->sizes.ratios, &of->ratios},     {of->sizes.about_a, &of->about_a},
                 {of->sizes.about_b, &of->about_b},   {of->sizes.planes_a, &of->planes_a},
                 {of->sizes.planes_b, &of->planes_b}, {of->sizes.residues, &of->residues}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (!xg_plan_reserve(plan, 1, rooms[i].bytes / 4, XG_F32, "residues", rooms[i].at, error))
            return false;
    of->words = (int64_t)(plan->workspace_bytes / 4);
    return true;
}

/* A step with the workspace; NULL: there is none. */
static xg_step *add(const launches *of, const xg_program *program, const void *args, size_t size,
                    xg_plan *plan, xg_error *error)
{
    xg_step *const step = xg_plan_add(plan, program, args, size, error);
    if (!step)
        return NULL;
    step->pdl = true;
    xg_step_region(step, XG_REGION_WORKSPACE, "workspace", xg_at_workspace(0), 1, of->words,
                   of->words, XG_F32);
    return step;
}

/* The pass that scales, or splits; the second has a CTA for each slab of k, too. */
static xgemm_status add_pass(const launches *of, const xg_program *program, int64_t slabs,
                             xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int64_t ctas_a = xg_ceil_div(p->m, LINES), ctas_b = xg_ceil_div(p->n, LINES);
    const xg_residue_split_args args = {
        .operands = {{.count = p->m, .line_stride = p->a_stride_m, .k_stride = p->a_stride_k},
                     {.count = p->n, .line_stride = p->b_stride_n, .k_stride = p->b_stride_k}},
        .k = p->k,
        .to_stride = of->sizes.k_stride,
        .ctas_a = (uint32_t)ctas_a,
        .others_most = (uint32_t)(p->m * p->n / OTHERS)};
    const size_t second = sizeof(xg_residue_operand);
    xg_step *const step = add(of, program, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->later_pass_argument = offsetof(xg_residue_split_args, later_pass);
    xg_step_point(step, offsetof(xg_residue_operand, from), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_residue_operand, planes), xg_at_workspace(of->planes_a));
    xg_step_point(step, offsetof(xg_residue_operand, about), xg_at_workspace(of->about_a));
    xg_step_point(step, second + offsetof(xg_residue_operand, from), xg_at_b(plan, p));
    xg_step_point(step, second + offsetof(xg_residue_operand, planes),
                  xg_at_workspace(of->planes_b));
    xg_step_point(step, second + offsetof(xg_residue_operand, about), xg_at_workspace(of->about_b));
    xg_step_point(step, offsetof(xg_residue_split_args, ratios), xg_at_workspace(of->ratios));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    return xg_step_grid(step, ctas_a + ctas_b, slabs, LINE_THREADS, 1, error);
}

static xg_tensor planes_of(int64_t lines, const launches *of)
{
    return (xg_tensor){.element_bytes = 1,
                       .columns = of->problem->k,
                       .rows = lines,
                       .stride_bytes = of->sizes.k_stride,
                       .box_columns = XG_RESIDUE_TILE_K,
                       .box_rows = BOX_ROWS,
                       .matrices = XG_RESIDUE_PLANES,
                       .matrix_stride_bytes = lines * of->sizes.k_stride,
                       .swizzled = true};
}

/* Whether a product by the scalar is exact, unless it underflows. */
static bool is_power_of_2(const xg_epilogue_params *epilogue, xg_scalar x)
{
    int exponent;
    const double fraction = fabs(frexp(x.f64, &exponent));
    return !epilogue->device_scalars && fraction == 0.5;
}

/*
 * What rounding the lines may leave, in units of 2^-53 of |A||B|. An error may be 4 of them: one is
 * for the element's own rounding, one for its product with alpha, one for the sum with beta * C;
 * less 2^-6 for these roundings' products, and those of the guard.
 */
static float tolerance_of(const xg_problem *p)
{
    const xg_epilogue_params *const e = &p->epilogue;
    const bool adds = e->device_scalars || !xg_scalar_is(e->type, e->beta, 0);
    const int roundings = 1 + !is_power_of_2(e, e->alpha) + adds;
    return ((float)(4 - roundings) - 0x1p-6f) * 0x1p-53f;
}

/* The products of magnitudes, or of residues: clusters of two CTAs where C has two tiles of rows.
 */
static xgemm_status add_product(const launches *of, const xg_program *program, int64_t planes,
                                xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int64_t rows = xg_ceil_div(p->m, XG_RESIDUE_TILE_M);
    const int64_t columns = xg_ceil_div(p->n, XG_RESIDUE_TILE_N), cluster = rows > 1 ? 2 : 1;
    const int64_t items = xg_ceil_div(rows, cluster) * columns * planes;
    const int64_t most = of->multiprocessors > cluster ? of->multiprocessors / cluster : 1;
    const xg_residue_product_args args = {.m = p->m,
                                          .n = p->n,
                                          .c_stride = of->sizes.n_stride,
                                          .tolerance = tolerance_of(p),
                                          .k_blocks =
                                              (uint32_t)xg_ceil_div(p->k, XG_RESIDUE_TILE_K),
                                          .rows = (uint32_t)rows,
                                          .columns = (uint32_t)columns};
    xg_step *const step = add(of, program, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->cluster = cluster > 1 ? (uint32_t)cluster : 0;
    step->shared_bytes = SHARED_BYTES;
    step->tensors[0] = planes_of(p->m, of);
    step->tensor_at[0] = xg_at_workspace(of->planes_a);
    step->tensors[1] = planes_of(p->n, of);
    step->tensor_at[1] = xg_at_workspace(of->planes_b);
    xg_step_point(step, offsetof(xg_residue_product_args, a), xg_at_workspace(of->about_a));
    xg_step_point(step, offsetof(xg_residue_product_args, b), xg_at_workspace(of->about_b));
    xg_step_point(step, offsetof(xg_residue_product_args, ratios), xg_at_workspace(of->ratios));
    xg_step_point(step, offsetof(xg_residue_product_args, c), xg_at_workspace(of->residues));
    return xg_step_grid(step, cluster * (items < most ? items : most), 1, PRODUCT_THREADS, 1,
                        error);
}

static xgemm_status add_reduce(const launches *of, xg_plan *plan, xg_error *error)
{
    enum { THREADS_X = 64, THREADS_Y = 4, COLUMNS = 2 };
    const xg_problem *const p = of->problem;
    const xg_typed_args typed = xg_typed_args_of(p);
    const xg_residue_reduce_args args = {.m = p->m,
                                         .n = p->n,
                                         .residue_stride = of->sizes.n_stride,
                                         .c_stride_m = p->c_stride_m,
                                         .about_b = (of->about_b - of->about_a) /
                                                    (int64_t)sizeof(xg_residue_line),
                                         .k = p->k,
                                         .a_stride_m = p->a_stride_m,
                                         .a_stride_k = p->a_stride_k,
                                         .b_stride_k = p->b_stride_k,
                                         .b_stride_n = p->b_stride_n,
                                         .epilogue = typed.epilogue};
    xg_step *const step = add(of, &xg_program_residue_reduce, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_residue_reduce_args, residues), xg_at_workspace(of->residues));
    xg_step_point(step, offsetof(xg_residue_reduce_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_residue_reduce_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_residue_reduce_args, about), xg_at_workspace(of->about_a));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_step_point(step, offsetof(xg_residue_reduce_args, ratios), xg_at_workspace(of->ratios));
    xg_step_point(step, offsetof(xg_residue_reduce_args, c), xg_at_c(plan, p));
    xg_point_epilogue(step, offsetof(xg_residue_reduce_args, epilogue), p);
    xg_region_c(step, plan, p);
    xg_regions_of_epilogue(step, p);
    return xg_step_grid(step, xg_ceil_div(p->n, THREADS_X * COLUMNS), xg_ceil_div(p->m, THREADS_Y),
                        THREADS_X, THREADS_Y, error);
}

xgemm_status xg_residue_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                              xg_error *error)
{
    const xg_problem *const p = &request->problem;
    launches all = {.problem = p,
                    .sizes = xg_residue_sizes_of(p),
                    .multiprocessors = request->target.multiprocessors};
    if (!xg_residue_applies(of->kernel, request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a product of this size or epilogue in %s; auto "
                       "can",
                       of->kernel->name, xg_type_name(p->type_a));
    if (!reserve(&all, plan, error))
        return XGEMM_ERROR_OVERFLOW;
    plan->recomputed = (size_t)all.ratios + offsetof(xg_residue_ratios, recomputed);
    xgemm_status status = add_pass(&all, &xg_program_residue_scale, 1, plan, error);
    if (!status)
        status = add_product(&all, &xg_program_residue_guard_128x256, 1, plan, error);
    if (!status)
        status = add_pass(&all, &xg_program_residue_split, xg_ceil_div(p->k, SLAB_K), plan, error);
    if (!status)
        status = add_product(&all, &xg_program_residue_128x256, XG_RESIDUES_MOST, plan, error);
    if (!status)
        status = add_reduce(&all, plan, error);
    return status ? status : xg_double_add_fallback(plan, p, xg_at_workspace(all.ratios), error);
}
