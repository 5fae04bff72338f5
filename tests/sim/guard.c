/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of FP16 terms, launched as the library does it, with a workspace that tests can read. */
#include "guard.h"

#include "backend/sim/sm90_shim.h"
#include "families/common/epilogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM(name)                                                                              \
    {                                                                                              \
        .symbol = "xg_" #name, .simulated = xg_simulated_##name                                    \
    }

static const xg_program right_split = PROGRAM(fp16_split);
static const xg_program right_product = PROGRAM(fp16x3_128x64);
static const xg_program wide_product = PROGRAM(fp16x3_128x256);
static const xg_program tf32_product = PROGRAM(fp16x1_128x128);
static const xg_program wide_tf32_product = PROGRAM(fp16x1_128x256);
static const xg_program wrong_comparison = PROGRAM(fp16x3_wrong_comparison);
static const xg_program wrong_splits[] = {
    [GUARD_FACTOR] = PROGRAM(split_wrong_factor),
    [GUARD_HIGH_THRESHOLD] = PROGRAM(split_high_threshold),
    [GUARD_LOW_THRESHOLD] = PROGRAM(split_low_threshold),
    [GUARD_LOWER_THRESHOLD] = PROGRAM(split_lower_threshold),
};

/* Of the last product. */
static char *workspace;
static xg_fp16_layout layout;

static float *zeros(int rows, int columns)
{
    const size_t bytes = (size_t)rows * (size_t)columns * sizeof(float);
    float *all = aligned_alloc(128, (bytes + 127) / 128 * 128);
    ck_assert_ptr_nonnull(all);
    memset(all, 0, bytes);
    return all;
}

guard_product guard_new(int m, int n, int k, int terms)
{
    const guard_product p = {.m = m,
                             .n = n,
                             .k = k,
                             .terms = terms,
                             .alpha = 1.0f,
                             .a = zeros(m, k),
                             .b = zeros(n, k),
                             .c = zeros(m, n)};
    return p;
}

void guard_free(guard_product *p)
{
    free(p->a), free(p->b), free(p->c);
    p->a = p->b = p->c = NULL;
}

static void launch(const xg_program *program, const xg_tensor_args *args, int x, int y, int threads,
                   int cluster)
{
    const xg_sim_options how = {.order = XG_SIM_FORWARD};
    const xg_launch what = {.program = program,
                            .grid = {(uint32_t)x, (uint32_t)y, 1},
                            .block = {(uint32_t)threads, 1, 1},
                            .cluster = (uint32_t)cluster,
                            .shared_bytes = XG_SIM_DYNAMIC_MAX / 1024 * 1024,
                            .arguments = args,
                            .arguments_size = sizeof *args};
    xg_error error = {""};
    ck_assert_msg(!xg_sim_launch(&what, &how, &error), "%s", error.text);
}

/* Columns of the matrix one after the other. */
static float *transposed(const float *from, int rows, int columns)
{
    float *const to = zeros(columns, rows);
    for (int i = 0; i < rows; i++)
        for (int l = 0; l < columns; l++)
            to[l * rows + i] = from[i * columns + l];
    return to;
}

static xg_tensor_args arguments(const guard_product *p)
{
    return (xg_tensor_args){.m = p->m,
                            .n = p->n,
                            .k = p->k,
                            .a = p->a,
                            .b = p->b,
                            .c = p->c,
                            .a_stride_m = p->mn_major ? 1 : p->k,
                            .a_stride_k = p->mn_major ? p->m : 1,
                            .b_stride_k = p->mn_major ? p->n : 1,
                            .b_stride_n = p->mn_major ? 1 : p->k,
                            .c_stride_m = p->n,
                            .alpha = p->alpha,
                            .beta = p->beta,
                            .workspace = workspace};
}

static void split(const guard_product *p, const xg_program *program)
{
    xg_tensor_args args = arguments(p);
    args.split.terms = (uint8_t)p->terms;
    args.split.slices = (uint8_t)layout.slices;
    args.split.chunks = (uint8_t)layout.slice_chunks;
    args.k_blocks = (uint32_t)layout.k_blocks;
    launch(program, &args, layout.slices, (layout.a_blocks + layout.b_blocks) * XG_BLOCK_GROUPS,
           XG_SPLIT_THREADS, layout.slices);
}

/* A product's kernel: the columns of its tiles, the blocks of a cluster, the threads of a block. */
typedef struct {
    const xg_program *program;
    int columns, cluster, threads;
} kernel;

static kernel kernel_of(const guard_product *p)
{
    static const kernel kernels[2][2] = {
        {{&tf32_product, 128, 1, 512}, {&wide_tf32_product, 256, 2, 384}},
        {{&right_product, 64, 1, 512}, {&wide_product, 256, 2, 512}}};
    return kernels[p->terms - 1][p->wide];
}

static void multiply(const guard_product *p, kernel by)
{
    const int lines = by.cluster * XG_ROW_BLOCK, group = XG_RASTER_ROWS / lines;
    const int rows = xg_blocks_of(p->m, lines), columns = xg_blocks_of(p->n, by.columns);
    const int tiles = rows * columns, clusters = p->share > 0 ? p->clusters : tiles;
    xg_tensor_args args = arguments(p);
    args.product.group_reciprocal = xg_reciprocal(group * columns);
    args.product.last_rows_reciprocal = xg_reciprocal((rows - 1) % group + 1);
    args.product.stream_k_iterations = (uint32_t)p->share;
    args.k_blocks = (uint32_t)layout.k_blocks;
    args.product.whole_tiles = (uint32_t)(tiles / clusters * clusters);
    launch(by.program, &args, clusters * by.cluster, 1, by.threads, by.cluster);
}

static xg_row_stats *stats(void)
{
    return (xg_row_stats *)(void *)(workspace + layout.stats);
}

/* A guard that takes no notice of small elements of one operand. */
static void ignore_small(int first_block, int blocks)
{
    float *const bounds = (float *)(void *)(workspace + layout.bounds);
    for (int i = 0; i < blocks * XG_ROW_BLOCK; i++)
        bounds[first_block * XG_ROW_BLOCK + i] = fabsf(bounds[first_block * XG_ROW_BLOCK + i]);
}

static void reserve(const guard_product *p)
{
    layout = xg_fp16_layout_of(p->m, p->n, p->k, p->terms);
    const size_t sums = (size_t)p->clusters * XG_ROW_BLOCK * 128 * sizeof(float);
    const size_t bytes = ((size_t)layout.bytes + sums + 1023) / 1024 * 1024;
    free(workspace);
    workspace = aligned_alloc(1024, bytes);
    ck_assert_ptr_nonnull(workspace);
    memset(workspace, 0xff, bytes); /* what nobody has written is NaN */
}

static void split_and_multiply(const guard_product *p, guard_mistake mistake)
{
    const bool splits_wrong = mistake >= GUARD_FACTOR && mistake <= GUARD_LOWER_THRESHOLD;
    kernel by = kernel_of(p);
    split(p, splits_wrong ? &wrong_splits[mistake] : &right_split);
    if (mistake == GUARD_WITHOUT_A || mistake == GUARD_OFF)
        ignore_small(0, layout.a_blocks);
    if (mistake == GUARD_WITHOUT_B || mistake == GUARD_OFF)
        ignore_small(layout.a_blocks, layout.b_blocks);
    if (mistake == GUARD_COMPARISON) {
        ck_assert(p->terms == 2 && !p->wide);
        by.program = &wrong_comparison;
    }
    multiply(p, by);
}

unsigned long long guard_multiply(const guard_product *p, guard_mistake mistake)
{
    guard_product as_it_lies = *p;
    reserve(p);
    if (p->mn_major) {
        as_it_lies.a = transposed(p->a, p->m, p->k);
        as_it_lies.b = transposed(p->b, p->n, p->k);
    }
    split_and_multiply(&as_it_lies, mistake);
    if (p->mn_major)
        free(as_it_lies.a), free(as_it_lies.b);
    return ((const xg_recompute *)(const void *)(workspace + layout.recompute))->recomputed;
}

const xg_row_stats *guard_stats_of_a(int row)
{
    return stats() + row;
}

const xg_row_stats *guard_stats_of_b(int column)
{
    return stats() + layout.a_blocks * XG_ROW_BLOCK + column;
}

float guard_scale_of_a(int row)
{
    return ((const float *)(const void *)(workspace + layout.a_scales))[row];
}

xg_listed_tile guard_listed_tile(void)
{
    const xg_recompute *const rework =
        (const xg_recompute *)(const void *)(workspace + layout.recompute);
    if (rework->tiles.reserved == 0)
        return 0;
    return *(const xg_listed_tile *)(const void *)(rework + 1);
}

static float half_at(const char *term, int row, int k)
{
    const int at = row * 128 + (k / 8 ^ row % 8) * 16 + k % 8 * 2;
    uint16_t half;
    memcpy(&half, term + at, sizeof half);
    return xg_sim_half_value(half);
}

static guard_terms terms_at(const char *units, int row, int k)
{
    const int unit = row / XG_ROW_BLOCK * layout.k_blocks + k / XG_K_BLOCK;
    const int in = row % XG_ROW_BLOCK;
    const int stands = in / 16 * 16 + (int)xg_stored_row((unsigned)(in % 16));
    const char *const from = units + unit * layout.tile_bytes;
    guard_terms terms = {half_at(from, stands, k % XG_K_BLOCK), 0.0f};
    if (layout.tile_bytes == 2 * XG_TERM_BYTES)
        terms.low = half_at(from + XG_TERM_BYTES, stands, k % XG_K_BLOCK);
    return terms;
}

guard_terms guard_terms_of_a(int row, int k)
{
    return terms_at(workspace, row, k);
}

guard_terms guard_terms_of_b(int column, int k)
{
    return terms_at(workspace + layout.b_terms, column, k);
}

/* The error of one element of C, or of its value in FP32 sums, beside the contract's mass. */
static double error_at(const guard_product *p, const float *before, int i, int j, bool strict)
{
    const float *const a = p->a + (int64_t)i * p->k, *const b = p->b + (int64_t)j * p->k;
    const int64_t at = (int64_t)i * p->n + j;
    const double old = p->beta == 0.0f ? 0.0 : (double)p->beta * (double)before[at];
    double sum = 0.0, mass = 0.0;
    float plain = 0.0f;
    for (int l = 0; l < p->k; l++) {
        const double product = (double)a[l] * (double)b[l];
        sum += product;
        mass += fabs(product);
        plain = fmaf(a[l], b[l], plain);
    }
    const double exact = (double)p->alpha * sum + old;
    const float in_fp32 = xg_epilogue(p->alpha, plain, p->beta, before + at);
    const double found = (double)(strict ? in_fp32 : p->c[at]);
    mass = fabs((double)p->alpha) * mass + fabs(old);
    if (isnan(found))
        return INFINITY;
    return found == exact ? 0.0 : fabs(found - exact) / mass;
}

static double largest_error(const guard_product *p, const float *before, bool strict)
{
    double largest = 0.0;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            largest = fmax(largest, error_at(p, before, i, j, strict));
    return largest;
}

double guard_error(const guard_product *p, const float *before)
{
    return largest_error(p, before, false);
}

double guard_strict_error(const guard_product *p, const float *before)
{
    return largest_error(p, before, true);
}
