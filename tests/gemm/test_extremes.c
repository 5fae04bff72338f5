/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FP16 terms where few elements of a row set its scale: a last k that the terms leave out, and
 * scales that are lowered again and again as k goes on.
 */
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char *const stored_terms[] = {"fp16x3-128x64", "fp16x3-128x128", "fp16x3-128x256",
                                           "fp16x1-128x128", "fp16x1-128x256"};
static const char *const fused_terms[] = {"fp16x3-fused-128x64", "fp16x3-mma-128x64",
                                          "fp16x3-mma-64x64"};

/* NULL where the device does not run the kernel. */
static xgemm_handle *open_with(const char *kernel)
{
    setenv("XGEMM_SIM", "multiprocessors=1", 1); /* so that k is not split */
    return open_by_name(kernel);
}

/* A and B are zeros, C is threes. */
static product *new_product(xgemm_handle *handle, int64_t m, int64_t n, int64_t k, float beta)
{
    const shape s = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, 1.0f, .beta = beta};
    product *p = product_new(handle, &s);
    generator from = {1};
    product_fill(p, random_dyadic, &from);
    matrix_set(&p->a, 0.0f);
    matrix_set(&p->b, 0.0f);
    matrix_set(&p->c, 3.0f);
    return p;
}

static void set(matrix *x, int64_t row, int64_t column, float value)
{
    x->before[matrix_at(x, row, column)] = value;
}

static float c_of(const product *p, int64_t row, int64_t column)
{
    return p->c.after[matrix_at(&p->c, row, column)];
}

enum { M = 128, N = 128, LAST = 64, BIAS = 5 };

/*
 * The sums of k = 0 and 1 are small beside their rows, so that the tile is recomputed; row BIAS of
 * A has nothing but its last element.
 */
static void plant_last_k(product *p, float last)
{
    for (int i = 0; i < M; i++) {
        if (i != BIAS) {
            set(&p->a, i, 0, 1.0f + (float)i * 0x1p-8f);
            set(&p->a, i, 1, ldexpf(1.0f + (float)i * 0x1p-9f, -40));
        }
        set(&p->a, i, LAST, last);
    }
    for (int j = 0; j < N; j++) {
        set(&p->b, 0, j, ldexpf(1.0f + (float)j * 0x1p-9f, -40));
        set(&p->b, 1, j, 1.0f + (float)j * 0x1p-8f);
        set(&p->b, LAST, j, 1.0f);
    }
}

START_TEST(last_k_of_recomputed_tiles)
{
    static const float lasts[] = {1.0f, -3e-12f, 0x1p90f, 0x1p-149f};
    xgemm_handle *handle = open_with(stored_terms[_i]);
    for (int i = 0; handle && i < COUNT(lasts); i++) {
        product *p = new_product(handle, M, N, LAST + 1, (float)(i % 2));
        int64_t elements;
        plant_last_k(p, lasts[i]);
        ck_assert_msg(product_run(p), "%s", p->why);
        ck_assert_int_eq(xgemm_last_recomputed(handle, &elements), XGEMM_OK);
        ck_assert_int_eq(elements, M * N);
        ck_assert_msg(product_agrees(p, BOUND), "last %g: %s", (double)lasts[i], p->why);
        product_free(p);
    }
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/* A sum that is Inf before the last k counts, which is -Inf: C does not stay as it was. */
START_TEST(overflow_before_the_last_k)
{
    xgemm_handle *handle = open_with(stored_terms[_i]);
    if (!handle)
        return;
    product *p = new_product(handle, M, N, LAST + 1, 1.0f);
    matrix_set(&p->a, 1e25f);
    matrix_set(&p->b, 1e25f);
    for (int i = 0; i < M; i++)
        set(&p->a, i, LAST, -1e25f);
    ck_assert_msg(product_run(p), "%s", p->why);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            ck_assert_msg(!isfinite(c_of(p, i, j)), "C[%d, %d] is %g", i, j, (double)c_of(p, i, j));
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

/*
 * A row of A has one large element, which meets a zero, and so has a column of B, elsewhere: masks.
 * The others are small beside both, and C is made of their products.
 */
static void plant_masks(product *p, float large, float small)
{
    for (int i = 0; i < M; i++)
        for (int l = 0; l < p->shape.k; l++)
            set(&p->a, i, l, l == 0 ? -large : l == 1 ? 0.0f : small * (1.0f + (float)i * 0x1p-8f));
    for (int j = 0; j < N; j++)
        for (int l = 0; l < p->shape.k; l++)
            set(&p->b, l, j, l == 1 ? -large : l == 0 ? 0.0f : small * (1.0f + (float)j * 0x1p-8f));
}

START_TEST(masks)
{
    static const struct {
        float large, small;
    } cases[] = {{FLT_MAX, 1.0f},     {0x1p126f, 0x1p-33f}, {0x1p126f, 0x1p3f},
                 {0x1p126f, 0x1p9f},  {0x1p126f, 0x1p20f},  {0x1p60f, 0x1p-60f},
                 {0x1p50f, 0x1p-50f}, {0x1p40f, 0x1p-40f},  {0x1p30f, 0x1p-30f}};
    xgemm_handle *handle = open_with(stored_terms[_i]);
    for (int i = 0; handle && i < COUNT(cases); i++) {
        product *p = new_product(handle, M, N, 2 * LAST, (float)(i % 2));
        plant_masks(p, cases[i].large, cases[i].small);
        ck_assert_msg(product_run(p), "%s", p->why);
        ck_assert_msg(product_agrees(p, BOUND), "%g beside %g: %s", (double)cases[i].small,
                      (double)cases[i].large, p->why);
        product_free(p);
    }
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/*
 * Each 64 of k an element of A is 2^39 times as large, and meets zeros: the sum, of the first k
 * alone, is multiplied by 2^-39 each time.
 */
START_TEST(scales_lowered_again_and_again)
{
    enum { TIMES = 6, APART = 39, COLUMNS = 64 };
    xgemm_handle *handle = open_with(fused_terms[_i]);
    if (!handle)
        return;
    for (int times = 1; times < TIMES; times++) {
        product *p = new_product(handle, M, COLUMNS, 64 * (times + 1), 0.0f);
        for (int i = 0; i < M; i++)
            for (int step = 0; step <= times; step++)
                set(&p->a, i, 64 * step,
                    ldexpf(step ? 1.0f : 1.0f + (float)i * 0x1p-8f, APART * step - 100));
        for (int j = 0; j < COLUMNS; j++)
            set(&p->b, 0, j, 1.0f + (float)j * 0x1p-8f);
        ck_assert_msg(product_run(p), "%s", p->why);
        ck_assert_msg(product_agrees(p, BOUND), "%d times: %s", times, p->why);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

static Suite *all(void)
{
    Suite *suite = suite_create("extremes");
    TCase *tests = add_case(suite, "extremes");
    tcase_add_loop_test(tests, last_k_of_recomputed_tiles, 0, COUNT(stored_terms));
    tcase_add_loop_test(tests, overflow_before_the_last_k, 0, COUNT(stored_terms));
    tcase_add_loop_test(tests, masks, 0, COUNT(stored_terms));
    tcase_add_loop_test(tests, scales_lowered_again_and_again, 0, COUNT(fused_terms));
    return suite;
}

int main(void)
{
    return run_suite(all());
}
