/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Skinny products: one launch of half_skinny.inc, which reads the operands as they lie.
 *
 *     time = launch + max(CTA, CTAs of a multiprocessor * FULL * CTA, memory)
 *     CTA = tile_us + steps * step_us + CLUSTER_US
 *
 * A step is 256 k of a CTA, 32 of each warp. Of more than eight rows or columns on C's short side a
 * thread loads twice as much of Y. On compute capability 9.0 the CTAs of a cluster may share k,
 * each with a step at least; the last term is theirs.
 */
#include "skinny.h"

#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "gemv.h"
#include "half.h"

enum { SIDE = XG_SKINNY_SIDE, THREADS = 32 * XG_SKINNY_WARPS, SIZE_MOST = INT32_MAX / 2 };

/* Parts of the time of a CTA by itself: what each takes where a multiprocessor has several, and a
   step whose Y takes two loads. */
#define FULL     0.73
#define TWO_OF_Y 1.5
/* The programs for clusters, of which two on a multiprocessor take twice as long as one: what a CTA
   takes more, and a step's time as a part of the other programs', K-major with aligned rows, with
   others, and MN-major. */
#define CLUSTER_US       1.2
#define AHEAD            0.76
#define AHEAD_UNALIGNED  1.17
#define CLUSTER_MN_MAJOR 1.45

/* Of batches, what a CTA takes at least of a full multiprocessor, without clusters: each 256
   elements of C, and a step of aligned lines and of others; K-major, or not. Fitted to 200 times on
   an H200. */
static const struct {
    double elements_us, step_us, unaligned_step_us;
} full_costs[2] = {{0.23, 0.66, 0.66}, {0.27, 0.30, 1.09}};

enum { STEP_K = 32 * XG_SKINNY_WARPS };

/* X, the operand with many rows (half_skinny.inc). */
typedef struct {
    bool k_major, is_aligned;
    bool y_is_aligned;    /* and K-major */
    int64_t ctas, groups; /* along the long side of C, and along the short one */
} large_operand;

static large_operand large_operand_of(const xg_problem *p)
{
    const bool few_rows = p->m <= p->n;
    const int64_t stride_k = few_rows ? p->b_stride_k : p->a_stride_k;
    const int64_t y_stride_k = few_rows ? p->a_stride_k : p->b_stride_k;
    const xg_half_operand x = few_rows ? xg_half_operand_b(p) : xg_half_operand_a(p);
    const xg_half_operand y = few_rows ? xg_half_operand_a(p) : xg_half_operand_b(p);
    large_operand of = {.k_major = stride_k == 1,
                        .is_aligned = x.aligned,
                        .y_is_aligned = y.aligned && y_stride_k == 1};
    of.ctas = xg_ceil_div(few_rows ? p->n : p->m,
                          of.k_major ? XG_SKINNY_K_MAJOR_ROWS : XG_SKINNY_MN_MAJOR_ROWS);
    of.groups = xg_ceil_div(few_rows ? p->m : p->n, SIDE);
    return of;
}

/* By element it is the sums of wgmma's kernels that count. */
bool xg_half_skinny_applies(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return !request->by_element && p->groups == 0 && p->m <= SIZE_MOST && p->n <= SIZE_MOST &&
           p->k <= SIZE_MOST && large_operand_of(p).groups <= XG_GRID_Y_MAX;
}

/* A CTA of a batch, by full_costs. */
static double batch_cta_us(const xg_request *request, const large_operand *x, double steps)
{
    const xg_problem *const p = &request->problem;
    const int64_t side = p->m < p->n ? p->m : p->n;
    const int64_t rows = x->k_major ? XG_SKINNY_K_MAJOR_ROWS : XG_SKINNY_MN_MAJOR_ROWS;
    const double turns = (double)xg_ceil_div((side < SIDE ? side : SIDE) * rows, THREADS);
    const int of = x->k_major ? 0 : 1;
    return turns * full_costs[of].elements_us +
           steps * (x->is_aligned ? full_costs[of].step_us : full_costs[of].unaligned_step_us);
}

/* The time of a pass, without clusters (0) or by so many CTAs; "memory_us" is the least. */
static double pass_us(const xg_request *request, const large_operand *x, int cluster,
                      int64_t products, double memory_us)
{
    const xg_problem *const p = &request->problem;
    const xg_skinny_cost *const cost = &request->target.costs->half_skinny[x->k_major ? 0 : 1];
    const int ctas = cluster ? cluster : 1;
    const double each = (double)xg_ceil_div(xg_of_pass(x->ctas * x->groups * ctas, products),
                                            request->target.multiprocessors);
    const double steps = (double)p->k / STEP_K / ctas *
                         (xg_smaller((double)p->m, (double)p->n) > SIDE / 2 ? TWO_OF_Y : 1.0);
    double step_us = x->is_aligned ? cost->step_us : cost->unaligned_step_us;
    const double full = cluster > 1 && each <= 2.0 ? 1.0 : FULL;
    if (cluster)
        step_us *= !x->k_major                        ? CLUSTER_MN_MAJOR
                   : x->is_aligned && x->y_is_aligned ? AHEAD
                                                      : AHEAD_UNALIGNED;
    const double cta_us = cost->tile_us + steps * step_us + (cluster ? CLUSTER_US : 0.0);
    double full_us = each * full * cta_us;
    if (!cluster && products > 1)
        full_us = xg_larger(full_us, each * batch_cta_us(request, x, steps));
    return request->target.costs->half_launch_us + xg_larger(xg_larger(cta_us, full_us), memory_us);
}

xg_candidate xg_half_skinny_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const large_operand x = large_operand_of(p);
    const xg_half_operand a = xg_half_operand_a(p), b = xg_half_operand_b(p);
    const bool clusters = request->target.compute_capability == 90;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.batch_per_pass = xg_products_of_grid(p);
    const double memory = (double)x.groups * xg_half_memory_us(request, &a, &b, of.batch_per_pass);
    double best = pass_us(request, &x, 0, of.batch_per_pass, memory);
    for (int cluster = 1; clusters && cluster <= XG_SKINNY_CLUSTER_MOST; cluster *= 2) {
        const double us = pass_us(request, &x, cluster, of.batch_per_pass, memory);
        if (us >= best || p->k < (int64_t)cluster * STEP_K)
            continue;
        best = us;
        of.cluster = cluster;
    }
    of.k_per_split = xg_ceil_div(p->k, of.cluster ? of.cluster : 1);
    of.microseconds =
        xg_passes_us(request->target.costs, best, xg_ceil_div(p->batch_count, of.batch_per_pass));
    xg_half_gemv_consider(request, &of);
    return of;
}

static const xg_program *program_of(const xg_problem *p, const large_operand *x, bool clusters)
{
#define PROGRAMS(name)                                                                             \
    {                                                                                              \
        &xg_program_##name##_mn_major_f16, &xg_program_##name##_mn_major_bf16,                     \
            &xg_program_##name##_k_major_f16, &xg_program_##name##_k_major_bf16                    \
    }
    static const xg_program *const programs[2][4] = {PROGRAMS(half_skinny),
                                                     PROGRAMS(half_skinny_cluster)};
#undef PROGRAMS
    return programs[clusters][2 * x->k_major + (p->type_a == XG_BF16)];
}

xgemm_status xg_half_skinny_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                  xg_error *error)
{
    const xg_problem *const p = &request->problem;
    if (!xg_half_skinny_applies(request))
        return xg_half_refuse(of, request, error);
    if (xg_half_is_gemv(of))
        return xg_half_gemv_build(of, request, plan, error);
    const large_operand x = large_operand_of(p);
    const xg_typed_args args = xg_typed_args_of(p);
    xg_step *const step = xg_add_typed_product(plan, program_of(p, &x, of->cluster > 0), &args,
                                               sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    const int rows = x.k_major ? XG_SKINNY_K_MAJOR_ROWS : XG_SKINNY_MN_MAJOR_ROWS;
    step->pdl = true;
    if (!of->cluster)
        return xg_step_grid(step, x.ctas, x.groups, THREADS, 1, error);
    step->cluster = (uint32_t)of->cluster;
    step->shared_bytes = (uint32_t)XG_SKINNY_SHARED_BYTES(rows);
    return xg_step_grid(step, x.ctas * of->cluster, x.groups, THREADS, 1, error);
}
