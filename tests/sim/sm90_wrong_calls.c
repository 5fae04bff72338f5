/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrong calls of sm90_wrong_calls.cu. */
#include "sm90.h"

#include <string.h>

/* What kernel wrong_call is told for its case of that number. */
static const char *const wrong_calls[] = {
    "waits at a barrier at 0x808 of block 0, where none was initialised",
    "initialises the barrier at 0x800 a second time",
    "initialises a barrier with 0 arrivals",
    "at 0x804, which is no multiple of 8",
    "of block 1 of a cluster of 1",
    "expects 1048576 bytes",
    "waits at a barrier for parity 2",
    "arrives at a barrier outside the dynamic shared memory: 8 bytes at 0xc00",
    "without having arrived there",
    "arrives at the cluster's barrier twice",
    "copies to shared memory outside the dynamic shared memory: 32 bytes at 0xbf0",
    "all three must be multiples of 16",
    "has not had 16 bytes that were expected",
    "has had 16 bytes that nobody expected",
    "reads 4 bytes at 0x402, which is no multiple of 4",
    "asks for 20 registers",
    "has changed its registers",
    "takes the shared address of what is not in the block's dynamic shared memory",
    "has not waited for the matrix product of sm90_wrong_calls.cu",
    "multiplies what is outside the dynamic shared memory",
    "or it was overwritten",
    "was launched without one",
    "the barrier of number 0; they are 1 to 15",
    "for 48 threads; these must be whole warps",
    "threads, and others there for",
    "waits without end for 128 threads at a named barrier: 96 have come",
    "copies a tile, and was launched without tensor maps",
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
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, wrong_call_is_told, 0, COUNT(wrong_calls));
    return tests;
}
