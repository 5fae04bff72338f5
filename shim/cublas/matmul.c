/* SPDX-License-Identifier: BSD-3-Clause */
/* cublasLtMatmul: the descriptors are read by cublasLt's own functions, and only by these. */
#include "measured.h"
#include "serve.h"
#include "shim/counters.h"
#include "shim/product.h"

typedef int attribute_get(const void *of, int attribute, void *value, size_t bytes,
                          size_t *written);
typedef int matmul_function(void *handle, const void *descriptor, const void *alpha, const void *a,
                            const void *a_layout, const void *b, const void *b_layout,
                            const void *beta, const void *c, const void *c_layout, void *d,
                            const void *d_layout, const void *algorithm, void *workspace,
                            size_t workspace_bytes, void *stream);

EXPORT matmul_function cublasLtMatmul;

static real_function of_matmul = {REAL_CUBLASLT, "cublasLtMatmulDescGetAttribute", NULL};
static real_function of_layout = {REAL_CUBLASLT, "cublasLtMatrixLayoutGetAttribute", NULL};

static bool get(real_function *getter, const void *from, int attribute, void *value, size_t bytes)
{
    attribute_get *const function = REAL(attribute_get, getter);
    size_t written = 0;
    return function && from && function(from, attribute, value, bytes, &written) == 0 &&
           written == bytes;
}

/* ---- Layouts ---- */

typedef struct {
    int type, order, batch_count;
    int64_t rows, columns, ld;
    int64_t stride; /* 0 of a single matrix */
} layout;

static bool read_layout(const void *from, layout *to)
{
    to->stride = 0;
    return get(&of_layout, from, LT_LAYOUT_TYPE, &to->type, sizeof to->type) &&
           get(&of_layout, from, LT_LAYOUT_ORDER, &to->order, sizeof to->order) &&
           get(&of_layout, from, LT_LAYOUT_ROWS, &to->rows, sizeof to->rows) &&
           get(&of_layout, from, LT_LAYOUT_COLUMNS, &to->columns, sizeof to->columns) &&
           get(&of_layout, from, LT_LAYOUT_LD, &to->ld, sizeof to->ld) &&
           get(&of_layout, from, LT_LAYOUT_BATCH_COUNT, &to->batch_count, sizeof to->batch_count) &&
           (to->batch_count == 1 ||
            get(&of_layout, from, LT_LAYOUT_BATCH_STRIDE, &to->stride, sizeof to->stride));
}

/* Whether it tells of a matrix, or of some a stride apart: a list of pointers may have one, too. */
static bool is_strided(const void *from)
{
    int mode;
    return !get(&of_layout, from, LT_LAYOUT_BATCH_MODE, &mode, sizeof mode) || mode == 0;
}

/* Where a matrix, or a batch of them, begins and ends. */
static void place_of(const void *memory, const layout *of, uintptr_t *from, uintptr_t *to)
{
    const int64_t last = (of->batch_count - 1) * (of->stride < 0 ? -of->stride : of->stride) +
                         (of->columns - 1) * of->ld + of->rows;
    *from = (uintptr_t)memory;
    *to = *from + (uintptr_t)last * bytes_of(type_of(of->type));
}

static bool overlap(const void *c, const layout *of_c, const void *d, const layout *of_d)
{
    uintptr_t from_c, to_c, from_d, to_d;
    place_of(c, of_c, &from_c, &to_c);
    place_of(d, of_d, &from_d, &to_d);
    return from_c < to_d && from_d < to_c;
}

/*
 * C: D itself, or what is to be copied there first; not read, it may be NULL, but its layout has to
 * be like D's all the same. NULL, or why the call is passed on.
 */
static const char *put_c(call *to, const void *c, const void *const layouts[4], const layout *d,
                         bool is_read)
{
    layout of;
    const bool is_d = c == to->product.c;
    if ((is_d || !is_read) && layouts[2] == layouts[3])
        return NULL;
    if (!read_layout(layouts[2], &of))
        return "a layout cannot be read";
    if (of.type != d->type || of.order != d->order || of.batch_count != d->batch_count ||
        of.rows != d->rows || of.columns != d->columns || (is_read && !c) || of.ld < of.rows ||
        !is_strided(layouts[2]))
        return "C is not like D";
    if (is_d ? of.ld == d->ld && of.stride == d->stride : !is_read)
        return NULL;
    if (overlap(c, &of, to->product.c, d))
        return "C and D overlap";
    to->source = c, to->source_ld = of.ld, to->source_stride = of.stride;
    return NULL;
}

/* Fills in A, B and D; NULL, or why not. The description is read already. */
static const char *put_layouts(call *to, const void *c, const void *const layouts[4], bool reads_c)
{
    xgemm_product *const p = &to->product;
    layout a, b, d;
    if (!read_layout(layouts[0], &a) || !read_layout(layouts[1], &b) ||
        !read_layout(layouts[3], &d))
        return "a layout cannot be read";
    p->type_a = type_of(a.type), p->type_b = type_of(b.type), p->type_c = type_of(d.type);
    p->m = d.rows, p->n = d.columns;
    p->k = p->transa == XGEMM_NO_TRANS ? a.columns : a.rows;
    p->batch_count = d.batch_count;
    if (a.order != LT_ORDER_COLUMN || b.order != LT_ORDER_COLUMN || d.order != LT_ORDER_COLUMN)
        return "a matrix is not in column order";
    if (a.batch_count != d.batch_count || b.batch_count != d.batch_count ||
        !is_strided(layouts[0]) || !is_strided(layouts[1]) || !is_strided(layouts[3]))
        return "its batch is not a strided one";
    const bool fits = (p->transa == XGEMM_NO_TRANS ? a.rows : a.columns) == p->m &&
                      (p->transb == XGEMM_NO_TRANS ? b.rows : b.columns) == p->k &&
                      (p->transb == XGEMM_NO_TRANS ? b.columns : b.rows) == p->n;
    p->lda = a.ld, p->ldb = b.ld, p->ldc = d.ld;
    p->stride_a = a.stride, p->stride_b = b.stride, p->stride_c = d.stride;
    if (!fits || p->ldc < p->m)
        return "an argument is invalid";
    return put_c(to, c, layouts, &d, reads_c);
}

/* ---- The description ---- */

typedef struct {
    int compute, scale, pointers, transa, transb, transc, fill, epilogue, multiprocessors;
} description;

static bool read_description(const void *from, description *to)
{
    const struct {
        int attribute, *to;
    } fields[] = {
        {LT_COMPUTE_TYPE, &to->compute},
        {LT_SCALE_TYPE, &to->scale},
        {LT_POINTER_MODE, &to->pointers},
        {LT_TRANSA, &to->transa},
        {LT_TRANSB, &to->transb},
        {LT_TRANSC, &to->transc},
        {LT_FILL_MODE, &to->fill},
        {LT_EPILOGUE, &to->epilogue},
        {LT_SM_COUNT_TARGET, &to->multiprocessors},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!get(&of_matmul, from, fields[i].attribute, fields[i].to, sizeof(int)))
            return false;
    return true;
}

static const struct {
    int epilogue;
    bool has_bias;
    xgemm_activation activation;
} epilogues[] = {
    {LT_EPILOGUE_NONE, false, XGEMM_ACTIVATION_NONE},
    {LT_EPILOGUE_BIAS, true, XGEMM_ACTIVATION_NONE},
    {LT_EPILOGUE_RELU, false, XGEMM_RELU},
    {LT_EPILOGUE_RELU_BIAS, true, XGEMM_RELU},
    {LT_EPILOGUE_GELU, false, XGEMM_GELU_TANH},
    {LT_EPILOGUE_GELU_BIAS, true, XGEMM_GELU_TANH},
};

/* The bias, one element a row of D; its type is D's where none is set (-1). */
static const char *put_bias(const void *from, xgemm_product *p)
{
    int type = -1;
    int64_t stride = 0;
    const void *bias = NULL;
    if (p->batch_count > 1 && get(&of_matmul, from, LT_BIAS_BATCH_STRIDE, &stride, sizeof stride) &&
        stride)
        return "each product has a bias of its own";
    if (!get(&of_matmul, from, LT_BIAS_POINTER, (void *)&bias, sizeof bias) || !bias)
        return "there is no bias";
    const bool typed = get(&of_matmul, from, LT_BIAS_TYPE, &type, sizeof type) && type >= 0;
    p->bias = bias;
    p->bias_per_row = 1;
    p->type_bias = typed ? type_of(type) : p->type_c;
    return p->type_bias ? NULL : "libxgemm has no such type";
}

static const char *put_epilogue(const void *from, int epilogue, xgemm_product *p)
{
    for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
        if (epilogues[i].epilogue == epilogue) {
            p->activation = epilogues[i].activation;
            return epilogues[i].has_bias ? put_bias(from, p) : NULL;
        }
    return "libxgemm has no such epilogue";
}

/* Whether factors of a matrix, or D's largest element, are somewhere in memory: as FP8 wants it. */
static bool has_scales(const void *from)
{
    const void *scale = NULL;
    for (int i = LT_A_SCALE_POINTER; i <= LT_AMAX_D_POINTER; i++)
        if (get(&of_matmul, from, i, (void *)&scale, sizeof scale) && scale)
            return true;
    return false;
}

/* Whether a product of these operands has scalars of that type. */
static bool scales_by(xgemm_type type, int scale)
{
    return type_of(scale) == (type == XGEMM_F16 || type == XGEMM_BF16 ? XGEMM_F32 : type);
}

/* Scalars of unknown types are not looked at. */
static bool reads_c(const description *d, const void *beta)
{
    const xgemm_type scale = type_of(d->scale);
    const bool is_known = scale && scale != XGEMM_F16 && scale != XGEMM_BF16;
    return d->pointers != CUBLAS_POINTERS_HOST || !is_known || !is_zero(scale, beta);
}

/* Four getters tell of most calls that they are passed on. */
static const char *look_at_a(const void *a_layout, xgemm_product *p)
{
    int type;
    int64_t rows, columns;
    if (!get(&of_layout, a_layout, LT_LAYOUT_TYPE, &type, sizeof type) ||
        !get(&of_layout, a_layout, LT_LAYOUT_ROWS, &rows, sizeof rows) ||
        !get(&of_layout, a_layout, LT_LAYOUT_COLUMNS, &columns, sizeof columns) ||
        !get(&of_layout, a_layout, LT_LAYOUT_LD, &p->lda, sizeof p->lda))
        return "a layout cannot be read";
    p->type_a = type_of(type);
    return p->type_a ? refused_operand(p->type_a, p->a, rows, columns, p->lda)
                     : "libxgemm has no such type";
}

/* Fills in the call; NULL, or why it is passed on. */
static const char *put(call *to, const void *from, const void *c, const void *const layouts[4])
{
    xgemm_product *const p = &to->product;
    description d;
    const char *const at_once = look_at_a(layouts[0], p);
    if (at_once && !counters_open()) /* the log has the sizes, too */
        return at_once;
    if (!read_description(from, &d))
        return "the description cannot be read";
    p->transa = transpose_of(d.transa), p->transb = transpose_of(d.transb);
    const char *const why = put_layouts(to, c, layouts, reads_c(&d, p->beta));
    if (at_once || why)
        return at_once ? at_once : why;
    if (d.pointers != CUBLAS_POINTERS_HOST && d.pointers != CUBLAS_POINTERS_DEVICE)
        return "alpha is a vector";
    if (d.pointers == CUBLAS_POINTERS_DEVICE)
        p->flags |= XGEMM_DEVICE_SCALARS;
    if (d.transc != CUBLAS_N || d.fill != LT_FILL_MODE_FULL || d.multiprocessors ||
        has_scales(from))
        return "a setting that libxgemm does not have";
    if (!math_allowed(p->type_a, d.compute, CUBLAS_MATH_DEFAULT, &to->math) ||
        !scales_by(p->type_a, d.scale))
        return "libxgemm has no such compute type or math mode";
    return put_epilogue(from, d.epilogue, p);
}

int cublasLtMatmul(void *handle, const void *descriptor, const void *alpha, const void *a,
                   const void *a_layout, const void *b, const void *b_layout, const void *beta,
                   const void *c, const void *c_layout, void *d, const void *d_layout,
                   const void *algorithm, void *workspace, size_t workspace_bytes, void *stream)
{
    static real_function real = {REAL_CUBLASLT, "cublasLtMatmul", NULL};
    const void *const layouts[4] = {a_layout, b_layout, c_layout, d_layout};
    call of = {.function = "cublasLtMatmul",
               .handle = handle,
               .stream = stream,
               .product = {.struct_size = sizeof of.product,
                           .order = XGEMM_COL_MAJOR,
                           .alpha = alpha,
                           .beta = beta,
                           .a = a,
                           .b = b,
                           .c = d,
                           .batch_count = 1}};
    int status;
    if (real_depth == 0) {
        of.refusal = put(&of, descriptor, c, layouts);
        if (serve(&of, &status))
            return status;
    }
    PASS_ON(matmul_function, real, handle, descriptor, alpha, a, a_layout, b, b_layout, beta, c,
            c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);
}
