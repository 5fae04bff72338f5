/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers take turns, keep their stacks and their registers, and start again with another job; with
 * the switch of this machine, and with ucontext, which they use under a shadow stack.
 */
#include "backend/sim/fiber.h"

#include <check.h>
#include <stdlib.h>

enum { FIBERS = 5, TURNS = 7 };

static xg_fiber *fibers[FIBERS];
static int current, jobs_done;
static int order[4 * FIBERS * TURNS], ordered;

/* Sums numbers of its own over its turns: what is on its stack must be there after each pause. */
static void body(void)
{
    const int number = current;
    volatile int on_stack[64];
    int sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < 64; i++)
            on_stack[i] = 1000 * number + turn + i;
        order[ordered++] = number;
        ck_assert(xg_fiber_owns((uintptr_t)on_stack));
        xg_fiber_pause();
        for (int i = 0; i < 64; i++)
            sum += on_stack[i] - i;
    }
    ck_assert_int_eq(sum, 64 * (TURNS * 1000 * number + TURNS * (TURNS - 1) / 2));
    jobs_done++;
    xg_fiber_pause();
}

static void resume(int number)
{
    current = number;
    xg_fiber_resume(fibers[number]);
}

static void take_turns(void)
{
    for (int i = 0; i < FIBERS; i++)
        ck_assert_ptr_nonnull(fibers[i] = xg_fiber_new(body));
    for (int job = 0; job < 2; job++) {
        ordered = jobs_done = 0;
        for (int turn = 0; turn <= TURNS; turn++)
            for (int i = 0; i < FIBERS; i++)
                resume(i);
        ck_assert_int_eq(jobs_done, FIBERS);
        ck_assert_int_eq(ordered, FIBERS * TURNS);
        for (int i = 0; i < ordered; i++)
            ck_assert_int_eq(order[i], i % FIBERS);
    }
    for (int i = 0; i < FIBERS; i++)
        xg_fiber_free(fibers[i]);
}

START_TEST(by_the_machines_switch)
{
    xg_fiber_use_ucontext(false);
    take_turns();
}
END_TEST

START_TEST(by_ucontext)
{
    xg_fiber_use_ucontext(true);
    take_turns();
}
END_TEST

static void first(void)
{
    order[ordered++] = 1;
    xg_fiber_hand_over(fibers[1]);
    order[ordered++] = 3;
    xg_fiber_pause();
}

static void second(void)
{
    order[ordered++] = 2;
    xg_fiber_hand_over(fibers[0]);
}

static void hand_over(void)
{
    ordered = 0;
    fibers[0] = xg_fiber_new(first);
    fibers[1] = xg_fiber_new(second);
    ck_assert_ptr_nonnull(fibers[0]);
    ck_assert_ptr_nonnull(fibers[1]);
    xg_fiber_resume(fibers[0]);
    ck_assert_int_eq(ordered, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(order[i], i + 1);
    xg_fiber_free(fibers[0]);
    xg_fiber_free(fibers[1]);
}

START_TEST(hand_over_past_the_scheduler)
{
    xg_fiber_use_ucontext(_i == 1);
    hand_over();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fibers");
    TCase *turns = tcase_create("turns");
    tcase_add_test(turns, by_the_machines_switch);
    tcase_add_test(turns, by_ucontext);
    tcase_add_loop_test(turns, hand_over_past_the_scheduler, 0, 2);
    suite_add_tcase(suite, turns);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
