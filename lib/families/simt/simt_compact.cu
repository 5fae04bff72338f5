/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The products of the kernels of sliced.inc, with the same bits, in little code: the driver
 * translates its PTX in some milliseconds. It runs the first products of a process, until the
 * kernel that it stands for has been translated.
 *
 * Idea: coalesced, one thread an element, but with the sum over k in the other kernel's order: by
 * the splits that a cluster adds up, and in a split by slices, each of which has its part of every
 * stage.
 * Traffic: as coalesced, 0.25 OP/B.
 */
#include "args.h"
#include "families/common/epilogue.h"
#include "families/common/ptx_sm90.h"

#define ARGS xg_simt_args
#include "cta_work.inc"

/* What a thread adds up: a row of A, a column of B, and how far apart their elements are. */
typedef struct {
    const float *a, *b;
    int64_t a_stride, b_stride;
} row_and_column;

/*
 * The sum of a slice over a split of k. The first stage has what is left of k beside the others,
 * which are full.
 */
XG_DEVICE float slice_sum(const row_and_column *of, int64_t k, const xg_simt_order *order,
                          int slice)
{
    const int first = slice * order->slice_k;
    int depth = (int)((k - 1) & (order->stage_k - 1)) + 1; /* stage_k is a power of two */
    float sum = 0.0f;
    XG_UNROLL_BY(1)
    for (int64_t stage = 0; stage < k; stage += depth, depth = order->stage_k) {
        const int end = XG_MIN(first + order->slice_k, depth);
        for (int l = first; l < end; l++)
            XG_ADD_PRODUCT(sum, of->a[(stage + l) * of->a_stride],
                           of->b[(stage + l) * of->b_stride]);
    }
    return sum;
}

/* The sum of a split: of its slices. */
XG_DEVICE float split_sum(const row_and_column *of, int64_t k, const xg_simt_order *order)
{
    float total = 0.0f;
    XG_UNROLL_BY(1)
    for (int slice = 0; slice < order->slices; slice++)
        total += slice_sum(of, k, order, slice);
    return total;
}

/* A CTA computes 8 x 32 elements. */
XG_KERNEL(__launch_bounds__(256), simt_compact, xg_simt_compact_args)
{
    const xg_simt_args *const product = &p.product;
    const unsigned columns = (unsigned)((product->n + 31) / 32);
    const int64_t row = (int64_t)(blockIdx.x / columns) * 8 + threadIdx.x / 32,
                  column = (int64_t)(blockIdx.x % columns) * 32 + threadIdx.x % 32;
    const int cluster = p.order.cluster;
    if (row >= product->m || column >= product->n)
        return;
    float total = 0.0f;
    XG_UNROLL_BY(1)
    for (int rank = 0; rank < cluster; rank++) {
        const cta_work work = cta_work_of_split(product, XG_SPLIT * cluster + rank);
        const row_and_column of = {work.a + row * product->a_stride_m,
                                   work.b + column * product->b_stride_n, product->a_stride_k,
                                   product->b_stride_k};
        total += split_sum(&of, work.k, &p.order);
    }
    float *const c = c_of(product) + row * product->c_stride_m + column;
    *c = xg_epilogue(product->alpha, total, product->beta, c);
}
