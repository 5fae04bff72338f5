/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kernel of the device under test over a mix of sizes, layouts, factors,
 * leading dimensions and places. Dyadic inputs: k <= 257 products of multiples of
 * 2^-14 and at most 1 make sums of at most 9 + 14 bits, which FP32 holds.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 1200 };

static const int64_t sizes[] = {1,  2,  3,  7,  15,  16,  17,  31,  32,
                                33, 63, 64, 65, 100, 127, 128, 129, 257};
static const float factors[] = {0.0f, 1.0f, -1.0f, 0.7f};
static const int64_t gaps[] = {0, 0, 1, 2, 3, 4, 7, 16};
static const int shifts[] = {0, 0, 0, 0, 1, 2, 3, 4};

enum { SIZES = COUNT(sizes), MIX = SIZES * SIZES, FACTORS = COUNT(factors) };
enum { PAIRS = FACTORS * FACTORS };

/* Sizes, layout and factors as numbers: m, n and k are indices of sizes. */
typedef struct {
    int m, n, k, layout, pair;
} choice;

/*
 * Turn by turn n and k run ahead of m by other distances, so that all (m, n)
 * and all (m, k) meet, and (n, k) that are neighbours. A turn has one layout
 * and all pairs of factors: each size meets all layouts as m, n and k, and each
 * layout all pairs of factors.
 */
static choice choose(int run, int variant)
{
    const int m = run % SIZES, turn = run / SIZES % SIZES;
    const choice c = {m, (m + turn) % SIZES, (m + 5 * turn + 1) % SIZES,
                      (turn + 3 * variant) % LAYOUTS, (m + turn + 5 * variant) % PAIRS};
    return c;
}

static shape shape_of(const choice *c, generator *from)
{
    shape s = {.m = sizes[c->m],
               .n = sizes[c->n],
               .k = sizes[c->k],
               .alpha = factors[c->pair / FACTORS],
               .beta = factors[c->pair % FACTORS],
               .gap_a = gaps[random_below(from, COUNT(gaps))],
               .gap_b = gaps[random_below(from, COUNT(gaps))],
               .gap_c = gaps[random_below(from, COUNT(gaps))],
               .shift_a = shifts[random_below(from, COUNT(shifts))],
               .shift_b = shifts[random_below(from, COUNT(shifts))],
               .shift_c = shifts[random_below(from, COUNT(shifts))]};
    set_layout(&s, c->layout);
    if (s.transa == XGEMM_TRANS && random_below(from, 4) == 0)
        s.transa = XGEMM_CONJ_TRANS;
    if (s.transb == XGEMM_TRANS && random_below(from, 4) == 0)
        s.transb = XGEMM_CONJ_TRANS;
    return s;
}

static bool is_whole(float factor)
{
    return factor == 0.0f || factor == 1.0f || factor == -1.0f;
}

/* The mix, in leaps that spread a smaller effort over all of it. */
static void run_mix(int kernel, float (*draw)(generator *), bool dyadic)
{
    xgemm_handle *handle = open_with_kernel(kernel);
    const int runs = (int)((int64_t)MIX * test_effort() / 100);
    for (int run = 0; run < runs || run == 0; run++) {
        const choice c = choose(run * 125 % MIX, dyadic ? 0 : 1);
        generator from = {(uint64_t)run << 8 | (uint64_t)dyadic};
        const shape s = shape_of(&c, &from);
        const bool exact = dyadic && is_whole(s.alpha) && is_whole(s.beta);
        check_shape(handle, &s, draw, exact ? EXACT : BOUND, from.state);
    }
    xgemm_destroy(handle);
}

START_TEST(dyadic_inputs)
{
    run_mix(_i, random_dyadic, true);
}
END_TEST

START_TEST(random_inputs)
{
    run_mix(_i, random_real, false);
}
END_TEST

/* Sizes that several blocks in each direction compute, in every layout; kernels chosen by name. */
START_TEST(larger_sizes)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        shape s = {.m = 259, .n = 387, .k = 49, .alpha = 0.7f, .beta = -1.0f};
        s.gap_a = layout % 3, s.gap_b = layout % 5, s.gap_c = layout % 2;
        s.shift_a = layout % 4, s.shift_b = layout / 2;
        set_layout(&s, layout);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/*
 * A k that kernels compute in parts, in every layout: few parts, which pairs of blocks may add up,
 * and so many that a sum follows; aligned, too, for copies by fours along k.
 */
START_TEST(long_k)
{
    static const int64_t depths[] = {200, 404, 1500};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        shape s = {.m = 36, .n = 20, .k = depths[layout % 3], .alpha = 0.7f, .beta = -1.0f};
        s.gap_c = layout % 2 * 3;
        set_layout(&s, layout);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
        s.m = 37, s.n = 23, s.gap_a = 1;
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/*
 * A k that is one more than whole blocks of 64, which the FP16 parts leave to the end of a tile:
 * tiles that are full and aligned, others, and an edge of fewer rows than a warp has.
 */
START_TEST(one_past_blocks_of_k)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = 0; layout < LAYOUTS; layout += 3) {
        shape s = {.m = 256, .n = 256, .k = layout % 2 ? 65 : 129, .alpha = -1.0f, .beta = 1.0f};
        s.gap_a = layout % 2, s.gap_b = layout % 3, s.gap_c = layout == 3;
        set_layout(&s, layout);
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)layout);
        s.m = 68, s.n = 71;
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Where this build has traced kernels, they run, and what a kernel may not do is found. */
#ifdef WITH_TRACE
#define CHECKED ",check"
#else
#define CHECKED ""
#endif

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
 * Tiles of the last round that all clusters or blocks share: beside whole ones and without any, in
 * two parts and in many, with an end that has a block of k alone, a warpgroup without rows, and a
 * strip. The first case shares none: its clusters have several whole tiles, of which some warps
 * compute less.
 */
START_TEST(shared_tiles)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"processors=4,reverse", "fp16x3-128x256", 268, 600, 641},
                 {"processors=8,shuffle=3,late", "fp16x3-128x256", 256, 1160, 1100},
                 {"processors=20", "fp16x3-128x256", 513, 130, 1409},
                 {"processors=3,shuffle=5", "fp16x3-128x128", 256, 256, 900},
                 {"processors=6,late", "fp16x1-128x256", 257, 1030, 1090},
                 {"processors=2,late", "tma-128x128", 600, 100, 300},
                 {"processors=8,shuffle=3", "tma-128x128", 131, 100, 250},
                 {"processors=12,reverse" CHECKED, "tma-128x128", 131, 200, 200},
                 {"processors=20", "tma-128x128", 131, 151, 403},
                 {"processors=4,late" CHECKED, "tma-sliced-64x128", 150, 200, 1000},
                 {"processors=7,shuffle=4", "tma-sliced-64x64", 100, 100, 1500},
                 {"processors=4,reverse", "tma-sliced-64x64", 190, 100, 900}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1.0f, .beta = -1.0f};
        check_on(cases[i].simulator, cases[i].kernel, s, random_dyadic, EXACT);
    }
}
END_TEST

/*
 * Few multiprocessors take so long that operands are copied first, aligned: also such whose lines
 * are no multiple of four, and with k in parts.
 */
START_TEST(copied_first)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"processors=2,late", "sliced-64x64", 129, 257, 100},
                 {"processors=1,shuffle=2" CHECKED, "sliced-32x64", 66, 131, 203},
                 {"processors=1,reverse", "sliced-64x128", 150, 130, 90},
                 {"processors=1,late" CHECKED, "thin-fours-64x64", 132, 260, 100},
                 {"processors=1,reverse" CHECKED, "tma-sliced-64x64", 132, 196, 100}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 2.0f, .beta = 1.0f};
        check_layouts_on(cases[i].simulator, cases[i].kernel, s, 3, random_dyadic, EXACT);
    }
}
END_TEST

/* Operands in fours along k, which blocks transpose: whole stages of 16 k and a part, edges. */
START_TEST(transposed_fours)
{
    static const struct {
        const char *simulator;
        int64_t m, n, k;
    } cases[] = {
        {"late" CHECKED, 68, 136, 52}, {"reverse,late", 64, 60, 16}, {"shuffle=3", 4, 8, 4}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 1.0f, .beta = 0.0f};
        check_layouts_on(cases[i].simulator, "thin-fours-64x64", s, 1, random_dyadic, EXACT);
    }
}
END_TEST

/*
 * Lines that are aligned and no multiple of four: what is past their end is another's, and the
 * simulator says so. No copies are made first.
 */
START_TEST(ends_of_lines)
{
    static const char *const kernels[] = {
        "sliced-64x64", "sliced-32x64",     "pipelined-words-64x128", "thin-64x64",
        "tma-128x128",  "tma-sliced-64x64", "tma-sliced-64x128"};
    const shape s = {.m = 67, .n = 71, .k = 39, .alpha = 1.0f, .beta = 0.0f};
    for (int i = 0; i < COUNT(kernels); i++)
        check_layouts_on("late" CHECKED, kernels[i], s, 1, random_dyadic, EXACT);
}
END_TEST

/* A matrix times a vector, lines side by side: blocks of 16 warps, alone and in clusters of two. */
START_TEST(large_blocks)
{
    static const struct {
        const char *simulator;
        int64_t m, n, k;
    } cases[] = {{"processors=2,late", 1, 64, 1300},
                 {"processors=3,shuffle=4" CHECKED, 90, 1, 1107},
                 {"processors=4", 61, 1, 2203},
                 {"processors=4,reverse", 1, 41, 2180}};
    for (int i = 0; i < COUNT(cases); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = -1.0f, .beta = 0.5f};
        check_layouts_on(cases[i].simulator, "skinny", s, 1, random_real, BOUND);
    }
}
END_TEST

/* Of any exponent: the guard leaves tiles out, whole ones and shared ones. */
static float random_wide(generator *from)
{
    return ldexpf(random_real(from), random_below(from, 40) - 20);
}

START_TEST(shared_tiles_left_out)
{
    const shape s = {.m = 256, .n = 700, .k = 640, .alpha = 0.5f, .beta = 1.0f};
    check_on("processors=4,shuffle=9", "fp16x3-128x256", s, random_wide, BOUND);
}
END_TEST

/*
 * Lines of A that the product splits itself, beyond its first 2048 rows: whole groups of 16 and
 * others, along k, where they may not be aligned, and side by side, with a k past whole steps, wide
 * exponents, and a strip below. So few multiprocessors have rounds of tiles enough before them.
 */
START_TEST(late_lines)
{
    const char *const kernel = "fp16x3-128x256";
    const shape whole = {.m = 2100, .n = 70, .k = 2560, .alpha = 1.0f, .beta = 1.0f};
    const shape parts = {.m = 2088, .n = 70, .k = 2115, .alpha = -1.0f, .beta = 0.0f};
    const shape strip = {.m = 2305, .n = 64, .k = 2050, .alpha = 1.0f, .beta = 0.5f};
    /* Both ways that A may lie. */
    check_layouts_on("processors=8,late,shuffle=3", kernel, parts, 3, random_real, BOUND);
    check_on("processors=8" CHECKED, kernel, strip, random_real, BOUND);
    if (test_effort() < 20)
        return;
    check_on("processors=8,reverse", kernel, whole, random_real, BOUND);
    check_on("processors=4", kernel, parts, random_wide, BOUND);
}
END_TEST

/*
 * Strips of C that the split computes, as few multiprocessors would take longer: as many as it may,
 * in one slice and in several of one piece and of two, with a k past a multiple of 64, a corner,
 * and lines of A that are left to the product.
 */
START_TEST(split_strips)
{
    static const struct {
        const char *simulator, *kernel;
        int64_t m, n, k;
    } cases[] = {{"processors=2,late" CHECKED, "fp16x3-128x128", 132, 132, 705},
                 {"processors=2,reverse", "fp16x3-128x64", 130, 129, 500},
                 {"processors=2,shuffle=3", "fp16x1-128x128", 129, 700, 1100},
                 {"processors=1", "fp16x3-128x128", 129, 64, 8500},
                 {"processors=8,late", "fp16x3-128x256", 2305, 257, 2049}};
    for (int i = 0; i < COUNT(cases) - (test_effort() < 20); i++) {
        const shape s = {
            .m = cases[i].m, .n = cases[i].n, .k = cases[i].k, .alpha = 0.5f, .beta = -1.0f};
        check_on(cases[i].simulator, cases[i].kernel, s, random_dyadic, EXACT);
    }
}
END_TEST

/* Lines that are aligned where they lie along k, where they lie side by side, and not at all. */
static void check_vector(xgemm_handle *handle, shape s, uint64_t seed)
{
    const int64_t lines = s.m == 1 ? s.n : s.m;
    const int64_t padding[] = {(4 - s.k % 4) % 4, (4 - lines % 4) % 4, 1};
    for (int i = 0; i < COUNT(padding); i++) {
        s.gap_a = s.gap_b = padding[i];
        check_shape(handle, &s, random_real, BOUND, seed);
    }
}

/*
 * A vector by a matrix and back: whole steps, parts of one and one element more, for clusters of
 * each size and of none. A device that has no such kernel has nothing to test.
 */
START_TEST(vectors)
{
    static const int64_t depths[] = {272, 273, 545, 1024, 1025, 1152, 1153, 2052, 9001};
    static const int64_t lines[] = {19, 36, 67};
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "skinny") == XGEMM_OK;
    for (int i = 0; there && i < COUNT(depths); i++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int side = 0; side < 2; side++) {
                const int64_t size = lines[(i + layout) % COUNT(lines)];
                shape s = {.m = 1, .n = size, .k = depths[i], .alpha = 0.7f, .beta = -1.0f};
                if (side)
                    s.m = size, s.n = 1;
                s.gap_c = i % 2;
                s.shift_a = s.shift_b = (i + side) % 3 == 2;
                set_layout(&s, layout);
                check_vector(handle, s, (uint64_t)(i + layout));
            }
    xgemm_destroy(handle);
}
END_TEST

/*
 * A few rows below the tiles and columns beside them; a short and a long k. In every layout, or
 * where little is wanted in two, others for the next kernel: it is most of this program's time.
 */
START_TEST(strips)
{
    const int step = test_effort() >= 20 ? 1 : LAYOUTS / 2;
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = _i % step; layout < LAYOUTS; layout += step) {
        shape s = {.m = 259, .n = 261, .k = 67, .alpha = 0.7f, .beta = -1.0f};
        s.gap_a = layout % 2, s.gap_b = layout % 3, s.gap_c = layout % 5;
        set_layout(&s, layout);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
        s.m = 258, s.n = 130, s.k = 900; /* of FP16 parts: in the product */
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Of more lines the blocks share k in smaller clusters, or not at all. */
START_TEST(many_lines)
{
    static const int64_t lines[] = {2114, 4228, 8452};
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "skinny") == XGEMM_OK;
    for (int i = 0; there && i < COUNT(lines); i++)
        for (int side = 0; side < 2; side++) {
            shape s = {.m = 1, .n = lines[i], .k = 563, .alpha = 1.0f, .beta = 0.0f};
            if (side)
                s.m = lines[i], s.n = 1;
            set_layout(&s, side ? 1 : 0);
            check_vector(handle, s, (uint64_t)i);
        }
    xgemm_destroy(handle);
}
END_TEST

/* So many lines side by side, not aligned, that the split into FP16 parts copies with a shift. */
START_TEST(shifted_lines)
{
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "fp16x3-128x64") == XGEMM_OK;
    for (int side = 0; there && side < 2; side++) {
        shape s = {.m = 3, .n = 38417, .k = 64, .alpha = 1.0f, .beta = 0.0f};
        if (side)
            s.m = 38417, s.n = 3;
        set_layout(&s, side);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)side);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Sizes at which the choice goes to other kernels. */
START_TEST(automatic_choice)
{
    static const int64_t around[][3] = {{31, 31, 40},  {32, 32, 40},   {95, 800, 17},
                                        {96, 96, 17},  {2048, 384, 5}, {6144, 96, 5},
                                        {95, 6200, 5}, {1, 1000, 30},  {1000, 1, 30}};
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < COUNT(around); i++)
        for (int layout = 0; layout < LAYOUTS; layout += 3) {
            shape s = {.m = around[i][0], .n = around[i][1], .k = around[i][2], .alpha = 1.0f};
            set_layout(&s, layout);
            check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)(i * LAYOUTS + layout));
            ck_assert_ptr_nonnull(xgemm_last_kernel(handle));
        }
    xgemm_destroy(handle);
}
END_TEST

static bool all_set(const bool *flags, int count)
{
    for (int i = 0; i < count; i++)
        if (!flags[i])
            return false;
    return true;
}

/* That the mix is what is said above. */
START_TEST(mix_is_complete)
{
    for (int variant = 0; variant < 2; variant++) {
        bool layouts[3][SIZES][LAYOUTS] = {{{false}}}, combinations[LAYOUTS][PAIRS] = {{false}};
        bool near[3][SIZES - 1][2] = {{{false}}};
        for (int run = 0; run < MIX; run++) {
            const choice c = choose(run, variant);
            const int of[3] = {c.m, c.n, c.k};
            combinations[c.layout][c.pair] = true;
            for (int i = 0; i < 3; i++) {
                const int one = of[i], other = of[(i + 1) % 3];
                layouts[i][one][c.layout] = true;
                if (one + 1 == other)
                    near[i][one][0] = true;
                if (other + 1 == one)
                    near[i][other][1] = true;
            }
        }
        ck_assert(all_set(&layouts[0][0][0], 3 * SIZES * LAYOUTS));
        ck_assert(all_set(&combinations[0][0], LAYOUTS * PAIRS));
        ck_assert(all_set(&near[0][0][0], 3 * (SIZES - 1) * 2));
    }
}
END_TEST

static Suite *numerics(void)
{
    Suite *suite = suite_create("numerics");
    TCase *cases = new_case(suite, "kernels", TIMEOUT_S);
    tcase_add_test(cases, mix_is_complete);
    tcase_add_test(cases, automatic_choice);
    tcase_add_test(cases, vectors);
    tcase_add_test(cases, many_lines);
    tcase_add_test(cases, shifted_lines);
    tcase_add_loop_test(cases, dyadic_inputs, 0, test_kernels());
    tcase_add_loop_test(cases, random_inputs, 0, test_kernels());
    tcase_add_loop_test(cases, larger_sizes, 0, test_kernels());
    tcase_add_loop_test(cases, long_k, 0, test_kernels());
    tcase_add_loop_test(cases, one_past_blocks_of_k, 0, test_kernels());
    tcase_add_loop_test(cases, strips, 0, test_kernels());
    TCase *const shared = new_case(suite, "few processors", TIMEOUT_S);
    tcase_add_test(shared, copied_first);
    tcase_add_test(shared, transposed_fours);
    tcase_add_test(shared, ends_of_lines);
    tcase_add_test(shared, large_blocks);
    tcase_add_test(shared, shared_tiles);
    tcase_add_test(shared, shared_tiles_left_out);
    TCase *const late = new_case(suite, "late lines", TIMEOUT_S);
    tcase_add_test(late, late_lines);
    tcase_add_test(late, split_strips);
    return suite;
}

int main(void)
{
    return run_suite(numerics());
}
