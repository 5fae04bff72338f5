/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of complex numbers of two doubles by residues, three real ones for each modulus: hard
 * data in one part or both, special values, shapes, calls, and where the library chooses them.
 */
#include "residues.h"
#include "typed.h"

#include <math.h>
#include <string.h>

static residues_problem plain(int m, int n, int k)
{
    return residues_plain(XGEMM_C64, m, n, k);
}

/* Both parts of the kind. What few moduli served as doubles they serve here, with one or two more.
 */
START_TEST(data)
{
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    const residues_problem like = plain(70, 90, 150);
    const doubles_kind *const kind = doubles_kind_at(_i);
    residues_problem p =
        residues_new(&like, (doubles_fill *[]){kind->draw, kind->draw}, (uint64_t)_i + 1);
    uint32_t others;
    const int moduli = residues_check(handle, &p, kind->name, &others);
    ck_assert_msg(moduli >= kind->least && moduli <= (kind->most > 0 ? 17 : 0), "%s: %d moduli",
                  kind->name, moduli);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/* One part is smaller than the other, in A alone or in both; the sums of small parts count, too. */
static int skew, skew_of_b;

static double fill_large(generator *from, int is_b, int line, int l)
{
    (void)line, (void)l;
    return ldexp(doubles_normal(from), is_b ? skew_of_b : skew);
}

static double fill_small(generator *from, int is_b, int line, int l)
{
    (void)line, (void)l;
    return ldexp(doubles_normal(from), is_b ? -skew_of_b : -skew);
}

START_TEST(skewed)
{
    static const struct {
        int a, b;
        bool residues; /* serve it */
    } skews[] = {{1, 0, true},       {1, 1, true},    {2, 2, true},
                 {20, 20, false},    {60, 60, false}, {300, 0, true},
                 {300, -300, false}, {450, 0, false}, {450, 450, false}};
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    for (int swapped = 0; swapped < 2; swapped++) {
        doubles_fill *draw[] = {swapped ? fill_small : fill_large,
                                swapped ? fill_large : fill_small};
        residues_problem like = plain(33, 40, 70);
        like.transa = XGEMM_CONJ_TRANS;
        skew = skews[_i].a, skew_of_b = skews[_i].b;
        residues_problem p = residues_new(&like, draw, (uint64_t)_i + 1);
        uint32_t others;
        const int moduli = residues_check(handle, &p, "skewed", &others);
        ck_assert_msg((moduli > 0) == skews[_i].residues, "2^%d, 2^%d: %d moduli", skew, skew_of_b,
                      moduli);
        residues_free(&p);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Tiles and clusters, all layouts and conjugates, entries that are not aligned, alpha and beta. */
START_TEST(shapes)
{
    static const int sizes[][3] = {{1, 1, 1},    {128, 128, 128}, {129, 257, 129}, {260, 130, 70},
                                   {5, 700, 33}, {385, 3, 257},   {16, 16, 1100},  {70, 129, 2}};
    static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    static const double factors[][4] = {{1.0, 0.0, 0.0, 0.0},
                                        {-0.5, 0.0, 1.0, 0.0},
                                        {0.7, -0.9, 1.3, -1.1},
                                        {0.0, 3.0, 0.0, 0.0},
                                        {1.0, 1e-3, 0.0, -0.7}};
    const int *const size = sizes[_i % COUNT(sizes)];
    const double *const by = factors[_i % COUNT(factors)];
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    residues_problem like = plain(size[0], size[1], size[2]);
    like.order = _i / 2 % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    like.transa = transposes[_i % 3];
    like.transb = transposes[_i / 3 % 3];
    like.gap = _i % 4;
    like.offset = _i / 4 % 2;
    like.alpha[0] = by[0], like.alpha[1] = by[1];
    like.beta[0] = by[2], like.beta[1] = by[3];
    residues_problem p = residues_new(
        &like, (doubles_fill *[]){doubles_normal_entry, doubles_normal_entry}, (uint64_t)_i + 100);
    uint32_t others;
    ck_assert_int_ge(residues_check(handle, &p, "normal", &others), 15);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/*
 * A line of A, or of B, with a special value in one part, and one with an entry that hides all
 * others, in the other part: their elements are few, and computed from A and B.
 */
static double special;
static int special_part, special_in_b;

static double fill_special(generator *from, int is_b, int line, int l, int part)
{
    const double x = doubles_normal(from);
    if (is_b != special_in_b)
        return line == 3 && l == 1 ? 0x1p-40 * x : x;
    if (line == 700 && l == 2 && part == special_part)
        return special;
    return line == 1099 && l == 1 && part != special_part ? 0x1p40 * x : x;
}

static double fill_special_real(generator *from, int is_b, int line, int l)
{
    return fill_special(from, is_b, line, l, 0);
}

static double fill_special_imaginary(generator *from, int is_b, int line, int l)
{
    return fill_special(from, is_b, line, l, 1);
}

START_TEST(few)
{
    static const double values[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    static const double factors[][4] = {{1.0, 0.0, 0.0, 0.0}, {1.5, -0.5, -1.0, 0.25}};
    doubles_fill *draw[] = {fill_special_real, fill_special_imaginary};
    const double *const by = factors[_i % 2];
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    special = values[_i % COUNT(values)];
    special_part = _i / 3 % 2;
    special_in_b = _i / 6;
    residues_problem like = special_in_b ? plain(17, 1300, 30) : plain(1300, 17, 30);
    like.order = _i % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    like.transa = _i % 4 == 1 ? XGEMM_TRANS : XGEMM_CONJ_TRANS;
    like.transb = _i % 4 == 2 ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
    like.alpha[0] = by[0], like.alpha[1] = by[1];
    like.beta[0] = by[2], like.beta[1] = by[3];
    residues_problem p = residues_new(&like, draw, (uint64_t)_i + 5);
    uint32_t others;
    ck_assert_int_ge(residues_check(handle, &p, "few", &others), 15);
    ck_assert_int_ge(others, 2 * 17 + 1);
    residues_free(&p);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(refused)
{
    residues_check_refused(XGEMM_C64, (1 << 16) - 1);
}
END_TEST

/* Batches, whose products share the workspace; scalars on the device; bytes beside C. */
START_TEST(calls)
{
    xgemm_handle *handle = residues_open();
    if (!handle)
        return;
    for (int run = 0; run < 8; run++) {
        typed_spec s = typed_spec_of(XGEMM_C64, 130 + run, 70, 65);
        s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.transa = run % 3 == 1 ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
        s.transb = run % 3 == 2 ? XGEMM_CONJ_TRANS : XGEMM_TRANS;
        s.gap = run % 3;
        s.count = run % 4 == 3 ? 3 : 1;
        s.shared_b = run == 7;
        s.device_scalars = run % 4 > 1;
        s.alpha[0] = run == 2 ? 0.0 : 0.5;
        s.alpha[1] = run > 3 ? -0.25 : 0.0;
        s.beta[0] = run % 3 - 1.0;
        s.beta[1] = run == 6 ? 2.0 : 0.0;
        s.special = run == 5 ? (double)INFINITY : 0.0;
        typed_check(handle, &s, (uint64_t)run);
        ck_assert_str_eq(xgemm_last_kernel(handle), residues_kernel);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Residues are chosen for large products, as far as their workspace reaches. */
START_TEST(choices)
{
    static const struct {
        int64_t size;
        bool fits, chosen;
    } wanted[] = {{256, true, false}, {8192, true, true}, {16384, false, false}};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int named = 0; named < 2; named++)
        for (int i = 0; i < COUNT(wanted); i++) {
            xgemm_device gpu = {.struct_size = sizeof gpu};
            xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
            xgemm_product p = XGEMM_PRODUCT_INIT;
            ck_assert_int_eq(xgemm_device_find("H200 SXM", &gpu), XGEMM_OK);
            ck_assert_int_eq(xgemm_set_kernel(handle, named ? residues_kernel : "auto"), XGEMM_OK);
            p.m = p.n = p.k = p.lda = p.ldb = p.ldc = wanted[i].size;
            p.type_a = p.type_b = p.type_c = XGEMM_C64;
            const xgemm_status status = xgemm_gemm_plan(handle, &p, &plan);
            ck_assert_int_eq(status,
                             named && !wanted[i].fits ? XGEMM_ERROR_NOT_SUPPORTED : XGEMM_OK);
            if (!status)
                ck_assert_int_eq(strcmp(plan.kernel, residues_kernel) == 0,
                                 named || wanted[i].chosen);
        }
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("complex residues");
    TCase *numbers = add_case(suite, "numbers");
    if (test_device() != XGEMM_DEVICE_CPU) {
        tcase_add_loop_test(numbers, data, 0, doubles_count());
        tcase_add_loop_test(numbers, skewed, 0, 9);
        tcase_add_loop_test(numbers, shapes, 0, test_effort() >= 100 ? 72 : 12);
        tcase_add_loop_test(numbers, few, 0, 12);
        tcase_add_test(numbers, calls);
        tcase_add_test(numbers, refused);
    }
    if (test_device() == XGEMM_DEVICE_SIM)
        tcase_add_test(numbers, choices);
    return run_suite(suite);
}
