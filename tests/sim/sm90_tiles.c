/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of tiles by maps: C = A + B, whose edges no tile ends at, and twins that are wrong. */
#include "sm90.h"

#include <string.h>

enum { HIGH = 37, WIDE = 75, STEP = 76 };
enum { STAGES = (HIGH + SUM_LINES - 1) / SUM_LINES, ACROSS = (WIDE + SUM_WIDTH - 1) / SUM_WIDTH };
enum { C_HIGH = STAGES * SUM_LINES, C_WIDE = ACROSS * SUM_WIDTH };

static _Alignas(16) float a[HIGH * STEP], b[HIGH * STEP];
static float c[C_HIGH * C_WIDE];

static xg_tiled tiled(const float *base)
{
    return (xg_tiled){base, WIDE, HIGH, STEP, SUM_WIDTH, SUM_LINES};
}

static xgemm_status add(const xg_program *program, xg_sim_options how, bool watched,
                        xg_error *error)
{
    const xg_args args = {.k = STAGES, .a = a, .b = b, .c = c, .c_stride_m = C_WIDE};
    const xg_launch what = {.program = program,
                            .grid = {ACROSS, 1, 1},
                            .block = {SUM_THREADS, 1, 1},
                            .shared_bytes = SUM_SLOTS * (2 * SUM_BYTES + 16),
                            .regions = {sm90_memory("A", a, HIGH, STEP),
                                        sm90_memory("B", b, HIGH, STEP),
                                        sm90_memory("C", c, C_HIGH, C_WIDE)},
                            .arguments = &args,
                            .arguments_size = sizeof args,
                            .tiled = {tiled(a), tiled(b)}};
    for (int i = 0; i < HIGH * STEP; i++)
        a[i] = (float)(i % 1021), b[i] = (float)(i % 509) / 512.0f;
    memset(c, 0xff, sizeof c);
    return sm90_launch(&what, how, watched, error);
}

/* What is past the edges is zero. */
static bool is_right(void)
{
    for (int line = 0; line < C_HIGH; line++)
        for (int x = 0; x < C_WIDE; x++) {
            const int at = line * STEP + x;
            const float sum = line < HIGH && x < WIDE ? a[at] + b[at] : 0.0f;
            if (c[line * C_WIDE + x] != sum)
                return false;
        }
    return true;
}

START_TEST(tiles_are_copied)
{
    static const xg_program right = PROGRAM(tiles);
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        xg_error error = {""};
        ck_assert_msg(!add(&right, sm90_orders[_i], watched, &error), "%s", error.text);
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
    for (int watched = 0; watched <= CAN_WATCH; watched++) {
        int found = 0;
        for (int order = 0; order < SM90_ORDERS; order++) {
            xg_error error = {""};
            const xgemm_status status =
                add(&wrong[_i].program, sm90_orders[order], watched, &error);
            ck_assert_msg(!status || is_expected(error.text, wrong[_i].complaints), "%s",
                          error.text);
            found += status || !is_right();
        }
        ck_assert_msg(found > 0, "%s passed", wrong[_i].program.symbol);
        ck_assert_msg(found == SM90_ORDERS || !(wrong[_i].in_all || watched), "%s: found in %d",
                      wrong[_i].program.symbol, found);
    }
}
END_TEST

TCase *sm90_tiles(void)
{
    TCase *tiles = tcase_create("tiles");
    tcase_set_timeout(tiles, 120);
    tcase_add_loop_test(tiles, tiles_are_copied, 0, SM90_ORDERS);
    tcase_add_loop_test(tiles, wrong_tiles_are_found, 0, COUNT(wrong));
    return tiles;
}
