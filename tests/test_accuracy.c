/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that are to be as accurate as FP32 without computing in it: over kinds of
 * matrices that are easy and hard for them, each element's error in terms of |A||B| is at
 * most twice that of XGEMM_MATH_STRICT on the same data, or 2^-22; and the Frobenius
 * error at most STRICT's, or 2^-23, which is what rounding the inputs to FP32 costs.
 * Of large products some rows are looked at.
 *
 * A kernel by its name is held to a plain kernel of FP32; where STRICT splits k, it is
 * auto's part to choose another one.
 */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 1200 };

/* ---- Kinds of matrices: element (i, l) of A, (l, j) of B, of a product of depth k ---- */

typedef struct {
    generator *from;
    int64_t line, l, k; /* the row of A or column of B; how far along it */
    bool is_a;
} place;

static double uniform(generator *from)
{
    return (double)random_bits(from) * 0x1p-32;
}

static double normal(generator *from)
{
    const double u = uniform(from) + 0x1p-33, v = uniform(from);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static double sign(generator *from)
{
    return random_below(from, 2) ? 1.0 : -1.0;
}

static float around_zero(const place *at)
{
    return random_real(at->from);
}

static float above_zero(const place *at)
{
    return (float)uniform(at->from);
}

static float gaussian(const place *at)
{
    return (float)normal(at->from);
}

static float log_normal(const place *at)
{
    return (float)(sign(at->from) * exp(4.0 * normal(at->from)));
}

static float wide(const place *at)
{
    return (float)ldexp((double)random_real(at->from), random_below(at->from, 61) - 30);
}

/* All exponents of FP32, such that A's are as large as B's are small. */
static float widest(const place *at)
{
    const int exponent = random_below(at->from, 120);
    return (float)ldexp((double)random_real(at->from), at->is_a ? exponent : -exponent);
}

/* One huge entry in each row of A, where B has a row of zeros. */
static float huge_facing_zero(const place *at)
{
    const float value = random_real(at->from);
    if (at->l % 8 != 3)
        return value;
    return !at->is_a ? 0.0f : at->l == at->line % (at->k / 8 + 1) * 8 + 3 ? 0x1p60f : value;
}

static float with_subnormal_lines(const place *at)
{
    const float value = random_real(at->from);
    return at->line % 3 == 1 ? value * 0x1p-130f : value;
}

static float with_zero_lines(const place *at)
{
    const float value = random_real(at->from);
    return at->line % 5 == 1 ? 0.0f : value;
}

/* What a rectifier leaves: half are zero. */
static float rectified(const place *at)
{
    const float value = gaussian(at);
    return value > 0.0f ? value : 0.0f;
}

/* A repeats itself with the other sign, where B repeats itself. */
static float cancelling(const place *at)
{
    const int64_t half = at->k / 2;
    generator again = {(uint64_t)(at->line * 7919 + at->l % (half ? half : 1)) * 2 + at->is_a};
    const float value = random_real(&again);
    return at->k < 2 || at->l >= 2 * half ? 0.0f : at->is_a && at->l >= half ? -value : value;
}

/* Entries whose low parts are as large as they can be, all of one sign. */
static float constant_low_parts(const place *at)
{
    (void)at;
    return 1.0f + 0x1p-11f - 0x1p-21f;
}

typedef struct {
    const char *name;
    float (*draw)(const place *);
} kind;

static const kind kinds[] = {
    {"uniform (-1, 1)", around_zero},
    {"uniform (0, 1)", above_zero},
    {"normal", gaussian},
    {"log-normal, sigma 4", log_normal},
    {"exponents over 2^+-30", wide},
    {"exponents over the whole range", widest},
    {"a huge entry facing zeros", huge_facing_zero},
    {"lines of subnormals", with_subnormal_lines},
    {"lines of zeros", with_zero_lines},
    {"half zeros", rectified},
    {"cancelling sums", cancelling},
    {"constant", constant_low_parts},
};

/* ---- A product, its reference and its errors ---- */

typedef struct {
    int64_t m, n, k;
    float alpha, beta;
    bool turned; /* A and B transposed in memory */
    float *a, *b, *c;
    int64_t rows;        /* looked at: row i is row i * m / rows of C */
    double *want, *mass; /* theirs, and |alpha||A||B| + |beta||C| */
} problem;

typedef struct {
    double largest, frobenius;
} errors;

static void *room(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static float *a_at(const problem *p, int64_t i, int64_t l)
{
    return &p->a[p->turned ? l * p->m + i : i * p->k + l];
}

static float *b_at(const problem *p, int64_t l, int64_t j)
{
    return &p->b[p->turned ? j * p->k + l : l * p->n + j];
}

static int64_t row_of(const problem *p, int64_t i)
{
    return i * p->m / p->rows;
}

static void make_reference(problem *p)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const int64_t row = row_of(p, i);
            double sum = 0.0, mass = 0.0;
            for (int64_t l = 0; l < p->k; l++) {
                const double term = (double)*a_at(p, row, l) * (double)*b_at(p, l, j);
                sum += term;
                mass += fabs(term);
            }
            const double c = p->beta == 0.0f ? 0.0 : (double)p->beta * (double)p->c[row * p->n + j];
            p->want[i * p->n + j] = (double)p->alpha * sum + c;
            p->mass[i * p->n + j] = fabs((double)p->alpha) * mass + fabs(c);
        }
}

static problem problem_new(int64_t m, int64_t n, int64_t k, float (*draw)(const place *),
                           uint64_t seed)
{
    generator from = {seed};
    enum { ROWS_MOST = 200, SOME_ROWS = 24 };
    problem p = {.m = m, .n = n, .k = k, .turned = seed % 2 != 0};
    p.rows = m > ROWS_MOST ? SOME_ROWS : m;
    p.alpha = seed % 3 == 0 ? 1.0f : -0.7f;
    p.beta = seed % 5 < 2 ? 0.0f : 0.3f;
    p.a = room(m * k, sizeof *p.a);
    p.b = room(k * n, sizeof *p.b);
    p.c = room(m * n, sizeof *p.c);
    p.want = room(p.rows * n, sizeof *p.want);
    p.mass = room(p.rows * n, sizeof *p.mass);
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++)
            *a_at(&p, i, l) = draw(&(place){&from, i, l, k, true});
    for (int64_t j = 0; j < n; j++)
        for (int64_t l = 0; l < k; l++)
            *b_at(&p, l, j) = draw(&(place){&from, j, l, k, false});
    for (int64_t i = 0; i < m * n; i++)
        p.c[i] = p.beta == 0.0f ? NAN : random_real(&from);
    make_reference(&p);
    return p;
}

static void problem_free(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->want);
    free(p->mass);
}

static float *upload(xgemm_handle *handle, const float *from, int64_t count)
{
    void *memory;
    const size_t bytes = (size_t)count * sizeof *from;
    ck_assert_int_eq(xgemm_malloc(handle, bytes, &memory), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, memory, from, bytes), XGEMM_OK);
    return memory;
}

/* C as the handle computes it; the caller frees it. */
static float *multiply(xgemm_handle *handle, const problem *p)
{
    float *const result = room(p->m * p->n, sizeof *result);
    float *a = upload(handle, p->a, p->m * p->k), *b = upload(handle, p->b, p->k * p->n);
    float *c = upload(handle, p->c, p->m * p->n);
    const xgemm_transpose trans = p->turned ? XGEMM_TRANS : XGEMM_NO_TRANS;
    const xgemm_status status =
        xgemm_sgemm(handle, XGEMM_ROW_MAJOR, trans, trans, p->m, p->n, p->k, p->alpha, a,
                    p->turned ? p->m : p->k, b, p->turned ? p->k : p->n, p->beta, c, p->n);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_download(handle, result, c, (size_t)(p->m * p->n) * sizeof *result),
                     XGEMM_OK);
    xgemm_free(handle, a);
    xgemm_free(handle, b);
    xgemm_free(handle, c);
    return result;
}

/* Elements whose products could overflow are left out; half a subnormal a rounding is allowed. */
static errors errors_of(const problem *p, const float *c)
{
    errors e = {0.0, 0.0};
    double sum = 0.0, all = 0.0;
    const double tiny = ((double)p->k + 2.0) * 0x1p-150;
    for (int64_t i = 0; i < p->rows * p->n; i++) {
        const float got = c[row_of(p, i / p->n) * p->n + i % p->n];
        if (p->mass[i] > FLT_MAX / 4.0)
            continue;
        const double off = fabs((double)got - p->want[i]) - tiny;
        const double error = off > 0.0 ? off / p->mass[i] : off <= 0.0 ? 0.0 : INFINITY;
        e.largest = error > e.largest ? error : e.largest;
        sum += off > 0.0 ? off * off : 0.0;
        all += p->want[i] * p->want[i];
    }
    e.frobenius = all > 0.0 ? sqrt(sum / all) : 0.0;
    return e;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Kernels ---- */

static xgemm_handle *open_with(const char *kernel, xgemm_math math)
{
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_math(handle, math), XGEMM_OK);
    ck_assert_msg(xgemm_set_kernel(handle, kernel) == XGEMM_OK, "%s", xgemm_last_error(handle));
    return handle;
}

/* Those for XGEMM_MATH_DEFAULT that are not for STRICT; all, or those on parts in a workspace. */
static int inexact_kernels(const char *names[], int most, bool all)
{
    int count = 0;
    for (int i = 0; i < test_kernels() - 1 && count < most; i++)
        if (test_kernel_info(i).math == XGEMM_MATH_DEFAULT &&
            (all || strncmp(test_kernel(i), "fp16", 4) == 0))
            names[count++] = test_kernel(i);
    return count;
}

static void compare(const char *kernel, const char *plain_kernel, const kind *of, int64_t m,
                    int64_t n, int64_t k, uint64_t seed)
{
    /* A GPU's context goes with its last handle, and takes long to make. */
    static xgemm_handle *keeper;
    problem p = problem_new(m, n, k, of->draw, seed);
    if (!keeper)
        keeper = open_handle(test_device());
    xgemm_handle *plain = open_with(plain_kernel, XGEMM_MATH_STRICT);
    xgemm_handle *handle = open_with(kernel, XGEMM_MATH_DEFAULT);
    float *strict = multiply(plain, &p), *got = multiply(handle, &p), *again = multiply(handle, &p);
    const errors limit = errors_of(&p, strict), is = errors_of(&p, got);
    ck_assert_msg(is.largest <= 2.0 * larger(limit.largest, 0x1p-23),
                  "%s, %s, %d x %d x %d: an element is off by %.3g |A||B|; STRICT: %.3g", kernel,
                  of->name, (int)m, (int)n, (int)k, is.largest, limit.largest);
    /* Where sums cancel, nothing is left to compare with. */
    ck_assert_msg(of->draw == cancelling || is.frobenius <= larger(limit.frobenius, 0x1p-23),
                  "%s, %s, %d x %d x %d: Frobenius error %.3g; STRICT: %.3g", kernel, of->name,
                  (int)m, (int)n, (int)k, is.frobenius, limit.frobenius);
    ck_assert_msg(memcmp(got, again, (size_t)(m * n) * sizeof *got) == 0, "%s, %s: two runs differ",
                  kernel, of->name);
    free(strict);
    free(got);
    free(again);
    xgemm_destroy(plain);
    xgemm_destroy(handle);
    problem_free(&p);
}

START_TEST(named_kernels)
{
    static const int64_t depths[] = {64, 300, 130, 700, 200, 1, 17};
    const char *names[8];
    const int count = inexact_kernels(names, COUNT(names), true);
    const int some = test_effort() >= 100 ? COUNT(depths) : 1;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < some; d++)
            compare(names[i], "vectorized", &kinds[_i], 133 + 10 * d, 150 - 7 * d,
                    depths[(d + _i) % COUNT(depths)], (uint64_t)(_i * 31 + d));
}
END_TEST

START_TEST(small_products)
{
    static const int64_t depths[] = {1, 2, 17, 63, 64, 65, 300};
    for (int d = 0; d < COUNT(depths); d++)
        compare("auto", "auto", &kinds[_i], 70 + d, 67, depths[d], (uint64_t)(_i * 17 + d));
}
END_TEST

/* On a GPU; the simulator would take too long. */
START_TEST(large_products)
{
    static const int64_t sizes[][3] = {{1024, 1024, 64},   {1024, 2048, 128},  {1030, 1029, 200},
                                       {1024, 1024, 300},  {2000, 1500, 700},  {1024, 1024, 2000},
                                       {768, 768, 700},    {1000, 1000, 513},  {1025, 1025, 1025},
                                       {640, 640, 3000},   {1500, 1600, 3000}, {2048, 2048, 5000},
                                       {1024, 999, 30000}, {20, 33, 1 << 20}};
    for (int i = 0; i < COUNT(sizes) && test_device() >= 0; i++)
        compare("auto", "auto", &kinds[_i], sizes[i][0], sizes[i][1], sizes[i][2],
                (uint64_t)(_i * 7 + i));
}
END_TEST

/*
 * Inf and NaN stand where FP32 has them, with the signs that it gives; also at the last k of 65,
 * which the FP16 parts do not hold.
 */
START_TEST(special_values)
{
    /* The last as a GPU makes it: all bits. */
    const float planted[] = {INFINITY, -INFINITY, NAN, nanf("0x3fffff")};
    const char *names[8];
    const int count = inexact_kernels(names, COUNT(names), true);
    for (int i = 0; i < 2 * count; i++) {
        const int name = i / 2, last = i % 2;
        problem p = problem_new(140, 141, last ? 65 : 70, around_zero, 6);
        for (int s = 0; s < COUNT(planted); s++) {
            *a_at(&p, 10 + 40 * s, last ? 64 : 5 * s) = planted[s];
            *b_at(&p, last ? 64 : 7 + 20 * s, 131 - last * s) = planted[s];
        }
        make_reference(&p);
        xgemm_handle *handle = open_with(names[name], XGEMM_MATH_DEFAULT);
        float *got = multiply(handle, &p);
        for (int64_t e = 0; e < p.m * p.n; e++) {
            const double want = p.want[e];
            const bool same = isnan(want)   ? isnan(got[e])
                              : isinf(want) ? (double)got[e] == want
                                            : fabs((double)got[e] - want) <= 1e-5;
            ck_assert_msg(same, "%s: element (%d, %d) is %g, not %g", names[name], (int)(e / p.n),
                          (int)(e % p.n), (double)got[e], want);
        }
        free(got);
        xgemm_destroy(handle);
        problem_free(&p);
    }
}
END_TEST

static float small_integer(const place *at)
{
    return (float)(random_below(at->from, 201) - 100);
}

/* Integers whose sums stay below 2^24 come out exactly. */
START_TEST(small_integers)
{
    const char *names[8];
    const int count = inexact_kernels(names, COUNT(names), true);
    for (int i = 0; i < count; i++) {
        problem p = problem_new(130, 129, 500, small_integer, 0);
        xgemm_handle *handle = open_with(names[i], XGEMM_MATH_DEFAULT);
        float *got = multiply(handle, &p);
        for (int64_t e = 0; e < p.m * p.n; e++)
            ck_assert_msg((double)got[e] == p.want[e], "%s: %g, not %g", names[i], (double)got[e],
                          p.want[e]);
        free(got);
        xgemm_destroy(handle);
        problem_free(&p);
    }
}
END_TEST

/* With less workspace than they want they compute in panels, and the same holds. */
START_TEST(panels)
{
    const size_t bytes = (size_t)3 << 20;
    const char *names[8];
    const int count = inexact_kernels(names, COUNT(names), false);
    for (int i = 0; i < count; i++) {
        problem p = problem_new(300, 530, 900, around_zero, 4);
        xgemm_handle *handle = open_with(names[i], XGEMM_MATH_DEFAULT);
        void *workspace;
        ck_assert_int_eq(xgemm_malloc(handle, bytes, &workspace), XGEMM_OK);
        ck_assert_int_eq(xgemm_set_workspace(handle, workspace, bytes), XGEMM_OK);
        float *got = multiply(handle, &p);
        const errors is = errors_of(&p, got);
        ck_assert_msg(is.largest <= 0x1p-21, "%s: an element is off by %.3g |A||B|", names[i],
                      is.largest);
        free(got);
        xgemm_free(handle, workspace);
        xgemm_destroy(handle);
        problem_free(&p);
    }
}
END_TEST

static Suite *accuracies(void)
{
    Suite *suite = suite_create("accuracy");
    /* A case for each kind, so that several can run at once (CK_RUN_CASE). */
    for (int i = 0; i < COUNT(kinds); i++) {
        TCase *cases = new_case(suite, kinds[i].name, TIMEOUT_S);
        tcase_add_loop_test(cases, named_kernels, i, i + 1);
        tcase_add_loop_test(cases, small_products, i, i + 1);
        tcase_add_loop_test(cases, large_products, i, i + 1);
    }
    TCase *cases = new_case(suite, "others", TIMEOUT_S);
    tcase_add_test(cases, special_values);
    tcase_add_test(cases, small_integers);
    tcase_add_test(cases, panels);
    return suite;
}

/* With "--cases" it prints their names. */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--cases") == 0) {
        for (int i = 0; i < COUNT(kinds); i++)
            puts(kinds[i].name);
        return puts("others") < 0;
    }
    return run_suite(accuracies());
}
