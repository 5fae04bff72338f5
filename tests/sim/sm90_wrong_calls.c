/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrong calls of sm90_wrong_calls.cu. */
#include "sm90.h"

#include <string.h>

/* What the message of each call must contain. */
static const char *const wrong_calls[] = {
    [CALL_WAIT_UNINITIALIZED] =
        "waits at a barrier at 0x808 of block 0, where none was initialised",
    [CALL_INIT_TWICE] = "initialises the barrier at 0x800 a second time",
    [CALL_INIT_NO_ARRIVALS] = "initialises a barrier with 0 arrivals",
    [CALL_ARRIVE_MISALIGNED] = "at 0x804, which is no multiple of 8",
    [CALL_ARRIVE_AT_ABSENT_RANK] = "of block 1 of a cluster of 1",
    [CALL_EXPECT_TOO_MANY_BYTES] = "expects 1048576 bytes",
    [CALL_WAIT_PARITY_2] = "waits at a barrier for parity 2",
    [CALL_ARRIVE_OUTSIDE_SHARED] =
        "arrives at a barrier outside the dynamic shared memory: 8 bytes at 0xc00",
    [CALL_CLUSTER_WAIT_FIRST] = "without having arrived there",
    [CALL_CLUSTER_ARRIVE_TWICE] = "arrives at the cluster's barrier twice",
    [CALL_COPY_PAST_SHARED] =
        "copies to shared memory outside the dynamic shared memory: 32 bytes at 0xbf0",
    [CALL_COPY_MISALIGNED] = "all three must be multiples of 16",
    [CALL_COPY_FEWER_BYTES] = "has not had 16 bytes that were expected",
    [CALL_COPY_UNEXPECTED] = "has had 16 bytes that nobody expected",
    [CALL_CLUSTER_LOAD_MISALIGNED] = "reads 4 bytes at 0x402, which is no multiple of 4",
    [CALL_SETMAXNREG_TOO_FEW] = "asks for 20 registers",
    [CALL_SETMAXNREG_DIVERGENT] = "has changed its registers",
    [CALL_SHARED_ADDRESS_OF_LOCAL] =
        "takes the shared address of what is not in the block's dynamic shared memory",
    [CALL_WGMMA_NO_WAIT] = "has not waited for the matrix product of sm90_wrong_calls.cu",
    [CALL_WGMMA_OUTSIDE_SHARED] = "multiplies what is outside the dynamic shared memory",
    [CALL_OVERWRITE_BARRIER] = "or it was overwritten",
    [CALL_CLUSTER_STORE_NO_CLUSTER] = "was launched without one",
    [CALL_NAMED_BARRIER_0] = "the barrier of number 0; they are 1 to 15",
    [CALL_NAMED_BARRIER_PART_WARP] = "for 48 threads; these must be whole warps",
    [CALL_NAMED_BARRIER_TWO_COUNTS] = "threads, and others there for",
    [CALL_NAMED_BARRIER_TOO_FEW] =
        "waits without end for 128 threads at a named barrier: 96 have come",
    [CALL_TMA_NO_MAP] = "copies a tile, and was launched without tensor maps",
};

START_TEST(wrong_call_is_told)
{
    static const xg_program program = PROGRAM(wrong_call);
    static _Alignas(16) float numbers[32];
    const xg_test_args args = {.k = _i, .a = numbers};
    const xg_launch what = {.program = &program,
                            .grid = {1, 1, 1},
                            .block = {128, 1, 1},
                            .shared_bytes = 2048,
                            .arguments = &args,
                            .arguments_size = sizeof args};
    xg_error error = {""};
    ck_assert_int_eq(sm90_launch(&what, sm90_orders[0], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, wrong_calls[_i]) != NULL, "%s", error.text);
    ck_assert_msg(strncmp(error.text, "kernel wrong_call, block (0, 0, 0), thread (", 43) == 0,
                  "%s", error.text);
}
END_TEST

TCase *sm90_wrong_calls(void)
{
    TCase *tests = tcase_create("wrong calls");
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, wrong_call_is_told, 0, COUNT(wrong_calls));
    return tests;
}
