/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of tensor/: the vectors of strips of C, the split, and the product. */
#include "args.h"
#include "families/complex/complex.h"
#include "families/gemv/gemv.h"
#include "families/half/half.h"
#include "families/programs.h"
#include "families/residue/residue.h"
#include "fp16_layout.h"
#include "tensor.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

_Static_assert(sizeof(xg_tensor_args) <= XG_ARGUMENTS_BYTES, "see families/common/args.h");
_Static_assert(offsetof(xg_recompute, recomputed) + sizeof(uint64_t) == sizeof(xg_recompute),
               "see xg_clear_counters()");

/* What the launches of one panel, or of all of a product, have in common. */
typedef struct {
    const xg_kernel *kernel;
    xg_plan *plan;
    xg_problem problem; /* what tiles compute */
    xg_fp16_layout at;
    xg_tensor_schedule schedule;
    int64_t stream_k_iterations;
    int multiprocessors;
    /* Strips that the product and the split compute. */
    int64_t rows_below, columns_beside;
    bool strips_in_split;
    int64_t strip_elements; /* of workspace, for the split */
    int64_t workspace;      /* its offset */
    bool batched;           /* of all products of a pass: */
    xg_tensor_batch batch;
} launches;

/*
 * Whether the split copies a matrix by vec4, and so those of a batch's other products. Those of
 * pointer arrays are not known.
 */
static bool is_vec4(const void *matrix, int64_t stride, int64_t batch_stride)
{
    return xg_split_vec4(matrix, stride) && batch_stride % 4 == 0;
}

/* Whether every CTA of the split has a whole segment to copy by vec4, and holds part of it. */
static bool split_is_even(const xg_problem *p, const xg_fp16_layout *at)
{
    return !p->pointer_arrays && p->m % XG_ROW_PADDING == 0 && p->n % XG_ROW_PADDING == 0 &&
           xg_split_k(p->k) % XG_SEGMENT_K == 0 && at->slice_chunks * XG_CHUNK_K == XG_SEGMENT_K &&
           is_vec4(p->a, p->a_stride_k == 1 ? p->a_stride_m : p->a_stride_k, p->a_batch_stride) &&
           is_vec4(p->b, p->b_stride_k == 1 ? p->b_stride_n : p->b_stride_k, p->b_batch_stride);
}

/* A matrix of which the split may realign some copies. */
static bool is_realigned(const xg_problem *p, const void *matrix, int64_t k_stride,
                         int64_t batch_stride, const xg_fp16_layout *at)
{
    const bool vec4 = !p->pointer_arrays && is_vec4(matrix, k_stride, batch_stride);
    return xg_split_realigns(vec4, k_stride == 1, k_stride, at);
}

/* The split's shared memory, but for what it holds in registers. */
static uint32_t split_bytes(const xg_problem *p, const xg_fp16_layout *at)
{
    const int segments = xg_blocks_of(at->slice_chunks * XG_CHUNK_K, XG_SEGMENT_K);
    const bool realigns = is_realigned(p, p->a, p->a_stride_k, p->a_batch_stride, at) ||
                          is_realigned(p, p->b, p->b_stride_k, p->b_batch_stride, at);
    return XG_SPLIT_STATE_BYTES + (uint32_t)segments * XG_SEGMENT_BYTES +
           (realigns ? XG_SPLIT_REALIGN_BYTES : 0);
}

/* What all three launches read, and the workspace, which the last ones also write. */
static xg_step *add_step(const launches *of, const xg_program *program, const xg_tensor_args *args,
                         int64_t more_elements, xg_error *error)
{
    const xg_plan *const plan = of->plan;
    const int64_t elements = of->at.bytes / 4 + more_elements;
    const xg_problem *p = &of->problem;
    xg_problem all = *p; /* with the strips */
    all.m += args->rows_below;
    all.n += args->columns_beside;
    xg_step *step = xg_plan_add(of->plan, program, args, sizeof *args, error);
    if (!step)
        return NULL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_tensor_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_tensor_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_tensor_args, c), xg_at_c(plan, p));
    xg_step_point(step, offsetof(xg_tensor_args, workspace), xg_at_workspace(of->workspace));
    xg_region_a(step, plan, &all);
    xg_region_b(step, plan, &all);
    xg_region_c(step, plan, &all);
    xg_step_region(step, XG_REGION_WORKSPACE, "FP16 terms", xg_at_workspace(of->workspace), 1,
                   elements, elements, XG_F32);
    return step;
}

static xg_tensor_args split_args(const launches *of)
{
    return (xg_tensor_args){XG_PRODUCT_ARGS_OF(&of->problem),
                            .rows_below = (uint8_t)(of->strips_in_split ? of->rows_below : 0),
                            .columns_beside =
                                (uint8_t)(of->strips_in_split ? of->columns_beside : 0),
                            .k_blocks = (uint32_t)of->at.k_blocks,
                            .split = {.batch = of->batch,
                                      .terms = (uint8_t)of->kernel->fp16_terms,
                                      .slices = (uint8_t)of->at.slices,
                                      .chunks = (uint8_t)of->at.slice_chunks}};
}

static xgemm_status add_vectors(const launches *of, xg_error *error)
{
    enum { THREADS = 256 };
    const xg_tensor_args args = split_args(of);
    xg_step *step = add_step(of, &xg_program_fp16_vectors, &args, of->strip_elements, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = false; /* see are_few() */
    return xg_step_grid(step, xg_ceil_div(xg_strip_vector_size(&of->at), THREADS),
                        of->rows_below + of->columns_beside, THREADS, 1, error);
}

/* The row groups of one product of a batch, whose number is the grid's z. */
static int64_t groups_of_product(const xg_problem *p)
{
    return (int64_t)(xg_row_blocks(p->m) + xg_row_blocks(p->n)) * XG_BLOCK_GROUPS;
}

/*
 * A call's first launch may start before the launch before it ends (PDL) only if it has few CTAs:
 * many would fill the multiprocessors that are free first, and leave the others idle.
 */
static bool are_few(const launches *of, int64_t ctas)
{
    enum { MOST = 2 }; /* of a multiprocessor */
    return ctas <= (int64_t)MOST * of->multiprocessors;
}

/* The row groups of all products. */
static int64_t groups_of_all(const launches *of)
{
    return (int64_t)(of->at.a_blocks + of->at.b_blocks) * XG_BLOCK_GROUPS;
}

/* The split of a batch with few k-blocks. */
static xgemm_status add_short_split(const launches *of, xg_error *error)
{
    const xg_tensor_args args = split_args(of);
    const int64_t groups_of_cta = xg_short_groups(of->at.k_blocks);
    xg_step *step = add_step(of, &xg_program_fp16_split_short_batch, &args, 0, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = are_few(of, groups_of_all(of) / groups_of_cta);
    step->spread = true;
    step->later_pass_argument = offsetof(xg_tensor_args, later_pass);
    return xg_step_grid(step, groups_of_product(&of->problem) / groups_of_cta, 1, XG_SPLIT_THREADS,
                        1, error);
}

static xgemm_status add_split(const launches *of, xg_error *error)
{
    const int64_t groups = groups_of_all(of);
    const int64_t strips =
        of->rows_below > of->columns_beside ? of->rows_below : of->columns_beside;
    const bool even = !of->strips_in_split && split_is_even(&of->problem, &of->at);
    if (xg_splits_short(of->batched, of->at.k_blocks))
        return add_short_split(of, error);
    const xg_program *program = of->batched && even   ? &xg_program_fp16_split_even_batch
                                : of->batched         ? &xg_program_fp16_split_batch
                                : even                ? &xg_program_fp16_split_even
                                : of->strips_in_split ? &xg_program_fp16_split_strips
                                                      : &xg_program_fp16_split;
    const xg_tensor_args args = split_args(of);
    xg_step *step = add_step(of, program, &args, of->strip_elements, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->cluster = (uint32_t)of->at.slices;
    step->pdl = of->strips_in_split || are_few(of, groups * of->at.slices);
    step->spread = true;
    step->later_pass_argument = offsetof(xg_tensor_args, later_pass);
    step->shared_bytes = split_bytes(&of->problem, &of->at) - (even ? XG_SPLIT_REGISTER_BYTES : 0) +
                         (of->strips_in_split ? (uint32_t)strips * XG_SPLIT_STRIP_BYTES : 0);
    return xg_step_grid(step, of->at.slices, of->batched ? groups_of_product(&of->problem) : groups,
                        XG_SPLIT_THREADS, 1, error);
}

/* Of all products of a pass: the executor says how many they are. */
static xgemm_status add_batched_product(const launches *of, xg_error *error)
{
    const xg_kernel *const kernel = of->kernel;
    const xg_problem *const p = &of->problem;
    const xg_tensor_args args = {
        XG_PRODUCT_ARGS_OF(p), .k_blocks = (uint32_t)of->at.k_blocks,
        .batched_product = {.batch = of->batch,
                            .c_stride = p->pointer_arrays ? XG_TENSOR_POINTERS
                                                          : (uint32_t)p->c_batch_stride}};
    xg_step *step = add_step(of, kernel->batched, &args, 0, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->covers_pass = true;
    step->products_argument = offsetof(xg_tensor_args, batched_product.batch.products);
    step->is_product = true;
    step->cluster = (uint32_t)kernel->cluster;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    return xg_step_grid(step, of->schedule.clusters * xg_cluster_size(kernel), 1, kernel->block_x,
                        1, error);
}

static xgemm_status add_product(const launches *of, xg_error *error)
{
    const xg_kernel *const kernel = of->kernel;
    const int ctas = xg_cluster_size(kernel), tile_rows = kernel->tile_m * ctas;
    const int group = XG_RASTER_ROWS / tile_rows, rows = xg_blocks_of(of->problem.m, tile_rows);
    const int columns = xg_blocks_of(of->problem.n, kernel->tile_n);
    const int last = (rows - 1) % group + 1;
    const xg_tensor_args args = {
        XG_PRODUCT_ARGS_OF(&of->problem),
        .rows_below = (uint8_t)of->rows_below,
        .columns_beside = (uint8_t)of->columns_beside,
        .strips_in_split = of->strips_in_split,
        .k_blocks = (uint32_t)of->at.k_blocks,
        .product = {.group_reciprocal = xg_reciprocal(group * columns),
                    .last_rows_reciprocal = xg_reciprocal(last),
                    .whole_tiles = (uint32_t)of->schedule.whole,
                    .stream_k_iterations = (uint32_t)of->stream_k_iterations}};
    xg_step *step = add_step(of, kernel->programs[0], &args,
                             of->schedule.partial_sums + of->strip_elements, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->cluster = (uint32_t)kernel->cluster;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    return xg_step_grid(step, of->schedule.clusters * ctas, 1, kernel->block_x, 1, error);
}

/* The strips that the candidate leaves to the product and the split. */
static void set_strips(launches *of, const xg_candidate *candidate, const xg_problem *problem)
{
    if (!candidate->strips_in_product || candidate->panels > 1)
        return;
    of->rows_below = problem->m - candidate->m;
    of->columns_beside = problem->n - candidate->n;
    of->strips_in_split = candidate->strips_in_split;
    if (of->strips_in_split)
        of->strip_elements = (of->rows_below + of->columns_beside) * xg_strip_vector_size(&of->at);
}

/*
 * With strips in the product also CTAs without a tile have something to do: as many as there are
 * strip tiles for the three warps of each that begin at once.
 */
static void add_helpers(launches *of, int multiprocessors)
{
    enum { WARPS = 3 };
    const int64_t cluster = xg_cluster_size(of->kernel);
    const int64_t strip_tiles =
        of->rows_below * xg_ceil_div(of->problem.n + of->columns_beside, XG_STRIP_TILE) +
        of->columns_beside * xg_ceil_div(of->problem.m, XG_STRIP_TILE);
    const int64_t wanted = xg_ceil_div(strip_tiles, WARPS * cluster);
    const int64_t most = multiprocessors / cluster, clusters = wanted < most ? wanted : most;
    if (of->schedule.clusters < clusters)
        of->schedule.clusters = clusters;
}

/* A panel, or all that tiles compute of a problem, into an empty plan. */
static xgemm_status add_panel(const xg_candidate *candidate, const xg_request *request,
                              const xg_problem *panel, xg_plan *plan, xg_error *error)
{
    const xg_kernel *const kernel = candidate->kernel;
    const int multiprocessors = request->target.multiprocessors;
    launches of = {.kernel = kernel,
                   .plan = plan,
                   .problem = *panel,
                   .multiprocessors = multiprocessors,
                   .stream_k_iterations = candidate->stream_k_iterations};
    if (panel->m > INT32_MAX / 2 || panel->n > INT32_MAX / 2)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s takes an m and n of at most %d at once", kernel->name,
                       INT32_MAX / 2);
    of.at = xg_fp16_layout_of(panel->m, panel->n, panel->k, kernel->fp16_terms);
    of.schedule = xg_tensor_schedule_of(kernel, multiprocessors, panel->m, panel->n, 1,
                                        of.stream_k_iterations);
    set_strips(&of, candidate, &request->problem);
    if (!of.strips_in_split)
        add_helpers(&of, multiprocessors);
    if (!xg_plan_reserve(plan, 1, of.at.bytes / 4 + of.schedule.partial_sums + of.strip_elements,
                         XG_F32, "the FP16 terms", &of.workspace, error))
        return XGEMM_ERROR_OVERFLOW;
    plan->recomputed =
        (size_t)(of.workspace + of.at.recompute) + offsetof(xg_recompute, recomputed);
    xgemm_status status = of.strips_in_split ? add_vectors(&of, error) : XGEMM_OK;
    if (!status)
        status = add_split(&of, error);
    return status ? status : add_product(&of, error);
}

/*
 * Panels count recomputed elements at one place: a smaller one has its part of the workspace so
 * much further on that its count is there. It ends no later, as what follows the count is smaller,
 * too.
 */
static void move_workspace(xg_plan *panel, size_t recomputed)
{
    const int64_t by = (int64_t)(recomputed - panel->recomputed);
    for (int i = 0; i < panel->step_count; i++) {
        xg_step *step = &panel->steps[i];
        for (int j = 0; j < step->pointer_count; j++)
            if (step->pointers[j].to.base == XG_BASE_WORKSPACE)
                step->pointers[j].to.offset += by;
        step->region_at[XG_REGION_WORKSPACE].offset += by;
    }
}

/* The plan of a kind of panel, by the number of its first one. */
static xgemm_status add_kind(const xg_candidate *candidate, const xg_request *request,
                             const xg_problem *problem, const int64_t number[3], xg_panels *panels,
                             xg_error *error)
{
    const xg_problem panel = xg_panel_problem(panels, problem, number);
    xg_plan *const of = malloc(sizeof *of);
    if (!of)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    xg_plan_begin(of, &panel);
    const xgemm_status status = add_panel(candidate, request, &panel, of, error);
    xg_plan *const shorter = realloc(of, xg_plan_bytes(of));
    panels->kinds[xg_panel_kind(panels, number)] = shorter ? shorter : of;
    return status;
}

/* One plan for each kind of panel that occurs. */
static xgemm_status add_panels(const xg_candidate *candidate, const xg_request *request,
                               const xg_problem *problem, xg_plan *plan, xg_error *error)
{
    xg_panels *panels = calloc(1, sizeof *panels);
    if (!panels)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    *panels = (xg_panels){.sizes = {candidate->panel_m, candidate->panel_n, candidate->panel_k},
                          .counts = {xg_ceil_div(problem->m, candidate->panel_m),
                                     xg_ceil_div(problem->n, candidate->panel_n),
                                     xg_ceil_div(problem->k, candidate->panel_k)}};
    plan->panels = panels;
    for (int kind = 0; kind < XG_PANEL_KINDS; kind++) {
        const int64_t last[3] = {panels->counts[0] - 1, panels->counts[1] - 1,
                                 panels->counts[2] - 1};
        const int kind_k = kind % 3;
        const int64_t number[3] = {kind / 6 ? last[0] : 0, kind / 3 % 2 ? last[1] : 0,
                                   kind_k == 2 ? last[2] : kind_k};
        if (number[2] > last[2] || xg_panel_kind(panels, number) != kind)
            continue;
        const xgemm_status status = add_kind(candidate, request, problem, number, panels, error);
        if (status)
            return status;
        const xg_plan *const of = panels->kinds[kind];
        if (of->workspace_bytes > plan->workspace_bytes)
            plan->workspace_bytes = of->workspace_bytes;
        if (of->recomputed > plan->recomputed)
            plan->recomputed = of->recomputed;
    }
    for (int kind = 0; kind < XG_PANEL_KINDS; kind++)
        if (panels->kinds[kind])
            move_workspace(panels->kinds[kind], plan->recomputed);
    return XGEMM_OK;
}

/* The products of a pass together, into an empty plan. */
static xgemm_status add_batch(const xg_candidate *candidate, const xg_request *request,
                              xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const xg_kernel *const kernel = candidate->kernel;
    const int64_t products = candidate->batch_per_pass;
    launches of = {.kernel = kernel,
                   .plan = plan,
                   .problem = *p,
                   .multiprocessors = request->target.multiprocessors,
                   .batched = true,
                   .batch = xg_tensor_batch_of(p, products)};
    if (!xg_tensor_can_batch(kernel, p))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a batch from arrays of pointers with m = %" PRId64
                       ", n = %" PRId64 ", k = %" PRId64 " (row order); auto can",
                       kernel->name, p->m, p->n, p->k);
    of.at = xg_batched_layout_of(p->m, p->n, p->k, kernel->fp16_terms, &of.batch);
    of.schedule = xg_tensor_schedule_of(kernel, of.multiprocessors, p->m, p->n, products, 0);
    if (!xg_plan_reserve(plan, 1, of.at.bytes / 4, XG_F32, "the FP16 terms", &of.workspace, error))
        return XGEMM_ERROR_OVERFLOW;
    plan->recomputed =
        (size_t)(of.workspace + of.at.recompute) + offsetof(xg_recompute, recomputed);
    const xgemm_status status = add_split(&of, error);
    return status ? status : add_batched_product(&of, error);
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_build(of, request, plan, error);
    if (request->problem.type_a == XG_C32)
        return xg_complex_build(of, request, plan, error);
    if (xg_tensor_is_batched(of, &request->problem))
        return add_batch(of, request, plan, error);
    if (xg_type_is_fp64(request->problem.type_a))
        return xg_residue_build(of, request, plan, error);
    const xg_problem tiles = xg_problem_part(&request->problem, 0, of->m, 0, of->n);
    if (of->panels > 1)
        return add_panels(of, request, &tiles, plan, error);
    const xgemm_status status = add_panel(of, request, &tiles, plan, error);
    return status || of->strips_in_product ? status
                                           : xg_add_strips(plan, request, of->m, of->n, error);
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_workspace(of, request);
    if (request->problem.type_a == XG_C32)
        return xg_complex_workspace(of, request);
    if (xg_type_is_fp64(request->problem.type_a))
        return xg_residue_workspace(of, request);
    const xg_kernel *const kernel = of->kernel;
    if (xg_tensor_is_batched(of, &request->problem))
        return xg_batch_bytes(kernel, &request->problem, of->batch_per_pass);
    const int64_t below = request->problem.m - of->m, beside = request->problem.n - of->n;
    const xg_fp16_layout at =
        xg_fp16_layout_of(of->panel_m, of->panel_n, of->panel_k, kernel->fp16_terms);
    const double elements = (double)at.bytes / 4.0;
    if (of->panels > 1)
        return xg_room_bytes(1.0, elements, XG_F32);
    const xg_tensor_schedule schedule = xg_tensor_schedule_of(
        kernel, request->target.multiprocessors, of->m, of->n, 1, of->stream_k_iterations);
    const double strips =
        of->strips_in_split ? (double)(below + beside) * (double)xg_strip_vector_size(&at) : 0.0;
    return xg_room_bytes(1.0, elements + (double)schedule.partial_sums + strips, XG_F32) +
           (of->strips_in_product ? 0.0 : xg_strips_bytes(request, of->m, of->n));
}

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_applies(kernel, request);
    if (request->problem.type_a == XG_C32)
        return xg_complex_applies(kernel, request);
    if (xg_type_is_fp64(request->problem.type_a))
        return xg_residue_applies(kernel, request);
    return (kernel->fp16_terms != 2 || request->problem.k >= XG_FP16_LEAST_K) &&
           (!request->problem.pointer_arrays || xg_tensor_can_batch(kernel, &request->problem));
}

static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    return xg_type_is_half(request->problem.type_a)   ? xg_half_candidate(kernel, request)
           : xg_type_is_fp64(request->problem.type_a) ? xg_residue_candidate(kernel, request)
           : request->problem.type_a == XG_C32 ? xg_complex_candidate(kernel, request, most_us)
                                               : xg_tensor_candidate(kernel, request, most_us);
}

static double least_us(const xg_kernel *kernel, const xg_request *request)
{
    return xg_is_f32(&request->problem) ? xg_tensor_least_us(kernel, request) : 0.0;
}

static bool takes_more(const xg_kernel *kernel, xg_type operands)
{
    return xg_type_is_half(operands) && kernel->typed[operands];
}

static bool takes_pointer_arrays(const xg_kernel *kernel, xg_type operands)
{
    return takes_more(kernel, operands) || (operands == XG_F32 && kernel->batched);
}

const xg_family xg_family_tensor = {
    .name = "tensor",
    .applies = applies,
    .candidate = candidate,
    .least_us = least_us,
    .workspace = workspace,
    .build = build,
    .make_compact = xg_tensor_make_compact,
    .takes_pointer_arrays = takes_pointer_arrays,
    .takes_groups = takes_more,
};
