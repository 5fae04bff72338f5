/* SPDX-License-Identifier: BSD-3-Clause */
/* The pipelined kernel of sm90_kernels.cu, and its wrong twins. */
#include "sm90.h"

#include <string.h>

/* The kernel or a twin on clusters of two blocks, "clusters" of them for each tile of B. */
static xgemm_status multiply(const xg_program *program, xg_sim_options how, bool traced,
                             xg_error *error)
{
    const xg_test_args args = {.m = M,
                               .n = N,
                               .k = UNITS,
                               .a = (const float *)(const void *)sm90_packed_a,
                               .b = (const float *)(const void *)sm90_packed_b,
                               .c = sm90_result,
                               .c_stride_m = N};
    const xg_launch what = {.program = program,
                            .grid = {M / TILE, N / TILE, 1},
                            .block = {384, 1, 1},
                            .cluster = 2,
                            .shared_bytes = SHARED_BYTES,
                            .regions = {sm90_memory("A", args.a, 1, M * K / 2),
                                        sm90_memory("B", args.b, 1, N * K / 2),
                                        sm90_memory("C", sm90_result, M, N)},
                            .arguments = &args,
                            .arguments_size = sizeof args};
    memset(sm90_result, 0xff, sizeof sm90_result);
    return sm90_launch(&what, how, traced, error);
}

static const xg_program right = PROGRAM(right);

START_TEST(right_kernel_is_right)
{
    xg_error error = {""};
    const xgemm_status status = multiply(&right, sm90_orders[_i], false, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    ck_assert_mem_eq(sm90_result, sm90_expected, sizeof sm90_result);
}
END_TEST

typedef struct {
    xg_program program;
    const char *complaint; /* in one order at least; NULL: wrong results */
    bool in_all;           /* found in every order */
} mistake;

static const mistake mistakes[] = {
    {PROGRAM(no_full_wait), "copies to what a matrix product still reads", true},
    {PROGRAM(no_empty_wait), "which has had its 1 arrivals in phase 0", true},
    {PROGRAM(no_expect), "waits without end at the barrier", true},
    {PROGRAM(wrong_bytes), "multiplies what a bulk copy has not brought yet", true},
    {PROGRAM(odd_bytes), "all three must be multiples of 16", true},
    {PROGRAM(wrong_mask), "copies to the blocks 0x7 of a cluster of 2", true},
    {PROGRAM(wrong_full_parity), "copies to what a matrix product still reads", true},
    {PROGRAM(wrong_empty_parity), "its phase 0 lacks 4 of 4 arrivals and 0 bytes", true},
    {PROGRAM(few_arrivals), "copies to what a matrix product still reads", false},
    {PROGRAM(early_release), "copies to what a matrix product still reads", false},
    {PROGRAM(no_release), "for parity 0: its phase 0 lacks 4 of 4 arrivals", true},
    {PROGRAM(misaligned), "it must begin at a multiple of 1024", true},
    {PROGRAM(different_operands), "issues another matrix product than", true},
    {PROGRAM(absent_thread), "issues another matrix product than", true},
    {PROGRAM(leaving_thread), "thread 5 of the warpgroup has issued 4 of 8", true},
    {PROGRAM(left_over), "nobody has waited for the copy of sm90_kernels.cu", true},
    {PROGRAM(no_product_wait), NULL, true},
    {PROGRAM(no_product_fence), "with no xg_wgmma_fence()", true},
    {PROGRAM(no_init_fence), "only after xg_mbarrier_init_fence()", true},
    {PROGRAM(no_first_join), "where none was initialised", false},
    {PROGRAM(no_last_join), "which has left the kernel", false},
};

/* The orders in which a run of a wrong kernel fails or is wrong; whether the complaint was made. */
static int count_found(const mistake *of, bool traced, bool *complained)
{
    int found = 0;
    *complained = false;
    for (int order = 0; order < SM90_ORDERS; order++) {
        xg_error error = {""};
        const xgemm_status status = multiply(&of->program, sm90_orders[order], traced, &error);
        const bool wrong = !status && memcmp(sm90_result, sm90_expected, sizeof sm90_result) != 0;
        if (status)
            ck_assert_msg(strstr(error.text, " sm90_kernels.cu:") != NULL, "%s", error.text);
        found += status != XGEMM_OK || wrong;
        *complained |= of->complaint ? strstr(error.text, of->complaint) != NULL : wrong;
    }
    return found;
}

START_TEST(wrong_twin_is_found)
{
    const mistake *of = &mistakes[_i];
    bool complained;
    const int found = count_found(of, false, &complained);
    ck_assert_msg(complained, "%s: no order complains as expected", of->program.symbol);
    if (of->in_all)
        ck_assert_msg(found == SM90_ORDERS, "%s: found in %d orders", of->program.symbol, found);
}
END_TEST

/* Threads that were stopped in the middle, and what was in flight then, leave nothing behind. */
START_TEST(right_kernel_is_right_after_wrong)
{
    for (int late = 0; late < 2; late++) {
        xg_error error = {""};
        const xg_sim_options how = {.late = late != 0};
        multiply(&mistakes[_i].program, how, false, &error);
        ck_assert_msg(multiply(&right, how, false, &error) == XGEMM_OK, "%s", error.text);
        ck_assert_mem_eq(sm90_result, sm90_expected, sizeof sm90_result);
    }
}
END_TEST

#ifdef WITH_TRACE
START_TEST(trace_finds_nothing_in_right_kernel)
{
    xg_error error = {""};
    const xgemm_status status = multiply(&right, sm90_orders[_i], true, &error);
    ck_assert_msg(status == XGEMM_OK, "%s", error.text);
    ck_assert_mem_eq(sm90_result, sm90_expected, sizeof sm90_result);
}
END_TEST

START_TEST(trace_finds_wrong_twin)
{
    const mistake *of = &mistakes[_i];
    bool complained;
    ck_assert_int_ge(count_found(of, true, &complained), of->in_all ? SM90_ORDERS : 1);
}
END_TEST

START_TEST(trace_counts_what_copies_read)
{
    const int64_t tiles = M / TILE * (N / TILE), copies = tiles * UNITS;
    xg_sim_options how = {.trace = xg_trace_new()};
    xg_error error = {""};
    int count, found = 0;
    ck_assert_ptr_nonnull(how.trace);
    ck_assert_int_eq(multiply(&right, how, false, &error), XGEMM_OK);
    const xg_trace_site *sites = xg_trace_sites(how.trace, &count);
    for (int i = 0; i < count; i++) {
        const int64_t bytes = sites[i].array[0] == 'A' ? UNIT_BYTES : UNIT_BYTES / 2;
        if (sites[i].is_shared || sites[i].is_store)
            continue;
        found++;
        ck_assert_int_eq(sites[i].requests, copies);
        ck_assert_int_eq(sites[i].sectors, copies * bytes / 32);
        ck_assert_int_eq(sites[i].cache_lines, copies * bytes / 128);
    }
    xg_trace_free(how.trace);
    ck_assert_int_eq(found, 2);
}
END_TEST
#endif

TCase *sm90_pipeline(void)
{
    TCase *tests = tcase_create("pipeline");
    tcase_add_unchecked_fixture(tests, sm90_prepare, NULL);
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, right_kernel_is_right, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, wrong_twin_is_found, 0, COUNT(mistakes));
    tcase_add_loop_test(tests, right_kernel_is_right_after_wrong, 0, COUNT(mistakes));
#ifdef WITH_TRACE
    tcase_add_loop_test(tests, trace_finds_nothing_in_right_kernel, 0, SM90_ORDERS);
    tcase_add_loop_test(tests, trace_finds_wrong_twin, 0, COUNT(mistakes));
    tcase_add_test(tests, trace_counts_what_copies_read);
#endif
    return tests;
}
