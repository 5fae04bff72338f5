/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that are to be as accurate as FP32 without computing in it: over kinds of data
 * (bin/data.h), as A times normal data and as A and B both, the largest componentwise error, in
 * terms of |alpha||A||B| + |beta||C|, is at most twice that of XGEMM_MATH_STRICT on the same data,
 * or 2^-20; and the Frobenius error at most STRICT's, or 2^-22. Inf and NaN are where IEEE
 * arithmetic has them. Of large products some rows are compared.
 *
 * A kernel by its name is compared with a plain kernel of FP32; where STRICT splits k, it is
 * auto's part to choose another one.
 */
#include "accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MOST = 16 };

static const double COMPONENTWISE = 0x1p-20, FROBENIUS = 0x1p-22;

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

/* Those for XGEMM_MATH_DEFAULT that are not for STRICT; all, or those that split operands into FP16
 * in a workspace. */
static int inexact_kernels(const char *names[], int most, bool all)
{
    int count = 0;
    for (int i = 0; i < test_kernels() - 1 && count < most; i++)
        if (test_kernel_info(i).math == XGEMM_MATH_DEFAULT &&
            (all || strncmp(test_kernel(i), "fp16", 4) == 0))
            names[count++] = test_kernel(i);
    return count;
}

static void compare(const char *kernel, const char *plain_kernel, kind_pair kinds, int64_t m,
                    int64_t n, int64_t k, uint64_t seed)
{
    /* A GPU's context goes with its last handle, and takes long to make. */
    static xgemm_handle *keeper;
    char what[256];
    problem p = problem_new(m, n, k, kinds, seed);
    if (!keeper)
        keeper = open_handle(test_device());
    snprintf(what, sizeof what, "%s, A %s, B %s, %d x %d x %d", kernel, kinds.a->name,
             kinds.b->name, (int)m, (int)n, (int)k);
    xgemm_handle *plain = open_with(plain_kernel, XGEMM_MATH_STRICT);
    xgemm_handle *handle = open_with(kernel, XGEMM_MATH_DEFAULT);
    float *strict = problem_multiply(plain, &p), *got = problem_multiply(handle, &p);
    float *again = problem_multiply(handle, &p);
    const errors limit = errors_of(&p, strict), is = errors_of(&p, got);
    ck_assert_msg(is.special == 0, "%s: Inf or NaN is wrong %d times; STRICT: %d", what,
                  (int)is.special, (int)limit.special);
    ck_assert_msg(is.largest <= larger(2.0 * limit.largest, COMPONENTWISE),
                  "%s: an element is off by %.3g |A||B|; STRICT: %.3g", what, is.largest,
                  limit.largest);
    /* Where sums cancel, nothing is left to compare with. */
    ck_assert_msg((kinds.a->traits & kinds.b->traits & DATA_CANCELS) ||
                      is.frobenius <= larger(limit.frobenius, FROBENIUS),
                  "%s: Frobenius error %.3g; STRICT: %.3g", what, is.frobenius, limit.frobenius);
    ck_assert_msg(memcmp(got, again, (size_t)(m * n) * sizeof *got) == 0, "%s: two runs differ",
                  what);
    free(strict);
    free(got);
    free(again);
    xgemm_destroy(plain);
    xgemm_destroy(handle);
    problem_free(&p);
}

/* A N and A X^T in turn. */
static kind_pair pair_of(int kind, int turn)
{
    return turn % 2 ? with_itself(data_at(kind)) : with_normal(data_at(kind));
}

/*
 * On a GPU everything; the simulator, which is slow, takes two depths of each kind, one with
 * each pair, and with less effort than all one depth and a third of the kernels.
 */
START_TEST(named_kernels)
{
    static const int64_t depths[] = {64, 300, 130, 700, 200, 1, 17};
    const char *names[KERNELS_MOST];
    const int count = inexact_kernels(names, COUNT(names), true);
    const bool gpu = test_device() >= 0, all = test_effort() >= 100;
    const int turns = gpu ? 2 * COUNT(depths) : all ? 2 : 1;
    for (int i = 0; i < count; i++)
        for (int turn = 0; turn < turns && (gpu || all || i % 3 == _i % 3); turn++) {
            const int d = turn / (gpu ? 2 : 1);
            compare(names[i], "vectorized", pair_of(_i, turn + _i * !all), 133 + 10 * d,
                    150 - 7 * d, depths[(d + _i) % COUNT(depths)], (uint64_t)(_i * 31 + turn));
        }
}
END_TEST

START_TEST(small_products)
{
    static const int64_t depths[] = {1, 2, 17, 63, 64, 65, 300};
    const bool gpu = test_device() >= 0;
    for (int turn = 0; turn < 2 * COUNT(depths); turn++) {
        const int d = turn / 2;
        if (gpu || (turn + _i) % 5 == 0)
            compare("auto", "auto", pair_of(_i, turn), 70 + d, 67, depths[d],
                    (uint64_t)(_i * 17 + turn));
    }
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
        compare("auto", "auto", pair_of(_i, i + _i / 2), sizes[i][0], sizes[i][1], sizes[i][2],
                (uint64_t)(_i * 7 + i));
    for (int turn = 0; turn < 2 && test_device() >= 0; turn++)
        compare("auto", "auto", pair_of(_i, turn), 4096, 4096, 4096, (uint64_t)(_i * 7 + turn));
}
END_TEST

/*
 * Inf and NaN stand where FP32 has them, with the signs that it gives; also at the last k of 65,
 * which the split operands do not have.
 */
START_TEST(special_values)
{
    /* The last as a GPU makes it: all bits. */
    const float planted[] = {INFINITY, -INFINITY, NAN, nanf("0x3fffff")};
    const char *names[KERNELS_MOST];
    const int count = inexact_kernels(names, COUNT(names), true);
    const kind_pair uniform = with_itself(kind_named("uniform"));
    for (int i = 0; i < 2 * count; i++) {
        const int name = i / 2, last = i % 2;
        problem p = problem_new(140, 141, last ? 65 : 70, uniform, 6);
        for (int s = 0; s < COUNT(planted); s++) {
            *a_at(&p, 10 + 40 * s, last ? 64 : 5 * s) = planted[s];
            *b_at(&p, last ? 64 : 7 + 20 * s, 131 - last * s) = planted[s];
        }
        make_reference(&p);
        xgemm_handle *handle = open_with(names[name], XGEMM_MATH_DEFAULT);
        float *got = problem_multiply(handle, &p);
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

/* Integers whose sums stay below 2^24 come out exactly. */
START_TEST(small_integers)
{
    const char *names[KERNELS_MOST];
    const int count = inexact_kernels(names, COUNT(names), true);
    for (int i = 0; i < count; i++) {
        problem p = problem_new(130, 129, 500, with_itself(kind_named("integers")), 0);
        xgemm_handle *handle = open_with(names[i], XGEMM_MATH_DEFAULT);
        float *got = problem_multiply(handle, &p);
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
    const size_t bytes = (size_t)13
                         << 18; /* less than operands in terms, more than split-K takes */
    const char *names[KERNELS_MOST];
    const int count = inexact_kernels(names, COUNT(names), false);
    for (int i = 0; i < count; i++) {
        problem p = problem_new(300, 530, 900, with_itself(kind_named("uniform")), 4);
        xgemm_handle *handle = open_with(names[i], XGEMM_MATH_DEFAULT);
        void *workspace;
        ck_assert_int_eq(xgemm_malloc(handle, bytes, &workspace), XGEMM_OK);
        ck_assert_int_eq(xgemm_set_workspace(handle, workspace, bytes), XGEMM_OK);
        float *got = problem_multiply(handle, &p);
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
    for (int i = 0; i < data_count(); i++) {
        TCase *cases = add_case(suite, data_at(i)->name);
        tcase_add_loop_test(cases, named_kernels, i, i + 1);
        tcase_add_loop_test(cases, small_products, i, i + 1);
        tcase_add_loop_test(cases, large_products, i, i + 1);
    }
    TCase *cases = add_case(suite, "others");
    tcase_add_test(cases, special_values);
    tcase_add_test(cases, small_integers);
    tcase_add_test(cases, panels);
    return suite;
}

/* With "--cases" it prints their names. */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--cases") == 0) {
        for (int i = 0; i < data_count(); i++)
            puts(data_at(i)->name);
        return puts("others") < 0;
    }
    return run_suite(accuracies());
}
