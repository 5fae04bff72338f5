/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches that copy, scale and add up matrices, for the plans of other families. */
#ifndef XGEMM_LIB_TRANSFORM_H
#define XGEMM_LIB_TRANSFORM_H

#include "plan/plan.h"

/* Rows of packed copies are multiples of that many elements. */
enum { XG_PACK_ELEMENTS = 32 };

/* The stride of a packed copy whose rows have so many elements. */
int64_t xg_packed_stride(int64_t size);

/* An aligned, MN-major copy of an operand in the workspace: k rows for each product of a pass. */
typedef struct {
    int64_t offset;       /* in the workspace, bytes */
    int64_t stride;       /* from one k to the next, elements */
    int64_t batch_stride; /* from one product's copy to the next one's, elements; 0: one copy */
} xg_packed;

/*
 * Room for copies of these operands (XG_A, XG_B) of the problem, and the launches that make them:
 * one for both, or one each where a pass has several products.
 */
xgemm_status xg_add_pack(xg_plan *plan, const xg_problem *problem, unsigned operands, xg_packed *a,
                         xg_packed *b, xg_error *error);

/* The workspace of that, in bytes. */
double xg_pack_bytes(const xg_problem *problem, unsigned operands, int64_t batch_per_pass);

/*
 * Split-K: room for so many m x n partial sums of each product of a pass, and the launch that adds
 * them up into C, in a fixed order.
 */
bool xg_reserve_partial_sums(xg_plan *plan, const xg_problem *problem, int64_t splits,
                             int64_t *offset, xg_error *error);
xgemm_status xg_add_reduce(xg_plan *plan, const xg_problem *problem, int64_t splits, int64_t offset,
                           xg_error *error);

double xg_reduce_bytes(const xg_problem *problem, int64_t splits, int64_t batch_per_pass);

/* C = beta * C, of all products of a pass. */
xgemm_status xg_add_scale(xg_plan *plan, const xg_problem *problem, bool host, xg_error *error);

/* So many 32-bit zeros in the workspace. */
xgemm_status xg_add_zeros(xg_plan *plan, int64_t offset, int64_t count, xg_error *error);

/* A copy of a rows x columns matrix in the workspace, padded with zeros. */
typedef struct {
    int64_t offset, rows, columns; /* of the copy; its rows are contiguous */
} xg_padded;

xgemm_status xg_add_pad(xg_plan *plan, xg_location from, xg_type type, int64_t rows,
                        int64_t columns, int64_t row_stride, int64_t column_stride,
                        const xg_padded *to, xg_error *error);

/* C = alpha * (the upper left part of a padded product) + beta * C. */
xgemm_status xg_add_unpad(xg_plan *plan, const xg_problem *problem, const xg_padded *from,
                          xg_error *error);

#endif
