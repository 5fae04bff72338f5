/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem.h"

#include <string.h>

/* Of each type, by its value. */
static const struct {
    bool half;
    xg_type scalars;
    const char *name, *short_name;
} types[XG_TYPES] = {
    [XG_F32] = {false, XG_F32, "float", "f32"},
    [XG_F64] = {false, XG_F64, "double", "f64"},
    [XG_F16] = {true, XG_F32, "half", "f16"},
    [XG_BF16] = {true, XG_F32, "bfloat16", "bf16"},
    [XG_C32] = {false, XG_C32, "float complex", "c32"},
    [XG_C64] = {false, XG_C64, "double complex", "c64"},
};

bool xg_type_is_half(xg_type type)
{
    return types[type].half;
}

xg_type xg_type_of_scalars(xg_type operands)
{
    return types[operands].scalars;
}

const char *xg_type_name(xg_type type)
{
    return types[type].name;
}

const char *xg_type_short_name(xg_type type)
{
    return types[type].short_name;
}

xg_scalar xg_scalar_of(xg_type type, int number)
{
    xg_scalar x = {.c64 = {0.0, 0.0}};
    if (type == XG_F64)
        x.f64 = number;
    else if (type == XG_C64)
        x.c64[0] = number;
    else if (type == XG_C32)
        x.c32[0] = (float)number;
    else
        x.f32 = (float)number;
    return x;
}

bool xg_scalar_is(xg_type type, xg_scalar x, int number)
{
    if (type == XG_F32)
        return x.f32 == (float)number;
    double parts[2];
    xg_scalar_parts(type, x, parts);
    return parts[0] == number && parts[1] == 0.0;
}

xg_scalar xg_scalar_load(xg_type type, const void *from)
{
    xg_scalar x = {.c64 = {0.0, 0.0}};
    memcpy(&x, from, xg_type_bytes(type));
    return x;
}

void xg_scalar_parts(xg_type type, xg_scalar x, double parts[2])
{
    parts[0] = type == XG_F64   ? x.f64
               : type == XG_C64 ? x.c64[0]
               : type == XG_C32 ? (double)x.c32[0]
                                : (double)x.f32;
    parts[1] = type == XG_C64 ? x.c64[1] : type == XG_C32 ? (double)x.c32[1] : 0.0;
}

bool xg_has_no_product(const xg_problem *p)
{
    return p->k == 0 ||
           (!p->epilogue.alpha_at && xg_scalar_is(p->epilogue.type, p->epilogue.alpha, 0));
}

bool xg_is_plain_epilogue(const xg_epilogue_params *epilogue)
{
    return !epilogue->device_scalars && !epilogue->bias &&
           epilogue->activation == XGEMM_ACTIVATION_NONE;
}

bool xg_is_f32(const xg_problem *problem)
{
    return problem->type_a == XG_F32 && problem->type_c == XG_F32;
}

static const void *move(const void *matrix, int64_t elements, xg_type type)
{
    return (const char *)matrix + elements * (int64_t)xg_type_bytes(type);
}

xg_problem xg_problem_part(const xg_problem *problem, int64_t row, int64_t rows, int64_t column,
                           int64_t columns)
{
    xg_problem part = *problem;
    part.m = rows;
    part.n = columns;
    if (rows == 0 || columns == 0) /* where it would begin, an address may be none */
        return part;
    part.a = move(problem->a, row * problem->a_stride_m, problem->type_a);
    part.b = move(problem->b, column * problem->b_stride_n, problem->type_b);
    part.c = (char *)problem->c +
             (row * problem->c_stride_m + column) * (int64_t)xg_type_bytes(problem->type_c);
    if (problem->epilogue.bias)
        part.epilogue.bias =
            move(problem->epilogue.bias, problem->epilogue.bias_per_row ? row : column,
                 problem->epilogue.bias_type);
    return part;
}

xg_problem xg_problem_slice(const xg_problem *problem, int64_t first_k, int64_t k)
{
    xg_problem slice = *problem;
    slice.k = k;
    slice.a = move(problem->a, first_k * problem->a_stride_k, problem->type_a);
    slice.b = move(problem->b, first_k * problem->b_stride_k, problem->type_b);
    return slice;
}

static void *pointer_of(const void *pointers, int64_t i)
{
    return ((void *const *)pointers)[i];
}

xg_problem xg_problem_of_batch(const xg_problem *problem, int64_t i)
{
    xg_problem one = *problem;
    one.batch_count = 1;
    one.a_batch_stride = one.b_batch_stride = one.c_batch_stride = 0;
    one.pointer_arrays = false;
    if (problem->pointer_arrays) {
        one.a = problem->a ? pointer_of(problem->a, i) : NULL;
        one.b = problem->b ? pointer_of(problem->b, i) : NULL;
        one.c = pointer_of(problem->c, i);
        return one;
    }
    one.a = move(problem->a, i * problem->a_batch_stride, problem->type_a);
    one.b = move(problem->b, i * problem->b_batch_stride, problem->type_b);
    one.c =
        (char *)problem->c + i * problem->c_batch_stride * (int64_t)xg_type_bytes(problem->type_c);
    return one;
}
