/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Special values, sizes and addresses, for every kernel of the device under test.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void plant(matrix *x, int64_t row, int64_t column, float value)
{
    x->before[matrix_at(x, row, column)] = value;
}

/* ---- Values ---- */

static const float specials[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};

/* At the corners, and here and there. */
static void plant_specials(matrix *x, generator *from)
{
    plant(x, x->rows - 1, x->columns - 1, specials[random_below(from, 3)]);
    plant(x, 0, x->columns - 1, specials[random_below(from, 3)]);
    for (int i = 0; i < 6; i++)
        plant(x, random_below(from, (int)x->rows), random_below(from, (int)x->columns),
              specials[random_below(from, COUNT(specials))]);
}

START_TEST(inf_and_nan_propagate)
{
    static const int64_t sizes[][3] = {{37, 41, 35}, {16, 130, 9}, {131, 5, 33}, {65, 64, 1}};
    static const float betas[] = {0.0f, 1.0f, -1.0f};
    xgemm_handle *handle = open_with_kernel(_i);
    generator from = {1};
    for (int i = 0; i < COUNT(sizes) * LAYOUTS; i++) {
        const int64_t *size = sizes[i / LAYOUTS];
        shape s = {.m = size[0], .n = size[1], .k = size[2], .alpha = i % 3 ? 1.0f : -1.0f};
        s.beta = betas[i % COUNT(betas)], s.gap_a = i % 2, s.gap_b = i % 5, s.gap_c = i % 4;
        set_layout(&s, i % LAYOUTS);
        product *p = product_new(handle, &s);
        product_fill(p, random_dyadic, &from);
        if (i % 2)
            plant_specials(&p->a, &from);
        if (i / 2 % 2 || i % 2 == 0)
            plant_specials(&p->b, &from);
        if (s.beta != 0.0f)
            plant_specials(&p->c, &from);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

/* One planted at a time, and every result must be what a plain loop gives. */
START_TEST(one_special_spoils_its_row_or_column)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 3 * LAYOUTS; i++) {
        generator from = {(uint64_t)i};
        shape s = {.m = 33, .n = 35, .k = 17, .alpha = 1.0f};
        set_layout(&s, i % LAYOUTS);
        product *p = product_new(handle, &s);
        product_fill(p, random_dyadic, &from);
        matrix *x = i % 2 ? &p->a : &p->b;
        plant(x, random_below(&from, (int)x->rows), random_below(&from, (int)x->columns),
              specials[i / LAYOUTS]);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(special_factors)
{
    static const float factors[][2] = {{INFINITY, 0.0f}, {NAN, 0.0f},       {1.0f, INFINITY},
                                       {1.0f, NAN},      {-INFINITY, 1.0f}, {0.0f, NAN},
                                       {0.0f, INFINITY}, {-0.0f, 1.0f},     {1.0f, -0.0f}};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(factors); i++) {
        const shape s = {
            XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,         XGEMM_TRANS,          .m = 19, .n = 34,
            .k = 5,          .alpha = factors[i][0], .beta = factors[i][1]};
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Powers of two whose products or sums are past the largest float. */
static float draw_huge(generator *from)
{
    return ldexpf(random_bits(from) & 1 ? -1.0f : 1.0f, 60 + random_below(from, 67));
}

static float draw_half_of_all(generator *from)
{
    (void)from;
    return 0x1p63f;
}

START_TEST(overflow_gives_inf)
{
    xgemm_handle *handle = open_with_kernel(_i);
    shape s = {.m = 33, .n = 18, .k = 1, .alpha = 1.0f};
    for (int layout = 0; layout < LAYOUTS; layout++) {
        set_layout(&s, layout);
        check_shape(handle, &s, draw_huge, EXACT, 3);
    }
    s.k = 5; /* 5 * 2^126 */
    check_shape(handle, &s, draw_half_of_all, EXACT, 3);
    xgemm_destroy(handle);
}
END_TEST

/* Multiples of the least subnormal, and small whole numbers: products and sums are exact. */
static float draw_least(generator *from)
{
    return (float)(random_below(from, 2001) - 1000) * 0x1p-149f;
}

static float draw_whole(generator *from)
{
    return (float)(random_below(from, 17) - 8);
}

static float draw_2_to_minus_74(generator *from)
{
    return (float)(random_below(from, 17) - 8) * 0x1p-74f;
}

START_TEST(subnormals_are_kept)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 2 * LAYOUTS; i++) {
        generator from = {(uint64_t)i};
        shape s = {.m = 21, .n = 34, .k = 40, .alpha = i % 3 ? 1.0f : -1.0f, .beta = 1.0f};
        set_layout(&s, i % LAYOUTS);
        product *p = product_new(handle, &s);
        matrix_fill(&p->a, i < LAYOUTS ? draw_least : draw_2_to_minus_74, &from);
        matrix_fill(&p->b, i < LAYOUTS ? draw_whole : draw_2_to_minus_74, &from);
        matrix_fill(&p->c, draw_least, &from);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

static float draw_zero(generator *from)
{
    return random_bits(from) & 1 ? -0.0f : 0.0f;
}

START_TEST(zeros_have_signs)
{
    static const float factors[] = {0.0f, 1.0f, -1.0f};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 2 * COUNT(factors) * COUNT(factors); i++) {
        const shape s = {XGEMM_ROW_MAJOR,
                         XGEMM_NO_TRANS,
                         XGEMM_NO_TRANS,
                         .m = 9,
                         .n = 17,
                         .k = i % 2 ? 3 : 0,
                         .alpha = factors[i / 2 % COUNT(factors)],
                         .beta = factors[i / 2 / COUNT(factors)]};
        generator from = {(uint64_t)i};
        product *p = product_new(handle, &s);
        matrix_fill(&p->a, draw_zero, &from);
        matrix_fill(&p->b, draw_zero, &from);
        matrix_fill(&p->c, draw_zero, &from);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

/* ---- What is not read ---- */

START_TEST(alpha_zero_ignores_a_and_b)
{
    static const float betas[] = {0.0f, 1.0f, -1.0f, 0.5f};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(betas) * LAYOUTS; i++) {
        shape s = {.m = 45, .n = 19, .k = 8, .beta = betas[i / LAYOUTS], .gap_c = i % 3};
        set_layout(&s, i % LAYOUTS);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
        ck_assert_ptr_null(xgemm_last_kernel(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(beta_zero_ignores_c)
{
    static const float in_c[] = {NAN, INFINITY, -INFINITY, 3.0e38f};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(in_c) * LAYOUTS; i++) {
        generator from = {(uint64_t)i};
        shape s = {.m = 34, .n = 21, .k = i % 3 ? 12 : 0, .alpha = 1.0f, .gap_c = i % 3};
        set_layout(&s, i % LAYOUTS);
        product *p = product_new(handle, &s);
        product_fill(p, random_dyadic, &from);
        matrix_set(&p->c, in_c[i / LAYOUTS]);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(k_zero_scales_c)
{
    static const float betas[] = {0.0f, 1.0f, -1.0f, 0.5f};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(betas) * LAYOUTS; i++) {
        shape s = {.m = 71, .n = 33, .alpha = 0.7f, .beta = betas[i / LAYOUTS], .gap_c = i % 4};
        set_layout(&s, i % LAYOUTS);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
        ck_assert_ptr_null(xgemm_last_kernel(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(empty_c_is_left_alone)
{
    static const int64_t sizes[][3] = {{0, 5, 4}, {5, 0, 4}, {0, 0, 4}, {0, 5, 0}, {0, 0, 0}};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(sizes) * LAYOUTS; i++) {
        const int64_t *size = sizes[i / LAYOUTS];
        shape s = {.m = size[0], .n = size[1], .k = size[2], .alpha = 1.0f, .gap_c = 3};
        set_layout(&s, i % LAYOUTS);
        product *p = product_new(handle, &s);
        ck_assert_msg(product_run(p), "%s", p->why);
        ck_assert(product_left_c(p));
        ck_assert_ptr_null(xgemm_last_kernel(handle));
        product_free(p);
    }
    xgemm_destroy(handle);
}
END_TEST

/* ---- Sizes, leading dimensions and addresses ---- */

START_TEST(thin_matrices)
{
    static const int64_t sizes[][3] = {{1, 1, 1},   {1, 1, 200}, {1, 200, 1}, {200, 1, 1},
                                       {1, 150, 9}, {150, 1, 9}, {9, 150, 1}, {1, 2, 3}};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(sizes) * LAYOUTS; i++) {
        const int64_t *size = sizes[i / LAYOUTS];
        shape s = {.m = size[0], .n = size[1], .k = size[2], .alpha = -1.0f, .beta = 1.0f};
        set_layout(&s, i % LAYOUTS);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(large_leading_dimensions)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        shape s = {.m = 18, .n = 20, .k = 17, .alpha = 1.0f, .beta = -1.0f};
        s.gap_a = 5000, s.gap_b = 8191, s.gap_c = 4099;
        set_layout(&s, layout);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/* A single line may have any leading dimension, one that is no int too. */
START_TEST(huge_leading_dimensions)
{
    xgemm_handle *handle = open_with_kernel(_i);
    const shape dot = {.order = XGEMM_ROW_MAJOR,
                       .transa = XGEMM_NO_TRANS,
                       .transb = XGEMM_TRANS,
                       .m = 1,
                       .n = 1,
                       .k = 70,
                       .alpha = 1.0f};
    generator from = {1};
    product *p = product_new(handle, &dot);
    p->a.ld = p->b.ld = p->c.ld = (int64_t)1 << 40;
    product_fill(p, random_dyadic, &from);
    product_check(p, EXACT);
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(any_address_of_a_float)
{
    const int step = test_effort() >= 20 ? 1 : 5; /* has all layouts, too */
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 64; i += step) {
        shape s = {.m = 132, .n = 68, .k = 20, .alpha = 1.0f, .beta = i % 2 ? 1.0f : 0.0f};
        s.shift_a = i % 4, s.shift_b = i / 4 % 4, s.shift_c = i / 16;
        s.gap_a = i % 5 == 4, s.gap_b = i % 7 == 6, s.gap_c = i % 3 == 2;
        set_layout(&s, (i + i / 8) % LAYOUTS);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

/* More tiles down C than a grid's y has blocks. */
static void check_tall(const char *kernel, int64_t m, int64_t n, int64_t k)
{
    xgemm_handle *handle = open_handle(test_device());
    const shape s = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k,
                     .alpha = 1.0f,   .beta = -1.0f};
    ck_assert_msg(xgemm_set_kernel(handle, kernel) == XGEMM_OK, "%s", xgemm_last_error(handle));
    check_shape(handle, &s, random_dyadic, EXACT, 1);
    xgemm_destroy(handle);
}

/* Seconds on a simulator, minutes for the kernels with many threads or large tiles. */
static bool is_cheap(const char *kernel)
{
    static const char *const cheap[] = {"naive", "tiled16", "tiled16-colmajor", "corner-turned",
                                        "auto"};
    if (test_device() != XGEMM_DEVICE_SIM)
        return true;
    for (int i = 0; i < COUNT(cheap); i++)
        if (strcmp(kernel, cheap[i]) == 0)
            return test_effort() >= 100;
    return false;
}

START_TEST(more_tiles_than_a_grid_has_rows)
{
    const xgemm_kernel_info info = test_kernel_info(_i);
    const int64_t tile = info.tile_m ? info.tile_m : 16;
    const int64_t tall = 65535 * tile + tile / 2 + 1;
    if (!is_cheap(info.name))
        return;
    if (strcmp(info.name, "naive") == 0) /* has the rows on the grid's x */
        check_tall(info.name, 1, tall, 1);
    else
        check_tall(info.name, tall, 1, 1);
}
END_TEST

/* The programs beside the kernels: 8 rows of C a block. */
START_TEST(tall_scaling)
{
    check_tall("auto", 65535 * 8 + 11, 1, 0);
}
END_TEST

START_TEST(tall_padding)
{
    int indices[64];
    const int count = kernels_of(test_device(), indices, COUNT(indices));
    if (test_device() == XGEMM_DEVICE_SIM && test_effort() < 100)
        return;
    for (int i = 0; i < count; i++)
        if (strcmp(test_kernel(i), "padded") == 0)
            check_tall("padded", 65535 * 8 + 11, 1, 1);
}
END_TEST

static Suite *special(void)
{
    const int kernels = test_kernels();
    Suite *suite = suite_create("special");

    TCase *values = add_case(suite, "values");
    tcase_add_loop_test(values, inf_and_nan_propagate, 0, kernels);
    tcase_add_loop_test(values, one_special_spoils_its_row_or_column, 0, kernels);
    tcase_add_loop_test(values, special_factors, 0, kernels);
    tcase_add_loop_test(values, overflow_gives_inf, 0, kernels);
    tcase_add_loop_test(values, subnormals_are_kept, 0, kernels);
    tcase_add_loop_test(values, zeros_have_signs, 0, kernels);

    TCase *unread = add_case(suite, "what is not read");
    tcase_add_loop_test(unread, alpha_zero_ignores_a_and_b, 0, kernels);
    tcase_add_loop_test(unread, beta_zero_ignores_c, 0, kernels);
    tcase_add_loop_test(unread, k_zero_scales_c, 0, kernels);
    tcase_add_loop_test(unread, empty_c_is_left_alone, 0, kernels);

    TCase *memory = add_case(suite, "sizes and addresses");
    tcase_add_loop_test(memory, thin_matrices, 0, kernels);
    tcase_add_loop_test(memory, large_leading_dimensions, 0, kernels);
    tcase_add_loop_test(memory, huge_leading_dimensions, 0, kernels);
    tcase_add_loop_test(memory, any_address_of_a_float, 0, kernels);
    tcase_add_loop_test(memory, more_tiles_than_a_grid_has_rows, 0, kernels);
    tcase_add_test(memory, tall_scaling);
    tcase_add_test(memory, tall_padding);
    return suite;
}

int main(void)
{
    return run_suite(special());
}
