/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of test_guard share: products of FP16 terms on the simulator, with a workspace
 * that the test can read, and with a guard (lib/families/tensor/guard.h) that may be wrong.
 */
#ifndef XGEMM_TESTS_GUARD_H
#define XGEMM_TESTS_GUARD_H

#include "families/tensor/guard.h"
#include "backend/sim/simulator.h"

#include <check.h>
#include <stdbool.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The kernels; of the wrong ones guard_wrong_NAME.c. */
#define GUARD_KERNELS(X)                                                                           \
    X(fp16_split)                                                                                  \
    X(fp16x3_128x64)                                                                               \
    X(fp16x3_128x256)                                                                              \
    X(fp16x1_128x128)                                                                              \
    X(fp16x1_128x256)                                                                              \
    X(split_wrong_factor)                                                                          \
    X(split_high_threshold)                                                                        \
    X(split_low_threshold)                                                                         \
    X(split_lower_threshold)                                                                       \
    X(fp16x3_wrong_comparison)
#define GUARD_DECLARE(name) void xg_simulated_##name(const void *);
GUARD_KERNELS(GUARD_DECLARE)

/* What is wrong with a guard. The first three of the statistics, the next ones of their use. */
typedef enum {
    GUARD_RIGHT,
    GUARD_FACTOR,          /* XG_GUARD_FACTOR is 2^4 too small */
    GUARD_HIGH_THRESHOLD,  /* XG_SMALL_EXPONENT is one too large, */
    GUARD_LOW_THRESHOLD,   /* one too small, */
    GUARD_LOWER_THRESHOLD, /* two too small */
    GUARD_COMPARISON,      /* > in place of >= */
    GUARD_WITHOUT_A,       /* small elements of A are ignored, */
    GUARD_WITHOUT_B,       /* those of B, */
    GUARD_OFF,             /* all */
    GUARD_MISTAKES
} guard_mistake;

/*
 * C = alpha A B + beta C. Here row i of A is a + i * k, column j of B is b + j * k, row i of C is
 * c + i * n; the kernels get the operands so, K-major, or a copy that is M-major and N-major. With
 * one term it is the product of XGEMM_MATH_TF32.
 */
typedef struct {
    int m, n, k, terms;
    float alpha, beta;
    float *a, *b, *c;
    bool mn_major;
    bool wide;           /* tiles of 128 x 256, by pairs of blocks; else of 128 x 64 or 128 x 128 */
    int clusters, share; /* of k; 0: a block for each tile, which nobody shares */
} guard_product;

/* All zeros, alpha 1; guard_free() frees it. */
guard_product guard_new(int m, int n, int k, int terms);
void guard_free(guard_product *p);

/* Splits and multiplies; how many elements of C were recomputed. */
unsigned long long guard_multiply(const guard_product *p, guard_mistake mistake);

/* What the last product left in its workspace: of row i of A or column j of B; and
 * the first tile that was recomputed, or 0. */
const xg_row_stats *guard_stats_of_a(int row);
const xg_row_stats *guard_stats_of_b(int column);
float guard_scale_of_a(int row);
xg_listed_tile guard_listed_tile(void);

/* Terms of an element, as the split left them there; low is 0 where there is one term. */
typedef struct {
    float high, low;
} guard_terms;
guard_terms guard_terms_of_a(int row, int k), guard_terms_of_b(int column, int k);

/* Against float64: |C - C64| / (|alpha| |A| |B| + |beta C|), the largest of all elements. */
double guard_error(const guard_product *p, const float *before);

/* The same of FP32 sums in order of k (STRICT's). */
double guard_strict_error(const guard_product *p, const float *before);

/* Statistics by the device's own functions, of a row of so many elements; in two slices, if so. */
xg_row_stats guard_row_stats(const float *row, int count, int terms, bool sliced);
float guard_scale_to_terms(float largest);
int guard_is_hopeless(xg_rows_summary a, xg_rows_summary b, int a_rows, int b_rows);

TCase *guard_rows(void), *guard_elements(void), *guard_tiles(void), *guard_sums(void);

#endif
