/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small products with all of k in shared memory: one launch of half_single_stage.inc. How C is
 * divided among CTAs, the layout of their shared memory, the cost.
 *
 *     time = launch + the sum of the two longest of three
 *
 * These are what memory takes, what the instructions of all CTAs take, and rounds of as many CTAs
 * as a multiprocessor holds, each with the time of one by itself. Instructions are counted by the
 * turns of loops. The constants are fitted to 2972 times of BF16 batches on an H200 (root mean
 * square of the logarithm 0.13; the tile and threads that are chosen take 1.02 times what the best
 * ones do).
 */
#include "single_stage.h"

#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "half.h"

#include <math.h>
#include <stddef.h>

enum {
    SIZE_MOST = INT32_MAX / 2,
    K_MOST = 4096,
    UNIT = 16,   /* bytes: a chunk */
    WARP_M = 16, /* of C, that a warp multiplies at a time */
    WARP_N = 32,
    THREADS_LEAST = 32,
    SHARED_MOST = 216 * 1024, /* bytes of a CTA, where a GPU does not say */
    SHARED_RESERVED = 1024,   /* of each CTA, by the driver */
    THREADS_OF_SM = 2048,
    REGISTERS_OF_SM = 65536,
    REGISTERS = 80,
    CTAS_OF_SM = 32
};

/* Rows, and columns, of C that a CTA has at most; the last stands for all of them. */
enum { TILES = 3 };
static const int64_t tiles[TILES] = {32, 64, 1 << 14};

#define LAUNCH_US 2.0
/* Instructions of a warp: for each iteration of copies, of shifts and of stores; for 16 k of 16 x
   32 elements, and for these elements' new values, put together by twos or singly; and the others.
 */
#define PER_COPY     9.8
#define PER_SHIFT    46.0
#define PER_STORE    55.0
#define PER_STEP     1.6
#define PER_PAIRS    101.0
#define PER_ELEMENTS 327.0
#define PER_WARP     182.0
/* A CTA by itself has its latencies, and issues more slowly: steps of k at half the rate. */
#define CTA_US     0.59
#define STEP_WAITS 2.0
/* The share of the issue slots that all CTAs take, and a warp by itself. */
#define ISSUED           0.73
#define ISSUED_BY_ITSELF 0.0405

_Static_assert(offsetof(xg_half_single_stage_args, product) == 0, "see xg_add_typed_product()");
_Static_assert(sizeof(xg_half_single_stage_args) <= XG_ARGUMENTS_BYTES, "see plan/plan.h");

/* How a product is divided, and what a CTA has. */
typedef struct {
    int64_t tile_m, tile_n;
    int threads;
    xg_single_stage_operand a, b;
    uint16_t c_at, c_pitch;
    uint8_t c_lanes;
    int64_t units; /* of shared memory */
    double us;
} shape;

/* What is the same for all of a problem's shapes. */
typedef struct {
    const xg_request *request;
    xg_half_operand a, b;
    int64_t shared_most; /* bytes of a CTA */
    double products, memory_us;
    double rate; /* warp instructions of a multiprocessor, each microsecond */
} planned;

bool xg_half_is_single_stage(const xg_kernel *kernel)
{
    return kernel->typed[XG_F16] == &xg_program_half_single_stage_f16;
}

static int64_t lines_of(const xg_half_operand *of, int64_t count, int64_t k)
{
    return of->mn_major ? k : count;
}

static int64_t length_of(const xg_half_operand *of, int64_t count, int64_t k)
{
    return of->mn_major ? count : k;
}

/* The chunks of a line that ldmatrix reads: of 16 rows, or 16 k. */
static int64_t line_chunks(int64_t length)
{
    return 2 * xg_ceil_div(length, 16);
}

/* An operand's chunks from "at" on; returns where they end. */
static int64_t place_chunks(const xg_half_operand *of, int64_t count, int64_t k, int64_t at,
                            xg_single_stage_operand *to)
{
    const int64_t lines = lines_of(of, count, k), length = length_of(of, count, k);
    *to = (xg_single_stage_operand){.chunks_at = (uint16_t)at,
                                    .pitch = (uint16_t)(line_chunks(length) | 1),
                                    .k_major = !of->mn_major,
                                    .aligned = of->aligned};
    return at + xg_round_up(lines, 16) * to->pitch;
}

/* Its vectors as they lie, if it needs them; with one more, which the last chunk's shift reads. */
static int64_t place_vectors(const xg_half_operand *of, int64_t count, int64_t k, int64_t at,
                             xg_single_stage_operand *to)
{
    enum { CHUNK = UNIT / 2, SHIFT_MOST = CHUNK - 1 };
    const int64_t lines = lines_of(of, count, k), length = length_of(of, count, k);
    if (of->aligned)
        return at;
    to->vectors_at = (uint16_t)at;
    to->vectors = (uint16_t)(xg_ceil_div(SHIFT_MOST + length, CHUNK) + 1);
    return at + (of->stride == length ? xg_ceil_div(SHIFT_MOST + lines * length, CHUNK) + 1
                                      : lines * (int64_t)to->vectors);
}

static bool is_direct(const xg_problem *p)
{
    return xg_half_is_plain(p) && xg_type_is_half(p->type_c) && xg_half_c_is_aligned(p);
}

/*
 * Places C's tile in shared memory behind the operands' chunks, over their vectors, which are no
 * longer needed then; returns where it ends. A C that is stored directly has none.
 */
static int64_t place_c(const xg_problem *p, int64_t chunks_end, shape *s)
{
    const int64_t bytes = (int64_t)xg_type_bytes(p->type_c);
    s->c_at = (uint16_t)chunks_end;
    s->c_pitch = (uint16_t)xg_ceil_div(s->tile_n * bytes + UNIT - 1, UNIT);
    if (is_direct(p))
        return chunks_end;
    return chunks_end + (p->c_stride_m == s->tile_n
                             ? xg_ceil_div(UNIT - 1 + s->tile_m * s->tile_n * bytes, UNIT)
                             : s->tile_m * s->c_pitch);
}

/* Lanes that share a line of so many chunks, so that the least turns are taken; log2. */
static int lanes_of(int64_t lines, int64_t chunks, int threads, int64_t *turns)
{
    int best = 0;
    *turns = INT64_MAX;
    for (int log2 = 0; log2 <= 5; log2++) {
        const int64_t here = xg_ceil_div(lines, threads >> log2) * xg_ceil_div(chunks, 1 << log2);
        if (here <= *turns) { /* of the same, neighbours */
            *turns = here;
            best = log2;
        }
    }
    return best;
}

/* Sets the lanes of an operand; returns the instructions of a warp for its copies and shifts. */
static double share_lines(const xg_half_operand *of, int64_t count, int64_t k, int threads,
                          xg_single_stage_operand *to)
{
    const int64_t lines = lines_of(of, count, k), length = length_of(of, count, k);
    int64_t turns;
    to->lanes_log2 =
        (uint8_t)lanes_of(xg_round_up(lines, 16), line_chunks(length), threads, &turns);
    if (of->aligned)
        return (double)turns * PER_COPY;
    const int64_t vectors =
        of->stride == length ? xg_ceil_div(lines * length, threads * (UNIT / 2)) + 1 : turns;
    return (double)turns * PER_SHIFT + (double)vectors * PER_COPY;
}

/* The same of C's rows, if it is put together. */
static double share_rows(const xg_problem *p, shape *s)
{
    const int64_t bytes = s->tile_m * s->tile_n * (int64_t)xg_type_bytes(p->type_c);
    int64_t turns;
    s->c_lanes = (uint8_t)lanes_of(s->tile_m, s->c_pitch, s->threads, &turns);
    if (is_direct(p))
        return 0.0;
    return PER_STORE * (double)(p->c_stride_m == s->tile_n
                                    ? xg_ceil_div(bytes, UNIT * (int64_t)s->threads)
                                    : turns);
}

/* CTAs that a multiprocessor holds, whose shared memory one of them may have but for a little. */
static int64_t resident(const planned *what, const shape *s)
{
    int64_t most = (what->shared_most + SHARED_RESERVED) / (s->units * UNIT + SHARED_RESERVED);
    most = most < THREADS_OF_SM / s->threads ? most : THREADS_OF_SM / s->threads;
    const int64_t by_registers = REGISTERS_OF_SM / (REGISTERS * s->threads);
    most = most < by_registers ? most : by_registers;
    return most < CTAS_OF_SM ? most : CTAS_OF_SM;
}

static double shape_us(const planned *what, shape *s)
{
    const xg_problem *const p = &what->request->problem;
    const double warps = s->threads / 32;
    const double warp_tiles =
        (double)(xg_ceil_div(s->tile_m, WARP_M) * xg_ceil_div(s->tile_n, WARP_N));
    const double ctas = (double)xg_ceil_div(p->m, s->tile_m) *
                        (double)xg_ceil_div(p->n, s->tile_n) * what->products;
    const double each = ceil(ctas / (double)what->request->target.multiprocessors);
    const double beside = PER_WARP + share_lines(&what->a, s->tile_m, p->k, s->threads, &s->a) +
                          share_lines(&what->b, s->tile_n, p->k, s->threads, &s->b) +
                          share_rows(p, s);
    const double steps = PER_STEP * (double)xg_ceil_div(p->k, 16);
    const double elements = xg_half_is_plain(p) && p->n % 2 == 0 && xg_type_is_half(p->type_c)
                                ? PER_PAIRS
                                : PER_ELEMENTS;
    const double issue_us =
        each * (warps * beside + warp_tiles * (steps + elements)) / (what->rate * ISSUED);
    const double path = beside + ceil(warp_tiles / warps) * (STEP_WAITS * steps + elements);
    const double wait_us =
        ceil(each / (double)resident(what, s)) * (CTA_US + path / (what->rate * ISSUED_BY_ITSELF));
    const double least = xg_smaller(what->memory_us, xg_smaller(issue_us, wait_us));
    return what->memory_us + issue_us + wait_us - least;
}

/* Lays out tiles that are so large at most; returns whether a CTA has the shared memory. */
static bool lay_out(const planned *what, int64_t most, shape *s)
{
    const xg_problem *const p = &what->request->problem;
    *s = (shape){.tile_m = most < p->m ? most : p->m, .tile_n = most < p->n ? most : p->n};
    const int64_t of_a = place_chunks(&what->a, s->tile_m, p->k, 0, &s->a);
    const int64_t chunks = place_chunks(&what->b, s->tile_n, p->k, of_a, &s->b);
    const int64_t vectors = place_vectors(&what->a, s->tile_m, p->k, chunks, &s->a);
    const int64_t all = place_vectors(&what->b, s->tile_n, p->k, vectors, &s->b);
    const int64_t with_c = place_c(p, chunks, s);
    s->units = all > with_c ? all : with_c;
    return s->units <= what->shared_most / UNIT;
}

static planned planned_of(const xg_request *request, int64_t products)
{
    const xg_problem *const p = &request->problem;
    planned what = {.request = request,
                    .a = xg_half_operand_a(p),
                    .b = xg_half_operand_b(p),
                    .shared_most = request->target.shared_per_block > 0
                                       ? request->target.shared_per_block
                                       : SHARED_MOST,
                    .products = (double)products,
                    .rate = request->target.costs->sm_fp32_gflops * 1e3 / 64.0};
    what.memory_us = xg_half_memory_us(request, &what.a, &what.b, products);
    return what;
}

/* Whether any shape fits. */
static bool fits(const xg_request *request)
{
    const planned what = planned_of(request, 1);
    shape s;
    for (int i = 0; i < TILES; i++)
        if (lay_out(&what, tiles[i], &s))
            return true;
    return false;
}

/* The fastest shape; its time is infinite where none fits. */
static shape shape_of(const xg_request *request, int64_t products)
{
    const xg_problem *const p = &request->problem;
    const planned what = planned_of(request, products);
    shape best = {.us = INFINITY}, s;
    for (int i = 0; i < TILES; i++) {
        if (i > 0 && p->m <= tiles[i - 1] && p->n <= tiles[i - 1])
            break; /* as before */
        if (!lay_out(&what, tiles[i], &s))
            continue;
        for (s.threads = THREADS_LEAST; s.threads <= XG_SINGLE_STAGE_THREADS; s.threads *= 2) {
            s.us = shape_us(&what, &s);
            if (s.us < best.us)
                best = s;
        }
    }
    return best;
}

/* A single product by name alone; by element it is the sums of wgmma's kernels that count. */
bool xg_half_single_stage_applies(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return !request->by_element && p->groups == 0 && (p->batch_count > 1 || request->kernel) &&
           p->m <= SIZE_MOST && p->n <= SIZE_MOST && p->k <= K_MOST &&
           xg_ceil_div(p->m, tiles[0]) * xg_ceil_div(p->n, tiles[0]) <= INT32_MAX && fits(request);
}

xg_candidate xg_half_single_stage_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_costs *const costs = request->target.costs;
    const int64_t count = request->problem.batch_count;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.batch_per_pass = xg_products_of_grid(&request->problem);
    const shape s = shape_of(request, of.batch_per_pass);
    of.tile_m = (int)s.tile_m, of.tile_n = (int)s.tile_n;
    of.microseconds = xg_passes_us(costs, LAUNCH_US + s.us, xg_ceil_div(count, of.batch_per_pass));
    return of;
}

xgemm_status xg_half_single_stage_build(const xg_candidate *of, const xg_request *request,
                                        xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = &request->problem;
    if (!xg_half_single_stage_applies(request))
        return xg_half_refuse(of, request, error);
    const shape s = shape_of(request, of->batch_per_pass);
    const xg_half_single_stage_args args = {.product = xg_typed_args_of(p),
                                            .tile_m = (uint16_t)s.tile_m,
                                            .tile_n = (uint16_t)s.tile_n,
                                            .a = s.a,
                                            .b = s.b,
                                            .c_at = s.c_at,
                                            .c_pitch = s.c_pitch,
                                            .c_lanes = s.c_lanes,
                                            .is_plain = xg_half_is_plain(p),
                                            .is_direct = is_direct(p)};
    xg_step *const step =
        xg_add_typed_product(plan, of->kernel->typed[p->type_a], &args, sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    step->shared_bytes = (uint32_t)(s.units * UNIT);
    return xg_step_grid(step, xg_ceil_div(p->m, s.tile_m) * xg_ceil_div(p->n, s.tile_n), 1,
                        s.threads, 1, error);
}
