/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GEMV: one launch of half_gemv.inc, which reads the operands as they lie.
 *
 *     time = launch + the longest of three + OVERLAP of the shorter of the first two
 *
 * These are the memory's time; that of all CTAs where a multiprocessor holds HELD of them; and that
 * of a CTA by itself. On compute capability 9.0 the CTAs of a cluster may share k. The constants
 * are fitted to 180 times on an H200 (root mean square of the logarithm 0.09).
 */
#include "gemv.h"

#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "half.h"

enum { THREADS = 32 * XG_HALF_GEMV_WARPS, HELD = 4 };

/* Elements that a load may take. */
typedef enum { BY_8, BY_2, BY_1, UNITS } loads;

/* Of a CTA by itself, what it takes besides its iterations and, in a cluster, for the sum. */
#define ALONE_US   1.13
#define CLUSTER_US 0.22
#define OVERLAP    0.58
/* Of the memory's time by half_read_rate: these loads are faster. */
#define MEMORY 0.78
/* What a CTA of HELD takes besides its iterations; and an iteration of a CTA by itself and of HELD
   of them, and its k, by the elements of a load: 8, 2 or 1. MN-major, K-major. */
static const struct {
    double full_us;
    struct {
        double alone_us, full_us, k;
    } iteration[UNITS];
} costs_of_major[2] = {{0.0, {{0.67, 2.08, 256}, {0.55, 2.22, 128}, {1.09, 2.56, 128}}},
                       {0.63, {{0.95, 0.97, 2048}, {1.07, 1.87, 2048}, {0.68, 1.73, 1024}}}};

/* X, the matrix. */
typedef struct {
    bool k_major;
    loads unit;
    int cta_rows; /* elements of C, of a CTA */
    int64_t ctas;
} matrix;

static matrix matrix_of(const xg_problem *p)
{
    const bool is_row = p->m <= p->n;
    const xg_half_operand x = is_row ? xg_half_operand_b(p) : xg_half_operand_a(p);
    const uintptr_t at = (uintptr_t)(is_row ? p->b : p->a);
    matrix of = {.k_major = (is_row ? p->b_stride_k : p->a_stride_k) == 1};
    of.cta_rows = of.k_major ? XG_HALF_GEMV_K_MAJOR_ROWS : XG_HALF_GEMV_MN_MAJOR_ROWS;
    of.ctas = xg_ceil_div(is_row ? p->n : p->m, of.cta_rows);
    of.unit = x.aligned                                               ? BY_8
              : at % 4 == 0 && x.stride % 2 == 0 && x.length % 2 == 0 ? BY_2
                                                                      : BY_1;
    return of;
}

/* The time without the launch, where so many CTAs share k. */
static double gemv_us(const xg_request *request, const matrix *x, int cluster, double memory_us)
{
    const int major = x->k_major ? 1 : 0;
    const double each = (double)xg_ceil_div(request->problem.k, cluster);
    const double iterations = xg_larger(1.0, each / costs_of_major[major].iteration[x->unit].k);
    const double share =
        (double)(x->ctas * cluster) / (double)((int64_t)HELD * request->target.multiprocessors);
    const double alone_us = ALONE_US +
                            iterations * costs_of_major[major].iteration[x->unit].alone_us +
                            (cluster > 1 ? CLUSTER_US : 0.0);
    const double full_us = share * (costs_of_major[major].full_us +
                                    iterations * costs_of_major[major].iteration[x->unit].full_us);
    return xg_larger(alone_us, xg_larger(memory_us, full_us)) +
           OVERLAP * xg_smaller(memory_us, full_us);
}

void xg_half_gemv_consider(const xg_request *request, xg_candidate *of)
{
    const xg_problem *const p = &request->problem;
    if ((p->m != 1 && p->n != 1) || p->batch_count > 1 || p->pointer_arrays)
        return;
    const matrix x = matrix_of(p);
    const xg_half_operand a = xg_half_operand_a(p), b = xg_half_operand_b(p);
    const double memory_us = MEMORY * xg_half_memory_us(request, &a, &b, 1);
    const int most = request->target.compute_capability == 90 ? XG_HALF_GEMV_CLUSTER_MOST : 1;
    for (int cluster = 1; cluster <= most; cluster *= 2) {
        const double us =
            request->target.costs->half_launch_us + gemv_us(request, &x, cluster, memory_us);
        if (us >= of->microseconds)
            continue;
        of->microseconds = us;
        of->cluster = cluster > 1 ? cluster : 0;
        of->k_per_split = xg_ceil_div(p->k, cluster);
        of->tile_m = p->m <= p->n ? 1 : x.cta_rows;
        of->tile_n = p->m <= p->n ? x.cta_rows : 1;
    }
}

bool xg_half_is_gemv(const xg_candidate *of)
{
    return of->tile_m == 1 || of->tile_n == 1;
}

static const xg_program *program_of(const xg_problem *p, bool k_major)
{
    static const xg_program *const programs[2][2] = {
        {&xg_program_half_gemv_mn_major_f16, &xg_program_half_gemv_mn_major_bf16},
        {&xg_program_half_gemv_k_major_f16, &xg_program_half_gemv_k_major_bf16}};
    return programs[k_major][p->type_a == XG_BF16];
}

xgemm_status xg_half_gemv_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const matrix x = matrix_of(p);
    const xg_typed_args args = xg_typed_args_of(p);
    xg_step *const step =
        xg_add_typed_product(plan, program_of(p, x.k_major), &args, sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    step->cluster = (uint32_t)of->cluster;
    step->shared_bytes = (uint32_t)XG_HALF_GEMV_SHARED_BYTES(x.cta_rows);
    return xg_step_grid(step, x.ctas * (of->cluster ? of->cluster : 1), 1, THREADS, 1, error);
}
