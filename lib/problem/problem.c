/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem.h"

#include <string.h>

size_t xg_type_bytes(xg_type type)
{
    switch (type) {
    case XG_F32:
        return 4;
    }
    return 0;
}

const char *xg_type_name(xg_type type)
{
    switch (type) {
    case XG_F32:
        return "float";
    }
    return "";
}

xg_scalar xg_scalar_of(xg_type type, int number)
{
    xg_scalar x = {0};
    switch (type) {
    case XG_F32:
        x.f32 = (float)number;
    }
    return x;
}

bool xg_scalar_is(xg_type type, xg_scalar x, int number)
{
    switch (type) {
    case XG_F32:
        return x.f32 == (float)number;
    }
    return false;
}

uint64_t xg_scalar_bits(xg_type type, xg_scalar x)
{
    uint32_t bits = 0;
    switch (type) {
    case XG_F32:
        memcpy(&bits, &x.f32, sizeof bits);
    }
    return bits;
}

unsigned xg_k_major(const xg_problem *problem)
{
    return (problem->a_stride_k == 1 ? XG_A : 0u) | (problem->b_stride_k == 1 ? XG_B : 0u);
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
    part.a = move(problem->a, row * problem->a_stride_m, problem->type_a);
    part.b = move(problem->b, column * problem->b_stride_n, problem->type_b);
    part.c = (char *)problem->c +
             (row * problem->c_stride_m + column) * (int64_t)xg_type_bytes(problem->type_c);
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
