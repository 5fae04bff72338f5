/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kernel of the device under test over a mix of sizes, layouts, factors,
 * leading dimensions and addresses. Dyadic inputs: k <= 257 products of multiples of
 * 2^-14 and at most 1 make sums of at most 9 + 14 bits, which FP32 holds.
 */
#include "support.h"

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

/* From this effort on a test runs each kernel in all layouts. */
enum { ALL_LAYOUTS = 20 };

/* With less effort a kernel has every so many-th layout, and the next kernel others. */
static int layout_step(int reduced)
{
    return test_effort() >= ALL_LAYOUTS ? 1 : reduced;
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
    const bool all = test_effort() >= ALL_LAYOUTS;
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        shape s = {.m = 131, .n = 261, .k = 35, .alpha = 0.7f, .beta = -1.0f};
        if (all)
            s.m = 259, s.n = 387, s.k = 49;
        s.gap_a = layout % 3, s.gap_b = layout % 5, s.gap_c = layout % 2;
        s.shift_a = layout % 4, s.shift_b = layout / 2;
        set_layout(&s, layout);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/*
 * A k that kernels split: in two, which clusters reduce, and in so many that another kernel does;
 * aligned, too, for 16-byte loads of K-major operands.
 */
START_TEST(long_k)
{
    static const int64_t depths[] = {200, 404, 1500};
    const int step = layout_step(3);
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = _i % step; layout < LAYOUTS; layout += step) {
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
 * A k that is one more than a multiple of 64, which split-FP16 kernels add after the main loop:
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

/* A matrix that is aligned where it is K-major, where it is not K-major, and not at all. */
static void check_vector(xgemm_handle *handle, shape s, uint64_t seed)
{
    const int64_t mn = s.m == 1 ? s.n : s.m;
    const int64_t padding[] = {(4 - s.k % 4) % 4, (4 - mn % 4) % 4, 1};
    for (int i = 0; i < COUNT(padding); i++) {
        s.gap_a = s.gap_b = padding[i];
        check_shape(handle, &s, random_real, BOUND, seed);
    }
}

/*
 * GEMV, with the vector on either side: k a multiple of a step, part of one and one element more,
 * for clusters of each size and of none. A device that has no such kernel has nothing to test.
 */
START_TEST(vectors)
{
    static const int64_t depths[] = {272, 273, 545, 1024, 1025, 1152, 1153, 2052, 9001};
    static const int64_t sides[] = {19, 36, 67};
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "skinny") == XGEMM_OK;
    for (int i = 0; there && i < COUNT(depths); i++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int side = 0; side < 2; side++) {
                const int64_t size = sides[(i + layout) % COUNT(sides)];
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

/* A few rows below the tiles and columns beside them; a short and a long k. */
START_TEST(strips)
{
    const int step = layout_step(LAYOUTS);
    xgemm_handle *handle = open_with_kernel(_i);
    for (int layout = _i % step; layout < LAYOUTS; layout += step) {
        shape s = {.m = 259, .n = 261, .k = 67, .alpha = 0.7f, .beta = -1.0f};
        s.gap_a = layout % 2, s.gap_b = layout % 3, s.gap_c = layout % 5;
        set_layout(&s, layout);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
        s.m = 258, s.n = 130, s.k = 900; /* of split-FP16 kernels: in the main kernel */
        check_shape(handle, &s, random_real, BOUND, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Of more rows the blocks split k in smaller clusters, or not at all. */
START_TEST(many_rows)
{
    static const int64_t sizes_mn[] = {2114, 4228, 8452};
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "skinny") == XGEMM_OK;
    for (int i = 0; there && i < COUNT(sizes_mn); i++)
        for (int side = 0; side < 2; side++) {
            shape s = {.m = 1, .n = sizes_mn[i], .k = 563, .alpha = 1.0f, .beta = 0.0f};
            if (side)
                s.m = sizes_mn[i], s.n = 1;
            set_layout(&s, side ? 1 : 0);
            check_vector(handle, s, (uint64_t)i);
        }
    xgemm_destroy(handle);
}
END_TEST

/* An M-major A or N-major B so wide, and not aligned, that the split into FP16 copies with a shift.
 */
START_TEST(shifted_rows)
{
    xgemm_handle *handle = open_handle(test_device());
    const bool there = xgemm_set_kernel(handle, "fp16x3-128x64") == XGEMM_OK;
    const int sides = test_effort() >= ALL_LAYOUTS ? 2 : 1;
    for (int side = 0; there && side < sides; side++) {
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
    TCase *cases = add_case(suite, "kernels");
    tcase_add_test(cases, mix_is_complete);
    tcase_add_test(cases, automatic_choice);
    tcase_add_test(cases, vectors);
    tcase_add_test(cases, many_rows);
    tcase_add_test(cases, shifted_rows);
    tcase_add_loop_test(cases, dyadic_inputs, 0, test_kernels());
    tcase_add_loop_test(cases, random_inputs, 0, test_kernels());
    tcase_add_loop_test(cases, larger_sizes, 0, test_kernels());
    tcase_add_loop_test(cases, long_k, 0, test_kernels());
    tcase_add_loop_test(cases, one_past_blocks_of_k, 0, test_kernels());
    tcase_add_loop_test(cases, strips, 0, test_kernels());
    return suite;
}

int main(void)
{
    return run_suite(numerics());
}
