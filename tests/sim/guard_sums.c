/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is done to sums before and after the guard has seen them: k in parts, in passes and one more
 * than the terms hold; and scales that would overflow or underflow.
 */
#include "guard.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * As in guard_elements.c: three elements of 1 make a row's sum 3 * 2^14, scaled, and one small
 * element of A makes 6 (with one term 12) the bound of |C|. Element (3, 2) of C is that of two
 * products, the second one "apart" later in k.
 */
enum { M = 5, N = 4, ROW = 3, COLUMN = 2, FIRST = 5 };

static guard_product two_products(int k, int apart, int terms, float first, float second)
{
    guard_product p = guard_new(M, N, k, terms);
    float *const a = p.a + ROW * k, *const b = p.b + COLUMN * k;
    a[FIRST] = a[FIRST + apart] = a[1] = 1.0f;
    b[10] = b[11] = b[12] = 1.0f;
    a[20] = 0x1p-40f;
    b[FIRST] = first * 0x1p-28f;
    b[FIRST + apart] = second * 0x1p-28f;
    return p;
}

/* Two blocks share the tile, each has half of k. */
START_TEST(shared_sums_are_added_before)
{
    static const struct {
        float first, second;
        int recomputed;
    } sums[] = {{12.0f, -7.0f, 1}, {12.0f, -6.0f, 0}, {3.0f, 3.0f, 0},  {2.5f, 3.0f, 1},
                {0.0f, 6.0f, 0},   {6.0f, 0.0f, 0},   {0.0f, -5.0f, 1}, {5.0f, 0.0f, 1}};
    const int terms = 2 - _i % 2;
    const float unit = terms == 2 ? 1.0f : 2.0f;
    for (int i = 0; i < COUNT(sums); i++) {
        float before[M * N];
        guard_product p =
            two_products(256, 128, terms, unit * sums[i].first, unit * sums[i].second);
        p.beta = _i / 2 ? 2.0f : 0.0f;
        p.clusters = 2, p.share = 2;
        for (int l = 0; l < M * N; l++)
            before[l] = p.c[l] = 0x1p-30f * (float)l;
        const unsigned long long recomputed = guard_multiply(&p, GUARD_RIGHT);
        ck_assert_msg(recomputed == (unsigned long long)sums[i].recomputed, "%d: %llu are", i,
                      recomputed);
        ck_assert_double_le(guard_error(&p, before), terms == 2 ? 0x1p-22 : 0x1p-10);
        guard_free(&p);
    }
}
END_TEST

/* The last k of 65 is added in FP32, after the guard: it neither helps nor harms. */
START_TEST(last_k_does_not_count)
{
    enum { K = 65, APART = K - 1 - FIRST };
    const int terms = _i;
    const float unit = terms == 2 ? 1.0f : 2.0f;
    const float before[M * N] = {0.0f};
    for (int i = 0; i < 4; i++) {
        const bool is_suspect = i % 2 == 1;
        guard_product p = two_products(K, APART, terms, unit * (is_suspect ? 5.0f : 6.0f),
                                       i / 2 ? 100.0f : -6.0f);
        p.a[ROW * K + 2] = 1.0f; /* in place of the one that is at the last k */
        ck_assert_uint_eq(guard_multiply(&p, GUARD_RIGHT), is_suspect);
        ck_assert_double_le(guard_error(&p, before), terms == 2 ? 0x1p-22 : 0x1p-10);
        guard_free(&p);
    }
    guard_product p = two_products(K, APART, terms, 1.0f, 0x1p-60f);
    p.a[ROW * K + 20] = 0.0f; /* the only small elements are at the last k */
    p.b[COLUMN * K + FIRST] = 1.0f;
    ck_assert_uint_eq(guard_multiply(&p, GUARD_RIGHT), 0);
    ck_assert(!xg_has_small(guard_stats_of_a(ROW)->bound) &&
              !xg_has_small(guard_stats_of_b(COLUMN)->bound));
    guard_free(&p);
}
END_TEST

/* Two passes over k, as with little workspace: a suspect of the second one adds to the first's C.
 */
START_TEST(passes_are_checked_by_themselves)
{
    enum { K = 64 };
    const int terms = _i;
    const float unit = terms == 2 ? 1.0f : 2.0f;
    for (int i = 0; i < 4; i++) {
        const float none[M * N] = {0.0f};
        guard_product passes[2], all = guard_new(M, N, 2 * K, terms);
        for (int pass = 0; pass < 2; pass++) {
            const int is_suspect = i >> pass & 1;
            guard_product *const p = &passes[pass];
            *p = two_products(K, 40, terms, unit * (is_suspect ? -5.0f : 6.0f), 0.0f);
            memcpy(p->c, all.c, sizeof none);
            p->beta = (float)pass;
            ck_assert_uint_eq(guard_multiply(p, GUARD_RIGHT), (unsigned)is_suspect);
            memcpy(all.c, p->c, sizeof none);
            memcpy(all.a + ROW * 2 * K + pass * K, p->a + ROW * K, K * sizeof(float));
            memcpy(all.b + COLUMN * 2 * K + pass * K, p->b + COLUMN * K, K * sizeof(float));
            guard_free(p);
        }
        ck_assert_double_le(guard_error(&all, none), terms == 2 ? 0x1p-22 : 0x1p-10);
        guard_free(&all);
    }
}
END_TEST

/*
 * A tensor core cuts each product toward zero at 2^-25 of the largest of 16 and the accumulator.
 * Here one product is followed by as many as the accumulator takes before it is promoted, each just
 * below a multiple of that. What the terms hold the large one's factors as is less than they are,
 * too; and so are small elements, if there are any, where C is just above their bound.
 */
static guard_product cut_products(int k, int together, bool has_small)
{
    const float worst = 1.0f + 4093 * 0x1p-23f, tiny = 0x1.ffcp0f;
    guard_product p = guard_new(M, N, k, 2);
    float *const a = p.a + ROW * k, *const b = p.b + COLUMN * k;
    a[0] = worst;
    b[0] = has_small ? (worst + 0x1p-6f) * 0x1p-25f : worst;
    for (int l = 1; l < together; l++) {
        a[l] = tiny * (has_small ? 0x1p-24f : 0x1p-12f);
        b[l] = tiny * (has_small ? 0x1p-26f : 0x1p-13f);
    }
    for (int l = 0; l < 4 && has_small; l++) {
        a[together + l] = (0x1p-20f + 0x1p-25f - 3 * 0x1p-36f) * 0x1p-14f;
        b[together + l] = worst;
    }
    return p;
}

/* The bound on cuts of guard.h, which is above 2^-20: such data breaks the contract. */
START_TEST(cut_products_keep_their_bound)
{
    static const struct {
        int k, together;
        bool has_small;
    } sums[] = {{64, 16, false}, {64, 16, true}, {576, 32, false}, {576, 32, true}};
    const float before[M * N] = {0.0f};
    guard_product p = cut_products(sums[_i].k, sums[_i].together, sums[_i].has_small);
    const unsigned long long recomputed = guard_multiply(&p, GUARD_RIGHT);
    const double error = guard_error(&p, before), strict = guard_strict_error(&p, before);
    const double most = 0x1p-21 + 0x1p-22 + (20 * sums[_i].together / 16 - 1) * 0x1p-25 + 0x1p-22;
    ck_assert_uint_eq(recomputed, 0);
    ck_assert_msg(error <= fmax(2 * strict, most), "%g * 2^-20, STRICT's %g * 2^-20",
                  error * 0x1p20, strict * 0x1p20);
    guard_free(&p);
}
END_TEST

/* ---- Scales ---- */

/* Largest magnitudes of rows of A, and of columns of B, on either side of XG_ROW_FAR's bounds. */
static const int exponents[] = {126, 112, 100, 91,  90,  89,  60,   1,
                                0,   -59, -60, -61, -62, -90, -111, -113};
enum { FAR = COUNT(exponents), FAR_K = 64 };

static uint32_t random_state;

/* In [1/2, 1), of either sign. */
static float fraction(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    const float x = 0.5f + (float)(random_state >> 9) * 0x1p-24f;
    return random_state >> 8 & 1 ? x : -x;
}

/* A finite number that FP32 holds, or Inf, or between the two either; what FP32 loses at its lower
 * end counts, too. */
static bool is_close(float found, double exact, double mass, double allowed)
{
    const double most = (double)FLT_MAX;
    if (fabs(exact) > most * (1 + allowed))
        return found == (exact > 0 ? INFINITY : -INFINITY);
    if (fabs(exact) > most * (1 - allowed) && isinf(found))
        return true;
    return fabs((double)found - exact) <= allowed * mass + 0x1p-148;
}

START_TEST(far_scales_neither_overflow_nor_underflow)
{
    const int terms = 2 - _i % 2;
    const bool checked = _i / 2; /* every row has a small element */
    const double allowed = terms == 2 ? 0x1p-20 : 0x1p-10 * (1 + 0x1p-3);
    guard_product p = guard_new(FAR, FAR, FAR_K, terms);
    random_state = (uint32_t)_i;
    for (int i = 0; i < FAR; i++)
        for (int l = 0; l < FAR_K; l++) {
            const bool is_small = checked && l == i;
            const int small = is_small ? -30 : 0;
            p.a[i * FAR_K + l] = ldexpf(fraction(), exponents[i] + small);
            p.b[i * FAR_K + l] = ldexpf(fraction(), exponents[FAR - 1 - i] + small);
        }
    guard_multiply(&p, GUARD_RIGHT);
    for (int i = 0; i < FAR; i++)
        for (int j = 0; j < FAR; j++) {
            double sum = 0.0, mass = 0.0;
            for (int l = 0; l < FAR_K; l++) {
                const double x = (double)p.a[i * FAR_K + l] * (double)p.b[j * FAR_K + l];
                sum += x, mass += fabs(x);
            }
            ck_assert_msg(is_close(p.c[i * FAR + j], sum, mass, allowed),
                          "2^%d by 2^%d: %g, not %g", exponents[i], exponents[FAR - 1 - j],
                          (double)p.c[i * FAR + j], sum);
        }
    guard_free(&p);
}
END_TEST

/* Rows of FP32's largest numbers, which FP16 must not round to Inf; with small elements or not. */
START_TEST(largest_numbers_are_finite)
{
    static const float largest[] = {FLT_MAX, -FLT_MAX, 0x1.ffep127f, 0x1.ffdffep127f, 0x1p127f};
    enum { COLUMNS = 64, DEPTH = 64 };
    const int terms = 2 - _i % 2;
    const bool swapped = _i / 2 % 2, has_small = _i / 4;
    const double allowed = terms == 2 ? 0x1p-20 : 0x1p-10;
    guard_product p = guard_new(COLUMNS, COLUMNS, DEPTH, terms);
    float before[COLUMNS * COLUMNS];
    float *const x = swapped ? p.b : p.a, *const y = swapped ? p.a : p.b;
    for (int i = 0; i < COUNT(largest); i++) {
        x[i * DEPTH + 3 * i] = largest[i];
        x[i * DEPTH + 40] = has_small ? 1.0f : 0.0f;
    }
    for (int l = 0; l < COLUMNS * DEPTH; l++)
        y[l] = 0x1.8p-100f;
    for (int beta = 0; beta < 2; beta++) {
        p.beta = (float)beta;
        for (int l = 0; l < COLUMNS * COLUMNS; l++)
            before[l] = p.c[l] = (float)l;
        guard_multiply(&p, GUARD_RIGHT);
        ck_assert_double_le(guard_error(&p, before), allowed);
    }
    guard_free(&p);
}
END_TEST

TCase *guard_sums(void)
{
    TCase *tests = tcase_create("sums");
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, shared_sums_are_added_before, 0, 4);
    tcase_add_loop_test(tests, last_k_does_not_count, 1, 3);
    tcase_add_loop_test(tests, passes_are_checked_by_themselves, 1, 3);
    tcase_add_loop_test(tests, cut_products_keep_their_bound, 0, 4);
    tcase_add_loop_test(tests, far_scales_neither_overflow_nor_underflow, 0, 4);
    tcase_add_loop_test(tests, largest_numbers_are_finite, 0, 8);
    return tests;
}
