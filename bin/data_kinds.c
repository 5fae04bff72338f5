/* SPDX-License-Identifier: BSD-3-Clause */
#include "data_parts.h"

#include <math.h>
#include <string.h>

/* Uses of random numbers in one row that must not repeat each other. */
enum { DRAW, PLANT, WHERE };

enum {
    PLANTED_ONE_IN = 1000000,
    OUTLIER_COLUMN_ONE_IN = 500,
    OUTLIER_ROW_ONE_IN = 512,
    SPARSE_ONE_IN = 100,
    REPEATED = 16,
};

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A random sign and mantissa with this exponent. */
static float with_exponent(uint64_t bits, int exponent)
{
    return from_bits((uint32_t)(bits & 0x807fffffu) | (uint32_t)(exponent + 127) << 23);
}

/* A random sign and mantissa, not zero. */
static float subnormal(uint64_t bits)
{
    const uint32_t mantissa = (uint32_t)bits & 0x7fffffu;
    return from_bits((uint32_t)(bits >> 32 & 0x80000000u) | (mantissa ? mantissa : 1));
}

/* ---- Distributions that every element has by itself ---- */

static void uniform(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    random_fill(&source, values, (size_t)at->depth);
}

/* Odd multiples of 2^-24. */
static void uniform_positive(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = ((float)(random_bits(&source) >> 41) + 0.5f) * 0x1p-23f;
}

static void normal(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    data_pool_draw(POOL_NORMAL, &source, values, at->depth);
}

static void relu(const data_row *at, float *values)
{
    normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = values[l] > 0.0f ? values[l] : 0.0f;
}

static void gelu(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    data_pool_draw(POOL_GELU, &source, values, at->depth);
}

static void log_normal(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    data_pool_draw(POOL_EXP, &source, values, at->depth);
}

static void random_signs(const data_row *at, float *values)
{
    random_source source = data_source(at, PLANT);
    uint64_t signs = 0;
    for (int64_t l = 0; l < at->depth; l++, signs >>= 1) {
        if (l % 64 == 0)
            signs = random_bits(&source);
        values[l] = signs & 1 ? -values[l] : values[l];
    }
}

static void log_normal_2(const data_row *at, float *values)
{
    log_normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] *= values[l];
    random_signs(at, values);
}

static void log_normal_4(const data_row *at, float *values)
{
    log_normal(at, values);
    for (int64_t l = 0; l < at->depth; l++) {
        const float squared = values[l] * values[l];
        values[l] = squared * squared;
    }
    random_signs(at, values);
}

/* From u in (0, 1), its quantile. */
static void student_t(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++) {
        const double u = ((double)(random_bits(&source) >> 12) + 0.5) * 0x1p-52;
        values[l] = (float)((2.0 * u - 1.0) / sqrt(2.0 * u * (1.0 - u)));
    }
}

static void sparse(const data_row *at, float *values)
{
    random_source source = data_source(at, PLANT);
    normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        if (random_bits(&source) % SPARSE_ONE_IN != 0)
            values[l] = 0.0f;
}

static void gradients(const data_row *at, float *values)
{
    normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] *= 1e-20f;
}

static void integers(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = (float)((int)(random_bits(&source) % 201) - 100);
}

static void exponents(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++) {
        const uint64_t bits = random_bits(&source);
        values[l] = with_exponent(bits, (int)((bits >> 32) % 61) - 30);
    }
}

static void whole_range(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++) {
        const uint64_t bits = random_bits(&source);
        const int exponent = (int)((bits >> 32) % 120);
        values[l] = with_exponent(bits, at->is_b ? -exponent : exponent);
    }
}

/* Biased exponents 0 to 254; 255 is Inf and NaN. */
static void any_bits(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++) {
        const uint64_t bits = random_bits(&source);
        values[l] = with_exponent(bits, (int)((bits >> 32) % 255) - 127);
    }
}

static void all_subnormal(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = subnormal(random_bits(&source));
}

static void infinite(const data_row *at, float *values)
{
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = INFINITY;
    random_signs(at, values);
}

/* ---- Structure within a row ---- */

/* Twice over the row, so that the powers need no room: exp(20 x) exceeds a float. */
static void softmax(const data_row *at, float *values, double (*power)(double))
{
    double sum = 0.0;
    log_normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        sum += power((double)values[l]);
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = (float)(power((double)values[l]) / sum);
}

static double cube(double x)
{
    return x * x * x;
}

static double power_20(double x)
{
    const double x4 = x * x * x * x, x16 = x4 * x4 * x4 * x4;
    return x16 * x4;
}

static void softmax_3(const data_row *at, float *values)
{
    softmax(at, values, cube);
}

static void softmax_20(const data_row *at, float *values)
{
    softmax(at, values, power_20);
}

static void drift(const data_row *at, float *values)
{
    const double step = exp2(40.0 / (double)at->depth);
    double scale = 0x1p-20;
    normal(at, values);
    for (int64_t l = 0; l < at->depth; l++, scale *= step)
        values[l] *= (float)scale;
}

static void outlier_columns(const data_row *at, float *values)
{
    random_source source = data_operand_source(at, WHERE);
    /* One at least, in short rows too. */
    const int64_t one = (int64_t)(random_bits(&source) % (uint64_t)at->depth);
    normal(at, values);
    for (int64_t l = 0; l < at->depth; l++)
        if (random_bits(&source) % OUTLIER_COLUMN_ONE_IN == 0 || l == one)
            values[l] *= 200.0f;
}

static void huge_facing_zero(const data_row *at, float *values)
{
    const int64_t places = (at->depth + 4) / 8; /* l = 3, 11, 19, ... */
    uniform(at, values);
    for (int64_t l = 3; at->is_b && l < at->depth; l += 8)
        values[l] = 0.0f;
    if (!at->is_b && places > 0)
        values[at->row % places * 8 + 3] = 0x1p60f;
}

/* B repeats itself, and so do the numbers of A, with the other sign. */
static void cancelling(const data_row *at, float *values)
{
    const int64_t half = at->depth / 2;
    data_row first = *at;
    first.depth = half;
    uniform(&first, values);
    for (int64_t l = 0; l < half; l++)
        values[half + l] = at->is_b ? values[l] : -values[l];
    if (at->depth % 2 != 0)
        values[at->depth - 1] = 0.0f;
}

/* Its low part, after FP16's 11 bits, is as large as it can be, and all are of one sign. */
static void constant(const data_row *at, float *values)
{
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = 1.0f + 0x1p-11f - 0x1p-21f;
}

/* ---- Structure across rows ---- */

/* Beyond this distance the exponential is zero in FP32. */
static void gaussian_kernel(const data_row *at, float *values)
{
    enum { FAR = 730 };
    for (int64_t l = 0; l < at->depth; l++) {
        const int64_t distance = l > at->row ? l - at->row : at->row - l;
        const double squared = (double)distance * (double)distance;
        values[l] = distance > FAR ? 0.0f : (float)exp(-squared / 5000.0);
    }
}

static void triangle(const data_row *at, float *values)
{
    normal(at, values);
    for (int64_t l = at->row + 1; l < at->depth; l++)
        values[l] = 0.0f;
}

static void hilbert(const data_row *at, float *values)
{
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = (float)(1.0 / (double)(1 + at->row + l));
}

static void outlier_line(const data_row *at, float *values)
{
    random_source source = data_operand_source(at, WHERE);
    const int64_t among = at->rows < OUTLIER_ROW_ONE_IN ? at->rows : (int64_t)OUTLIER_ROW_ONE_IN;
    const int64_t one = (int64_t)(random_bits(&source) % (uint64_t)among);
    normal(at, values);
    for (int64_t l = 0; at->row % OUTLIER_ROW_ONE_IN == one && l < at->depth; l++)
        values[l] *= 1e6f;
}

static void repeated(const data_row *at, float *values)
{
    data_row same = *at;
    same.row %= REPEATED;
    normal(&same, values);
}

static void subnormal_lines(const data_row *at, float *values)
{
    random_source source = data_source(at, DRAW);
    if (at->row % 3 != 1) {
        uniform(at, values);
        return;
    }
    /* From their bits, since arithmetic on subnormal numbers is slow; 19 bits are below 2^-130. */
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = from_bits((uint32_t)random_bits(&source) & 0x8007ffffu);
}

static void zero_lines(const data_row *at, float *values)
{
    uniform(at, values);
    if (at->row % 5 == 1)
        memset(values, 0, (size_t)at->depth * sizeof *values);
}

/* Puts what make() gives in place of one element in a million, and of one element at least. */
static void plant(const data_row *at, float *values, float (*make)(uint64_t bits))
{
    random_source source = data_operand_source(at, WHERE);
    const int64_t row = (int64_t)(random_bits(&source) % (uint64_t)at->rows);
    const int64_t one = (int64_t)(random_bits(&source) % (uint64_t)at->depth);
    normal(at, values);
    source = data_source(at, PLANT);
    for (int64_t l = 0; l < at->depth; l++) {
        const uint64_t bits = random_bits(&source);
        if (bits % PLANTED_ONE_IN == 0 || (at->row == row && l == one))
            values[l] = make(bits);
    }
}

static void planted_subnormal(const data_row *at, float *values)
{
    plant(at, values, subnormal);
}

static float not_finite(uint64_t number)
{
    return number % 3 == 0 ? INFINITY : number % 3 == 1 ? -INFINITY : NAN;
}

/* The low bits are spent on whether to plant at all. */
static float random_not_finite(uint64_t bits)
{
    return not_finite(bits >> 40);
}

static void planted_nonfinite(const data_row *at, float *values)
{
    plant(at, values, random_not_finite);
}

static void nonfinite(const data_row *at, float *values)
{
    for (int64_t l = 0; l < at->depth; l++)
        values[l] = not_finite((uint64_t)(at->row + l));
}

/* ---- The table ---- */

#define ROW(name, fill, traits, text)                                                              \
    {                                                                                              \
        name, text, traits, fill                                                                   \
    }

const data_kind data_kinds[] = {
    ROW("uniform", uniform, 0, "uniform over [-1, 1)"),
    ROW("uniform-positive", uniform_positive, 0, "uniform over (0, 1)"),
    ROW("normal", normal, 0, "normal: mean 0, variance 1"),
    ROW("relu", relu, 0, "normal, with zero for what is negative"),
    ROW("gelu", gelu, 0, "gelu (by erf) of normal"),
    ROW("gradients", gradients, 0, "normal times 1e-20"),
    ROW("lognormal-1", log_normal, 0, "exp(normal)"),
    ROW("lognormal-2", log_normal_2, 0, "exp(2 normal), with random signs"),
    ROW("lognormal-4", log_normal_4, 0, "exp(4 normal), with random signs"),
    ROW("softmax-3", softmax_3, 0, "each row is the softmax of 3 normal"),
    ROW("softmax-20", softmax_20, 0, "each row is the softmax of 20 normal"),
    ROW("student-t", student_t, 0, "Student's t with 2 degrees of freedom"),
    ROW("outlier-columns", outlier_columns, 0,
        "normal, times 200 at 0.2 % of k, the same k in all rows"),
    ROW("outlier-line", outlier_line, 0, "normal, one row in 512 times 1e6"),
    ROW("sparse", sparse, 0, "normal, 99 % of it zeros"),
    ROW("triangle", triangle, 0, "normal, zero where l > i: the lower triangle of A"),
    ROW("gaussian-kernel", gaussian_kernel, DATA_FIXED, "exp(-(i - l)^2 / 5000), a band matrix"),
    ROW("hilbert", hilbert, DATA_FIXED, "1 / (1 + i + l)"),
    ROW("constant", constant, DATA_FIXED, "1 + 2^-11 - 2^-21 everywhere"),
    ROW("repeated", repeated, 0, "normal, rows repeat every 16"),
    ROW("integers", integers, 0, "whole numbers from -100 to 100"),
    ROW("drift", drift, 0, "normal, times a scale that grows with l from 2^-20 to 2^20"),
    ROW("exponents", exponents, 0, "exponents from -30 to 30"),
    ROW("whole-range", whole_range, DATA_OVERFLOWS,
        "exponents from 0 to 119 in A, from -119 to 0 in B"),
    ROW("bits", any_bits, DATA_OVERFLOWS, "any finite bit patterns"),
    ROW("huge-facing-zero", huge_facing_zero, 0,
        "uniform, one 2^60 in each row of A, where B has zeros"),
    ROW("cancelling", cancelling, DATA_CANCELS,
        "uniform, the second half of k is the first, in A with the other sign"),
    ROW("zero-lines", zero_lines, 0, "uniform, every fifth row zero"),
    ROW("subnormal", all_subnormal, 0, "subnormal numbers"),
    ROW("subnormal-lines", subnormal_lines, 0, "uniform, every third row times 2^-130"),
    ROW("planted-subnormal", planted_subnormal, 0,
        "normal, one element in 10^6, and at least one, subnormal"),
    ROW("planted-nonfinite", planted_nonfinite, DATA_NOT_FINITE,
        "normal, one element in 10^6, and at least one, Inf, -Inf or NaN"),
    ROW("nonfinite", nonfinite, DATA_NOT_FINITE | DATA_FIXED, "Inf, -Inf and NaN in turn"),
    ROW("infinite", infinite, DATA_NOT_FINITE, "Inf with random signs"),
};
const int data_kind_count = sizeof data_kinds / sizeof *data_kinds;
