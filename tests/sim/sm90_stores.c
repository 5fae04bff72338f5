/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles to C by TMA, whose edges no tile ends at, and twins that are wrong. */
#include "sm90.h"

#include <string.h>

/* 16-bit elements, of which two are a float here; C's rows are longer than what is stored. */
enum { HIGH = 37, WIDE = 136, LD = 144 };
enum { STEPS = (HIGH + BOX_ROWS - 1) / BOX_ROWS, ACROSS = (WIDE + BOX_WIDTH - 1) / BOX_WIDTH };

static _Alignas(16) uint16_t a[HIGH * WIDE], c[(HIGH + 1) * LD];

static xgemm_status store(const xg_program *program, int wide, xg_sim_options how, bool traced,
                          xg_error *error)
{
    const xg_test_args args = {.m = HIGH,
                               .n = WIDE,
                               .k = STEPS,
                               .a = (const float *)(const void *)a,
                               .c = (float *)(void *)c,
                               .a_stride_m = WIDE / 2};
    const xg_launch what = {.program = program,
                            .grid = {ACROSS, 1, 1},
                            .block = {32, 1, 1},
                            .shared_bytes = 2 * BOX_BYTES,
                            .regions = {sm90_memory("A", args.a, HIGH, WIDE / 2), {0},
                                        sm90_memory("C", args.c, HIGH, LD / 2)},
                            .arguments = &args,
                            .arguments_size = sizeof args,
                            .tensors = {[2] = {.base = c,
                                               .element_bytes = sizeof *c,
                                               .columns = wide,
                                               .rows = HIGH,
                                               .stride_bytes = LD * sizeof *c,
                                               .box_columns = BOX_WIDTH,
                                               .box_rows = BOX_ROWS,
                                               .matrices = 1,
                                               .matrix_stride_bytes = HIGH * LD * sizeof *c,
                                               .swizzled = true}}};
    for (int i = 0; i < HIGH * WIDE; i++)
        a[i] = (uint16_t)(i * 7 + 1);
    memset(c, 0xff, sizeof c);
    return sm90_launch(&what, how, traced, error);
}

/* What is past the edges is as it was. */
static bool is_right(void)
{
    for (int row = 0; row <= HIGH; row++)
        for (int x = 0; x < LD; x++) {
            const uint16_t want = row < HIGH && x < WIDE ? a[row * WIDE + x] : 0xffff;
            if (c[row * LD + x] != want)
                return false;
        }
    return true;
}

START_TEST(tiles_are_stored)
{
    static const xg_program right = PROGRAM(stores);
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        xg_error error = {""};
        ck_assert_msg(!store(&right, WIDE, sm90_orders[_i], traced, &error), "%s", error.text);
        ck_assert(is_right());
    }
}
END_TEST

static const struct {
    xg_program program;
    bool without_trace; /* found without the trace, too, in some order */
    const char *complaint;
} wrong[] = {
    {PROGRAM(stores_misaligned), true, "which is no multiple of 16"},
    {PROGRAM(stores_overwritten), true, NULL},
    {PROGRAM(stores_unfenced), false, "stores what a thread wrote without xg_fence_proxy_async()"},
    {PROGRAM(stores_unsynchronised), false, "stores what another thread writes without a barrier"},
    {PROGRAM(stores_left), true, "its thread leaves the kernel without waiting"},
};

START_TEST(wrong_stores_are_found)
{
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        int found = 0;
        for (int order = 0; order < SM90_ORDERS; order++) {
            xg_error error = {""};
            const xgemm_status status =
                store(&wrong[_i].program, WIDE, sm90_orders[order], traced, &error);
            ck_assert_msg(!status || (wrong[_i].complaint &&
                                      strstr(error.text, wrong[_i].complaint)),
                          "%s", error.text);
            found += status || !is_right();
        }
        ck_assert_msg(found > 0 || !(wrong[_i].without_trace || traced), "%s passed",
                      wrong[_i].program.symbol);
    }
}
END_TEST

/* TMA would write beyond the end of a row that is no multiple of 16 bytes. */
START_TEST(cut_units_are_found)
{
    static const xg_program right = PROGRAM(stores);
    xg_error error = {""};
    ck_assert_int_eq(store(&right, WIDE - 1, sm90_orders[0], false, &error), XGEMM_ERROR_LAUNCH);
    ck_assert_msg(strstr(error.text, "stores a tile to rows of 270 bytes") != NULL, "%s",
                  error.text);
}
END_TEST

TCase *sm90_stores(void)
{
    TCase *stores = tcase_create("stores");
    tcase_set_timeout(stores, 1800);
    tcase_add_loop_test(stores, tiles_are_stored, 0, SM90_ORDERS);
    tcase_add_loop_test(stores, wrong_stores_are_found, 0, COUNT(wrong));
    tcase_add_test(stores, cut_units_are_found);
    return stores;
}
