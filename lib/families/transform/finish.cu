/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finish: C = activation(beta * C + bias), of any type and without a product: where alpha or k is
 * 0, and after a product of float by a kernel whose epilogue is alpha and beta alone. Or, of float,
 * C = activation(alpha * S + beta * C + bias), where the argument's A is S, the product in the
 * workspace; else the argument's alpha is 0. A grid-stride loop along y, since the grid's z is the
 * product of a batch.
 */
#include "args.h"
#include "families/common/batch.h"
#include "families/common/epilogue_typed.h"

/* Of real numbers a thread's loads, of so many rows, all begin before its first store. */
enum { ROWS = XG_FINISH_ROWS };

typedef struct {
    void *c;
    const float *sums;         /* 0: there are none */
    int64_t column, row, next; /* the first row, and from one to the next */
} element;

XG_DEVICE void finish_rows_f32(const xg_typed_args *p, const xg_scalars_f32 *by, const element *of,
                               int type)
{
    float sum[ROWS], old[ROWS], bias[ROWS];
    XG_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const int64_t row = of->row + i * of->next;
        const int reads = row < p->m;
        sum[i] = reads && of->sums ? of->sums[row * p->a_stride_m + of->column] : 0.0f;
        old[i] = reads && !by->beta_is_0
                     ? xg_load_as_f32(of->c, row * p->c_stride_m + of->column, type)
                     : 0.0f;
        bias[i] = reads ? xg_bias_of_f32(&p->epilogue, row, of->column) : 0.0f;
    }
    XG_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const int64_t row = of->row + i * of->next;
        if (row < p->m)
            xg_store_f32_as(of->c, row * p->c_stride_m + of->column, type,
                            xg_new_value_f32(&p->epilogue, by, old[i], bias[i], sum[i]));
    }
}

/* Columns and rows of a CTA of 32 by 8 threads that have vectors of four. */
enum { WIDE = 128, VECTOR_ROWS = ROWS / 4, NARROW = WIDE / 32 };

/* Whether rows of C, of floats, and of the product are vectors, of whole CTAs. */
XG_DEVICE int has_vectors(const xg_typed_args *p, const element *of)
{
    const uint64_t places =
        (uint64_t)(uintptr_t)of->c | (uint64_t)p->c_stride_m * 4 |
        (of->sums ? (uint64_t)(uintptr_t)of->sums | (uint64_t)p->a_stride_m * 4 : 0);
    return p->epilogue.type_c == XG_TYPE_F32 && !p->epilogue.is_complex && p->n % WIDE == 0 &&
           places % 16 == 0;
}

/* Four neighbours of a row, which may be beyond the last: then zeros. */
XG_DEVICE float4 load_vector(const float *from, int64_t stride, const element *of, int64_t row,
                             int reads)
{
    const float4 zeros = {0.0f, 0.0f, 0.0f, 0.0f};
    return reads ? *(const float4 *)(const void *)(from + row * stride + of->column) : zeros;
}

XG_DEVICE void finish_vectors(const xg_typed_args *p, const xg_scalars_f32 *by, const element *of)
{
    const xg_epilogue_args *const e = &p->epilogue;
    float4 sum[VECTOR_ROWS], old[VECTOR_ROWS];
    float bias[VECTOR_ROWS][4];
    XG_UNROLL
    for (int i = 0; i < VECTOR_ROWS; i++) {
        const int64_t row = of->row + i * of->next;
        sum[i] = load_vector(of->sums, p->a_stride_m, of, row, row < p->m && of->sums != 0);
        old[i] =
            load_vector((const float *)of->c, p->c_stride_m, of, row, row < p->m && !by->beta_is_0);
        XG_UNROLL
        for (int j = 0; j < 4; j++)
            bias[i][j] = row < p->m ? xg_bias_of_f32(e, row, of->column + j) : 0.0f;
    }
    XG_UNROLL
    for (int i = 0; i < VECTOR_ROWS; i++) {
        const int64_t row = of->row + i * of->next;
        const float4 x = {xg_new_value_f32(e, by, old[i].x, bias[i][0], sum[i].x),
                          xg_new_value_f32(e, by, old[i].y, bias[i][1], sum[i].y),
                          xg_new_value_f32(e, by, old[i].z, bias[i][2], sum[i].z),
                          xg_new_value_f32(e, by, old[i].w, bias[i][3], sum[i].w)};
        if (row < p->m)
            *(float4 *)(void *)((float *)of->c + row * p->c_stride_m + of->column) = x;
    }
}

XG_DEVICE void finish_rows(const xg_typed_args *p, const xg_scalars_f32 *by_f32, int of_double,
                           const element *of)
{
    for (int i = 0; i < ROWS; i++) {
        const int64_t row = of->row + i * of->next, at = row * p->c_stride_m + of->column;
        if (row >= p->m)
            return;
        if (of_double) {
            const xg_scalars_f64 by = xg_scalars_of_f64(&p->epilogue);
            if (p->epilogue.is_complex)
                xg_store_complex_f64(&p->epilogue, &by, of->c, at, row, of->column, 0.0, 0.0);
            else
                xg_store_real_f64(&p->epilogue, &by, of->c, at, row, of->column, 0.0);
        } else {
            xg_store_complex_f32(&p->epilogue, by_f32, of->c, at, row, of->column, 0.0f, 0.0f);
        }
    }
}

XG_KERNEL(__launch_bounds__(256, 4), finish, xg_typed_args)
{
    const int type = p.epilogue.type_c;
    const int of_double = type == XG_TYPE_F64 || type == XG_TYPE_C64;
    const int half = type == XG_TYPE_F16 || type == XG_TYPE_BF16;
    const int bytes = (half ? 2 : of_double ? 8 : 4) * (p.epilogue.is_complex ? 2 : 1);
    const int64_t first = (int64_t)blockIdx.y * blockDim.y * ROWS + threadIdx.y;
    const int64_t stride = (int64_t)gridDim.y * blockDim.y * ROWS;
    element of = {.column = XG_BLOCK_X * blockDim.x + threadIdx.x, .next = blockDim.y};

    xg_pdl_wait();
    xg_pdl_trigger();
    of.c = (void *)xg_matrix_of_batch(p.c, p.c_batch_stride, bytes);
    of.sums = p.a ? (const float *)xg_matrix_of_batch(p.a, p.a_batch_stride, sizeof(float)) : 0;
    if (of.column >= p.n)
        return;
    const xg_scalars_f32 by = xg_scalars_of_f32(&p.epilogue);
    if (has_vectors(&p, &of)) { /* the CTAs that are side by side have rows in place of columns */
        const int64_t part = (int64_t)(blockIdx.x % NARROW) * VECTOR_ROWS * blockDim.y;
        of.column = (int64_t)(blockIdx.x / NARROW) * WIDE + 4 * threadIdx.x;
        for (of.row = first + part; of.row < p.m; of.row += stride)
            finish_vectors(&p, &by, &of);
        return;
    }
    for (of.row = first; of.row < p.m; of.row += stride) {
        if (of_double || p.epilogue.is_complex)
            finish_rows(&p, &by, of_double, &of);
        else if (type == XG_TYPE_F32)
            finish_rows_f32(&p, &by, &of, XG_TYPE_F32);
        else
            finish_rows_f32(&p, &by, &of, type);
    }
}
