/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launches: the product, and with split-K the reduction; for as many products of a batch as the
 * workspace is to hold.
 */
#include "args.h"
#include "double.h"
#include "families/kernels.h"
#include "families/programs.h"
#include "families/typed.h"

#include <stddef.h>

_Static_assert(sizeof(xg_double_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_double_reduce_args) <= XG_ARGUMENTS_BYTES,
               "see plan/plan.h");

bool xg_double_c_is_aligned(const xg_problem *p)
{
    const int64_t unit = xg_type_bytes(p->type_c) == 16 ? 1 : 2;
    return !p->pointer_arrays && (uintptr_t)p->c % 16 == 0 && p->c_stride_m % unit == 0 &&
           p->c_batch_stride % unit == 0 && p->n % unit == 0;
}

static void use_sums(xg_step *step, const xg_plan *plan, size_t argument, int64_t sums)
{
    xg_step_point(step, argument, xg_at_workspace(sums));
    xg_region_workspace(step, plan);
}

static xgemm_status add_product(const xg_double_tile *tile, const xg_double_schedule *schedule,
                                int64_t sums, const xg_problem *p, xg_plan *plan, xg_error *error)
{
    const xg_double_args args = {.product = xg_typed_args_of(p),
                                 .k_per_split = schedule->k_per_split,
                                 .whole = (uint32_t)schedule->whole,
                                 .split_tiles = (uint32_t)schedule->split_tiles,
                                 .splits = (uint32_t)schedule->splits,
                                 .c_is_aligned = xg_double_c_is_aligned(p)};
    xg_step *const step = xg_plan_add(plan, tile->program, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->shared_bytes = tile->shared_bytes;
    xg_step_point(step, offsetof(xg_typed_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_typed_args, b), xg_at_b(plan, p));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    if (schedule->split_tiles > 0)
        use_sums(step, plan, offsetof(xg_double_args, sums), sums);
    if (schedule->whole > 0)
        xg_step_uses_c(step, plan, p, offsetof(xg_typed_args, c),
                       offsetof(xg_typed_args, epilogue));
    return xg_step_grid(step, schedule->whole + schedule->split_tiles * schedule->splits, 1,
                        tile->threads, 1, error);
}

xgemm_status xg_double_add_fallback(xg_plan *plan, const xg_problem *p, xg_location ratios,
                                    xg_error *error)
{
    xg_double_tile tile =
        *xg_double_tile_at(xg_kernel_at(XG_KERNEL_pipelined_128x128), p->type_a, 0);
    tile.program = p->type_a == XG_C64 ? &xg_program_dmma_c64_fallback_64x128
                                       : &xg_program_dmma_f64_fallback_128x128;
    const xg_double_schedule schedule = xg_double_schedule_of(p, &tile, 1, 0);
    const xgemm_status status = add_product(&tile, &schedule, 0, p, plan, error);
    if (status)
        return status;
    xg_step *const step = &plan->steps[plan->step_count - 1];
    xg_step_point(step, offsetof(xg_double_args, ratios), ratios);
    xg_region_workspace(step, plan);
    return XGEMM_OK;
}

static const xg_program *reduction_of(xg_type type)
{
    return type == XG_F64   ? &xg_program_double_reduce_f64
           : type == XG_C64 ? &xg_program_double_reduce_c64
                            : &xg_program_double_reduce_c32;
}

/* As many threads share an element's splits as keep the GPU busy. */
static xgemm_status add_reduce(const xg_double_tile *tile, const xg_double_schedule *schedule,
                               int64_t sums, int64_t products, const xg_problem *p, xg_plan *plan,
                               xg_error *error)
{
    enum { THREADS = 256, CHUNK = 16 /* bytes of a thread */, CTAS = 264 };
    const xg_typed_args typed = xg_typed_args_of(p);
    const int64_t chunks = (int64_t)tile->m * tile->n * (int64_t)xg_type_bytes(p->type_a) / CHUNK;
    int64_t ways = 1;
    while (ways < THREADS / 32 && 2 * ways <= schedule->splits &&
           schedule->split_tiles * products * (chunks * ways / THREADS) < CTAS)
        ways *= 2;
    const xg_double_reduce_args args = {.m = p->m,
                                        .n = p->n,
                                        .c_stride_m = p->c_stride_m,
                                        .c_batch_stride = typed.c_batch_stride,
                                        .splits = (uint32_t)schedule->splits,
                                        .whole = (uint32_t)schedule->whole,
                                        .split_tiles = (uint32_t)schedule->split_tiles,
                                        .tile_m = (uint32_t)tile->m,
                                        .tile_n = (uint32_t)tile->n,
                                        .rows = (uint32_t)schedule->rows,
                                        .columns = (uint32_t)schedule->columns,
                                        .ways = (uint32_t)ways,
                                        .epilogue = typed.epilogue};
    xg_step *const step = xg_plan_add(plan, reduction_of(p->type_a), &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    use_sums(step, plan, offsetof(xg_double_reduce_args, sums), sums);
    xg_step_uses_c(step, plan, p, offsetof(xg_double_reduce_args, c),
                   offsetof(xg_double_reduce_args, epilogue));
    return xg_step_grid(step, schedule->split_tiles * (chunks * ways / THREADS), 1, THREADS, 1,
                        error);
}

xgemm_status xg_double_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                             xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const int64_t products = of->batch_per_pass;
    if (!xg_double_applies(of->kernel, request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute this product of %s, by its size or alignment; "
                       "auto can",
                       of->kernel->name, xg_type_name(p->type_a));
    const xg_double_tile *const tile = xg_double_tile_of(of, request);
    const xg_double_schedule schedule = xg_double_schedule_of_candidate(of, request);
    int64_t sums = 0;
    if (schedule.split_tiles > 0 &&
        !xg_plan_reserve(plan, products, (int64_t)(schedule.sum_bytes / 4.0), XG_F32,
                         "split-K's partial sums", &sums, error))
        return XGEMM_ERROR_OVERFLOW;
    const xgemm_status status = add_product(tile, &schedule, sums, p, plan, error);
    return status || schedule.split_tiles == 0
               ? status
               : add_reduce(tile, &schedule, sums, products, p, plan, error);
}
