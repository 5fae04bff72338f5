/* SPDX-License-Identifier: BSD-3-Clause */
/* A row's statistics and terms, with elements just on either side of every bound. */
#include "guard.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 64 };

/* The scaled magnitude below which an element is small; see the proof in guard.h. */
static double threshold(int terms)
{
    return terms == 2 ? 0x1p-13 : 0x1p-14;
}

/* Of a row in which one element is "least", and the others are zeros or near the largest. */
static xg_row_stats stats_of(float largest, float least, int at, int terms, bool sliced)
{
    float row[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        row[i] = i % 3 ? -largest : i % 2 ? 0.0f : largest / 2;
    row[(at + 5) % WIDTH] = largest;
    row[at] = least;
    return guard_row_stats(row, WIDTH, terms, sliced);
}

/* Powers of two, numbers just above and just below them, and some near the ends of FP32's range. */
static const float largest_of[] = {
    1.0f,      0x1.fffffep0f, 0x1.000002p0f,    3.0f,    0x1p60f, 0x1p-60f,
    0x1p-111f, 0x1p-112f,     0x1.fffffep-100f, 0x1p126f};

START_TEST(least_element_is_on_either_side)
{
    const float largest = largest_of[_i];
    for (int terms = 1; terms <= 2; terms++)
        for (int i = 0; i < 2 * WIDTH; i++) {
            const double scale = (double)guard_scale_to_terms(largest);
            const float bound = (float)(threshold(terms) / scale) * (i % 3 == 1 ? -1.0f : 1.0f);
            const bool sliced = i % 2 == 1;
            const int at = i / 2;
            if (fabsf(bound) < 0x1p-126f) /* all that is subnormal is taken for small */
                continue;
            ck_assert(!xg_has_small(stats_of(largest, bound, at, terms, sliced).bound));
            ck_assert(!xg_has_small(stats_of(largest, bound * 1.25f, at, terms, sliced).bound));
            ck_assert(
                xg_has_small(stats_of(largest, nextafterf(bound, 0.0f), at, terms, sliced).bound));
            ck_assert(xg_has_small(stats_of(largest, bound / 4, at, terms, sliced).bound));
        }
}
END_TEST

START_TEST(subnormal_elements_are_small)
{
    static const float rows[][2] = {
        {1.0f, 0x1p-149f},          {1.0f, 0x1.fffffcp-127f}, {0x1p-100f, -0x1p-149f},
        {0x1p-126f, 0x1p-149f},     {0x1p120f, 0x1p-140f},    {FLT_MAX, 0x1p-149f},
        {0x1p-127f, 0x1p-127f / 4},
    };
    for (int i = 0; i < COUNT(rows) * 2; i++)
        ck_assert(
            xg_has_small(stats_of(rows[i / 2][0], rows[i / 2][1], 7, i % 2 + 1, i % 2 == 0).bound));
}
END_TEST

START_TEST(zeros_are_exact)
{
    float row[WIDTH] = {0.0f};
    for (int terms = 1; terms <= 2; terms++) {
        const xg_row_stats none = guard_row_stats(row, WIDTH, terms, terms == 1);
        ck_assert(none.bound == 0.0f && none.kind == XG_ROW_FINITE);
    }
    row[3] = -0.0f;
    row[9] = 0x1p20f;
    const xg_row_stats one = guard_row_stats(row, WIDTH, 2, false);
    ck_assert_float_eq(one.bound, 0x1p14f * XG_GUARD_FACTOR(2));
}
END_TEST

/* A row's sum must not be less than it is, but for the rounding of FP32 sums. */
START_TEST(sum_is_a_bound)
{
    enum { DEPTH = 1000 };
    float row[DEPTH];
    for (int terms = 1; terms <= 2; terms++)
        for (int i = 0; i < COUNT(largest_of); i++) {
            const double scale = (double)guard_scale_to_terms(largest_of[i]);
            double sum = 0.0;
            for (int l = 0; l < DEPTH; l++) {
                row[l] = largest_of[i] * (l % 7 ? 0x1.234568p-1f : -1.0f) / (float)(1 + l % 2);
                sum += fabs((double)row[l]);
            }
            sum *= scale * (double)XG_GUARD_FACTOR(terms);
            const double found = fabs((double)guard_row_stats(row, DEPTH, terms, i % 2).bound);
            const bool counted = largest_of[i] < 0x1p110f; /* else by the largest element */
            ck_assert_double_ge(found, sum * (1 - 0x1p-14));
            ck_assert(!counted || found <= sum * (1 + 0x1p-6));
        }
    for (int l = 0; l < DEPTH; l++) /* whose sum is past FP32's range */
        row[l] = FLT_MAX;
    ck_assert_double_ge(fabs((double)guard_row_stats(row, DEPTH, 2, true).bound),
                        DEPTH * 0x1p14 * (double)XG_GUARD_FACTOR(2));
}
END_TEST

/* What the bounds of XG_ROW_FAR, XG_ROW_WIDE and XG_ROW_NOT_FINITE are. */
START_TEST(kinds_are_on_either_side)
{
    static const struct {
        float largest, least;
        xg_row_kind kind;
    } rows[] = {
        {0x1.8p90f, 0x1p60f, XG_ROW_FINITE},
        {0x1p91f, 0x1p60f, XG_ROW_FAR},
        {0x1p-60f, 0x1p-80f, XG_ROW_FINITE},
        {0x1.fffffep-61f, 0x1p-80f, XG_ROW_FAR},
        {0x1p66f, 0x1p-35f, XG_ROW_FINITE},
        {0x1p66f, 0x1.fffffep-36f, XG_ROW_WIDE},
        {0x1.fffffep-48f, 0x1p-149f, XG_ROW_FINITE},
        {0x1p-47f, 0x1p-149f, XG_ROW_WIDE},
        {1.0f, INFINITY, XG_ROW_NOT_FINITE},
        {1.0f, -INFINITY, XG_ROW_NOT_FINITE},
        {1.0f, NAN, XG_ROW_NOT_FINITE},
        {FLT_MAX, 0x1p30f, XG_ROW_FAR},
        {FLT_MAX, 1.0f, XG_ROW_WIDE},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        const xg_row_stats stats = stats_of(rows[i].largest, rows[i].least, 11, 2, i % 2);
        ck_assert_msg(stats.kind == (unsigned)rows[i].kind, "row %d is %u, not %u", i, stats.kind,
                      (unsigned)rows[i].kind);
        if (rows[i].kind == XG_ROW_NOT_FINITE)
            ck_assert(stats.bound == 0.0f);
    }
}
END_TEST

/* An element of a row whose scale is 1: what the terms hold worst. */
static float element(uint32_t random, int exponent)
{
    static const float worst[] = {0x1.001ffap0f, 0x1.002002p0f, 0x1.000002p0f, 0x1.ffdffep0f};
    const float x = random % 8 < 4 ? worst[random % 4] : 1.0f + (float)(random >> 8) * 0x1p-24f;
    return ldexpf(random & 128 ? -x : x, exponent);
}

/* The first two statements of the proof in guard.h, of terms in the workspace. */
static void check_terms(float x, guard_terms held, int terms)
{
    const double magnitude = fabs((double)x), off = fabs((double)x - (double)held.high);
    const double rest = fabs((double)x - (double)held.high - 0x1p-11 * (double)held.low);
    if (terms == 1) {
        ck_assert(magnitude < 0x1p-14 ? off <= 0x1p-25 : off <= 0x1p-11 * magnitude);
        return;
    }
    ck_assert_double_le(rest, magnitude < 0x1p-13 ? 0x1p-36 : 0x1p-23 * magnitude);
    ck_assert(magnitude < 0x1p-13 ? fabs((double)held.low) <= 0x1p-14
                                  : fabs((double)held.low) <= magnitude);
}

START_TEST(terms_hold_what_the_proof_says)
{
    enum { K = 640 }; /* two slices */
    const int terms = 2 - _i % 2;
    guard_product p = guard_new(16, 16, K, terms);
    p.mn_major = _i / 2;
    uint32_t random = 12345;
    for (int i = 0; i < p.m; i++)
        for (int l = 0; l < K; l++) {
            random = random * 1664525u + 1013904223u;
            p.a[i * K + l] = l == 0 ? 0x1p14f : element(random >> 4, l % 48 - 34);
        }
    for (int l = 0; l < 16 * K; l++)
        p.b[l] = 1.0f;
    guard_multiply(&p, GUARD_RIGHT);
    for (int i = 0; i < p.m; i++) {
        ck_assert_float_eq(guard_scale_of_a(i), 1.0f);
        for (int l = 0; l < K; l++)
            check_terms(p.a[i * K + l], guard_terms_of_a(i, l), terms);
    }
    guard_free(&p);
}
END_TEST

TCase *guard_rows(void)
{
    TCase *rows = tcase_create("rows");
    tcase_set_timeout(rows, 1800);
    tcase_add_loop_test(rows, least_element_is_on_either_side, 0, COUNT(largest_of));
    tcase_add_test(rows, subnormal_elements_are_small);
    tcase_add_test(rows, zeros_are_exact);
    tcase_add_test(rows, sum_is_a_bound);
    tcase_add_test(rows, kinds_are_on_either_side);
    tcase_add_loop_test(rows, terms_hold_what_the_proof_says, 0, 4);
    return rows;
}
