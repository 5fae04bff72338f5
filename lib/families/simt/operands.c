/* SPDX-License-Identifier: BSD-3-Clause */
/* How operands lie, and which of them a kernel has copied first. */
#include "simt.h"

/* A matrix of k times m or n elements. */
typedef struct {
    const void *base;
    int64_t stride_x, stride_k; /* of m or n, and of k */
    int64_t batch_stride;
    bool pointer_array;
} operand;

static operand a_of(const xg_problem *p)
{
    return (operand){p->a, p->a_stride_m, p->a_stride_k, p->a_batch_stride, p->pointer_arrays};
}

static operand b_of(const xg_problem *p)
{
    return (operand){p->b, p->b_stride_n, p->b_stride_k, p->b_batch_stride, p->pointer_arrays};
}

static operand k_major_of(operand x)
{
    return (operand){x.base, x.stride_k, x.stride_x, x.batch_stride, x.pointer_array};
}

/* Whether rows along x begin at 16 bytes, also those of a batch's other matrices. */
static bool is_aligned(operand x)
{
    return x.stride_x == 1 && x.stride_k % 4 == 0 && x.stride_k < 1 << 28 &&
           (uintptr_t)x.base % 16 == 0 && x.batch_stride % 4 == 0 && !x.pointer_array;
}

static unsigned bits(bool a, bool b)
{
    return (a ? XG_A : 0u) | (b ? XG_B : 0u);
}

/* The operands that are K-major, aligned, and whole vec4s long. */
static unsigned vec4_k_major(const xg_problem *p)
{
    const bool whole = p->k % 4 == 0;
    return bits(is_aligned(k_major_of(a_of(p))) && whole, is_aligned(k_major_of(b_of(p))) && whole);
}

/* The K-major operands that a kernel transposes itself. */
static unsigned transposed(const xg_kernel *kernel, const xg_problem *p)
{
    if (kernel->operands == XG_OPERANDS_OF_EITHER_MAJOR)
        return vec4_k_major(p);
    return bits(kernel->operands == XG_A_OF_EITHER_MAJOR && is_aligned(k_major_of(a_of(p))), false);
}

/*
 * Those of the first m x n of C that cannot be copied MN-major by vec4 (or, with tensor maps, by
 * TMA): K-major ones, and unaligned ones.
 */
static unsigned unaligned(const xg_kernel *kernel, const xg_problem *p, int64_t m, int64_t n)
{
    /* TMA copies no element past a row's end. */
    const bool any_end = kernel->tensor_maps;
    return bits(!is_aligned(a_of(p)) || !(any_end || m % 4 == 0),
                !is_aligned(b_of(p)) || !(any_end || n % 4 == 0));
}

unsigned xg_copied(const xg_candidate *of, const xg_problem *p)
{
    const xg_kernel *const kernel = of->kernel;
    const unsigned must = kernel->operands == XG_ANY_OPERANDS ? 0u : ~transposed(kernel, p);
    return unaligned(kernel, p, of->m, of->n) & (must | of->copied);
}

unsigned xg_scalar_operands(const xg_kernel *kernel, const xg_tile_cost *cost, const xg_problem *p)
{
    const unsigned vec4 = vec4_k_major(p) & bits(cost->vec4_k_major > 0, cost->vec4_k_major > 1);
    return unaligned(kernel, p, p->m, p->n) &
           (kernel->operands == XG_ANY_OPERANDS ? ~vec4 : transposed(kernel, p));
}

bool xg_tensor_maps_reach(const xg_problem *p)
{
    const int64_t most = INT32_MAX - 1024; /* a tile's beginning and what is past an edge, too */
    return p->m <= most && p->n <= most && p->k <= most;
}
