/* SPDX-License-Identifier: BSD-3-Clause */
/* FP16 as the simulator has it, and how its matrix products round. */
#include "sm90.h"

#include "backend/sim/tensor_core.h"

#include <math.h>
#include <stdio.h>

/* The value of an FP16, from its definition. */
static double value_of_half(unsigned half)
{
    const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 0x3ff);
    const double sign = half >> 15 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24)
                         : sign * ldexp(1024 + fraction, exponent - 25);
}

START_TEST(halves_convert_exactly)
{
    for (unsigned half = 0; half < 1 << 16; half++) {
        const double value = value_of_half(half);
        const unsigned both = half << 16 | (half ^ 0x8000);
        if (isnan(value)) {
            ck_assert(isnan(xg_half2_high(both)) && isnan(xg_half2_low(both)));
            ck_assert(isnan(value_of_half(xg_sim_half2(xg_half2_high(both), 0.0f) & 0xffff)));
            continue;
        }
        ck_assert_double_eq((double)xg_half2_high(both), value);
        ck_assert_double_eq((double)xg_half2_low(both), -value);
        ck_assert_int_eq(!signbit(xg_half2_high(both)), !(half >> 15));
        ck_assert_uint_eq(xg_half2(xg_half2_low(both), xg_half2_high(both)),
                          half << 16 | (half ^ 0x8000));
    }
}
END_TEST

static unsigned rounded(double value)
{
    return xg_half2((float)value, 0.0f) & 0xffff;
}

/* Between two neighbours: the middle goes to the even one, and what is beside it to the nearer. */
START_TEST(halves_round_to_nearest_even)
{
    for (unsigned half = 0; half < 0x7c00; half++) {
        const double low = value_of_half(half);
        const double high = half == 0x7bff ? 65536.0 : value_of_half(half + 1);
        const float middle = (float)((low + high) / 2);
        const unsigned even = half + (half & 1);
        ck_assert_uint_eq(rounded((double)middle), even);
        ck_assert_uint_eq(rounded((double)nextafterf(middle, 0.0f)), half);
        ck_assert_uint_eq(rounded((double)nextafterf(middle, 1e6f)), half + 1);
        ck_assert_uint_eq(rounded(-(double)middle), even | 0x8000);
        ck_assert_uint_eq(rounded(-(double)nextafterf(middle, 1e6f)), (half + 1) | 0x8000);
    }
    ck_assert_uint_eq(rounded(3e38), 0x7c00);
    ck_assert_uint_eq(rounded(-3e38), 0xfc00);
    ck_assert_uint_eq(rounded(1e-40), 0);
    ck_assert_uint_eq(rounded(-1e-40), 0x8000);
    ck_assert_uint_eq(rounded(-0.0), 0x8000);
}
END_TEST

enum { PRODUCTS = 16, COLUMNS = 128 };

/* One sum of products, in all columns of all rows. */
static float add_up(float old, const float *a, const float *b)
{
    static float sums[64 * COLUMNS], left[64 * PRODUCTS], below[PRODUCTS * COLUMNS];
    for (int i = 0; i < 64 * COLUMNS; i++)
        sums[i] = old;
    for (int i = 0; i < 64 * PRODUCTS; i++)
        left[i] = a[i % PRODUCTS];
    for (int i = 0; i < PRODUCTS * COLUMNS; i++)
        below[i] = b[i / COLUMNS];
    xg_tensor_core_multiply(sums, left, below, COLUMNS);
    /* Each is its neighbour's equal. */
    ck_assert_mem_eq(sums, sums + 1, sizeof sums - sizeof *sums);
    return sums[0];
}

/* "count" products of "each" units of 2^-23. */
static float add_units(float old, int count, float each)
{
    float a[PRODUCTS] = {0}, b[PRODUCTS] = {0};
    for (int i = 0; i < count; i++) {
        a[i] = each * 0x1p-11f;
        b[i] = 0x1p-12f;
    }
    return add_up(old, a, b);
}

/* What a card did with the same. */
START_TEST(sums_are_cut_as_on_a_card)
{
    ck_assert_float_eq(add_units(1.0f, 1, 0.75f), 1.0f);
    ck_assert_float_eq(add_units(-1.0f, 1, -0.75f), -1.0f);
    ck_assert_float_eq(add_units(1.0f, 1, -0.25f), 1.0f - 0x1p-24f);
    ck_assert_float_eq(add_units(1.0f, 2, 0.5f), 1.0f + 0x1p-23f);
    ck_assert_float_eq(add_units(1.0f, 4, 0.25f), 1.0f + 0x1p-23f);
    ck_assert_float_eq(add_units(1.0f, 8, 0.125f), 1.0f);
}
END_TEST

/* The same rule in other words. */
static float cut_sum(float old, const float *a, const float *b)
{
    double addend[PRODUCTS + 1], largest = fabs((double)old), sum = 0.0;
    addend[PRODUCTS] = (double)old;
    for (int i = 0; i < PRODUCTS; i++) {
        addend[i] = (double)a[i] * (double)b[i];
        largest = fmax(largest, fabs(addend[i]));
    }
    if (largest == 0.0)
        return 0.0f;
    const int exponent = ilogb(largest);
    for (int i = 0; i <= PRODUCTS; i++)
        sum += trunc(ldexp(addend[i], 25 - exponent));
    const int over = sum == 0.0 ? 0 : ilogb(sum) - 23;
    if (over > 0)
        sum = ldexp(trunc(ldexp(sum, -over)), over);
    return (float)ldexp(sum, exponent - 25);
}

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static float draw_half(uint64_t *state, int spread)
{
    const uint32_t bits = draw(state);
    const int exponent = 15 - spread / 2 + (int)(bits >> 11 & 0xffff) % (spread + 1);
    return xg_sim_half_value((bits & 0x83ff) | (unsigned)exponent << 10);
}

START_TEST(sums_are_cut_by_the_rule)
{
    uint64_t state = 7;
    for (int round = 0; round < 400; round++) {
        float a[PRODUCTS], b[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i++) {
            a[i] = draw_half(&state, round % 30);
            b[i] = i % 5 == 4 ? -b[i - 1] : draw_half(&state, round % 30);
        }
        const float old = round % 3 == 0 ? 0.0f : ldexpf(draw_half(&state, 8), round % 60 - 30);
        ck_assert_float_eq(add_up(old, a, b), cut_sum(old, a, b));
    }
}
END_TEST

START_TEST(special_sums_are_as_ieee_says)
{
    float a[PRODUCTS] = {1.0f, 1.0f}, b[PRODUCTS] = {0.0f};
    ck_assert_float_eq(add_up(0x1p-140f, a, b), 0x1p-140f);
    ck_assert_float_eq(add_up(-3e38f, a, b), -3e38f);
    b[0] = INFINITY;
    ck_assert_float_eq(add_up(1.0f, a, b), INFINITY);
    ck_assert(isnan(add_up(-INFINITY, a, b)));
    b[1] = -INFINITY;
    ck_assert(isnan(add_up(1.0f, a, b)));
    b[0] = 2.0f;
    ck_assert_float_eq(add_up(1.0f, a, b), -INFINITY);
    b[1] = NAN;
    ck_assert(isnan(add_up(1.0f, a, b)));
}
END_TEST

TCase *sm90_numbers(void)
{
    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 1800);
    tcase_add_test(numbers, halves_convert_exactly);
    tcase_add_test(numbers, halves_round_to_nearest_even);
    tcase_add_test(numbers, sums_are_cut_as_on_a_card);
    tcase_add_test(numbers, sums_are_cut_by_the_rule);
    tcase_add_test(numbers, special_sums_are_as_ieee_says);
    return numbers;
}
