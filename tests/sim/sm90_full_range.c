/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/families/tensor/full_range.h against float64: layouts, edges, alignments and ranges of
 * exponents. */
#include "sm90.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void xg_simulated_full_range(const void *), xg_traced_full_range(const void *);

enum { TILE_SIZE = 128, SHARED = 197632 /* XG_FULL_RANGE_BYTES, and 256 factors */ };

/* What elements are like: small numbers, of 120 binary orders of magnitude, or with Inf and NaN. */
typedef enum { PLAIN, WIDE_RANGE, SPECIAL } contents;

typedef struct {
    int m, n, k;
    int extra, offset; /* floats: of a leading dimension, and before the first element */
    contents what;
    float alpha, beta;
} product;

/* Everything of one product. */
typedef struct {
    const product *is;
    bool a_k_major, b_k_major;
    float *a, *b, *c, *before, *scales;
    int64_t lda, ldb, ldc, a_rows, b_rows;
    xg_full_range_args args;
} run;

static uint32_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 24);
}

static float element(contents what)
{
    const float fraction = (float)(next_random() % (1 << 24)) / (1 << 23) - 1.0f;
    if (what == SPECIAL && next_random() % 300 == 0)
        return (const float[]){INFINITY, -INFINITY, NAN}[next_random() % 3];
    if (what == SPECIAL && next_random() % 30 == 0)
        return 0.0f;
    return what == WIDE_RANGE ? ldexpf(fraction, (int)(next_random() % 121) - 60) : fraction;
}

static int padded(int size)
{
    return (size + TILE_SIZE - 1) / TILE_SIZE * TILE_SIZE;
}

/* The power of two that brings the largest of a row of an operand to [2^14, 2^15). */
static float scale_of(const float *from, int64_t step, int count)
{
    float largest = 0.0f;
    int exponent;
    for (int l = 0; l < count; l++)
        if (isfinite(from[l * step]))
            largest = fmaxf(largest, fabsf(from[l * step]));
    frexpf(largest, &exponent);
    return ldexpf(1.0f, exponent < -111 ? -126 : exponent - 15);
}

/* rows of "width" floats "ld" apart, from "offset" on; what is between them is NaN. */
static float *matrix(int64_t rows, int64_t ld, int64_t width, const product *is, contents what)
{
    const int64_t count = rows * ld + is->offset;
    float *all = aligned_alloc(128, (size_t)(count + 31) / 32 * 128);
    ck_assert_ptr_nonnull(all);
    for (int64_t i = 0; i < count; i++)
        all[i] = i >= is->offset && (i - is->offset) % ld < width ? element(what) : NAN;
    return all;
}

static run prepare_run(const product *is, int columns, bool a_k_major, bool b_k_major)
{
    const int64_t a_width = a_k_major ? is->k : is->m, b_width = b_k_major ? is->k : is->n;
    run r = {.is = is, .a_k_major = a_k_major, .b_k_major = b_k_major};
    r.lda = a_width + is->extra, r.ldb = b_width + is->extra, r.ldc = is->n + is->extra;
    r.a_rows = a_k_major ? is->m : is->k, r.b_rows = b_k_major ? is->n : is->k;
    r.a = matrix(r.a_rows, r.lda, a_width, is, is->what);
    r.b = matrix(r.b_rows, r.ldb, b_width, is, is->what);
    r.c = matrix(is->m, r.ldc, is->n, is, PLAIN);
    const size_t c_bytes = (size_t)(is->m * r.ldc + is->offset) * sizeof(float);
    r.before = malloc(c_bytes);
    r.scales = aligned_alloc(128, (size_t)(padded(is->m) + padded(is->n)) * sizeof(float));
    ck_assert(r.before && r.scales);
    if (is->beta == 0.0f) /* which never reads C */
        for (int64_t i = 0; i < is->m * r.ldc + is->offset; i++)
            r.c[i] = NAN;
    memcpy(r.before, r.c, c_bytes);
    r.args.product =
        (xg_tensor_args){.m = is->m, .n = is->n, .k = is->k, .alpha = is->alpha, .beta = is->beta};
    r.args.product.k_blocks = (uint32_t)(is->k + 63) / 64;
    r.args.product.a = r.a + is->offset, r.args.product.b = r.b + is->offset,
    r.args.product.c = r.c + is->offset;
    r.args.product.a_stride_m = a_k_major ? r.lda : 1,
    r.args.product.a_stride_k = a_k_major ? 1 : r.lda;
    r.args.product.b_stride_k = b_k_major ? 1 : r.ldb,
    r.args.product.b_stride_n = b_k_major ? r.ldb : 1;
    r.args.product.c_stride_m = r.ldc;
    r.args.product.workspace = r.scales;
    r.args.special = is->what == SPECIAL;
    r.args.columns = columns;
    for (int i = 0; i < padded(is->m); i++)
        r.scales[i] = i < is->m ? scale_of(r.args.product.a + i * r.args.product.a_stride_m,
                                           r.args.product.a_stride_k, is->k)
                                : 1.0f;
    for (int i = 0; i < padded(is->n); i++)
        r.scales[padded(is->m) + i] =
            i < is->n ? scale_of(r.args.product.b + i * r.args.product.b_stride_n,
                                 r.args.product.b_stride_k, is->k)
                      : 1.0f;
    return r;
}

static xg_region region(const char *name, const float *base, int64_t lines, int64_t width,
                        int64_t step)
{
    return (xg_region){.name = name,
                       .base = base,
                       .rows = lines,
                       .row_bytes = width * (int64_t)sizeof *base,
                       .stride_bytes = step * (int64_t)sizeof *base};
}

static xgemm_status launch(const run *r, xg_sim_options how, xg_error *error)
{
    static const xg_program program = {.symbol = "xg_full_range",
                                       .simulated = xg_simulated_full_range,
#ifdef WITH_TRACE
                                       .traced = xg_traced_full_range
#endif
    };
    const product *is = r->is;
    const xg_launch what = {
        .program = &program,
        .grid = {2, 1, 1},
        .block = {512, 1, 1},
        .shared_bytes = SHARED,
        .regions = {region("A", r->args.product.a, r->a_rows, r->lda - is->extra, r->lda),
                    region("B", r->args.product.b, r->b_rows, r->ldb - is->extra, r->ldb),
                    region("C", r->args.product.c, is->m, is->n, r->ldc),
                    region("scales", r->scales, 1, padded(is->m) + padded(is->n), 0)},
        .arguments = &r->args,
        .arguments_size = sizeof r->args};
    return sm90_launch(&what, how, false, error);
}

/* The same Inf, both NaN, or near enough. */
static bool is_right(float found, double want, double most)
{
    if (isnan(want))
        return isnan(found);
    return isinf(want) ? (double)found == want : fabs((double)found - want) <= ldexp(most, -21);
}

/* Each element within 2^-21 of |alpha| |A| |B| + |beta| |C|, and nothing written between them. */
static void assert_right(const run *r)
{
    const product *is = r->is;
    for (int i = 0; i < is->m; i++)
        for (int j = 0; j < r->ldc; j++) {
            const int64_t at = i * r->ldc + j;
            const double old = is->beta == 0.0f ? 0.0 : (double)r->before[is->offset + at];
            double sum = 0.0, size = 0.0;
            if (j >= is->n) {
                ck_assert(isnan(r->args.product.c[at]));
                continue;
            }
            for (int l = 0; l < is->k; l++) {
                const double x =
                    (double)r->args.product
                        .a[i * r->args.product.a_stride_m + l * r->args.product.a_stride_k] *
                    (double)r->args.product
                        .b[l * r->args.product.b_stride_k + j * r->args.product.b_stride_n];
                sum += x;
                size += fabs(x);
            }
            const double want = (double)is->alpha * sum + (double)is->beta * old;
            const double most = fabs((double)is->alpha) * size + fabs((double)is->beta * old);
            ck_assert_msg(is_right(r->args.product.c[at], want, most),
                          "%d x %d x %d, A %s-major, B %s-major, + %d, %d: C(%d, %d) is %g, not "
                          "%g, of %g",
                          is->m, is->n, is->k, r->a_k_major ? "K" : "M", r->b_k_major ? "K" : "N",
                          is->extra, is->offset, i, j, (double)r->args.product.c[at], want, most);
        }
}

static void end_run(run *r)
{
    free(r->a);
    free(r->b);
    free(r->c);
    free(r->before);
    free(r->scales);
}

static const product products[] = {
    {128, 128, 64, 0, 0, PLAIN, 1.0f, 0.0f},       {128, 128, 256, 0, 0, PLAIN, -0.5f, 2.0f},
    {128, 256, 1, 0, 0, PLAIN, 1.5f, 1.0f},        {129, 127, 63, 0, 0, PLAIN, 1.0f, 0.0f},
    {40, 36, 64, 0, 0, PLAIN, 1.0f, 1.0f},         {131, 132, 65, 1, 1, PLAIN, 1.0f, 0.5f},
    {128, 128, 130, 2, 0, WIDE_RANGE, 1.0f, 0.0f}, {128, 128, 128, 4, 2, WIDE_RANGE, 1.0f, 0.0f},
    {128, 128, 192, 4, 4, WIDE_RANGE, 2.0f, 0.0f}, {128, 128, 130, 0, 0, SPECIAL, 1.0f, 0.0f},
    {60, 140, 70, 1, 0, SPECIAL, 1.0f, 1.0f},      {1, 1, 200, 0, 0, PLAIN, 1.0f, 0.0f},
};
enum { LAYOUTS = 4, CASES = 2 * LAYOUTS }; /* in tiles of 128 and of 64 columns */

static int columns_of(int number)
{
    return number % CASES < LAYOUTS ? 128 : 64;
}

START_TEST(full_range_tiles_are_right)
{
    const product *is = &products[_i / CASES];
    run r = prepare_run(is, columns_of(_i), _i % LAYOUTS / 2 != 0, _i % 2 != 0);
    for (int late = 0; late < 2; late++) {
        const xg_sim_options how = {.order = XG_SIM_SHUFFLE, .seed = (uint64_t)_i, .late = late};
        xg_error error = {""};
        if (late)
            memcpy(r.c, r.before, (size_t)(is->m * r.ldc + is->offset) * sizeof(float));
        ck_assert_msg(launch(&r, how, &error) == XGEMM_OK, "%s", error.text);
        assert_right(&r);
    }
    end_run(&r);
}
END_TEST

#ifdef WITH_TRACE
/* Aligned, and where 16-byte loads cannot be. */
START_TEST(full_range_accesses_are_few)
{
    static const product aligned = {128, 128, 192, 0, 0, PLAIN, 1.0f, 0.0f};
    static const product unaligned = {130, 120, 100, 1, 1, PLAIN, 1.0f, 1.0f};
    const bool is_aligned = _i < CASES;
    run r = prepare_run(is_aligned ? &aligned : &unaligned, columns_of(_i), _i % LAYOUTS / 2 != 0,
                        _i % 2 != 0);
    xg_sim_options how = {.order = XG_SIM_SHUFFLE, .seed = 7, .trace = xg_trace_new()};
    xg_error error = {""};
    int count, found = 0;
    ck_assert_ptr_nonnull(how.trace);
    ck_assert_msg(launch(&r, how, &error) == XGEMM_OK, "%s", error.text);
    assert_right(&r);
    const xg_trace_site *sites = xg_trace_sites(how.trace, &count);
    for (int i = 0; i < count; i++) {
        const xg_trace_site *s = &sites[i];
        if (s->is_shared && s->is_store) {
            ck_assert_int_eq(s->wavefronts, s->ideal_wavefronts);
            found++;
        } else if (is_aligned && !s->is_store && s->bytes == 16) {
            ck_assert_int_eq(s->sectors, s->ideal_sectors);
            found++;
        }
    }
    ck_assert_int_ge(found, is_aligned ? 3 : 1);
    xg_trace_free(how.trace);
    end_run(&r);
}
END_TEST
#endif

TCase *sm90_full_range(void)
{
    TCase *tiles = tcase_create("full range");
    tcase_set_timeout(tiles, 1800);
    tcase_add_loop_test(tiles, full_range_tiles_are_right, 0, COUNT(products) * CASES);
#ifdef WITH_TRACE
    tcase_add_loop_test(tiles, full_range_accesses_are_few, 0, 2 * CASES);
#endif
    return tiles;
}
