/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of doubles by residues: hard data, shapes, calls, and where the library chooses them. */
#include "residues.h"
#include "typed.h"

#include <math.h>
#include <string.h>

static residues_problem plain(int m, int n, int k)
{
    return residues_plain(XGEMM_F64, m, n, k);
}

static residues_problem problem_new(const residues_problem *like, doubles_fill *draw, uint64_t seed)
{
    return residues_new(like, (doubles_fill *[]){draw, draw}, seed);
}

START_TEST(data)
{
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    const residues_problem like = plain(70, 90, 150);
    const doubles_kind *const kind = doubles_kind_at(_i);
    residues_problem p = problem_new(&like, kind->draw, (uint64_t)_i + 1);
    uint32_t others;
    const int moduli = residues_check(handle, &p, kind->name, &others);
    ck_assert_msg(moduli >= kind->least && moduli <= kind->most, "%s: %d moduli", kind->name,
                  moduli);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/* Tiles and clusters, all layouts, gaps that leave entries unaligned, alpha and beta. */
START_TEST(shapes)
{
    static const int sizes[][3] = {{1, 1, 1},    {128, 256, 128}, {129, 257, 129}, {260, 300, 70},
                                   {5, 700, 33}, {385, 3, 257},   {16, 16, 1100},  {200, 130, 64}};
    static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS};
    static const double factors[][2] = {{1.0, 0.0}, {-0.5, 1.0}, {1.7, -0.3}, {3.0, 0.0}};
    const int *const size = sizes[_i % COUNT(sizes)];
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    residues_problem like = plain(size[0], size[1], size[2]);
    like.order = _i % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    like.transa = transposes[_i / 2 % 2];
    like.transb = transposes[_i / 4 % 2];
    like.gap = _i % 3;
    like.alpha[0] = factors[_i % 4][0];
    like.beta[0] = factors[_i % 4][1];
    residues_problem p = problem_new(&like, doubles_normal_entry, (uint64_t)_i + 100);
    uint32_t others;
    ck_assert_int_eq(residues_check(handle, &p, "normal", &others), 15);
    ck_assert_int_eq(others, 0);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/*
 * A row has its largest entry where a column has a small one, and the reverse; both have a middling
 * one at the same k, whose product is nearly all of |A||B|. As these become smaller, more moduli
 * are needed for the small ones' sake, until the magnitudes no longer show them.
 */
static double middling;

static double fill_planted(generator *from, int is_b, int line, int l)
{
    const double some = 1.0 + doubles_uniform(from);
    (void)line;
    if (l == is_b)
        return 64.0 * some;
    if (l == 1 - is_b)
        return 0x1p-30 * some;
    return l == 2 ? 64.0 * middling * some : 0.0;
}

START_TEST(planted)
{
    int seen[18] = {0};
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    for (int i = 0; i < 40; i++) {
        middling = exp2(-i / 5.0);
        const residues_problem like = plain(9, 11, 3 + i % 2);
        residues_problem p = problem_new(&like, fill_planted, (uint64_t)i + 1);
        uint32_t others;
        seen[residues_check(handle, &p, "planted", &others)]++;
        residues_free(&p);
    }
    ck_assert_msg(seen[15] > 0 && seen[16] > 0 && seen[17] > 0 && seen[0] > 0,
                  "15: %d, 16: %d, 17: %d, none: %d", seen[15], seen[16], seen[17], seen[0]);
    xgemm_destroy(handle);
}
END_TEST

/* A row with Inf, and one with an entry that hides all others: elements of theirs are few. */
static double fill_few(generator *from, int is_b, int line, int l)
{
    if (!is_b && line == 700)
        return l == 2 ? (double)INFINITY : doubles_normal(from);
    if (!is_b && line == 1099)
        return (l == 1 ? 0x1p40 : 1.0) * doubles_normal(from);
    return is_b && line == 3 && l == 1 ? 0x1p-40 : doubles_normal(from);
}

START_TEST(few)
{
    static const double factors[][2] = {{1.0, 0.0}, {1.5, -1.0}};
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    residues_problem like = plain(1300, 17, 30);
    like.order = _i == 0 ? XGEMM_ROW_MAJOR : XGEMM_COL_MAJOR;
    like.alpha[0] = factors[_i][0], like.beta[0] = factors[_i][1];
    residues_problem p = problem_new(&like, fill_few, 5);
    uint32_t others;
    ck_assert_int_ge(residues_check(handle, &p, "few", &others), 15);
    ck_assert_int_ge(others, like.n + 1);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(refused)
{
    residues_check_refused(XGEMM_F64, (1 << 17) - 1);
}
END_TEST

/* Batches, whose products share the workspace; scalars on the device; bytes beside C. */
START_TEST(calls)
{
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    for (int run = 0; run < 8; run++) {
        typed_spec s = typed_spec_of(XGEMM_F64, 130 + run, 70, 65);
        s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.gap = run % 3;
        s.count = run % 4 == 3 ? 3 : 1;
        s.shared_b = run == 7;
        s.device_scalars = run % 4 > 1;
        s.alpha[0] = run == 2 ? 0.0 : 0.5;
        s.beta[0] = run % 3 - 1.0;
        s.special = run == 5 ? (double)INFINITY : 0.0;
        typed_check(handle, &s, (uint64_t)run);
        ck_assert_str_eq(xgemm_last_kernel(handle), residues_kernel);
    }
    xgemm_destroy(handle);
}
END_TEST

/* One product of a batch has a NaN, and is recomputed; the count is of all. */
START_TEST(batch)
{
    enum { SIZE = 40, COUNT_OF_PRODUCTS = 3, ELEMENTS = SIZE * SIZE * COUNT_OF_PRODUCTS };
    static double x[ELEMENTS];
    xgemm_handle *handle = residues_open();
    xgemm_product call = XGEMM_PRODUCT_INIT;
    void *memory[3];
    int64_t recomputed = -1;
    generator from = {7};
    if (!handle)
        return;
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = doubles_normal(&from);
    x[SIZE * SIZE + 5] = (double)NAN;
    for (int i = 0; i < 3; i++) {
        require(xgemm_malloc(handle, sizeof x, &memory[i]) == XGEMM_OK, xgemm_last_error(handle));
        require(xgemm_upload(handle, memory[i], x, sizeof x) == XGEMM_OK, xgemm_last_error(handle));
    }
    call.m = call.n = call.k = SIZE;
    call.lda = call.ldb = call.ldc = SIZE;
    call.stride_a = call.stride_b = call.stride_c = SIZE * SIZE;
    call.batch_count = COUNT_OF_PRODUCTS;
    call.type_a = call.type_b = call.type_c = XGEMM_F64;
    call.a = memory[0], call.b = memory[1], call.c = memory[2];
    ck_assert_int_eq(xgemm_gemm(handle, &call), XGEMM_OK);
    ck_assert_int_eq(xgemm_last_recomputed(handle, &recomputed), XGEMM_OK);
    ck_assert_int_eq(recomputed, SIZE * SIZE);
    for (int i = 0; i < 3; i++)
        xgemm_free(handle, memory[i]);
    xgemm_destroy(handle);
}
END_TEST

/* Large products are computed by residues, small ones in FP64; in STRICT all are. */
START_TEST(choices)
{
    static const struct {
        int64_t m, n, k;
        bool residues;
    } wanted[] = {{16384, 16384, 16384, true},
                  {8192, 8192, 8192, true},
                  {256, 256, 256, false},
                  {4096, 4096, 64, false},
                  {64, 64, 100000, false}};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int strict = 0; strict < 2; strict++)
        for (int i = 0; i < COUNT(wanted); i++) {
            xgemm_device gpu = {.struct_size = sizeof gpu};
            xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
            xgemm_product p = XGEMM_PRODUCT_INIT;
            const xgemm_math math = strict ? XGEMM_MATH_STRICT : XGEMM_MATH_DEFAULT;
            ck_assert_int_eq(xgemm_device_find("H200 SXM", &gpu), XGEMM_OK);
            ck_assert_int_eq(xgemm_set_math(handle, math), XGEMM_OK);
            p.m = wanted[i].m, p.n = wanted[i].n, p.k = wanted[i].k;
            p.lda = p.k, p.ldb = p.ldc = p.n;
            p.type_a = p.type_b = p.type_c = XGEMM_F64;
            ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
            ck_assert_int_eq(strcmp(plan.kernel, residues_kernel) == 0,
                             wanted[i].residues && !strict);
        }
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("residue");
    TCase *numbers = add_case(suite, "numbers");
    if (test_device() != XGEMM_DEVICE_CPU) {
        tcase_add_loop_test(numbers, data, 0, doubles_count());
        tcase_add_loop_test(numbers, shapes, 0, test_effort() >= 100 ? 48 : 8);
        tcase_add_test(numbers, planted);
        tcase_add_loop_test(numbers, few, 0, 2);
        tcase_add_test(numbers, calls);
        tcase_add_test(numbers, batch);
        tcase_add_test(numbers, refused);
    }
    if (test_device() == XGEMM_DEVICE_SIM)
        tcase_add_test(numbers, choices);
    return run_suite(suite);
}
