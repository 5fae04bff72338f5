/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles by TMA: C = A + B, whose edges no tile ends at, and twins that are wrong. */
#include "sm90.h"

#include <string.h>

enum { HIGH = 37, WIDE = 75, LD = 76 };
enum { STEPS = (HIGH + SUM_ROWS - 1) / SUM_ROWS, ACROSS = (WIDE + SUM_WIDTH - 1) / SUM_WIDTH };
enum { C_HIGH = STEPS * SUM_ROWS, C_WIDE = ACROSS * SUM_WIDTH };

static _Alignas(16) float a[HIGH * LD], b[HIGH * LD];
static float c[C_HIGH * C_WIDE];

static xg_tensor tensor(const float *base)
{
    return (xg_tensor){.base = base,
                       .element_bytes = sizeof *base,
                       .columns = WIDE,
                       .rows = HIGH,
                       .stride_bytes = LD * sizeof *base,
                       .box_columns = SUM_WIDTH,
                       .box_rows = SUM_ROWS};
}

static xgemm_status add(const xg_program *program, xg_sim_options how, bool traced, xg_error *error)
{
    const xg_test_args args = {.k = STEPS, .a = a, .b = b, .c = c, .c_stride_m = C_WIDE};
    const xg_launch what = {.program = program,
                            .grid = {ACROSS, 1, 1},
                            .block = {SUM_THREADS, 1, 1},
                            .shared_bytes = SUM_STAGES * (2 * SUM_BYTES + 16),
                            .regions = {sm90_memory("A", a, HIGH, LD),
                                        sm90_memory("B", b, HIGH, LD),
                                        sm90_memory("C", c, C_HIGH, C_WIDE)},
                            .arguments = &args,
                            .arguments_size = sizeof args,
                            .tensors = {tensor(a), tensor(b)}};
    for (int i = 0; i < HIGH * LD; i++)
        a[i] = (float)(i % 1021), b[i] = (float)(i % 509) / 512.0f;
    memset(c, 0xff, sizeof c);
    return sm90_launch(&what, how, traced, error);
}

/* What is past the edges is zero. */
static bool is_right(void)
{
    for (int line = 0; line < C_HIGH; line++)
        for (int x = 0; x < C_WIDE; x++) {
            const int at = line * LD + x;
            const float sum = line < HIGH && x < WIDE ? a[at] + b[at] : 0.0f;
            if (c[line * C_WIDE + x] != sum)
                return false;
        }
    return true;
}

START_TEST(tiles_are_copied)
{
    static const xg_program right = PROGRAM(tiles);
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        xg_error error = {""};
        ck_assert_msg(!add(&right, sm90_orders[_i], traced, &error), "%s", error.text);
        ck_assert(is_right());
    }
}
END_TEST

static const struct {
    xg_program program;
    bool in_all;               /* found in every order without the trace, too */
    const char *complaints[4]; /* one of them is made; or the results are wrong */
} wrong[] = {
    {PROGRAM(tiles_misaligned), true, {"which is no multiple of 128"}},
    {PROGRAM(tiles_between), true, {"which is no multiple of 4"}},
    {PROGRAM(tiles_without_wait),
     false,
     {"writes without a barrier between", "has not brought yet", "what nothing wrote",
      "the barrier at 0x"}},
    {PROGRAM(tiles_overwritten),
     false,
     {"reads without a barrier between", "has not brought yet", "the barrier at 0x"}},
    {PROGRAM(tiles_few_bytes),
     true,
     {" bytes", "writes without a barrier between", "has not brought yet"}},
};

static bool is_expected(const char *text, const char *const *complaints)
{
    for (int i = 0; i < 4 && complaints[i]; i++)
        if (strstr(text, complaints[i]))
            return true;
    return false;
}

START_TEST(wrong_tiles_are_found)
{
    for (int traced = 0; traced <= CAN_TRACE; traced++) {
        int found = 0;
        for (int order = 0; order < SM90_ORDERS; order++) {
            xg_error error = {""};
            const xgemm_status status = add(&wrong[_i].program, sm90_orders[order], traced, &error);
            ck_assert_msg(!status || is_expected(error.text, wrong[_i].complaints), "%s",
                          error.text);
            found += status || !is_right();
        }
        ck_assert_msg(found > 0, "%s passed", wrong[_i].program.symbol);
        ck_assert_msg(found == SM90_ORDERS || !(wrong[_i].in_all || traced), "%s: found in %d",
                      wrong[_i].program.symbol, found);
    }
}
END_TEST

TCase *sm90_tiles(void)
{
    TCase *tiles = tcase_create("tiles");
    tcase_set_timeout(tiles, 1800);
    tcase_add_loop_test(tiles, tiles_are_copied, 0, SM90_ORDERS);
    tcase_add_loop_test(tiles, wrong_tiles_are_found, 0, COUNT(wrong));
    return tiles;
}
