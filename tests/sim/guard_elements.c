/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of C just on either side of the guard's bound, with small elements that the terms hold
 * worst and all of whose errors have one sign; and guards that are wrong on the same data.
 */
#include "guard.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { K = 64, FIRST = 5, SMALL_ELEMENTS = 4 };

/*
 * The largest element of a row is 1 here, 2^14 when it is scaled. For a small power of two x the
 * two terms hold WORST(x), scaled x + 2^-25 - 3 * 2^-36, as 2^-36 less than it is, which is the
 * largest error they can have; and its low term is nearly 2^-14, so that the product of two low
 * terms, which is left out, is nearly as large as it can be. One term holds WORST_TF32(x) as x.
 */
#define SCALED(x)      ((x)*0x1p-14f)
#define WORST(x)       SCALED((x) + 0x1p-25f - 3 * 0x1p-36f)
#define WORST_OF_LARGE (1.0f + 4093 * 0x1p-23f)
#define WORST_TF32(x)  SCALED((x) + 0x1.ffep-26f)

/* A row of one operand, and one of the other. */
typedef struct {
    float x[K], y[K];
} pair_of_rows;

/* C is a sum of small elements times large ones, all positive: it is below the bound. */
static pair_of_rows sum_of_small(float small, float large)
{
    pair_of_rows rows = {{0.0f}, {0.0f}};
    rows.x[FIRST] = 1.0f; /* where the other one is 0 */
    for (int i = 0; i < SMALL_ELEMENTS; i++) {
        rows.x[FIRST + 7 * (i + 1)] = small;
        rows.y[FIRST + 7 * (i + 1)] = large;
    }
    return rows;
}

/* The same, and one product of two other elements, by which C is so many times the bound. */
static pair_of_rows sum_at_bound(float small, float large, int terms, float times)
{
    pair_of_rows rows = sum_of_small(small, large);
    const float bound = XG_GUARD_FACTOR(terms) * SMALL_ELEMENTS * large;
    rows.y[FIRST] = SCALED(times * bound) - SMALL_ELEMENTS * small * large;
    return rows;
}

/*
 * C is one product, c when scaled, and the terms hold its factors exactly. Small elements, if there
 * are any, are multiplied by 0. Three elements of 1 in each row make the rows' sums 3 * 2^14 when
 * scaled: the bound is 6 where one row has small elements and 12 where both have, with two terms;
 * with one term it is twice that.
 */
static pair_of_rows one_product(float c, float small_x, float small_y)
{
    pair_of_rows rows = {{0.0f}, {0.0f}};
    rows.x[FIRST] = rows.x[1] = rows.x[2] = 1.0f;
    rows.y[10] = rows.y[11] = rows.y[12] = 1.0f;
    rows.x[20] = small_x;
    rows.y[21] = small_y;
    rows.y[FIRST] = SCALED(SCALED(c));
    return rows;
}

typedef struct {
    const char *name;
    pair_of_rows rows;
    int terms;
    int recomputed;   /* 1: the element is; 0: it is kept */
    bool needs_guard; /* without the guard the contract would be broken */
} element;

enum { MOST_ELEMENTS = 64 };
static element all[MOST_ELEMENTS];
static int elements;

static void add(const char *name, pair_of_rows rows, int terms, int recomputed, bool needs_guard)
{
    ck_assert_int_lt(elements, MOST_ELEMENTS);
    all[elements++] = (element){name, rows, terms, recomputed, needs_guard};
}

/* Just below the bound by what the terms still hold. */
static void add_single_products(int terms)
{
    const float unit = terms == 2 ? 1.0f : 2.0f, less = terms == 2 ? 0x1p-19f : 0x1p-6f;
    const float small = SCALED(terms == 2 ? 0x1.fffffep-14f : 0x1.fffffep-15f);
    const float none = SCALED(terms == 2 ? 0x1p-13f : 0x1p-14f);
    add("at the bound", one_product(6 * unit, small, 0.0f), terms, 0, false);
    add("at the bound, negative", one_product(-6 * unit, small, 0.0f), terms, 0, false);
    add("below the bound", one_product(6 * unit - less, small, 0.0f), terms, 1, false);
    add("below it, negative", one_product(-6 * unit + less, -small, 0.0f), terms, 1, false);
    add("at both bounds", one_product(12 * unit, small, -small), terms, 0, false);
    add("below both bounds", one_product(12 * unit - less, small, small), terms, 1, false);
    add("above either bound", one_product(9 * unit, small, small), terms, 1, false);
    add("without small elements", one_product(2 * unit, none, -none), terms, 0, false);
    add("zero", one_product(0.0f, small, 0.0f), terms, 1, false);
    add("zero without small elements", one_product(0.0f, none, none), terms, 0, false);
    add("subnormal element", one_product(6 * unit - less, 0x1p-149f, 0.0f), terms, 1, false);
    add("subnormal element, at the bound", one_product(6 * unit, 0x1p-149f, 0.0f), terms, 0, false);
}

static void make_elements(void)
{
    elements = 0;
    add("2^-16", sum_of_small(WORST(0x1p-16f), WORST_OF_LARGE), 2, 1, true);
    add("2^-15", sum_of_small(WORST(0x1p-15f), WORST_OF_LARGE), 2, 1, true);
    add("2^-14", sum_of_small(WORST(0x1p-14f), WORST_OF_LARGE), 2, 1, false);
    add("2^-20", sum_of_small(WORST(0x1p-20f), WORST_OF_LARGE), 2, 1, true);
    add("2^-13", sum_of_small(SCALED(0x1p-13f), WORST_OF_LARGE), 2, 0, false);
    pair_of_rows both = sum_of_small(WORST(0x1p-16f), WORST(0x1p-16f));
    both.y[0] = 1.0f;
    add("2^-16 by 2^-16", both, 2, 1, true);
    add("nearly attained", sum_at_bound(WORST(0x1p-20f), WORST_OF_LARGE, 2, 1.02f), 2, 0, false);
    add("just missed", sum_at_bound(WORST(0x1p-20f), WORST_OF_LARGE, 2, 0.98f), 2, 1, false);
    add_single_products(2);
    add("TF32: 2^-18", sum_of_small(WORST_TF32(0x1p-18f), 1.0f), 1, 1, true);
    add("TF32: 2^-16", sum_of_small(WORST_TF32(0x1p-16f), 1.0f), 1, 1, true);
    add("TF32: 2^-14", sum_of_small(SCALED(0x1p-14f), 1.0f), 1, 0, false);
    add("TF32: nearly attained", sum_at_bound(WORST_TF32(0x1p-20f), 1.0f, 1, 1.02f), 1, 0, false);
    add("TF32: just missed", sum_at_bound(WORST_TF32(0x1p-20f), 1.0f, 1, 0.98f), 1, 1, false);
    add_single_products(1);
}

/* Element (3, 2) of C, all others being 0 without small elements: those are kept. */
enum { M = 5, N = 4, ROW = 3, COLUMN = 2 };

static guard_product product_of(const element *e, bool swapped, float beta)
{
    guard_product p = guard_new(M, N, K, e->terms);
    p.mn_major = beta != 0.0f; /* to see both */
    memcpy(p.a + ROW * K, swapped ? e->rows.y : e->rows.x, sizeof e->rows.x);
    memcpy(p.b + COLUMN * K, swapped ? e->rows.x : e->rows.y, sizeof e->rows.x);
    p.beta = beta;
    for (int i = 0; i < M * N; i++)
        p.c[i] = beta == 0.0f ? NAN : 0x1p-30f * (float)(i - 3);
    return p;
}

/*
 * The larger of twice STRICT's error and 2^-20. With one term: what rounding both operands to 11
 * bits may cost, and an eighth of it for small elements.
 */
static double limit_of(const guard_product *p, const float *before)
{
    return p->terms == 2 ? fmax(2 * guard_strict_error(p, before), 0x1p-20)
                         : 0x1p-10 * (1 + 0x1p-3);
}

/*
 * Of MN-major operands the split rounds up the sums of more parts of a row, so that the bound may
 * be above C where it would be at C.
 */
static bool is_below_rounded_bound(const guard_product *p)
{
    const xg_row_stats *const a = guard_stats_of_a(ROW), *const b = guard_stats_of_b(COLUMN);
    double sum = 0.0;
    for (int l = 0; l < K; l++)
        sum += 0x1p28 * (double)p->a[ROW * K + l] * (double)p->b[COLUMN * K + l];
    return fabs(sum) < (double)xg_guard_threshold(a->bound, b->bound);
}

/* Whether a guard keeps the contract, and whether it recomputes what it should. */
typedef struct {
    bool keeps_contract, counts_right;
    double error;
} outcome;

static outcome outcome_of(const element *e, bool swapped, float beta, guard_mistake mistake)
{
    float before[M * N];
    guard_product p = product_of(e, swapped, beta);
    memcpy(before, p.c, sizeof before);
    const unsigned long long recomputed = guard_multiply(&p, mistake);
    outcome found;
    found.error = guard_error(&p, before);
    found.keeps_contract = found.error <= limit_of(&p, before);
    const bool rounds_up = p.mn_major && e->recomputed == 0 && is_below_rounded_bound(&p);
    found.counts_right = recomputed == (unsigned long long)(rounds_up ? 1 : e->recomputed);
    guard_free(&p);
    return found;
}

static const float betas[] = {0.0f, -0.5f};

START_TEST(right_guard_is_right)
{
    for (int i = 0; i < elements; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            const outcome found = outcome_of(&all[i], swapped, betas[_i], GUARD_RIGHT);
            ck_assert_msg(found.counts_right, "%s%s is %srecomputed", all[i].name,
                          swapped ? " (B)" : "", all[i].recomputed ? "not " : "");
            ck_assert_msg(found.keeps_contract, "%s%s: error of %g * 2^-20", all[i].name,
                          swapped ? " (B)" : "", found.error * 0x1p20);
        }
}
END_TEST

/* The data above has to find every wrong guard: some by wrong results, all by what is recomputed.
 */
static const struct {
    const char *name;
    guard_mistake mistake;
    bool breaks_contract;
} wrong[] = {
    {"bound 2^4 too small", GUARD_FACTOR, true},
    {"threshold of small elements too high", GUARD_HIGH_THRESHOLD, false},
    {"threshold of small elements too low", GUARD_LOW_THRESHOLD, false}, /* by half of 2^-20 */
    {"threshold of small elements far too low", GUARD_LOWER_THRESHOLD, true},
    {"> for >=", GUARD_COMPARISON, false},
    {"small elements of A ignored", GUARD_WITHOUT_A, true},
    {"small elements of B ignored", GUARD_WITHOUT_B, true},
};

START_TEST(wrong_guard_is_found)
{
    const guard_mistake mistake = wrong[_i].mistake;
    const bool of_one_operand = mistake == GUARD_WITHOUT_A || mistake == GUARD_WITHOUT_B;
    const int least = mistake == GUARD_COMPARISON ? 2 : 1; /* which is the same with one term */
    for (int terms = least; terms <= 2; terms++) {
        int wrong_counts = 0, broken = 0;
        for (int i = 0; i < elements; i++)
            for (int swapped = 0; swapped <= of_one_operand && all[i].terms == terms; swapped++) {
                const outcome found = outcome_of(&all[i], swapped, 0.0f, mistake);
                wrong_counts += !found.counts_right;
                broken += !found.keeps_contract;
            }
        ck_assert_msg(wrong_counts > 0, "%s, %d terms: recomputes what it should", wrong[_i].name,
                      terms);
        ck_assert_msg((broken > 0) == wrong[_i].breaks_contract, "%s, %d terms: %d are too wrong",
                      wrong[_i].name, terms, broken);
    }
}
END_TEST

/* Which elements break the contract where no small element counts. */
START_TEST(guard_is_needed)
{
    for (int i = 0; i < elements; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            const outcome found = outcome_of(&all[i], swapped, 0.0f, GUARD_OFF);
            ck_assert_msg(found.keeps_contract != all[i].needs_guard,
                          "%s%s: error of %g * 2^-20 without the guard", all[i].name,
                          swapped ? " (B)" : "", found.error * 0x1p20);
        }
}
END_TEST

/*
 * The proof in guard.h, in float64: what the terms give is off by no more than 2^-21 (with one
 * term 2^-10) of |A||B|, and by E where elements are small. The excess over E is that of products
 * of two small elements, whose low terms' product is left out: at most 2^-50 each.
 */
typedef struct {
    double off, relative, small; /* the error, and the two bounds, all scaled */
} proof;

static proof proof_of(const guard_product *p)
{
    const float *const x = p->a + ROW * K, *const y = p->b + COLUMN * K;
    double sums[2] = {0.0, 0.0}, mass = 0.0, exact = 0.0, held = 0.0;
    for (int l = 0; l < K; l++) {
        const guard_terms a = guard_terms_of_a(ROW, l), b = guard_terms_of_b(COLUMN, l);
        const double cross = (double)a.high * (double)b.low + (double)a.low * (double)b.high;
        held += (double)a.high * (double)b.high + 0x1p-11 * cross;
        exact += 0x1p28 * (double)x[l] * (double)y[l];
        mass += 0x1p28 * fabs((double)x[l] * (double)y[l]);
        sums[0] += 0x1p14 * fabs((double)x[l]);
        sums[1] += 0x1p14 * fabs((double)y[l]);
    }
    const double each = p->terms == 2 ? 0x1p-35 : 0x1p-25;
    const double small = (xg_has_small(guard_stats_of_a(ROW)->bound) ? sums[1] : 0.0) +
                         (xg_has_small(guard_stats_of_b(COLUMN)->bound) ? sums[0] : 0.0);
    return (proof){fabs(held - exact), (p->terms == 2 ? 0x1p-21 : 0x1p-10) * mass,
                   each * small * (1 + 0x1p-14)};
}

START_TEST(terms_are_as_good_as_proved)
{
    for (int i = 0; i < elements; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            guard_product p = product_of(&all[i], swapped, 0.0f);
            guard_multiply(&p, GUARD_RIGHT);
            const proof found = proof_of(&p);
            const double limit = p.terms == 2 ? 0x1p-20 : 0x1p-10 * (1 + 0x1p-3);
            const double mass = found.relative / (p.terms == 2 ? 0x1p-21 : 0x1p-10);
            ck_assert_msg(found.off <= found.relative + found.small, "%s", all[i].name);
            ck_assert_msg((found.off > limit * mass) == all[i].needs_guard, "%s", all[i].name);
            if (i == 0) /* the bound for small elements is nearly attained */
                ck_assert_double_ge(found.off, 0.99 * found.small);
            guard_free(&p);
        }
}
END_TEST

TCase *guard_elements(void)
{
    TCase *tests = tcase_create("elements");
    tcase_set_timeout(tests, 1800);
    tcase_add_unchecked_fixture(tests, make_elements, NULL);
    tcase_add_loop_test(tests, right_guard_is_right, 0, COUNT(betas));
    tcase_add_loop_test(tests, wrong_guard_is_found, 0, COUNT(wrong));
    tcase_add_test(tests, guard_is_needed);
    tcase_add_test(tests, terms_are_as_good_as_proved);
    return tests;
}
