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
    LINES = 16,   /* of a CTA of scale.inc and split.inc */
    SLAB_K = 256, /* of split.inc */
    PRODUCT_THREADS = 384,
    BOX_ROWS = 128,
    OTHERS = 1024, /* parts of elements, of which one may be computed from A and B */
    STAGES = 4,
    RING_BYTES = STAGES * (XG_RESIDUE_TILE_M + XG_RESIDUE_TILE_N) * XG_RESIDUE_TILE_K,
    STAGED_BYTES = 8 * 16 * (XG_RESIDUE_TILE_N + 16), /* residue_store.inc */
    SHARED_BYTES = RING_BYTES + 16 * STAGES + STAGED_BYTES
};

/* The programs of a type; and those of both. */
typedef struct {
    const xg_program *scale, *split, *product, *reduce;
} programs;

static const programs of_reals = {&xg_program_residue_scale, &xg_program_residue_split,
                                  &xg_program_residue_128x256, &xg_program_residue_reduce};
static const programs of_complex = {&xg_program_residue_scale_c64, &xg_program_residue_split_c64,
                                    &xg_program_residue_c64_128x256,
                                    &xg_program_residue_reduce_c64};

/* What the launches have in common; places in the workspace are bytes. */
typedef struct {
    const xg_problem *problem;
    const programs *by;
    xg_residue_sizes sizes;
    int64_t ratios, about_a, about_b, magnitudes_a, magnitudes_b, others;
    int64_t planes_a, planes_b, residues;
    int multiprocessors;
} launches;

static bool reserve(launches *of, xg_plan *plan, xg_error *error)
{
    const struct {
        int64_t bytes, *at;
    } rooms[] = {{of->sizes.ratios, &of->ratios},
                 {of->sizes.about_a, &of->about_a},
                 {of->sizes.about_b, &of->about_b},
                 {of->sizes.magnitudes_a, &of->magnitudes_a},
                 {of->sizes.magnitudes_b, &of->magnitudes_b},
                 {of->sizes.others, &of->others},
                 {of->sizes.planes_a, &of->planes_a},
                 {of->sizes.planes_b, &of->planes_b},
                 {of->sizes.residues, &of->residues}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (!xg_plan_reserve(plan, 1, rooms[i].bytes / 4, XG_F32, "residues", rooms[i].at, error))
            return false;
    return true;
}

/* A step with the workspace; NULL: there is none. */
static xg_step *add(const xg_program *program, const void *args, size_t size, xg_plan *plan,
                    xg_error *error)
{
    xg_step *const step = xg_plan_add(plan, program, args, size, error);
    if (!step)
        return NULL;
    step->pdl = true;
    xg_region_workspace(step, plan);
    return step;
}

/*
 * The pass that scales, or splits, and writes planes there: lines are to_stride bytes apart. The
 * second has a CTA for each slab of k, too.
 */
static xgemm_status add_pass(const launches *of, const xg_program *program, int64_t slabs,
                             int64_t planes_a, int64_t planes_b, int64_t to_stride, xg_plan *plan,
                             xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int64_t ctas_a = xg_ceil_div(p->m, LINES), ctas_b = xg_ceil_div(p->n, LINES);
    const xg_residue_split_args args = {
        .operands = {{.count = p->m, .line_stride = p->a_stride_m, .k_stride = p->a_stride_k},
                     {.count = p->n, .line_stride = p->b_stride_n, .k_stride = p->b_stride_k}},
        .k = p->k,
        .to_stride = to_stride,
        .ctas_a = (uint32_t)ctas_a,
        .others_most = (uint32_t)(of->sizes.parts * p->m * p->n / OTHERS),
        .conjugates = (p->a_conjugate ? 1u : 0u) | (p->b_conjugate ? 2u : 0u)};
    const size_t second = sizeof(xg_residue_operand);
    xg_step *const step = add(program, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->later_pass_argument = offsetof(xg_residue_split_args, later_pass);
    xg_step_point(step, offsetof(xg_residue_operand, from), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_residue_operand, planes), xg_at_workspace(planes_a));
    xg_step_point(step, offsetof(xg_residue_operand, about), xg_at_workspace(of->about_a));
    xg_step_point(step, second + offsetof(xg_residue_operand, from), xg_at_b(plan, p));
    xg_step_point(step, second + offsetof(xg_residue_operand, planes), xg_at_workspace(planes_b));
    xg_step_point(step, second + offsetof(xg_residue_operand, about), xg_at_workspace(of->about_b));
    xg_step_point(step, offsetof(xg_residue_split_args, ratios), xg_at_workspace(of->ratios));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    return xg_step_grid(step, ctas_a + ctas_b, slabs, LINE_THREADS, 1, error);
}

static xg_tensor planes_of(int64_t lines, int64_t stride, int64_t planes)
{
    return (xg_tensor){.element_bytes = 1,
                       .columns = stride,
                       .rows = lines,
                       .stride_bytes = stride,
                       .box_columns = XG_RESIDUE_TILE_K,
                       .box_rows = BOX_ROWS,
                       .matrices = planes,
                       .matrix_stride_bytes = lines * stride,
                       .swizzled = true};
}

/* Whether a product by the scalar is exact, unless it underflows. */
static bool is_power_of_2(const xg_epilogue_params *epilogue, xg_scalar x)
{
    double parts[2];
    int exponent;
    xg_scalar_parts(epilogue->type, x, parts);
    return !epilogue->device_scalars && parts[1] == 0.0 && fabs(frexp(parts[0], &exponent)) == 0.5;
}

/*
 * What rounding the lines may leave, in units of 2^-53 of |A||B|. An error may be 4 of them: one is
 * for the element's own rounding, one for its product with alpha, one for the sum with beta * C;
 * less 2^-5 for these roundings' products, and those of the guard. A part of a complex number is
 * rounded once for all these products and sums.
 */
static float tolerance_of(const xg_problem *p)
{
    const xg_epilogue_params *const e = &p->epilogue;
    const bool adds = e->device_scalars || !xg_scalar_is(e->type, e->beta, 0);
    const bool multiplies = !is_power_of_2(e, e->alpha);
    const int roundings = p->type_a == XG_C64 ? 1 + (multiplies || adds) : 1 + multiplies + adds;
    return ((float)(4 - roundings) - 0x1p-5f) * 0x1p-53f;
}

/* Planes of A and B in the workspace, and of bytes of C, that a launch multiplies. */
typedef struct {
    int64_t a, b, c;
    int64_t n, k_stride, c_stride; /* B's lines */
    int64_t planes;
} factors;

/* The products of magnitudes, or of residues: clusters of two CTAs where C has two tiles of rows.
 */
static xgemm_status add_product(const launches *of, const xg_program *program, const factors *by,
                                xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int64_t rows = xg_ceil_div(p->m, XG_RESIDUE_TILE_M);
    const int64_t columns = xg_ceil_div(by->n, XG_RESIDUE_TILE_N), cluster = rows > 1 ? 2 : 1;
    const int64_t items = xg_ceil_div(rows, cluster) * columns * by->planes;
    const int64_t most = of->multiprocessors > cluster ? of->multiprocessors / cluster : 1;
    const xg_residue_product_args args = {.m = p->m,
                                          .n = by->n,
                                          .c_stride = by->c_stride,
                                          .tolerance = tolerance_of(p),
                                          .k_blocks = (uint32_t)(by->k_stride / XG_RESIDUE_TILE_K),
                                          .rows = (uint32_t)rows,
                                          .columns = (uint32_t)columns};
    xg_step *const step = add(program, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->cluster = cluster > 1 ? (uint32_t)cluster : 0;
    step->shared_bytes = SHARED_BYTES;
    step->tensors[0] = planes_of(p->m, by->k_stride, by->planes);
    step->tensor_at[0] = xg_at_workspace(by->a);
    step->tensors[1] = planes_of(by->n, by->k_stride, by->planes);
    step->tensor_at[1] = xg_at_workspace(by->b);
    xg_step_point(step, offsetof(xg_residue_product_args, a), xg_at_workspace(of->about_a));
    xg_step_point(step, offsetof(xg_residue_product_args, b), xg_at_workspace(of->about_b));
    xg_step_point(step, offsetof(xg_residue_product_args, ratios), xg_at_workspace(of->ratios));
    xg_step_point(step, offsetof(xg_residue_product_args, c), xg_at_workspace(by->c));
    return xg_step_grid(step, cluster * (items < most ? items : most), 1, PRODUCT_THREADS, 1,
                        error);
}

/* Of complex numbers C's columns are there twice: real parts, then imaginary ones. */
static xgemm_status add_guard(const launches *of, xg_plan *plan, xg_error *error)
{
    const xg_residue_sizes *const sizes = &of->sizes;
    const factors by = {.a = of->magnitudes_a,
                        .b = of->magnitudes_b,
                        .c = of->others,
                        .n = sizes->parts * of->problem->n,
                        .k_stride = sizes->parts * sizes->k_stride,
                        .c_stride = sizes->others_stride,
                        .planes = 1};
    return add_product(of, &xg_program_residue_guard_128x256, &by, plan, error);
}

static xgemm_status add_residues(const launches *of, xg_plan *plan, xg_error *error)
{
    const xg_residue_sizes *const sizes = &of->sizes;
    const factors by = {.a = of->planes_a,
                        .b = of->planes_b,
                        .c = of->residues,
                        .n = of->problem->n,
                        .k_stride = sizes->k_stride,
                        .c_stride = sizes->n_stride,
                        .planes = sizes->planes};
    return add_product(of, of->by->product, &by, plan, error);
}

static xgemm_status add_reduce(const launches *of, xg_plan *plan, xg_error *error)
{
    enum { THREADS_X = 64, THREADS_Y = 4, COLUMNS = 2 };
    const xg_problem *const p = of->problem;
    const xg_typed_args typed = xg_typed_args_of(p);
    const xg_residue_reduce_args args = {.m = p->m,
                                         .n = p->n,
                                         .residue_stride = of->sizes.n_stride,
                                         .others = of->others - of->residues,
                                         .others_stride = of->sizes.others_stride,
                                         .c_stride_m = p->c_stride_m,
                                         .about_b = (of->about_b - of->about_a) /
                                                    (int64_t)sizeof(xg_residue_stats),
                                         .k = p->k,
                                         .a_stride_m = p->a_stride_m,
                                         .a_stride_k = p->a_stride_k,
                                         .b_stride_k = p->b_stride_k,
                                         .b_stride_n = p->b_stride_n,
                                         .epilogue = typed.epilogue};
    xg_step *const step = add(of->by->reduce, &args, sizeof args, plan, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_residue_reduce_args, residues), xg_at_workspace(of->residues));
    xg_step_point(step, offsetof(xg_residue_reduce_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_residue_reduce_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_residue_reduce_args, about), xg_at_workspace(of->about_a));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_step_point(step, offsetof(xg_residue_reduce_args, ratios), xg_at_workspace(of->ratios));
    xg_step_uses_c(step, plan, p, offsetof(xg_residue_reduce_args, c),
                   offsetof(xg_residue_reduce_args, epilogue));
    return xg_step_grid(step, xg_ceil_div(p->n, THREADS_X * COLUMNS), xg_ceil_div(p->m, THREADS_Y),
                        THREADS_X, THREADS_Y, error);
}

xgemm_status xg_residue_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                              xg_error *error)
{
    const xg_problem *const p = &request->problem;
    launches all = {.problem = p,
                    .by = p->type_a == XG_C64 ? &of_complex : &of_reals,
                    .multiprocessors = request->target.multiprocessors};
    if (!xg_residue_applies(of->kernel, request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a product of this size or epilogue in %s; auto "
                       "can",
                       of->kernel->name, xg_type_name(p->type_a));
    all.sizes = xg_residue_sizes_of(p);
    if (!reserve(&all, plan, error))
        return XGEMM_ERROR_OVERFLOW;
    plan->recomputed = (size_t)all.ratios + offsetof(xg_residue_ratios, recomputed);
    const xg_residue_sizes *const sizes = &all.sizes;
    xgemm_status status = add_pass(&all, all.by->scale, 1, all.magnitudes_a, all.magnitudes_b,
                                   sizes->parts * sizes->k_stride, plan, error);
    if (!status)
        status = add_guard(&all, plan, error);
    if (!status)
        status = add_pass(&all, all.by->split, xg_ceil_div(p->k, SLAB_K), all.planes_a,
                          all.planes_b, sizes->k_stride, plan, error);
    if (!status)
        status = add_residues(&all, plan, error);
    if (!status)
        status = add_reduce(&all, plan, error);
    return status ? status : xg_double_add_fallback(plan, p, xg_at_workspace(all.ratios), error);
}
