/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A product in canonical form, whatever function and layout it came by:
 *
 *     C(i, j) = epilogue(sum over l of A(i, l) * B(l, j), C(i, j))
 *
 * with A m x k, B k x n and C m x n. Element (i, l) of A lies at i * a_stride_m + l * a_stride_k,
 * and so on; C's rows are contiguous. Orders, transposes and leading dimensions are all in the
 * strides: one of A's two is 1, and likewise of B's.
 */
#ifndef XGEMM_LIB_PROBLEM_H
#define XGEMM_LIB_PROBLEM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a matrix's elements: the public one's values. */
typedef enum {
    XG_F32 = XGEMM_F32,
    XG_F64 = XGEMM_F64,
    XG_F16 = XGEMM_F16,
    XG_BF16 = XGEMM_BF16,
    XG_C32 = XGEMM_C32,
    XG_C64 = XGEMM_C64
} xg_type;

enum { XG_TYPES = 7 }; /* one more than the largest value */

static inline size_t xg_type_bytes(xg_type type)
{
    return type == XG_F32 ? 4 : type == XG_F16 || type == XG_BF16 ? 2 : type == XG_C64 ? 16 : 8;
}

static inline bool xg_type_is_complex(xg_type type)
{
    return type == XG_C32 || type == XG_C64;
}

/* What pointers to elements are aligned to: a part of a complex one. */
static inline size_t xg_type_alignment(xg_type type)
{
    return xg_type_is_complex(type) ? xg_type_bytes(type) / 2 : xg_type_bytes(type);
}

/* F16 or BF16. */
bool xg_type_is_half(xg_type type);

static inline bool xg_type_is_fp64(xg_type type)
{
    return type == XG_F64 || type == XG_C64;
}

/* That of the scalars of a product whose operands have the type. */
xg_type xg_type_of_scalars(xg_type operands);

/* The type's name in C: "float"; and in short: "f32". */
const char *xg_type_name(xg_type type);
const char *xg_type_short_name(xg_type type);

/* A number of a type that scalars have: f32, f64, c32 or c64. */
typedef union {
    float f32, c32[2];
    double f64, c64[2];
} xg_scalar;

/* The number as a scalar; and whether a scalar is that number. */
xg_scalar xg_scalar_of(xg_type type, int number);
bool xg_scalar_is(xg_type type, xg_scalar x, int number);

/* The scalar in memory. */
xg_scalar xg_scalar_load(xg_type type, const void *from);

/* Its real and its imaginary part. */
void xg_scalar_parts(xg_type type, xg_scalar x, double parts[2]);

/*
 * What is stored of a sum: activation(alpha * sum + beta * C + bias). The type is that in which the
 * product is summed. With beta = 0 C is not read. A scalar that is in device memory is not known,
 * and 1 here.
 */
typedef struct {
    xg_type type;
    xg_scalar alpha, beta;
    bool device_scalars;            /* one of them, or both */
    const void *alpha_at, *beta_at; /* in device memory; NULL: alpha, beta */
    xgemm_activation activation;
    const void *bias; /* NULL: none */
    xg_type bias_type;
    bool bias_per_row; /* an element for each row of C; else for each column */
} xg_epilogue_params;

/* Sizes and strides are in elements. */
typedef struct {
    int64_t m, n, k;
    xg_type type_a, type_b, type_c;
    xg_epilogue_params epilogue;
    const void *a, *b; /* of the batch's first product; or pointer arrays */
    void *c;
    int64_t a_stride_m, a_stride_k;
    int64_t b_stride_k, b_stride_n;
    int64_t c_stride_m;
    bool a_conjugate, b_conjugate; /* of complex types alone, */
    bool swapped;        /* as that A is the caller's B: the order of a complex product's terms */
    int64_t batch_count; /* at least 1 */
    int64_t a_batch_stride, b_batch_stride, c_batch_stride; /* 0 with one product */
    bool pointer_arrays; /* A, B and C are arrays of batch_count pointers */
    /* Of ragged groups: lines offsets[g] to offsets[g + 1] of A and C, or of B and C, are group g,
       which has an operand of its own, its batch stride from the group before. 0 groups: none. */
    int64_t groups;
    const int64_t *offsets; /* device memory */
    bool ragged_columns;    /* of B and C; else rows of A and C */
} xg_problem;

/* Which of two operands; bits. */
enum { XG_A = 1, XG_B = 2 };

/* Whether A and B are not multiplied, as far as the host knows: k or alpha is 0. */
bool xg_has_no_product(const xg_problem *problem);

/* Whether the epilogue has only alpha and beta, which are known. */
bool xg_is_plain_epilogue(const xg_epilogue_params *epilogue);

/* Whether all that is multiplied, added and stored is F32. */
bool xg_is_f32(const xg_problem *problem);

/* Whether the products of a batch have a matrix of A, or of B, each. */
static inline bool xg_has_own_a(const xg_problem *problem)
{
    return problem->a_batch_stride || problem->pointer_arrays;
}
static inline bool xg_has_own_b(const xg_problem *problem)
{
    return problem->b_batch_stride || problem->pointer_arrays;
}

/* The rows and columns of C from there on, and as many: a problem of its own. */
xg_problem xg_problem_part(const xg_problem *problem, int64_t row, int64_t rows, int64_t column,
                           int64_t columns);

/* The same with k from there on, and as much of it. */
xg_problem xg_problem_slice(const xg_problem *problem, int64_t first_k, int64_t k);

/* Product number i of a strided batch, or of pointer arrays that the host can read. */
xg_problem xg_problem_of_batch(const xg_problem *problem, int64_t i);

/* size / unit, rounded up. */
static inline int64_t xg_ceil_div(int64_t size, int64_t unit)
{
    return size / unit + (size % unit != 0);
}

static inline int64_t xg_round_up(int64_t size, int64_t unit)
{
    return xg_ceil_div(size, unit) * unit;
}

#endif
