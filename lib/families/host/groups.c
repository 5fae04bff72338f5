/* SPDX-License-Identifier: BSD-3-Clause */
/* Ragged groups: a function of the host for each. */
#include "functions.h"

#include "problem/problem.h"

static int64_t line_of(int64_t offset, int64_t lines)
{
    return offset < 0 ? 0 : offset < lines ? offset : lines;
}

static const void *advanced(const void *from, int64_t elements, int type)
{
    return from ? (const char *)from + elements * (int64_t)xg_type_bytes((xg_type)type) : NULL;
}

/* The group's product, of so many lines from "first" on. */
static xg_host_args group_of(const xg_host_args *all, int64_t group, int64_t first, int64_t lines)
{
    xg_host_args one = *all;
    xg_typed_args *const p = &one.product;
    const bool by_rows = p->ragged == XG_RAGGED_ROWS;
    const int type = p->epilogue.type_a;
    const int64_t to_a = by_rows ? first * p->a_stride_m : group * p->a_batch_stride;
    const int64_t to_b = by_rows ? group * p->b_batch_stride : first * p->b_stride_n;
    const int64_t to_c = by_rows ? first * p->c_stride_m : first;
    *(by_rows ? &p->m : &p->n) = lines;
    p->a = advanced(p->a, to_a, type);
    p->b = advanced(p->b, to_b, type);
    p->c = (char *)p->c + to_c * (int64_t)xg_type_bytes((xg_type)p->epilogue.type_c);
    if (p->epilogue.bias_per_row == by_rows)
        p->epilogue.bias = advanced(p->epilogue.bias, first, p->epilogue.type_bias);
    p->groups = 0;
    return one;
}

void xg_host_each_group(const xg_host_args *all, void (*function)(const void *))
{
    const xg_typed_args *const p = &all->product;
    const int64_t lines = p->ragged == XG_RAGGED_ROWS ? p->m : p->n;
    for (int64_t group = 0; group < p->groups; group++) {
        const int64_t first = line_of(p->offsets[group], lines);
        const int64_t end = line_of(p->offsets[group + 1], lines);
        if (end <= first)
            continue;
        const xg_host_args one = group_of(all, group, first, end - first);
        function(&one);
    }
}
