/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of which a launch of tensor/ computes several products. */
#include "fp16_layout.h"
#include "tensor.h"

#define BATCH_MOST 0x1p30 /* bytes of workspace of a pass of several products */

xg_tensor_batch xg_tensor_batch_of(const xg_problem *p, int64_t products)
{
    const bool pointers = p->pointer_arrays;
    return (xg_tensor_batch){
        .a_stride = pointers ? XG_TENSOR_POINTERS : (uint32_t)p->a_batch_stride,
        .b_stride = pointers ? XG_TENSOR_POINTERS : (uint32_t)p->b_batch_stride,
        .products = (uint16_t)products,
        .room = (uint16_t)products};
}

double xg_batch_bytes(const xg_kernel *kernel, const xg_problem *p, int64_t products)
{
    const xg_tensor_batch batch = xg_tensor_batch_of(p, products);
    const xg_fp16_layout at = xg_batched_layout_of(p->m, p->n, p->k, kernel->fp16_terms, &batch);
    return xg_room_bytes(1.0, (double)at.bytes / 4.0, XG_F32);
}

/* The products that one launch may compute: worklists count elements, and grids products. */
static int64_t most_products(const xg_problem *p)
{
    const double padded =
        (double)xg_round_up(p->m, XG_ROW_PADDING) * (double)xg_round_up(p->n, XG_ROW_PADDING);
    const double most = xg_smaller((double)XG_LISTED_ELEMENTS_MOST / padded, XG_GRID_Z_MAX);
    return p->batch_count < (int64_t)most ? p->batch_count : (int64_t)most;
}

static bool fits_stride(int64_t stride)
{
    return stride >= 0 && stride < (int64_t)XG_TENSOR_POINTERS;
}

bool xg_tensor_can_batch(const xg_kernel *kernel, const xg_problem *p)
{
    enum { ROWS_MOST = 1 << 19 }; /* of an operand: row groups are the grid's y */
    const bool strided = fits_stride(p->a_batch_stride) && fits_stride(p->b_batch_stride) &&
                         fits_stride(p->c_batch_stride) && p->c_batch_stride > 0;
    return kernel->batched && (p->pointer_arrays || (p->batch_count > 1 && strided)) &&
           p->m <= ROWS_MOST && p->n <= ROWS_MOST && p->k <= XG_SPLIT_K_MOST &&
           most_products(p) > 0;
}

bool xg_tensor_is_batched(const xg_candidate *of, const xg_problem *p)
{
    return of->batch_per_pass > 1 || p->pointer_arrays;
}

int64_t xg_tensor_products_of_pass(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const double room = xg_smaller((double)request->workspace_limit, BATCH_MOST);
    int64_t least = 1, most = most_products(p);
    while (least < most) {
        const int64_t middle = most - (most - least) / 2;
        if (xg_batch_bytes(kernel, p, middle) <= room)
            least = middle;
        else
            most = middle - 1;
    }
    return xg_ceil_div(p->batch_count, xg_ceil_div(p->batch_count, least));
}
