/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of simt/: copies that align operands, tiles, a reduction, strips at C's edges. */
#include "args.h"
#include "families/double/double.h"
#include "families/gemv/gemv.h"
#include "families/half/mma.h"
#include "families/half/thin.h"
#include "families/programs.h"
#include "families/transform/transform.h"
#include "simt.h"

#include <stddef.h>

/* The operands of the product: as they came, or packed. */
typedef struct {
    unsigned packed; /* XG_A, XG_B */
    xg_packed a, b;
} operands;

/* The problem with its packed operands, as far as strides and majors go. */
static xg_problem packed_problem(const xg_problem *p, const operands *from)
{
    xg_problem packed = *p;
    if (from->packed & XG_A) {
        packed.a_stride_m = 1;
        packed.a_stride_k = from->a.stride;
        packed.a_batch_stride = from->a.batch_stride;
    }
    if (from->packed & XG_B) {
        packed.b_stride_k = from->b.stride;
        packed.b_stride_n = 1;
        packed.b_batch_stride = from->b.batch_stride;
    }
    return packed;
}

/* All of a packed row is the matrix's. */
static void set_packed(xg_step *step, size_t argument, int region, const char *name,
                       const xg_packed *from, const xg_problem *p, xg_type type)
{
    const xg_location at = xg_at_workspace(from->offset);
    xg_step_point(step, argument, at);
    xg_step_region(step, region, name, at, p->k, from->stride, from->stride, type);
    step->regions[region].batch_stride_bytes = from->batch_stride * (int64_t)xg_type_bytes(type);
}

static void set_operands(xg_step *step, const xg_plan *plan, const xg_problem *p,
                         const operands *from, size_t a, size_t b)
{
    if (from->packed & XG_A)
        set_packed(step, a, XG_REGION_A, "A", &from->a, p, p->type_a);
    else {
        xg_step_point(step, a, xg_at_a(plan, p));
        xg_region_a(step, plan, p);
    }
    if (from->packed & XG_B)
        set_packed(step, b, XG_REGION_B, "B", &from->b, p, p->type_b);
    else {
        xg_step_point(step, b, xg_at_b(plan, p));
        xg_region_b(step, plan, p);
    }
}

static const xg_program *program_of(const xg_kernel *kernel, const xg_problem *packed)
{
    const unsigned k_major =
        (packed->a_stride_m != 1 ? XG_A : 0u) | (packed->b_stride_n != 1 ? XG_B : 0u);
    return kernel->programs[k_major] ? kernel->programs[k_major] : kernel->programs[0];
}

/* ---- Split-K ---- */

/* A kernel that reads anything asks whether rows of a copy can be read to a last whole vec4. */
static int64_t batch_stride_of(const xg_candidate *of, bool packed, int64_t batch_stride)
{
    return packed && of->batch_per_pass == 1 && of->kernel->operands == XG_ANY_OPERANDS
               ? XG_PADDED
               : batch_stride;
}

static xg_simt_args split_k_args(const xg_candidate *of, const xg_problem *p, const operands *from,
                                 int64_t splits)
{
    xg_simt_args args = {
        XG_PRODUCT_ARGS_OF(p), .k_per_split = of->k_per_split,
        .a_batch_stride = batch_stride_of(of, from->packed & XG_A, p->a_batch_stride),
        .b_batch_stride = batch_stride_of(of, from->packed & XG_B, p->b_batch_stride),
        .c_batch_stride = p->c_batch_stride};
    if (p->pointer_arrays)
        args.a_batch_stride = args.b_batch_stride = args.c_batch_stride = XG_POINTER_ARRAYS;
    if (splits > 1) {
        args.c_stride_m = p->n;
        args.c_batch_stride = splits * p->m * p->n;
        args.alpha = 1.0f;
        args.beta = 0.0f;
    }
    return args;
}

static void set_result(xg_step *step, const xg_plan *plan, const xg_problem *p, int64_t splits,
                       int64_t partial_sums)
{
    const xg_location to = splits > 1 ? xg_at_workspace(partial_sums) : xg_at_c(plan, p);
    xg_step_point(step, offsetof(xg_simt_args, c), to);
    if (splits > 1) {
        xg_step_region(step, XG_REGION_C, "partial sums", to, splits, p->m * p->n, p->m * p->n,
                       p->type_c);
        step->regions[XG_REGION_C].batch_stride_bytes =
            splits * p->m * p->n * (int64_t)xg_type_bytes(p->type_c);
    } else
        xg_region_c(step, plan, p);
}

static xgemm_status add_split_k(const xg_candidate *of, xg_plan *plan, const xg_problem *p,
                                const operands *from, xg_error *error)
{
    const xg_kernel *const kernel = of->kernel;
    const int64_t splits = xg_partial_sums(p->k, of->k_per_split, of->cluster);
    const int64_t tiles = xg_ceil_div(p->m, kernel->tile_m) * xg_ceil_div(p->n, kernel->tile_n);
    const xg_problem packed = packed_problem(p, from);
    const xg_simt_args args = split_k_args(of, &packed, from, splits);
    int64_t partial_sums = 0;
    if (splits > 1 && !xg_reserve_partial_sums(plan, p, splits, &partial_sums, error))
        return XGEMM_ERROR_OVERFLOW;
    xg_step *step = xg_plan_add(plan, program_of(kernel, &packed), &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->spread = true;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    step->cluster = (uint32_t)of->cluster;
    set_operands(step, plan, p, from, offsetof(xg_simt_args, a), offsetof(xg_simt_args, b));
    set_result(step, plan, p, splits, partial_sums);
    /* Clusters are few: as many CTAs as the GPU holds. */
    const xgemm_status status = xg_step_grid(step, tiles * (of->cluster > 1 ? of->cluster : 1), 1,
                                             kernel->block_x, 1, error);
    step->grid[1] = (uint32_t)splits;
    return status || splits == 1 ? status : xg_add_reduce(plan, p, splits, partial_sums, error);
}

/* ---- Stream-K, with tensor maps ---- */

/* The workspace of stream-K CTAs: a tile of partial sums each, then a counter each. */
static double stream_k_bytes(const xg_candidate *of, int64_t k)
{
    const double tile = (double)of->kernel->tile_m * of->kernel->tile_n;
    return xg_room_bytes((double)xg_stream_k_ctas(of, k), tile + 1.0, XG_F32);
}

static xgemm_status add_counters(const xg_candidate *of, xg_plan *plan, const xg_problem *p,
                                 int64_t *partial_sums, xg_error *error)
{
    const int64_t ctas = xg_stream_k_ctas(of, p->k);
    const int64_t tile = (int64_t)of->kernel->tile_m * of->kernel->tile_n;
    if (ctas == 0)
        return XGEMM_OK;
    if (!xg_plan_reserve(plan, ctas, tile + 1, XG_F32, "the stream-K tiles' partial sums",
                         partial_sums, error))
        return XGEMM_ERROR_OVERFLOW;
    return xg_add_zeros(plan, *partial_sums + ctas * tile * (int64_t)xg_type_bytes(XG_F32), ctas,
                        error);
}

/* The tensor maps: columns of A, or its rows where it is K-major, and rows of B are contiguous. */
static void set_tensors(xg_step *step, const xg_plan *plan, const xg_problem *p,
                        const xg_problem *packed, const operands *from, const xg_kernel *kernel)
{
    const int bytes = (int)xg_type_bytes(p->type_a);
    const bool a_mn_major = packed->a_stride_m == 1;
    step->tensors[0] = a_mn_major ? (xg_tensor){.columns = p->m,
                                                .rows = p->k,
                                                .stride_bytes = packed->a_stride_k * bytes,
                                                .box_columns = kernel->tile_m,
                                                .box_rows = kernel->tile_k}
                                  : (xg_tensor){.columns = p->k,
                                                .rows = p->m,
                                                .stride_bytes = packed->a_stride_m * bytes,
                                                .box_columns = kernel->tile_k,
                                                .box_rows = kernel->tile_m};
    step->tensors[1] = (xg_tensor){.columns = p->n,
                                   .rows = p->k,
                                   .stride_bytes = packed->b_stride_k * bytes,
                                   .box_columns = kernel->tile_n,
                                   .box_rows = kernel->tile_k};
    step->tensors[0].element_bytes = step->tensors[1].element_bytes = bytes;
    step->tensor_at[0] = from->packed & XG_A ? xg_at_workspace(from->a.offset) : xg_at_a(plan, p);
    step->tensor_at[1] = from->packed & XG_B ? xg_at_workspace(from->b.offset) : xg_at_b(plan, p);
}

static xgemm_status add_tma(const xg_candidate *of, xg_plan *plan, const xg_problem *p,
                            const operands *from, int64_t partial_sums, xg_error *error)
{
    const xg_kernel *const kernel = of->kernel;
    const int64_t ctas = xg_stream_k_ctas(of, p->k);
    const int64_t tiles = xg_ceil_div(p->m, kernel->tile_m) * xg_ceil_div(p->n, kernel->tile_n);
    const int64_t sums = ctas * ((int64_t)kernel->tile_m * kernel->tile_n + 1);
    const xg_problem packed = packed_problem(p, from);
    const xg_tma_args args = {XG_PRODUCT_ARGS_OF(&packed),
                              .iterations_per_cta = of->stream_k_iterations, .stream_k_ctas = ctas};
    xg_step *step = xg_plan_add(plan, program_of(kernel, &packed), &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->spread = true;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    set_operands(step, plan, p, from, offsetof(xg_tma_args, a), offsetof(xg_tma_args, b));
    set_tensors(step, plan, p, &packed, from, kernel);
    xg_step_point(step, offsetof(xg_tma_args, c), xg_at_c(plan, p));
    xg_region_c(step, plan, p);
    if (ctas > 0) {
        xg_step_point(step, offsetof(xg_tma_args, partial_sums), xg_at_workspace(partial_sums));
        xg_step_region(step, XG_REGION_WORKSPACE, "partial sums", xg_at_workspace(partial_sums), 1,
                       sums, sums, XG_F32);
    }
    return xg_step_grid(step, tiles - of->split_tiles + ctas, 1, kernel->block_x, 1, error);
}

/* ---- The family ---- */

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    if (xg_double_takes(request->problem.type_a))
        return xg_double_build(of, request, plan, error);
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_is_thin(of->kernel) ? xg_half_thin_build(of, request, plan, error)
                                           : xg_mma_build(of, request, plan, error);
    const xg_kernel *const kernel = of->kernel;
    const xg_problem tiles = xg_problem_part(&request->problem, 0, of->m, 0, of->n);
    operands from = {.packed = xg_copied(of, &request->problem)};
    int64_t partial_sums = 0;
    xgemm_status status = XGEMM_OK;
    if (kernel->tensor_maps && !xg_tensor_maps_reach(&request->problem))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s counts rows, columns and k in 31 bits, for TMA", kernel->name);
    if (kernel->tensor_maps)
        status = add_counters(of, plan, &tiles, &partial_sums, error);
    if (!status)
        status = xg_add_pack(plan, &tiles, from.packed, &from.a, &from.b, error);
    if (!status)
        status = kernel->tensor_maps ? add_tma(of, plan, &tiles, &from, partial_sums, error)
                                     : add_split_k(of, plan, &tiles, &from, error);
    return status ? status : xg_add_strips(plan, request, of->m, of->n, error);
}

double xg_simt_workspace(const xg_candidate *of, const xg_request *request)
{
    if (xg_double_takes(request->problem.type_a))
        return xg_double_workspace(of, request);
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_is_thin(of->kernel) ? 0.0 : xg_mma_workspace(of, request);
    const xg_problem tiles = xg_problem_part(&request->problem, 0, of->m, 0, of->n);
    const int64_t splits = xg_partial_sums(tiles.k, of->k_per_split, of->cluster);
    return xg_pack_bytes(&tiles, xg_copied(of, &request->problem), of->batch_per_pass) +
           stream_k_bytes(of, tiles.k) + xg_reduce_bytes(&tiles, splits, of->batch_per_pass) +
           xg_strips_bytes(request, of->m, of->n);
}

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    enum { FP16_PRODUCTS = 3 }; /* of two terms */
    if (xg_double_takes(request->problem.type_a))
        return xg_double_applies(kernel, request);
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_is_thin(kernel) ? xg_half_thin_applies(kernel, request)
                                       : xg_mma_applies(kernel, request);
    const xg_tile_cost *const cost = xg_tile_cost_of(kernel, request->target.costs);
    if (kernel->before_sm90 && request->target.compute_capability == 90 &&
        request->kernel != kernel)
        return false;
    return cost && (!kernel->tensor_maps || xg_tensor_maps_reach(&request->problem)) &&
           (kernel->tensor_products != FP16_PRODUCTS || request->problem.k >= XG_FP16_LEAST_K);
}

bool xg_simt_batches(const xg_kernel *kernel)
{
    return !kernel->tensor_maps;
}

static bool takes_pointer_arrays(const xg_kernel *kernel, xg_type type)
{
    return xg_double_takes(type) || xg_type_is_half(type) ||
           (xg_simt_batches(kernel) && kernel->operands == XG_ANY_OPERANDS);
}

static bool takes_groups(const xg_kernel *kernel, xg_type type)
{
    return xg_type_is_half(type) && kernel->typed[type] && !xg_half_is_thin(kernel);
}

static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    const xg_type type = request->problem.type_a;
    if (xg_double_takes(type))
        return xg_double_candidate(kernel, request);
    if (xg_type_is_half(type))
        return xg_half_is_thin(kernel) ? xg_half_thin_candidate(kernel, request)
                                       : xg_mma_candidate(kernel, request);
    return xg_simt_candidate(kernel, request, most_us);
}

/* Without strips' tiles, which may cost less as strips. */
static double least_us(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    if (!xg_is_f32(p))
        return 0.0;
    return xg_simt_least_us(kernel, request, xg_without_strip(p->m, kernel->tile_m),
                            xg_without_strip(p->n, kernel->tile_n));
}

const xg_family xg_family_simt = {
    .name = "simt",
    .applies = applies,
    .candidate = candidate,
    .least_us = least_us,
    .workspace = xg_simt_workspace,
    .build = build,
    .make_compact = xg_simt_make_compact,
    .batches = xg_simt_batches,
    .takes_pointer_arrays = takes_pointer_arrays,
    .takes_groups = takes_groups,
};
