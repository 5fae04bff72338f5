/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of FP16 products as measured on compute capability 9.0: the products are
 * exact; they and the accumulator are cut towards zero at 2^-25 of the leading bit of
 * the largest of them, added exactly, and the sum is cut to FP32. A warp's products
 * of BF16 are taken to be added alike, which nobody has measured.
 *
 * So everything is an integer below 2^31 of units of 2^(e - 25), with e the largest's
 * exponent. Plain loops over neighbouring columns, for the compiler to vectorise.
 */
#include "tensor_core.h"

#include <stdbool.h>
#include <string.h>

enum {
    ROWS = 64,
    DEPTH = 16,
    LANES = 4,
    FINER = 25,          /* bits kept below the largest's leading bit */
    LEAST_EXPONENT = 27, /* biased; below it no product is, and scales would overflow */
    INFINITE = 0x7f800000,
    MAGNITUDE = 0x7fffffff,
    BIAS = 127,
    FLOAT_BITS = 23
};

/* Vectors of any machine's size, of GNU C. */
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE ints maximum(ints a, ints b)
{
    const ints larger = a > b;
    return (a & larger) | (b & ~larger);
}

INLINE bool is_any(ints condition)
{
    uint64_t halves[2];
    memcpy(halves, &condition, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* Unsigned, since the sums of special lanes, which are not used, overflow. */
INLINE ints absolute(ints value)
{
    const words sign = (words)(value >> 31);
    return (ints)(((words)value ^ sign) - sign);
}

/* Integers cut to as many digits as a float has, towards zero. */
INLINE floats cut(ints sum)
{
    const floats nearest = __builtin_convertvector(sum, floats);
    const ints too_large = absolute(__builtin_convertvector(nearest, ints)) > absolute(sum);
    return (floats)((words)nearest + (words)too_large); /* true is -1: one step towards zero */
}

/* Four accumulators, and the products that are added to them. */
INLINE floats add_products(floats old, const floats *product)
{
    ints largest = (ints)old & MAGNITUDE;
    for (int k = 0; k < DEPTH; k++)
        largest = maximum(largest, (ints)product[k] & MAGNITUDE);
    const ints least = {LEAST_EXPONENT, LEAST_EXPONENT, LEAST_EXPONENT, LEAST_EXPONENT};
    const ints exponent = maximum(largest >> FLOAT_BITS, least);
    const floats up = (floats)((words)(2 * BIAS + FINER - exponent) << FLOAT_BITS);
    const floats down = (floats)((words)(exponent - FINER) << FLOAT_BITS);
    words sum = (words) __builtin_convertvector(old * up, ints);
    for (int k = 0; k < DEPTH; k++)
        sum += (words) __builtin_convertvector(product[k] * up, ints);
    const floats finite = cut((ints)sum) * down;
    const ints special = (largest >= INFINITE) | (largest >> FLOAT_BITS < LEAST_EXPONENT);
    if (!is_any(special))
        return finite;
    /* Infinities and NaN as IEEE says; without a product only the accumulator is left. */
    for (int k = 0; k < DEPTH; k++)
        old += product[k];
    return (floats)(((ints)old & special) | ((ints)finite & ~special));
}

/* Four neighbours of a row; "b" has a column's neighbours side by side, "columns" a row. */
INLINE floats add_row(floats old, const float *a, const float *b, int columns)
{
    floats product[DEPTH];
    for (int k = 0; k < DEPTH; k++) {
        floats factor;
        memcpy(&factor, b + k * columns, sizeof factor);
        product[k] = a[k] * factor;
    }
    return add_products(old, product);
}

void xg_tensor_core_multiply(float *d, const float *a, const float *b, int columns)
{
    for (int column = 0; column < columns; column += LANES)
        for (int row = 0; row < ROWS; row++) {
            floats sum;
            float *at = d + row * columns + column;
            memcpy(&sum, at, sizeof sum);
            sum = add_row(sum, a + row * DEPTH, b + column, columns);
            memcpy(at, &sum, sizeof sum);
        }
}

void xg_tensor_core_multiply_warp(float d[4], const float a[DEPTH][4], const float b[DEPTH][4])
{
    floats product[DEPTH], sum;
    for (int k = 0; k < DEPTH; k++) {
        floats one, other;
        memcpy(&one, a[k], sizeof one);
        memcpy(&other, b[k], sizeof other);
        product[k] = one * other;
    }
    memcpy(&sum, d, sizeof sum);
    sum = add_products(sum, product);
    memcpy(d, &sum, sizeof sum);
}

void xg_tensor_core_multiply_s8(int32_t *d, const int8_t *a, const int8_t *b, int columns)
{
    enum { BYTES = 2 * DEPTH };
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < columns; column++) {
            int32_t sum = 0;
            for (int k = 0; k < BYTES; k++)
                sum += a[row * BYTES + k] * b[column * BYTES + k];
            int32_t *const at = d + row * columns + column;
            *at = (int32_t)((uint32_t)*at + (uint32_t)sum);
        }
}
