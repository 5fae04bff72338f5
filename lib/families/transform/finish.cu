/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finish: C = activation(beta * C + bias), of any type and without a product: where alpha or k is
 * 0, and after a product of float by a kernel whose epilogue is alpha and beta alone. Or, of float,
 * C = activation(alpha * S + beta * C + bias), where the argument's A is S, the product in the
 * workspace; else the argument's alpha is 0. A grid-stride loop along y, since the grid's z is the
 * product of a batch.
 */
#include "families/common/batch.h"
#include "families/common/epilogue_typed.h"

XG_DEVICE void finish_f32(const xg_typed_args *p, void *c, int64_t row, int64_t column, float sum)
{
    const xg_scalars_f32 by = xg_scalars_of_f32(&p->epilogue);
    const int64_t at = row * p->c_stride_m + column;
    if (p->epilogue.is_complex)
        xg_store_complex_f32(&p->epilogue, &by, c, at, row, column, 0.0f, 0.0f);
    else
        xg_store_real_f32(&p->epilogue, &by, c, at, row, column, sum);
}

XG_DEVICE void finish_f64(const xg_typed_args *p, void *c, int64_t row, int64_t column)
{
    const xg_scalars_f64 by = xg_scalars_of_f64(&p->epilogue);
    const int64_t at = row * p->c_stride_m + column;
    if (p->epilogue.is_complex)
        xg_store_complex_f64(&p->epilogue, &by, c, at, row, column, 0.0, 0.0);
    else
        xg_store_real_f64(&p->epilogue, &by, c, at, row, column, 0.0);
}

XG_KERNEL(, finish, xg_typed_args)
{
    const int type = p.epilogue.type_c;
    const int of_double = type == XG_TYPE_F64 || type == XG_TYPE_C64;
    const int half = type == XG_TYPE_F16 || type == XG_TYPE_BF16;
    const int bytes = (half ? 2 : of_double ? 8 : 4) * (p.epilogue.is_complex ? 2 : 1);
    const int64_t column = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;

    xg_pdl_wait();
    xg_pdl_trigger();
    void *const c = (void *)xg_matrix_of_batch(p.c, p.c_batch_stride, bytes);
    const float *const sums =
        p.a ? (const float *)xg_matrix_of_batch(p.a, p.a_batch_stride, sizeof *sums) : 0;
    if (column < p.n)
        for (int64_t row = first; row < p.m; row += (int64_t)gridDim.y * blockDim.y) {
            if (of_double)
                finish_f64(&p, c, row, column);
            else
                finish_f32(&p, c, row, column, sums ? sums[row * p.a_stride_m + column] : 0.0f);
        }
}
