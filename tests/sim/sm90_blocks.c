/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that read one another's shared memory, or wait for one another (sm90_blocks.cu). */
#include "sm90.h"

#include <string.h>

/* Each of "blocks" blocks reads from the next one. */
static xgemm_status read_neighbours(const xg_program *program, uint32_t blocks, uint32_t threads,
                                    bool traced, xg_sim_options how, xg_error *error)
{
    static float numbers[4096];
    for (int i = 0; i < COUNT(numbers); i++)
        numbers[i] = (float)(i % 2048);
    const xg_test_args args = {.m = blocks, .k = 1, .a = numbers, .c = sm90_result};
    const xg_launch what = {.program = program,
                            .grid = {blocks, 1, 1},
                            .block = {threads, 1, 1},
                            .cluster = blocks,
                            .shared_bytes = threads * 4,
                            .regions = {[0] = sm90_memory("A", numbers, 1, COUNT(numbers)),
                                        [2] = sm90_memory("C", sm90_result, 1, COUNT(numbers))},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0xff, sizeof sm90_result);
    return sm90_launch(&what, how, traced, error);
}

START_TEST(blocks_read_one_another)
{
    static const xg_program program = PROGRAM(neighbour);
    static const struct {
        uint32_t blocks, threads;
    } sizes[] = {{1, 64}, {2, 512}, {4, 256}, {2, 384}, {16, 256}, {4, 1024}};
    for (int size = 0; size < COUNT(sizes); size++) {
        const uint32_t blocks = sizes[size].blocks, threads = sizes[size].threads;
        xg_error error = {""};
        ck_assert_msg(!read_neighbours(&program, blocks, threads, false, sm90_orders[_i], &error),
                      "%s", error.text);
        for (uint32_t i = 0; i < blocks * threads; i++)
            ck_assert_float_eq(sm90_result[i], (float)((i + threads) % (blocks * threads) % 2048));
    }
}
END_TEST

static int count_failed_reads(const xg_program *program, bool traced, const char *complaint)
{
    int found = 0;
    for (int order = 0; order < SM90_ORDERS; order++) {
        xg_error error = {""};
        const bool failed =
            read_neighbours(program, 2, 64, traced, sm90_orders[order], &error) != XGEMM_OK;
        bool wrong = false;
        for (int i = 0; !failed && i < 128; i++)
            wrong |= sm90_result[i] != (float)((i + 64) % 128);
        if (failed)
            ck_assert_msg(complaint && strstr(error.text, complaint), "%s", error.text);
        found += failed || wrong;
    }
    return found;
}

START_TEST(read_without_barrier_is_found)
{
    static const xg_program early = PROGRAM(read_too_early), leave = PROGRAM(leave_too_early);
    ck_assert_int_gt(count_failed_reads(&early, false, NULL), 0);
    ck_assert_int_gt(count_failed_reads(&leave, false, "reads shared memory of block"), 0);
}
END_TEST

#ifdef WITH_TRACE
START_TEST(trace_finds_read_without_barrier)
{
    static const xg_program right_one = PROGRAM(neighbour), early = PROGRAM(read_too_early);
    ck_assert_int_eq(count_failed_reads(&right_one, true, NULL), 0);
    ck_assert_int_gt(count_failed_reads(&early, true, "reads what "), 0);
}
END_TEST
#endif

static void assert_refuses(const xg_program *program, uint32_t blocks, uint32_t threads,
                           const char *complaint)
{
    xg_error error = {""};
    ck_assert_int_eq(read_neighbours(program, blocks, threads, false, sm90_orders[0], &error),
                     XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, complaint) != NULL, "%s", error.text);
}

START_TEST(impossible_clusters_are_refused)
{
    static const xg_program program = PROGRAM(neighbour);
    assert_refuses(&program, 17, 32, "at most 16 blocks and 4096 threads");
    assert_refuses(&program, 8, 1024, "at most 16 blocks and 4096 threads");
    assert_refuses(&program, 2, 48, "blocks of whole warps");
    xg_error error = {""};
    const xg_launch odd = {
        .program = &program, .grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = 2};
    ck_assert_int_eq(sm90_launch(&odd, sm90_orders[0], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "a multiple of their 2 blocks") != NULL, "%s", error.text);
}
END_TEST

/* Blocks that count in C and wait for one another's counts. */
static xgemm_status wait_in_turn(const xg_program *program, bool traced, xg_sim_options how,
                                 xg_error *error)
{
    const xg_test_args args = {.c = sm90_result};
    const xg_launch what = {.program = program,
                            .grid = {3, 1, 1},
                            .block = {64, 1, 1},
                            .regions = {[2] = sm90_memory("C", sm90_result, 1, 3)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0, sizeof sm90_result);
    return sm90_launch(&what, how, traced, error);
}

START_TEST(blocks_wait_for_earlier_ones_alone)
{
    static const xg_program right = PROGRAM(in_turn), wrong = PROGRAM(out_of_turn);
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        unsigned counts[3];
        xg_error error = {""};
        ck_assert_msg(!wait_in_turn(&right, traced, sm90_orders[_i], &error), "%s", error.text);
        memcpy(counts, sm90_result, sizeof counts);
        for (int i = 0; i < COUNT(counts); i++)
            ck_assert_uint_eq(counts[i], 2);
        ck_assert_int_eq(wait_in_turn(&wrong, traced, sm90_orders[_i], &error), XGEMM_ERROR_LAUNCH);
        ck_assert_msg(strstr(error.text, "waits for a count of 2 that is 0") != NULL, "%s",
                      error.text);
    }
}
END_TEST

#ifndef WITHOUT_SECTIONS
START_TEST(static_memory_in_cluster_is_refused)
{
    static const xg_program with = PROGRAM(static_memory), without = PROGRAM(no_static);
    xg_error error = {""};
    ck_assert_msg(!read_neighbours(&without, 2, 64, false, sm90_orders[0], &error), "%s",
                  error.text);
    assert_refuses(&with, 2, 64, "it has static shared memory");
}
END_TEST
#endif

TCase *sm90_blocks(void)
{
    TCase *tests = tcase_create("blocks");
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, blocks_read_one_another, 0, SM90_ORDERS);
    tcase_add_test(tests, read_without_barrier_is_found);
    tcase_add_test(tests, impossible_clusters_are_refused);
    tcase_add_loop_test(tests, blocks_wait_for_earlier_ones_alone, 0, SM90_ORDERS);
#ifndef WITHOUT_SECTIONS
    tcase_add_test(tests, static_memory_in_cluster_is_refused);
#endif
#ifdef WITH_TRACE
    tcase_add_test(tests, trace_finds_read_without_barrier);
#endif
    return tests;
}
