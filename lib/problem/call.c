/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include "call_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    xg_type type;
    int64_t stride; /* from one product of a batch to the next */
} matrix;

xg_call xg_call_of(xg_type type, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                   int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                   int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, const void *beta,
                   void *c, int64_t ldc, int64_t stride_c, int64_t batch_count)
{
    const xgemm_type of = (xgemm_type)type;
    return (xg_call){.struct_size = sizeof(xg_call),
                     .order = order,
                     .transa = transa,
                     .transb = transb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .type_a = of,
                     .type_b = of,
                     .type_c = of,
                     .alpha = alpha,
                     .beta = beta,
                     .a = a,
                     .b = b,
                     .c = c,
                     .lda = lda,
                     .ldb = ldb,
                     .ldc = ldc,
                     .batch_count = batch_count,
                     .stride_a = stride_a,
                     .stride_b = stride_b,
                     .stride_c = stride_c};
}

/* Bytes of any version's product; a greater struct_size is memory that was never set. */
#define XG_PRODUCT_BYTES_MOST 4096

xgemm_status xg_call_of_product(const xgemm_product *product, xg_call *call, xg_error *error)
{
    const size_t least = offsetof(xgemm_product, bias_per_row) + sizeof product->bias_per_row;
    if (!product)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "product is NULL");
    const size_t bytes = product->struct_size;
    if (bytes < least || bytes > XG_PRODUCT_BYTES_MOST)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "struct_size is %zu; begin with XGEMM_PRODUCT_INIT, which sets it", bytes);
    for (size_t i = sizeof *call; i < bytes; i++)
        if (((const char *)product)[i])
            return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                           "byte %zu of the product is set, but this libxgemm knows %zu", i,
                           sizeof *call);
    memset(call, 0, sizeof *call);
    memcpy(call, product, bytes < sizeof *call ? bytes : sizeof *call);
    call->struct_size = sizeof *call;
    return XGEMM_OK;
}

static bool has(const xg_call *call, unsigned flag)
{
    return (call->flags & flag) != 0;
}

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
    if (call->batch_count < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "batch_count is %" PRId64 "; it must be at least 0", call->batch_count);
    return XGEMM_OK;
}

/* Field by field, in place: copies of such structs would be half of a small product's host time. */
static inline void set_sides(matrix *x, xgemm_transpose trans, int64_t rows, const char *rows_name,
                             int64_t columns, const char *columns_name)
{
    const bool transposed = trans != XGEMM_NO_TRANS;
    x->trans = trans;
    x->rows = transposed ? columns : rows;
    x->columns = transposed ? rows : columns;
    x->rows_name = transposed ? columns_name : rows_name;
    x->columns_name = transposed ? rows_name : columns_name;
}

static inline void set_memory(matrix *x, const char *name, const char *trans_name, xgemm_type type,
                              const void *data, int64_t ld, int64_t stride, bool used)
{
    x->name = name;
    x->trans_name = trans_name;
    x->type = (xg_type)type;
    x->data = data;
    x->ld = ld;
    x->stride = stride;
    x->used = used;
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

/* Rows of a matrix in row order, columns in column order: contiguous, and ld elements apart. */
static int64_t rows_in_memory(const matrix *x, xgemm_order order)
{
    return order == XGEMM_ROW_MAJOR ? x->rows : x->columns;
}

/* The elements of one. */
static int64_t row_length(const matrix *x, xgemm_order order)
{
    return order == XGEMM_ROW_MAJOR ? x->columns : x->rows;
}

/* The bytes from a matrix's first element to its last must fit ptrdiff_t. */
static xgemm_status check_extent(const matrix *x, const xg_call *call, xg_error *error)
{
    const int64_t rows = rows_in_memory(x, call->order), length = row_length(x, call->order);
    const int64_t most = PTRDIFF_MAX / (int64_t)xg_type_bytes(x->type);
    int64_t span, before;
    if (rows == 0 || length == 0)
        return XGEMM_OK;
    if (__builtin_mul_overflow(rows - 1, x->ld, &span) ||
        __builtin_add_overflow(span, length, &span) || span > most)
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "%s has %" PRId64 " %s %" PRId64
                       " elements apart: its size in bytes does not fit 63 bits",
                       x->name, rows, call->order == XGEMM_ROW_MAJOR ? "rows" : "columns", x->ld);
    if (call->batch_count > 1 &&
        (__builtin_mul_overflow(call->batch_count - 1, x->stride, &before) ||
         __builtin_add_overflow(before, span, &span) || span > most))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "%s has %" PRId64 " matrices %" PRId64
                       " elements apart: their size in bytes does not fit 63 bits",
                       x->name, call->batch_count, x->stride);
    return XGEMM_OK;
}

static xgemm_status check_stride(const matrix *x, xg_error *error)
{
    if (x->stride >= 0)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "stride_%s is %" PRId64 "; a stride must be at least 0", x->name, x->stride);
}

/*
 * The second of C's matrices must not overlap the first. In row order its first row begins "into"
 * elements after row "row" of the first matrix, if that has so many; in column order the same of
 * columns.
 */
static xgemm_status check_overlap(const matrix *c, const xg_call *call, xg_error *error)
{
    const int64_t rows = rows_in_memory(c, call->order), length = row_length(c, call->order);
    if (call->batch_count < 2 || has(call, XGEMM_POINTER_ARRAYS) || rows == 0 || length == 0)
        return XGEMM_OK;
    const int64_t row = c->stride / c->ld, into = c->stride % c->ld;
    const bool first = row < rows && into < length;
    const bool next = row + 1 < rows && c->ld - into < length;
    if (!first && !next)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "stride_c is %" PRId64 "; with ldc = %" PRId64
                   " the products of a batch would overlap in C, of which %" PRId64
                   " %s of %" PRId64 " elements are one",
                   c->stride, c->ld, rows, call->order == XGEMM_ROW_MAJOR ? "rows" : "columns",
                   length);
}

static xgemm_status check_pointer(const matrix *x, const xg_call *call, xg_error *error)
{
    const bool list = has(call, XGEMM_POINTER_ARRAYS);
    const size_t unit = list ? sizeof(void *) : xg_type_alignment(x->type);
    if (!x->used)
        return XGEMM_OK;
    if (!x->data && list)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER,
                       "%s is NULL, and pointers to %" PRId64 " matrices are to be read there",
                       x->name, call->batch_count);
    if (!x->data)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER,
                       "%s is NULL, and a %" PRId64 " x %" PRId64 " matrix is to be %s there",
                       x->name, x->rows, x->columns, x->name[0] == 'c' ? "written" : "read");
    if ((uintptr_t)x->data % unit != 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "%s is %p, which is not aligned to the %zu bytes of a %s", x->name, x->data,
                       unit, list ? "pointer" : xg_type_part_name(x->type));
    return XGEMM_OK;
}

/* The host's scalar; with scalars on the device any that is neither 0 nor 1 could be it. */
static bool scalar_is(const xg_call *call, const void *scalar, int number, int when_null)
{
    if (!scalar)
        return number == when_null;
    if (has(call, XGEMM_DEVICE_SCALARS))
        return false;
    if (call->type_a == XGEMM_F32) /* without the general path's calls: it is a call's host time */
        return xg_float_at(scalar) == (float)number;
    const xg_type type = xg_type_of_scalars((xg_type)call->type_a);
    return xg_scalar_is(type, xg_scalar_load(type, scalar), number);
}

/* Whether A and B are read. */
static bool reads(const xg_call *call)
{
    return call->m > 0 && call->n > 0 && call->k > 0 && call->batch_count > 0 &&
           !scalar_is(call, call->alpha, 0, 1);
}

/* Whether C is written, by whether A and B are read. */
static bool writes(const xg_call *call, bool reads_operands)
{
    return call->m > 0 && call->n > 0 && call->batch_count > 0 &&
           (reads_operands || call->bias || call->activation || !scalar_is(call, call->beta, 1, 0));
}

bool xg_call_writes(const xg_call *call)
{
    return writes(call, reads(call));
}

static void describe(const xg_call *call, matrix matrices[3])
{
    matrix *const a = &matrices[0], *const b = &matrices[1], *const c = &matrices[2];
    const bool used = reads(call), strided = !has(call, XGEMM_POINTER_ARRAYS);
    set_sides(a, call->transa, call->m, "m", call->k, "k");
    set_sides(b, call->transb, call->k, "k", call->n, "n");
    set_sides(c, XGEMM_NO_TRANS, call->m, "m", call->n, "n");
    set_memory(a, "a", "transa", call->type_a, call->a, call->lda, strided ? call->stride_a : 0,
               used);
    set_memory(b, "b", "transb", call->type_b, call->b, call->ldb, strided ? call->stride_b : 0,
               used);
    set_memory(c, "c", NULL, call->type_c, call->c, call->ldc, strided ? call->stride_c : 0,
               writes(call, used));
}

xgemm_status xg_call_check(const xg_call *call, xg_error *error)
{
    matrix matrices[3];
    xgemm_status status = check_enums(call, error);
    if (!status)
        status = check_sizes(call, error);
    if (!status)
        status = xg_call_check_types(call, error);
    if (status)
        return status;
    describe(call, matrices);
    for (int i = 0; i < 3 && !status; i++)
        status = check_ld(&matrices[i], call->order, error);
    for (int i = 0; i < 3 && !status; i++)
        status = check_stride(&matrices[i], error);
    for (int i = 0; i < 3 && !status; i++)
        status = check_extent(&matrices[i], call, error);
    if (!status)
        status = check_overlap(&matrices[2], call, error);
    for (int i = 0; i < 3 && !status; i++)
        status = check_pointer(&matrices[i], call, error);
    return status ? status : xg_call_check_epilogue(call, error);
}

static xgemm_status check_group_counts(const xg_call *call, int64_t groups, xg_error *error)
{
    if (has(call, XGEMM_POINTER_ARRAYS))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "flags has XGEMM_POINTER_ARRAYS; the groups' matrices B are stride_b apart");
    if (call->batch_count != 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "batch_count is %" PRId64 "; with ragged groups it must be 1",
                       call->batch_count);
    if (groups < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "groups is %" PRId64 "; it must be at least 0", groups);
    if (groups > INT32_MAX / 2 || call->m > INT32_MAX / 2)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "there are %" PRId64 " rows in %" PRId64 " groups; 2^30 - 1 are the most",
                       call->m, groups);
    return XGEMM_OK;
}

xgemm_status xg_call_check_groups(const xg_call *call, const int64_t *offsets, int64_t groups,
                                  xg_error *error)
{
    xg_call of_b = *call, whole = *call; /* a batch of as many B; A and C have no strides */
    matrix matrices[3];
    xgemm_status status = check_group_counts(call, groups, error);
    whole.stride_a = whole.stride_c = 0;
    if (!status)
        status = xg_call_check(&whole, error);
    if (status)
        return status;
    of_b.batch_count = groups;
    describe(&of_b, matrices);
    status = check_extent(&matrices[1], &of_b, error);
    if (status || groups == 0 || !xg_call_writes(call))
        return status;
    if (!offsets)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER,
                       "offsets is NULL, and %" PRId64 " offsets are to be read there", groups + 1);
    if ((uintptr_t)offsets % sizeof *offsets != 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "offsets is %p, which is not aligned to the %zu bytes of an offset",
                       (const void *)offsets, sizeof *offsets);
    return XGEMM_OK;
}

static const void *pointer_of(const void *pointers, int64_t i)
{
    return ((const void *const *)pointers)[i];
}

xgemm_status xg_call_check_pointers(const xg_call *call, xg_error *error)
{
    matrix matrices[3];
    describe(call, matrices);
    for (int x = 0; x < 3; x++)
        for (int64_t i = 0; matrices[x].used && i < call->batch_count; i++) {
            const void *const pointer = pointer_of(matrices[x].data, i);
            const size_t unit = xg_type_alignment(matrices[x].type);
            if (!pointer)
                return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s[%" PRId64 "] is NULL",
                               matrices[x].name, i);
            if ((uintptr_t)pointer % unit != 0)
                return xg_fail(
                    error, XGEMM_ERROR_INVALID_VALUE,
                    "%s[%" PRId64 "] is %p, which is not aligned to the %zu bytes of a %s",
                    matrices[x].name, i, pointer, unit, xg_type_part_name(matrices[x].type));
        }
    return XGEMM_OK;
}

xg_call xg_call_of_batch(const xg_call *call, int64_t i)
{
    xg_call one = *call;
    one.flags &= ~(unsigned)XGEMM_POINTER_ARRAYS;
    one.batch_count = 1;
    one.stride_a = one.stride_b = one.stride_c = 0;
    one.a = reads(call) ? pointer_of(call->a, i) : NULL;
    one.b = reads(call) ? pointer_of(call->b, i) : NULL;
    one.c = ((void *const *)call->c)[i];
    return one;
}

/* A matrix of one row has no stride between rows: the least one, however large ld is. */
static int64_t stride_of(int64_t ld, int64_t rows, int64_t length)
{
    return rows > 1 ? ld : length > 1 ? length : 1;
}

static xg_scalar scalar_of(const xg_call *call, xg_type type, const void *scalar, int when_null)
{
    if (!scalar)
        return xg_scalar_of(type, when_null);
    if (has(call, XGEMM_DEVICE_SCALARS))
        return xg_scalar_of(type, 1);
    if (type != XG_F32)
        return xg_scalar_load(type, scalar);
    xg_scalar x = {.c64 = {0.0, 0.0}};
    x.f32 = xg_float_at(scalar);
    return x;
}

static xg_epilogue_params epilogue_of(const xg_call *call)
{
    const xg_type type = xg_type_of_scalars((xg_type)call->type_a);
    const bool device = has(call, XGEMM_DEVICE_SCALARS) && (call->alpha || call->beta);
    const bool column_order = call->order == XGEMM_COL_MAJOR;
    return (xg_epilogue_params){.type = type,
                                .alpha = scalar_of(call, type, call->alpha, 1),
                                .beta = scalar_of(call, type, call->beta, 0),
                                .device_scalars = device,
                                .alpha_at = device ? call->alpha : NULL,
                                .beta_at = device ? call->beta : NULL,
                                .activation = call->activation,
                                .bias = call->bias,
                                .bias_type = call->bias ? (xg_type)call->type_bias : type,
                                .bias_per_row =
                                    call->bias && (call->bias_per_row != 0) != column_order};
}

xg_problem xg_call_problem(const xg_call *call)
{
    const bool swap = call->order == XGEMM_COL_MAJOR;
    const bool complex = xg_type_is_complex((xg_type)call->type_a);
    const int64_t m = swap ? call->n : call->m, n = swap ? call->m : call->n, k = call->k;
    /*
     * A column-major matrix is the row-major transpose, and C' = B' A': the
     * operands change places, and each keeps its own transpose flag.
     */
    const bool transpose_a = (swap ? call->transb : call->transa) != XGEMM_NO_TRANS;
    const bool transpose_b = (swap ? call->transa : call->transb) != XGEMM_NO_TRANS;
    const int64_t lda =
        stride_of(swap ? call->ldb : call->lda, transpose_a ? k : m, transpose_a ? m : k);
    const int64_t ldb =
        stride_of(swap ? call->lda : call->ldb, transpose_b ? n : k, transpose_b ? k : n);
    xg_problem problem = {
        .m = m,
        .n = n,
        .k = k,
        .type_a = (xg_type)call->type_a,
        .type_b = (xg_type)call->type_b,
        .type_c = (xg_type)call->type_c,
        .epilogue = epilogue_of(call),
        .a = swap ? call->b : call->a,
        .b = swap ? call->a : call->b,
        .c = call->c,
        .a_stride_m = transpose_a ? 1 : lda,
        .a_stride_k = transpose_a ? lda : 1,
        .b_stride_k = transpose_b ? 1 : ldb,
        .b_stride_n = transpose_b ? ldb : 1,
        .c_stride_m = stride_of(call->ldc, m, n),
        .a_conjugate = complex && (swap ? call->transb : call->transa) == XGEMM_CONJ_TRANS,
        .b_conjugate = complex && (swap ? call->transa : call->transb) == XGEMM_CONJ_TRANS,
        .swapped = complex && swap,
        .batch_count = call->batch_count,
        .pointer_arrays = has(call, XGEMM_POINTER_ARRAYS),
    };
    if (call->batch_count > 1 && !problem.pointer_arrays) {
        problem.a_batch_stride = swap ? call->stride_b : call->stride_a;
        problem.b_batch_stride = swap ? call->stride_a : call->stride_b;
        problem.c_batch_stride = call->stride_c;
    }
    return problem;
}

xg_problem xg_call_problem_of_groups(const xg_call *call, const int64_t *offsets, int64_t groups)
{
    xg_problem problem = xg_call_problem(call);
    problem.groups = groups;
    if (xg_has_no_product(&problem)) { /* A and B may be NULL, alpha infinite */
        problem.k = 0;
        problem.epilogue.alpha = xg_scalar_of(problem.epilogue.type, 0);
        problem.epilogue.alpha_at = NULL;
    }
    problem.offsets = offsets;
    problem.ragged_columns = call->order == XGEMM_COL_MAJOR;
    *(problem.ragged_columns ? &problem.a_batch_stride : &problem.b_batch_stride) =
        groups > 1 && problem.k > 0 ? call->stride_b : 0;
    return problem;
}
