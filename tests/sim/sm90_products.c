/* SPDX-License-Identifier: BSD-3-Clause */
/* The products of sm90_products.cu, and rows that threads hand over (sm90_blocks.cu). */
#include "sm90.h"

#include <string.h>

/* C = 1 + A * B of 64 × 256, k = 64. */
static xgemm_status multiply_wide(const xg_program *program, xg_sim_options how, xg_error *error)
{
    static _Alignas(16) uint16_t b[2 * UNIT_BYTES / 2];
    for (int half = 0; half < 2; half++)
        memcpy(b + half * (UNIT_BYTES / 2), sm90_packed_b + half * UNITS * (UNIT_BYTES / 2),
               UNIT_BYTES);
    const xg_test_args args = {.a = (const float *)(const void *)sm90_packed_a,
                               .b = (const float *)(const void *)b,
                               .c = sm90_result,
                               .c_stride_m = 256};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 3 * UNIT_BYTES + 8,
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0xff, sizeof sm90_result);
    return sm90_launch(&what, how, false, error);
}

static bool wide_is_right(void)
{
    for (int row = 0; row < 64; row++)
        for (int column = 0; column < 256; column++) {
            float sum = 1.0f;
            for (int l = 0; l < DEPTH; l++)
                sum += sm90_a_at(row, l) * sm90_b_at(column, l);
            if (sm90_result[row * 256 + column] != sum)
                return false;
        }
    return true;
}

START_TEST(wide_product_is_right)
{
    static const xg_program wide = PROGRAM(wide);
    xg_error error = {""};
    ck_assert_msg(multiply_wide(&wide, sm90_orders[_i], &error) == XGEMM_OK, "%s", error.text);
    ck_assert(wide_is_right());
}
END_TEST

START_TEST(wrong_swizzle_is_found)
{
    static const xg_program program = PROGRAM(wrong_swizzle);
    xg_error error = {""};
    ck_assert_int_eq(multiply_wide(&program, sm90_orders[_i], &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "swizzle mode 2") != NULL, "%s", error.text);
}
END_TEST

START_TEST(accumulators_used_too_early_are_found)
{
    static const xg_program program = PROGRAM(accumulators_too_early);
    xg_error error = {""};
    const xgemm_status status = multiply_wide(&program, sm90_orders[_i], &error);
    if (sm90_orders[_i].late)
        ck_assert_msg(strstr(error.text, "changed number 3 since it issued") != NULL, "%s",
                      error.text);
    else
        ck_assert_int_eq(status, XGEMM_OK);
}
END_TEST

/* A tile by one warpgroup with two tiles of accumulators, of which one is always in flight. */
static xgemm_status multiply_in_turns(const xg_program *program, xg_sim_options how, bool traced,
                                      xg_error *error)
{
    enum { FEW = 3, PART = FEW * UNIT_BYTES / 4 };
    const xg_test_args args = {.k = FEW,
                               .a = (const float *)(const void *)sm90_packed_a,
                               .b = (const float *)(const void *)sm90_packed_b,
                               .c = sm90_result,
                               .c_stride_m = TILE};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 2 * FEW * UNIT_BYTES + 8,
                            .regions = {sm90_memory("A", args.a, 1, PART),
                                        sm90_memory("B", args.b, 1, PART),
                                        sm90_memory("C", sm90_result, TILE, TILE)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0xff, sizeof sm90_result);
    return sm90_launch(&what, how, traced, error);
}

static bool in_turns_is_right(void)
{
    for (int row = 0; row < TILE; row++)
        for (int column = 0; column < TILE; column++) {
            float sum = 0.0f;
            for (int l = 0; l < 3 * DEPTH; l++)
                sum += sm90_a_at(row, l) * sm90_b_at(column, l);
            if (sm90_result[row * TILE + column] != sum)
                return false;
        }
    return true;
}

START_TEST(accumulators_in_turns_are_right)
{
    static const xg_program turns = PROGRAM(in_turns), early = PROGRAM(turns_too_early);
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        xg_error error = {""};
        ck_assert_msg(!multiply_in_turns(&turns, sm90_orders[_i], traced, &error), "%s",
                      error.text);
        ck_assert(in_turns_is_right());
        const xgemm_status status = multiply_in_turns(&early, sm90_orders[_i], traced, &error);
        ck_assert(status != XGEMM_OK || !in_turns_is_right());
    }
}
END_TEST

/* What threads stored and pass on: A's first rows as they are, to one block. */
static xgemm_status run_stored(const xg_program *program, uint32_t threads, xg_sim_options how,
                               bool traced, xg_error *error)
{
    static float numbers[TILE * DEPTH];
    for (int i = 0; i < TILE * DEPTH; i++)
        numbers[i] = sm90_a_at(i / DEPTH, i % DEPTH);
    const xg_test_args args = {
        .m = 9, .a = numbers, .c = sm90_result, .a_stride_m = DEPTH, .c_stride_m = TILE};
    const xg_launch what = {.program = program,
                            .grid = {1, 1, 1},
                            .block = {threads, 1, 1},
                            .shared_bytes = UNIT_BYTES,
                            .regions = {[0] = sm90_memory("A", numbers, TILE, DEPTH),
                                        [2] = sm90_memory("C", sm90_result, TILE, TILE)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0xff, sizeof sm90_result);
    return sm90_launch(&what, how, traced, error);
}

static bool stored_is_right(void)
{
    for (int row = 0; row < 64; row++)
        for (int column = 0; column < TILE; column++) {
            float sum = 0.0f;
            for (int l = 0; l < DEPTH; l++)
                sum += sm90_a_at(row, l) * sm90_a_at(column, l);
            if (sm90_result[row * TILE + column] != sum)
                return false;
        }
    return true;
}

/* So many columns, of which each 32 are mirrored. */
static bool handed_is_right(int columns)
{
    for (int row = 0; row < 9; row++)
        for (int column = 0; column < columns; column++)
            if (sm90_result[row * TILE + column] !=
                sm90_a_at(row, column / 32 * 32 + 31 - column % 32))
                return false;
    return true;
}

START_TEST(stored_operands_are_right)
{
    static const xg_program stored = PROGRAM(stored), handed = PROGRAM(handed);
    static const xg_program mirrored = PROGRAM(mirrored), bf16 = PROGRAM(stored_bf16);
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        xg_error error = {""};
        ck_assert_msg(!run_stored(&stored, 128, sm90_orders[_i], traced, &error), "%s", error.text);
        ck_assert(stored_is_right());
        ck_assert_msg(!run_stored(&bf16, 128, sm90_orders[_i], traced, &error), "%s", error.text);
        ck_assert(stored_is_right());
        ck_assert_msg(!run_stored(&handed, 64, sm90_orders[_i], traced, &error), "%s", error.text);
        ck_assert(handed_is_right(32));
        ck_assert_msg(!run_stored(&mirrored, 64, sm90_orders[_i], traced, &error), "%s",
                      error.text);
        ck_assert(handed_is_right(64));
    }
}
END_TEST

#ifdef WITH_TRACE
/* Found in every order, as the trace asks what came before, not what came first. */
START_TEST(trace_finds_unordered_stores)
{
    static const struct {
        xg_program program;
        uint32_t threads;
        const char *complaints[2];
    } wrong[] = {
        {PROGRAM(no_async_fence),
         128,
         {"wrote without xg_fence_proxy_async() after it: dynamic[", "?"}},
        {PROGRAM(no_store_barrier),
         128,
         {"another thread writes without a barrier between: dynamic[", "?"}},
        {PROGRAM(handed_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(overwritten),
         64,
         {"another thread reads without a barrier between: dynamic[",
          "waits without end at the barrier"}},
        {PROGRAM(taken_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(mirrored_early),
         64,
         {"another thread writes without a barrier between: dynamic[", "what nothing wrote"}},
        {PROGRAM(mirrored_over),
         64,
         {"another thread reads without a barrier between: dynamic[",
          "another thread writes without a barrier between: dynamic["}},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        xg_error error = {""};
        const xgemm_status status =
            run_stored(&wrong[i].program, wrong[i].threads, sm90_orders[_i], true, &error);
        ck_assert_msg(status == XGEMM_ERROR_LAUNCH, "%s passed", wrong[i].program.symbol);
        ck_assert_msg(strstr(error.text, wrong[i].complaints[0]) ||
                          strstr(error.text, wrong[i].complaints[1]),
                      "%s", error.text);
    }
}
END_TEST
#endif

/* One thread issues a product of BF16, the others of FP16. */
START_TEST(different_types_are_found)
{
    static const xg_program program = PROGRAM(different_types);
    xg_error error = {""};
    ck_assert_int_eq(run_stored(&program, 128, sm90_orders[_i], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "issues another matrix product than") != NULL, "%s",
                  error.text);
}
END_TEST

TCase *sm90_products(void)
{
    TCase *tests = tcase_create("products");
    tcase_add_unchecked_fixture(tests, sm90_prepare, NULL);
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, wide_product_is_right, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, wrong_swizzle_is_found, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, accumulators_used_too_early_are_found, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, accumulators_in_turns_are_right, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, stored_operands_are_right, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, different_types_are_found, 0, SM90_ORDERS);
#ifdef WITH_TRACE
    tcase_add_loop_test(tests, trace_finds_unordered_stores, 0, SM90_ORDERS);
#endif
    return tests;
}
