/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The family of skinny_batched.inc: how a product is divided among warps, its cost, its launch.
 *
 *     time = launch + the longest of three + OVERLAP of the second of them
 *
 * These are what memory and L2 take, what the instructions take, and the time of a warp, WARP_US
 * and STEP_US for each step of its k, where a multiprocessor holds HELD of them. The constants are
 * fitted to 4000 times on an H200 (root mean square of the logarithm 0.20; of 16-bit elements
 * 0.29).
 */
#include "batched.h"

#include "families/family.h"
#include "families/programs.h"
#include "families/typed.h"

#include <math.h>

#define LAUNCH_US 2.1
#define HELD      16
#define WARP_US   2.4
#define STEP_US   0.35
#define OVERLAP   0.58
/* Instructions of a warp, and for each load and store; of 16-bit elements more, since each is taken
   out of its vector and put into one. */
#define PER_WARP       190.0
#define PER_LOAD       1.8
#define PER_LOAD_HALF  4.2
#define PER_STORE      13.5
#define PER_STORE_HALF 26.0
/* The share of the issue slots that they take, and L2's rate with what L1 holds, of memory's. */
#define ISSUED  0.375
#define L2_RATE 4.2
/* An element of C that is stored by itself, in bytes at memory's rate; and a load of Y whose lanes
   are apart, of one whose are not. */
#define SCATTERED_STORE 58.0
#define SCATTERED_LOAD  8.0

enum { SIZE_MOST = INT32_MAX / 2 };

/* How a product is divided. */
typedef struct {
    bool x_is_b, k_major, x_vector, y_vector;
    int side, lanes_log2, k_warps;
    int tile_lines;
    int64_t steps, line_tiles, tiles;
    double us;
} shape;

/* An operand's lines, from one to the next and from k to k, and whether all are aligned. */
typedef struct {
    int64_t count, stride, stride_k;
    bool aligned;
} lines;

static bool is_aligned(const xg_problem *p, const void *from, int64_t stride, int64_t batch_stride)
{
    const int64_t vector = XG_BATCHED_VECTOR((int64_t)xg_type_bytes(p->type_a));
    return !p->pointer_arrays && (uintptr_t)from % 16 == 0 && stride % vector == 0 &&
           batch_stride % vector == 0;
}

static lines operand_of(const xg_problem *p, bool of_b)
{
    lines of = {.count = of_b ? p->n : p->m,
                .stride = of_b ? p->b_stride_n : p->a_stride_m,
                .stride_k = of_b ? p->b_stride_k : p->a_stride_k};
    of.aligned = is_aligned(p, of_b ? p->b : p->a, of.stride_k == 1 ? of.stride : of.stride_k,
                            of_b ? p->b_batch_stride : p->a_batch_stride);
    return of;
}

static int log2_of(int64_t count)
{
    int log2 = 0;
    while (log2 < 5 && INT64_C(1) << log2 < count)
        log2++;
    return log2;
}

/* The microseconds of a pass, without the launch. */
static double pass_us(const shape *s, const xg_request *request, const lines *x, const lines *y,
                      double products)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int bytes = (int)xg_type_bytes(p->type_a), vector = XG_BATCHED_VECTOR(bytes);
    const bool fp64 = xg_type_is_fp64(p->type_a), half = xg_type_is_half(p->type_a);
    const int parts = xg_type_is_complex(p->type_a) ? 2 : 1;
    const int rows = s->k_major ? XG_BATCHED_ROWS(bytes, s->side) : vector;
    const int depth = s->k_major ? vector : XG_BATCHED_DEPTH(bytes, s->side);
    const double side = xg_smaller(s->side, (double)y->count), k = (double)p->k;
    const double along = (double)(s->k_major ? p->k : x->count);
    const double each = s->x_vector ? 1.0 : xg_smaller(vector, ceil(along / (1 << s->lanes_log2)));
    const double x_loads = (s->k_major ? rows : depth) * each;
    const double y_scattered =
        s->k_major && y->stride_k != 1 ? xg_smaller(32.0 / bytes, SCATTERED_LOAD) : 1.0;
    const double y_loads = side * (!s->k_major   ? depth
                                   : s->y_vector ? 1.0
                                   : s->x_vector ? vector
                                                 : each);
    const double products_of_step = (double)rows * s->side * depth * parts * parts;
    const int sums = rows * s->side * parts;
    const int shared = s->k_major ? s->lanes_log2 : 5 - s->lanes_log2; /* log2 of lanes */
    const double per_step = products_of_step * (fp64 ? 2.0 : 1.0) +
                            (half ? PER_LOAD_HALF : PER_LOAD) * (x_loads + y_loads * y_scattered);
    const double per_warp = PER_WARP + sums * shared * (fp64 ? 5.0 : 2.0) +
                            (half ? PER_STORE_HALF : PER_STORE) * rows * side / (1 << shared);
    const double warps = (double)s->tiles * products * s->k_warps;
    const double steps = (double)xg_ceil_div(s->steps, s->k_warps);
    const double sms = (double)request->target.multiprocessors;
    const double issue_us =
        warps * (per_warp + steps * per_step) / (sms * costs->sm_fp32_gflops * 1e3 / 64.0 * ISSUED);
    const double wait_us = (WARP_US + steps * STEP_US) * xg_larger(1.0, warps / (sms * HELD));
    const double c_bytes = (double)xg_type_bytes(p->type_c) * (double)p->m * (double)p->n;
    const double x_bytes = (double)bytes * (double)x->count * k;
    const double y_bytes = (double)bytes * (double)y->count * k;
    const double groups = (double)(s->tiles / s->line_tiles);
    const double rate = costs->gemv[0].read_rate;
    const double scattered =
        s->x_is_b || y->count == 1 ? 0.0 : SCATTERED_STORE * (double)p->m * (double)p->n;
    const double from_l2 =
        x_bytes * groups + y_bytes * (double)s->line_tiles * y_scattered + c_bytes;
    const double memory_us =
        products / rate * xg_larger(x_bytes + y_bytes + c_bytes, from_l2 / L2_RATE + scattered);
    const double longest = xg_larger(memory_us, xg_larger(issue_us, wait_us));
    const double shortest = xg_smaller(memory_us, xg_smaller(issue_us, wait_us));
    const double second = memory_us + issue_us + wait_us - longest - shortest;
    return longest + OVERLAP * second;
}

/* Tiles that are long in columns of B, or in rows of A. */
static shape shape_along(const xg_request *request, bool x_is_b, double products)
{
    const xg_problem *const p = &request->problem;
    const int bytes = (int)xg_type_bytes(p->type_a), vector = XG_BATCHED_VECTOR(bytes);
    const lines x = operand_of(p, x_is_b), y = operand_of(p, !x_is_b);
    shape s = {.x_is_b = x_is_b, .side = y.count == 1 ? 1 : XG_BATCHED_SIDE, .us = INFINITY};
    s.k_major = x.stride_k == 1 && (x.stride != 1 || p->k > x.count);
    s.x_vector = x.aligned && (s.k_major ? p->k % vector == 0
                                         : x.count % vector == 0 && p->k >= XG_BATCHED_LARGE_K);
    s.y_vector = s.x_vector && s.k_major && y.aligned && y.stride_k == 1;
    const int64_t along = s.k_major ? p->k : x.count; /* what lies beside the first in memory */
    s.lanes_log2 = log2_of(xg_ceil_div(along, vector));
    const int lanes = 1 << s.lanes_log2, apart = 32 / lanes;
    const int span = vector * lanes;
    s.tile_lines = s.k_major ? XG_BATCHED_ROWS(bytes, s.side) * apart : span;
    s.steps = xg_ceil_div(p->k, s.k_major ? span : XG_BATCHED_DEPTH(bytes, s.side) * apart);
    s.line_tiles = xg_ceil_div(x.count, s.tile_lines);
    s.tiles = s.line_tiles * xg_ceil_div(y.count, s.side);
    for (int k_warps = 1; k_warps <= XG_BATCHED_WARPS_MOST; k_warps *= 2) {
        shape with = s;
        with.k_warps = k_warps;
        with.us = pass_us(&with, request, &x, &y, products);
        if (with.us < s.us)
            s = with;
    }
    return s;
}

static shape shape_of(const xg_request *request, int64_t products)
{
    const shape b = shape_along(request, true, (double)products);
    const shape a = shape_along(request, false, (double)products);
    return a.us < b.us ? a : b;
}

static bool computes(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return !request->by_element && p->groups == 0 && p->m <= SIZE_MOST && p->n <= SIZE_MOST &&
           p->k <= SIZE_MOST && xg_ceil_div(p->m, XG_BATCHED_SIDE) * p->n < SIZE_MOST;
}

/* Of a single product by name alone, and without a model: its times were not compared. */
static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    (void)kernel;
    return (request->problem.batch_count > 1 || request->kernel) && computes(request);
}

static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    (void)most_us;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.batch_per_pass = xg_products_of_grid(p);
    if (p->batch_count == 1 || !computes(request))
        return of;
    of.microseconds = xg_passes_us(costs, LAUNCH_US + shape_of(request, of.batch_per_pass).us,
                                   xg_ceil_div(p->batch_count, of.batch_per_pass));
    return of;
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    (void)of, (void)request;
    return 0.0;
}

static const xg_program *program_of(xg_type type, int side)
{
#define PROGRAMS(name)                                                                             \
    {                                                                                              \
        &xg_program_skinny_batched1_##name, &xg_program_skinny_batched4_##name                     \
    }
    static const xg_program *const programs[XG_TYPES][2] = {
        [XG_F32] = PROGRAMS(f32),   [XG_F64] = PROGRAMS(f64), [XG_F16] = PROGRAMS(f16),
        [XG_BF16] = PROGRAMS(bf16), [XG_C32] = PROGRAMS(c32), [XG_C64] = PROGRAMS(c64)};
#undef PROGRAMS
    return programs[type][side > 1];
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *const p = &request->problem;
    if (!computes(request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s does not compute products as large as this one, or ragged groups",
                       of->kernel->name);
    const shape s = shape_of(request, of->batch_per_pass);
    const xg_batched_args args = {.product = xg_typed_args_of(p),
                                  .tiles = (uint32_t)s.tiles,
                                  .line_tiles = (uint32_t)s.line_tiles,
                                  .tile_lines = (uint32_t)s.tile_lines,
                                  .x_is_b = s.x_is_b,
                                  .k_major = s.k_major,
                                  .x_vector = s.x_vector,
                                  .y_vector = s.y_vector,
                                  .lanes_log2 = (uint8_t)s.lanes_log2,
                                  .k_warps = (uint8_t)s.k_warps};
    xg_step *const step =
        xg_add_typed_product(plan, program_of(p->type_a, s.side), &args, sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    const int bytes = (int)xg_type_bytes(p->type_a), parts = xg_type_is_complex(p->type_a) ? 2 : 1;
    const int most = XG_BATCHED_WARPS_MOST / s.k_warps; /* tiles of a CTA */
    const int tiles = (int)(s.tiles < most ? s.tiles : most);
    const int real = xg_type_is_half(p->type_a) ? 4 : bytes / parts;
    if (s.k_warps > 1)
        step->shared_bytes =
            (uint32_t)(XG_BATCHED_WARPS_MOST * 32 * real * XG_BATCHED_SUMS(bytes, parts, s.side));
    return xg_step_grid(step, xg_ceil_div(s.tiles, tiles), 1, 32 * tiles * s.k_warps, 1, error);
}

static bool always(const xg_kernel *kernel)
{
    (void)kernel;
    return true;
}

static bool takes_all(const xg_kernel *kernel, xg_type operands)
{
    (void)kernel, (void)operands;
    return true;
}

const xg_family xg_family_batched = {
    .name = "batched",
    .applies = applies,
    .candidate = candidate,
    .workspace = workspace,
    .build = build,
    .batches = always,
    .takes_pointer_arrays = takes_all,
    .finishes = true,
};
