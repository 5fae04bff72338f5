/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdbool.h>

/* A matrix of the call, as it lies in memory (before op). */
typedef struct {
    const char *name;       /* "a" */
    const char *trans_name; /* "transa"; NULL for C */
    xgemm_transpose trans;
    int64_t rows, columns;
    const char *rows_name, *columns_name; /* "m", "k" */
    int64_t ld;
    const void *data;
    bool used;
} matrix;

static bool is_transpose(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS || trans == XGEMM_TRANS || trans == XGEMM_CONJ_TRANS;
}

static xgemm_status check_enums(const xg_call *call, xg_error *error)
{
    if (call->order != XGEMM_ROW_MAJOR && call->order != XGEMM_COL_MAJOR)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "order is %d; it must be XGEMM_ROW_MAJOR (101) or XGEMM_COL_MAJOR (102)",
                       (int)call->order);
    if (!is_transpose(call->transa) || !is_transpose(call->transb)) {
        const bool first = !is_transpose(call->transa);
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "trans%c is %d; it must be XGEMM_NO_TRANS (111), XGEMM_TRANS (112) or "
                       "XGEMM_CONJ_TRANS (113)",
                       first ? 'a' : 'b', (int)(first ? call->transa : call->transb));
    }
    return XGEMM_OK;
}

static xgemm_status check_sizes(const xg_call *call, xg_error *error)
{
    const int64_t sizes[3] = {call->m, call->n, call->k};
    for (int i = 0; i < 3; i++)
        if (sizes[i] < 0)
            return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                           "%c is %" PRId64 "; a size must be at least 0", "mnk"[i], sizes[i]);
    return XGEMM_OK;
}

static matrix operand(const char *name, const char *trans_name, xgemm_transpose trans, int64_t rows,
                      const char *rows_name, int64_t columns, const char *columns_name, int64_t ld,
                      const void *data, bool used)
{
    const matrix plain = {name,      trans_name,   trans, rows, columns,
                          rows_name, columns_name, ld,    data, used};
    if (trans == XGEMM_NO_TRANS)
        return plain;
    const matrix turned = {name,         trans_name, trans, columns, rows,
                           columns_name, rows_name,  ld,    data,    used};
    return turned;
}

static xgemm_status check_ld(const matrix *x, xgemm_order order, xg_error *error)
{
    const bool row_order = order == XGEMM_ROW_MAJOR;
    const int64_t least = row_order ? x->columns : x->rows;
    const char *least_name = row_order ? x->columns_name : x->rows_name;
    char with[48] = "";

    if (x->ld >= least && x->ld >= 1)
        return XGEMM_OK;
    if (x->trans_name)
        snprintf(with, sizeof with, "with %s = %c ", x->trans_name,
                 x->trans == XGEMM_NO_TRANS ? 'N'
                 : x->trans == XGEMM_TRANS  ? 'T'
                                            : 'C');
    if (least < 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "ld%s is %" PRId64 "; a leading dimension must be at least 1", x->name,
                       x->ld);
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "ld%s is %" PRId64 "; %sin %s order it must be at least %s = %" PRId64, x->name,
                   x->ld, with, row_order ? "row" : "column", least_name, least);
}

/* The bytes from a matrix's first element to its last must fit ptrdiff_t. */
static xgemm_status check_extent(const matrix *x, xgemm_order order, xg_error *error)
{
    const int64_t lines = order == XGEMM_ROW_MAJOR ? x->rows : x->columns;
    const int64_t width = order == XGEMM_ROW_MAJOR ? x->columns : x->rows;
    int64_t span;

    if (lines == 0 || width == 0)
        return XGEMM_OK;
    if (__builtin_mul_overflow(lines - 1, x->ld, &span) ||
        __builtin_add_overflow(span, width, &span) || span > PTRDIFF_MAX / (int64_t)sizeof(float))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "%s has %" PRId64 " lines %" PRId64
                       " elements apart: its size in bytes does not fit 63 bits",
                       x->name, lines, x->ld);
    return XGEMM_OK;
}

static xgemm_status check_pointer(const matrix *x, xg_error *error)
{
    if (x->used && !x->data)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER,
                       "%s is NULL, and a %" PRId64 " x %" PRId64 " matrix is to be read there",
                       x->name, x->rows, x->columns);
    if (x->used && (uintptr_t)x->data % sizeof(float) != 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "%s is %p, which is not aligned to the 4 bytes of a float", x->name,
                       x->data);
    return XGEMM_OK;
}

xgemm_status xg_call_check(const xg_call *call, xg_error *error)
{
    xgemm_status status = check_enums(call, error);
    if (!status)
        status = check_sizes(call, error);
    if (status)
        return status;

    const bool reads = call->m > 0 && call->n > 0 && call->k > 0 && call->alpha != 0.0f;
    const bool writes = call->m > 0 && call->n > 0 && (reads || call->beta != 1.0f);
    const matrix matrices[3] = {
        operand("a", "transa", call->transa, call->m, "m", call->k, "k", call->lda, call->a, reads),
        operand("b", "transb", call->transb, call->k, "k", call->n, "n", call->ldb, call->b, reads),
        operand("c", NULL, XGEMM_NO_TRANS, call->m, "m", call->n, "n", call->ldc, call->c, writes)};
    for (int i = 0; i < 3 && !status; i++)
        status = check_ld(&matrices[i], call->order, error);
    for (int i = 0; i < 3 && !status; i++)
        status = check_extent(&matrices[i], call->order, error);
    for (int i = 0; i < 3 && !status; i++)
        status = check_pointer(&matrices[i], error);
    return status;
}

/* A matrix of one line has no step between lines: the least one, however large ld is. */
static int64_t step_of(int64_t ld, int64_t lines, int64_t width)
{
    return lines > 1 ? ld : width > 1 ? width : 1;
}

xg_args xg_problem_of(const xg_call *call)
{
    const bool swap = call->order == XGEMM_COL_MAJOR;
    const int64_t m = swap ? call->n : call->m, n = swap ? call->m : call->n, k = call->k;
    /*
     * A column-major matrix is the row-major transpose, and C' = B' A': the
     * operands change places, and each keeps its own transpose flag.
     */
    const bool turn_a = (swap ? call->transb : call->transa) != XGEMM_NO_TRANS;
    const bool turn_b = (swap ? call->transa : call->transb) != XGEMM_NO_TRANS;
    const int64_t lda = step_of(swap ? call->ldb : call->lda, turn_a ? k : m, turn_a ? m : k);
    const int64_t ldb = step_of(swap ? call->lda : call->ldb, turn_b ? n : k, turn_b ? k : n);
    const xg_args problem = {
        .m = m,
        .n = n,
        .k = k,
        .a = swap ? call->b : call->a,
        .b = swap ? call->a : call->b,
        .c = call->c,
        .a_row = turn_a ? 1 : lda,
        .a_col = turn_a ? lda : 1,
        .b_row = turn_b ? 1 : ldb,
        .b_col = turn_b ? ldb : 1,
        .c_row = step_of(call->ldc, m, n),
        .k_part = k,
        .alpha = call->alpha,
        .beta = call->beta,
    };
    return problem;
}
