/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain: an element is one chain of fused multiply-adds in ascending k, in the type of the sums,
 * and then the epilogue in that type: the bits that general.inc and the pipelined kernels compute.
 *
 * A strip of columns for a few rows at a time: a line of B is converted once for them.
 */
#include "functions.h"
#include "values.h"

#include "families/common/dialect.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { STRIP = 256, ROWS = 4 };

/* sum[j] = fma(a, b[j], sum[j]); by the CPU's own instruction where it has one. */
static inline __attribute__((always_inline)) void add_floats(float *sum, float a, const float *b)
{
    for (int j = 0; j < STRIP; j++)
        sum[j] = fmaf(a, b[j], sum[j]);
}

static inline __attribute__((always_inline)) void add_doubles(double *sum, double a,
                                                              const double *b)
{
    for (int j = 0; j < STRIP; j++)
        sum[j] = fma(a, b[j], sum[j]);
}

typedef struct {
    void (*floats)(float *sum, float a, const float *b);
    void (*doubles)(double *sum, double a, const double *b);
} adders;

static void add_floats_anywhere(float *sum, float a, const float *b)
{
    add_floats(sum, a, b);
}

static void add_doubles_anywhere(double *sum, double a, const double *b)
{
    add_doubles(sum, a, b);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void add_floats_fma(float *sum, float a, const float *b)
{
    add_floats(sum, a, b);
}

__attribute__((target("avx2,fma"))) static void add_doubles_fma(double *sum, double a,
                                                                const double *b)
{
    add_doubles(sum, a, b);
}
#endif

static adders adders_here(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        return (adders){add_floats_fma, add_doubles_fma};
#endif
    return (adders){add_floats_anywhere, add_doubles_anywhere};
}

/* A product by itself: a compiler may not make it a part of a fused multiply-add. */
static float float_product(float x, float y)
{
    const volatile float product = x * y;
    return product;
}

static double double_product(double x, double y)
{
    const volatile double product = x * y;
    return product;
}

#define EPILOGUE_REAL                   float
#define EPILOGUE_NAME(name)             name##_chain_f32
#define EPILOGUE_SIGMOID(x)             (1.0f / (1.0f + expf(-(x))))
#define EPILOGUE_GELU(x)                (0.5f * (x)*erfcf(-0.70710678f * (x)))
#define EPILOGUE_FMA(x, y, z)           fmaf(x, y, z)
#define EPILOGUE_MUL(x, y)              float_product(x, y)
#define EPILOGUE_LOAD(from, at, type)   (float)xg_host_load(from, at, type)
#define EPILOGUE_STORE(to, at, type, x) xg_host_store(to, at, type, (double)(x))
#include "families/common/epilogue_typed.inc"

#define EPILOGUE_REAL                   double
#define EPILOGUE_NAME(name)             name##_chain_f64
#define EPILOGUE_FMA(x, y, z)           fma(x, y, z)
#define EPILOGUE_MUL(x, y)              double_product(x, y)
#define EPILOGUE_LOAD(from, at, type)   xg_host_load(from, at, type)
#define EPILOGUE_STORE(to, at, type, x) xg_host_store(to, at, type, x)
#include "families/common/epilogue_typed.inc"

/* Rows and columns of C, as many as there are; and whether sums are double. */
typedef struct {
    const xg_typed_args *p;
    adders add;
    int64_t row, column;
    int rows, columns;
    bool is_double, is_complex;
} block;

/* Real numbers of the parts of the operands at one k: rows of A, a line of B. */
static void load(const block *of, int64_t k, double a[2][ROWS], double b[2][STRIP])
{
    const xg_typed_args *const p = of->p;
    const xg_epilogue_args *const e = &p->epilogue;
    const int parts = of->is_complex ? 2 : 1, type = e->type_a;
    for (int part = 0; part < parts; part++) {
        const double sign_a = part == 1 && e->a_conjugate ? -1.0 : 1.0;
        const double sign_b = part == 1 && e->b_conjugate ? -1.0 : 1.0;
        for (int i = 0; i < of->rows; i++) {
            const int64_t at = (of->row + i) * p->a_stride_m + k * p->a_stride_k;
            a[part][i] = sign_a * xg_host_load(p->a, parts * at + part, type);
        }
        for (int j = 0; j < of->columns; j++) {
            const int64_t at = k * p->b_stride_k + (of->column + j) * p->b_stride_n;
            b[part][j] = sign_b * xg_host_load(p->b, parts * at + part, type);
        }
    }
}

static void store(const block *of, int i, int j, double real, double imaginary)
{
    const xg_typed_args *const p = of->p;
    const int64_t row = of->row + i, column = of->column + j, at = row * p->c_stride_m + column;
    if (of->is_double) {
        const xg_scalars_chain_f64 by = xg_scalars_of_chain_f64(&p->epilogue);
        if (of->is_complex)
            xg_store_complex_chain_f64(&p->epilogue, &by, p->c, at, row, column, real, imaginary);
        else
            xg_store_real_chain_f64(&p->epilogue, &by, p->c, at, row, column, real);
        return;
    }
    const xg_scalars_chain_f32 by = xg_scalars_of_chain_f32(&p->epilogue);
    if (of->is_complex)
        xg_store_complex_chain_f32(&p->epilogue, &by, p->c, at, row, column, (float)real,
                                   (float)imaginary);
    else
        xg_store_real_chain_f32(&p->epilogue, &by, p->c, at, row, column, (float)real);
}

static void multiply_floats(const block *of, float sum[2][ROWS][STRIP])
{
    const int first = of->p->epilogue.swapped; /* the caller's real part of A, imaginary of B */
    double a[2][ROWS], b[2][STRIP] = {{0.0}};
    float line[2][STRIP];
    for (int64_t k = 0; k < of->p->k; k++) {
        load(of, k, a, b);
        for (int j = 0; j < STRIP; j++)
            line[0][j] = (float)b[0][j], line[1][j] = (float)b[1][j];
        for (int i = 0; i < of->rows; i++) {
            of->add.floats(sum[0][i], (float)a[0][i], line[0]);
            if (!of->is_complex)
                continue;
            of->add.floats(sum[0][i], (float)-a[1][i], line[1]);
            of->add.floats(sum[1][i], (float)a[first][i], line[1 - first]);
            of->add.floats(sum[1][i], (float)a[1 - first][i], line[first]);
        }
    }
}

static void multiply_doubles(const block *of, double sum[2][ROWS][STRIP])
{
    const int first = of->p->epilogue.swapped; /* the caller's real part of A, imaginary of B */
    double a[2][ROWS], b[2][STRIP] = {{0.0}};
    for (int64_t k = 0; k < of->p->k; k++) {
        load(of, k, a, b);
        for (int i = 0; i < of->rows; i++) {
            of->add.doubles(sum[0][i], a[0][i], b[0]);
            if (!of->is_complex)
                continue;
            of->add.doubles(sum[0][i], -a[1][i], b[1]);
            of->add.doubles(sum[1][i], a[first][i], b[1 - first]);
            of->add.doubles(sum[1][i], a[1 - first][i], b[first]);
        }
    }
}

static void compute(const block *of)
{
    float floats[2][ROWS][STRIP];
    double doubles[2][ROWS][STRIP];
    memset(floats, 0, sizeof floats);
    memset(doubles, 0, sizeof doubles);
    if (of->is_double)
        multiply_doubles(of, doubles);
    else
        multiply_floats(of, floats);
    for (int i = 0; i < of->rows; i++)
        for (int j = 0; j < of->columns; j++)
            store(of, i, j, of->is_double ? doubles[0][i][j] : (double)floats[0][i][j],
                  of->is_double ? doubles[1][i][j] : (double)floats[1][i][j]);
}

void xg_host_chain(const void *args)
{
    if (((const xg_typed_args *)args)->groups > 0) {
        xg_host_each_group(args, xg_host_chain);
        return;
    }
    xg_typed_args p = xg_host_with_scalars(args);
    const int type = p.epilogue.type_a;
    block of = {.p = &p,
                .add = adders_here(),
                .is_double = type == XG_TYPE_F64 || type == XG_TYPE_C64,
                .is_complex = p.epilogue.is_complex};
    if (p.epilogue.alpha[0] == 0.0 && p.epilogue.alpha[1] == 0.0)
        p.k = 0; /* A and B are not read */
    for (of.row = 0; of.row < p.m; of.row += ROWS)
        for (of.column = 0; of.column < p.n; of.column += STRIP) {
            of.rows = (int)(p.m - of.row < ROWS ? p.m - of.row : ROWS);
            of.columns = (int)(p.n - of.column < STRIP ? p.n - of.column : STRIP);
            compute(&of);
        }
}
