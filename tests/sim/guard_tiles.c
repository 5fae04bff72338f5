/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds on counts: suspects of a warp, rows with Inf or NaN, rows with small elements in a tile.
 */
#include "guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 64, M = 128, N = 256 };

/* The kernels: by terms, and whether their tiles are wide. */
enum { KERNELS = 4 };
static int terms_of(int number)
{
    return 2 - number % 2;
}

static bool is_wide(int number)
{
    return number / 2;
}

/* Columns of which a warp's suspects are counted together. */
static int columns_checked(int number)
{
    return terms_of(number) == 2 && !is_wide(number) ? 64 : 128;
}

/*
 * C is 1 where a column has an element at k 0, as all rows have, and else 0: a suspect in rows with
 * a small element, which is multiplied by 0. Each column has an element at k 1, where rows have 0.
 */
typedef struct {
    int first_row, rows, row_step; /* with small elements */
    int first_column, columns;     /* where C is 0 */
} block_of_suspects;

static guard_product product_with(const block_of_suspects *blocks, int count, int number)
{
    guard_product p = guard_new(M, N, K, terms_of(number));
    p.wide = is_wide(number);
    for (int i = 0; i < M; i++)
        p.a[i * K] = 1.0f;
    for (int j = 0; j < N; j++)
        p.b[j * K] = p.b[j * K + 1] = 1.0f;
    for (const block_of_suspects *s = blocks; s < blocks + count; s++) {
        for (int i = 0; i < s->rows; i++)
            p.a[(s->first_row + i * s->row_step) * K + 2] = 0x1p-40f;
        for (int j = 0; j < s->columns; j++)
            p.b[(s->first_column + j) * K] = 0.0f;
    }
    return p;
}

/* How many elements of C are recomputed; they must be right. */
static unsigned long long recomputed_of(guard_product *p, float beta)
{
    float *const before = malloc(sizeof(float) * M * N);
    ck_assert_ptr_nonnull(before);
    p->beta = beta;
    for (int i = 0; i < M * N; i++)
        before[i] = p->c[i] = beta == 0.0f ? NAN : (float)(i % 97) / 32.0f;
    const unsigned long long recomputed = guard_multiply(p, GUARD_RIGHT);
    ck_assert_double_eq(guard_error(p, before), 0.0);
    free(before);
    return recomputed;
}

/* One block of suspects: as many as a warp notes, in some shapes, and one more. */
START_TEST(few_suspects_of_a_warp)
{
    enum { MOST = XG_SUSPECTS_PER_WARP };
    static const block_of_suspects few[] = {{0, 1, 1, 0, MOST},
                                            {15, 1, 1, 56, MOST},
                                            {16, 16, 1, 131, MOST / 16},
                                            {112, 2, 9, 240, MOST / 2}};
    static const block_of_suspects many[] = {{0, 1, 1, 0, MOST + 1},
                                             {32, 11, 1, 253, (MOST + 1) / 11},
                                             {115, 3, 5, 148, (MOST + 1) / 3}};
    for (int i = 0; i < COUNT(few) + COUNT(many); i++) {
        const bool is_few = i < COUNT(few);
        const block_of_suspects *const s = is_few ? &few[i] : &many[i - COUNT(few)];
        const int wanted = is_few ? MOST : 16 * columns_checked(_i);
        guard_product p = product_with(s, 1, _i);
        const unsigned long long recomputed = recomputed_of(&p, i % 2 ? 0.5f : 0.0f);
        ck_assert_msg(recomputed == (unsigned long long)wanted, "block %d: %llu are recomputed", i,
                      recomputed);
        guard_free(&p);
    }
}
END_TEST

/* Warps, and a tile's columns that are checked at once, count their own. */
START_TEST(each_warp_counts_its_own)
{
    enum { MOST = XG_SUSPECTS_PER_WARP };
    static const block_of_suspects warps[] = {{0, 1, 1, 0, MOST}, {16, 1, 1, 0, MOST}},
                                   unequal[] = {{0, 1, 1, 0, MOST}, {95, 2, 1, 0, MOST}},
                                   halves[] = {{4, 1, 1, 124, 4}, {4, 1, 1, 128, MOST}},
                                   tiles[] = {{4, 1, 1, 60, 4}, {4, 1, 1, 64, MOST}};
    const int width = columns_checked(_i);
    guard_product p = product_with(warps, 2, _i);
    ck_assert_uint_eq(recomputed_of(&p, 0.0f), 2 * MOST);
    guard_free(&p);
    p = product_with(unequal, 2, _i); /* rows 95 and 96 are of two warps */
    ck_assert_uint_eq(recomputed_of(&p, -1.0f), 3 * MOST);
    p.a[97 * K + 2] = 0x1p-40f;
    ck_assert_uint_eq(recomputed_of(&p, -1.0f), 2 * MOST + (unsigned)(16 * width));
    guard_free(&p);
    p = product_with(halves, 2, _i);
    ck_assert_uint_eq(recomputed_of(&p, 0.0f), 4 + MOST);
    guard_free(&p);
    p = product_with(tiles, 2, _i);
    ck_assert_uint_eq(recomputed_of(&p, 0.0f), width == 64 ? 4 + MOST : 16 * 128);
    guard_free(&p);
}
END_TEST

/* A tile with so many rows and columns with Inf or NaN; one with more is recomputed. */
enum { REPAIRS = 8 };

START_TEST(few_rows_with_inf_and_nan)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN};
    const int count = REPAIRS + _i / 2; /* of tiles that are not wide */
    guard_product p = product_with(NULL, 0, _i % 2);
    for (int i = 0; i < count; i++)
        *(i % 2 ? p.b + (11 * i % 64) * K : p.a + 13 * i * K) = specials[i % 3];
    guard_multiply(&p, GUARD_RIGHT);
    ck_assert_int_eq(guard_listed_tile() != 0, count > REPAIRS);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const float wanted = p.a[i * K] * p.b[j * K], found = p.c[i * N + j];
            ck_assert_msg(isnan(wanted) ? isnan(found) : found == wanted, "C(%d, %d) is %g, not %g",
                          i, j, (double)found, (double)wanted);
        }
    guard_free(&p);
}
END_TEST

START_TEST(hopeless_tiles_are_on_either_side)
{
    static const struct {
        int small[2]; /* of 128 rows of A, of 128 columns of B */
        float log2[2];
        int hopeless;
    } tiles[] = {
        {{64, 64}, {-44, -44}, 1},    {{63, 64}, {-44, -44}, 0},     {{64, 63}, {-44, -44}, 0},
        {{128, 128}, {-44, -44}, 1},  {{128, 0}, {-44, 0}, 0},       {{64, 64}, {-26, -90}, 0},
        {{64, 64}, {-26.25, -90}, 1}, {{64, 64}, {-90, -26}, 0},     {{64, 64}, {-90, -26.25}, 1},
        {{64, 64}, {-43, -43}, 0},    {{64, 64}, {-43.5, -43.5}, 1},
    };
    for (int i = 0; i < COUNT(tiles); i++) {
        const xg_rows_summary a = {.small = tiles[i].small[0], .log2 = tiles[i].log2[0]};
        const xg_rows_summary b = {.small = tiles[i].small[1], .log2 = tiles[i].log2[1]};
        ck_assert_msg(guard_is_hopeless(a, b, 128, 128) == tiles[i].hopeless, "tile %d", i);
    }
}
END_TEST

/* Most of a row is 2^-100 of its largest element, in so many rows and columns; C is 2^-60. */
static guard_product product_of_steep_rows(int rows, int columns, int terms)
{
    guard_product p = guard_new(M, 64, K, terms);
    for (int i = 0; i < rows + columns; i++) {
        float *const row = i < rows ? p.a + i * K : p.b + (i - rows) * K;
        for (int l = 0; l < K; l += 4)
            row[l] = 0x1p-100f;
        row[i < rows ? 1 : 2] = 1.0f;
        row[3] = 0x1p-30f;
    }
    return p;
}

/*
 * The large element of each row of A, 2^200 times the others, meets zeros: C is what BF16 in three
 * terms cannot hold, in so many columns; in the others B has no zeros, and the terms serve.
 */
static guard_product product_of_wide_rows(int columns, int terms)
{
    guard_product p = guard_new(M, 64, K, terms);
    for (int i = 0; i < M; i++) {
        p.a[i * K] = 0x1p100f;
        for (int l = 1; l < K; l++)
            p.a[i * K + l] = ldexpf(1.0f + 0.001f * (float)(i * l % 100), -100);
    }
    for (int j = 0; j < 64; j++) {
        p.b[j * K] = j < columns ? 0.0f : 1.0f;
        for (int l = 1; l < K; l++)
            p.b[j * K + l] = ldexpf(1.0f + 0.001f * (float)(j * l % 90), 20);
    }
    return p;
}

START_TEST(wide_rows_are_right)
{
    static const int columns[] = {1, 40, 64};
    guard_product p = product_of_wide_rows(columns[_i / 2], _i % 2 + 1);
    const double most = p.terms == 2 ? 0x1p-21 : 0x1p-11;
    float before[M * 64];
    memcpy(before, p.c, sizeof before);
    guard_multiply(&p, GUARD_RIGHT);
    ck_assert_double_le(guard_error(&p, before), most);
    guard_free(&p);
}
END_TEST

START_TEST(hopeless_tiles_are_listed)
{
    const int terms = _i, half = terms == 2 ? 32 : 64; /* of a tile's columns */
    const int sizes[][3] = {{64, half, 1}, {63, half, 0}, {64, half - 1, 0}}; /* is it listed? */
    for (int i = 0; i < COUNT(sizes); i++) {
        guard_product p = product_of_steep_rows(sizes[i][0], sizes[i][1], terms);
        float before[M * 64];
        memcpy(before, p.c, sizeof before);
        guard_multiply(&p, GUARD_RIGHT);
        /* If not before its product, it is listed after that, but for rows without suspects. */
        const unsigned rows = (unsigned)guard_listed_tile() >> 24;
        ck_assert_int_eq(rows == XG_ALL_ROWS, sizes[i][2]);
        ck_assert_double_le(guard_error(&p, before), 0x1p-22);
        guard_free(&p);
    }
}
END_TEST

TCase *guard_tiles(void)
{
    TCase *tests = tcase_create("tiles");
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, few_suspects_of_a_warp, 0, KERNELS);
    tcase_add_loop_test(tests, each_warp_counts_its_own, 0, KERNELS);
    tcase_add_loop_test(tests, few_rows_with_inf_and_nan, 0, 4);
    tcase_add_test(tests, hopeless_tiles_are_on_either_side);
    tcase_add_loop_test(tests, hopeless_tiles_are_listed, 1, 3);
    tcase_add_loop_test(tests, wide_rows_are_right, 0, 6);
    return tests;
}
