/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels on simulated GPUs of few multiprocessors, where products of a size that a simulator can
 * take have several waves of tiles: stream-K tiles, operands that are copied first, strips that the
 * split into FP16 computes.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>

/* As a GPU of so few multiprocessors would compute it: the simulator; others as they are. */
static void check_layouts_on(const char *simulator, const char *kernel, shape s, int step,
                             float (*draw)(generator *), accuracy how)
{
    setenv("XGEMM_SIM", simulator, 1);
    xgemm_handle *handle = open_handle(test_device());
    unsetenv("XGEMM_SIM");
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_TF32), XGEMM_OK);
    if (xgemm_set_kernel(handle, kernel) == XGEMM_OK)
        for (int layout = 0; layout < LAYOUTS; layout += step) {
            s.gap_a = layout % 2, s.gap_c = layout == 3;
            set_layout(&s, layout);
            check_shape(handle, &s, draw, how, (uint64_t)layout);
        }
    xgemm_destroy(handle);
}

static void check_on(const char *simulator, const char *kernel, shape s, float (*draw)(generator *),
                     accuracy how)
{
    check_layouts_on(simulator, kernel, s, test_effort() >= 100 ? 3 : LAYOUTS, draw, how);
}

/*
 * Stream-K: the tiles of the last wave are split in k among all clusters or blocks, beside
 * data-parallel tiles and without any, in two and in many, with a last k-block by itself, a
 * warpgroup without rows, and a strip. The first case has none: its clusters compute several whole
 * tiles, of which some warps have less.
 */
START_TEST(split_tiles)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"multiprocessors=4,reverse", "fp16x3-128x256", 268, 600, 641},
                 {"multiprocessors=8,shuffle=3,late", "fp16x3-128x256", 256, 1160, 1100},
                 {"multiprocessors=20", "fp16x3-128x256", 513, 130, 1409},
                 {"multiprocessors=3,shuffle=5", "fp16x3-128x128", 256, 256, 900},
                 {"multiprocessors=6,late", "fp16x1-128x256", 257, 1030, 1090},
                 {"multiprocessors=2,late", "tma-128x128", 600, 100, 300},
                 {"multiprocessors=8,shuffle=3", "tma-128x128", 131, 100, 250},
                 {"multiprocessors=12,reverse" CHECKED, "tma-128x128", 131, 200, 200},
                 {"multiprocessors=20", "tma-128x128", 131, 151, 403},
                 {"multiprocessors=4,late" CHECKED, "tma-sliced-64x128", 150, 200, 1000},
                 {"multiprocessors=7,shuffle=4", "tma-sliced-64x64", 100, 100, 1500},
                 {"multiprocessors=4,reverse", "tma-sliced-64x64", 190, 100, 900}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1.0f, .beta = -1.0f};
        check_on(cases[i].simulator, cases[i].kernel, s, random_dyadic, EXACT);
    }
}
END_TEST

/*
 * Few multiprocessors take so long that operands are copied first, aligned: also such whose leading
 * dimensions are no multiple of four, and with split-K.
 */
START_TEST(copied_first)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"multiprocessors=2,late", "sliced-64x64", 129, 257, 100},
                 {"multiprocessors=1,shuffle=2" CHECKED, "sliced-32x64", 66, 131, 203},
                 {"multiprocessors=1,reverse", "sliced-64x128", 150, 130, 90},
                 {"multiprocessors=1,late" CHECKED, "thin-vec4-64x64", 132, 260, 100},
                 {"multiprocessors=1,reverse" CHECKED, "tma-sliced-64x64", 132, 196, 100}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 2.0f, .beta = 1.0f};
        check_layouts_on(cases[i].simulator, cases[i].kernel, s, 3, random_dyadic, EXACT);
    }
}
END_TEST

/* 16-byte loads of K-major operands, which blocks transpose: whole stages of k and a part, edges.
 */
START_TEST(k_major_vec4)
{
    static const struct {
        const char *simulator;
        int64_t m, n, k;
    } cases[] = {
        {"late" CHECKED, 68, 136, 52}, {"reverse,late", 64, 60, 16}, {"shuffle=3", 4, 8, 4}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1.0f, .beta = 0.0f};
        check_layouts_on(cases[i].simulator, "thin-vec4-64x64", s, 1, random_dyadic, EXACT);
    }
}
END_TEST

/*
 * Rows that are aligned and no multiple of four long: a load past their end is another's memory,
 * and the simulator says so. No copies are made first.
 */
START_TEST(ends_of_rows)
{
    static const char *const kernels[] = {
        "sliced-64x64", "sliced-32x64",     "pipelined-scalar-64x128", "thin-64x64-8x4",
        "tma-128x128",  "tma-sliced-64x64", "tma-sliced-64x128"};
    const shape s = {.m = 67, .n = 71, .k = 39, .alpha = 1.0f, .beta = 0.0f};
    for (int i = 0; i < COUNT(kernels); i++)
        check_layouts_on("late" CHECKED, kernels[i], s, 1, random_dyadic, EXACT);
}
END_TEST

/* GEMV with a matrix that is not K-major: blocks of 16 warps, alone and in clusters of two. */
START_TEST(large_blocks)
{
    static const struct {
        const char *simulator;
        int64_t m, n, k;
    } cases[] = {{"multiprocessors=2,late", 1, 64, 1300},
                 {"multiprocessors=3,shuffle=4" CHECKED, 90, 1, 1107},
                 {"processors=4", 61, 1, 2203}, /* the older word */
                 {"multiprocessors=4,reverse", 1, 41, 2180}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = -1.0f, .beta = 0.5f};
        check_layouts_on(cases[i].simulator, "skinny", s, 1, random_real, BOUND);
    }
}
END_TEST

/* Of any exponent: the guard has tiles recomputed, whole ones and stream-K tiles. */
static float random_wide(generator *from)
{
    return ldexpf(random_real(from), random_below(from, 40) - 20);
}

START_TEST(stream_k_tiles_recomputed)
{
    const shape s = {.m = 256, .n = 700, .k = 640, .alpha = 0.5f, .beta = 1.0f};
    check_on("multiprocessors=4,shuffle=9", "fp16x3-128x256", s, random_wide, BOUND);
}
END_TEST

/*
 * More rows than the 2048 of a rasterization group, and several waves of tiles: whole row groups
 * and others, A K-major, where rows may not be aligned, and M-major, with a k past whole k-blocks,
 * wide exponents, and a strip below.
 */
START_TEST(several_raster_groups)
{
    const char *const kernel = "fp16x3-128x256";
    const shape whole = {.m = 2100, .n = 70, .k = 2560, .alpha = 1.0f, .beta = 1.0f};
    const shape ragged = {.m = 2088, .n = 70, .k = 2115, .alpha = -1.0f, .beta = 0.0f};
    const shape strip = {.m = 2305, .n = 64, .k = 2050, .alpha = 1.0f, .beta = 0.5f};
    /* A K-major and M-major. */
    check_layouts_on("multiprocessors=8,late,shuffle=3", kernel, ragged, 3, random_real, BOUND);
    check_on("multiprocessors=8" CHECKED, kernel, strip, random_real, BOUND);
    if (test_effort() < 20)
        return;
    check_on("multiprocessors=8,reverse", kernel, whole, random_real, BOUND);
    check_on("multiprocessors=4", kernel, ragged, random_wide, BOUND);
}
END_TEST

/*
 * Strips of C that the split computes, as few multiprocessors would take longer: as many as it may,
 * in one slice and in several of one k-block and of two, with a k past a multiple of 64, and a
 * corner.
 */
START_TEST(split_strips)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"multiprocessors=2,late" CHECKED, "fp16x3-128x128", 132, 132, 705},
                 {"multiprocessors=2,reverse", "fp16x3-128x64", 130, 129, 500},
                 {"multiprocessors=2,shuffle=3", "fp16x1-128x128", 129, 700, 1100},
                 {"multiprocessors=1", "fp16x3-128x128", 129, 64, 8500},
                 {"multiprocessors=8,late", "fp16x3-128x256", 2305, 257, 2049}};
    for (int i = 0; i < COUNT(cases) - (test_effort() < 20); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 0.5f, .beta = -1.0f};
        check_on(cases[i].simulator, cases[i].kernel, s, random_dyadic, EXACT);
    }
}
END_TEST

static Suite *small_gpus(void)
{
    Suite *suite = suite_create("small GPUs");
    TCase *const waves = add_case(suite, "few multiprocessors");
    tcase_add_test(waves, copied_first);
    tcase_add_test(waves, k_major_vec4);
    tcase_add_test(waves, ends_of_rows);
    tcase_add_test(waves, large_blocks);
    tcase_add_test(waves, split_tiles);
    tcase_add_test(waves, stream_k_tiles_recomputed);
    TCase *const splits = add_case(suite, "splits");
    tcase_add_test(splits, several_raster_groups);
    tcase_add_test(splits, split_strips);
    return suite;
}

int main(void)
{
    return run_suite(small_gpus());
}
