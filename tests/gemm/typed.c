/* SPDX-License-Identifier: BSD-3-Clause */
#include "typed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 64,   /* elements around a matrix */
    BIASES = 1024 /* numbers of a bias, at most */
};

size_t typed_bytes(xgemm_type type)
{
    static const size_t bytes[] = {0, 4, 8, 2, 2, 8, 16};
    return bytes[type];
}

bool typed_is_complex(xgemm_type type)
{
    return type == XGEMM_C32 || type == XGEMM_C64;
}

static bool is_double(xgemm_type type)
{
    return type == XGEMM_F64 || type == XGEMM_C64;
}

static bool is_half(xgemm_type type)
{
    return type == XGEMM_F16 || type == XGEMM_BF16;
}

const char *typed_name(xgemm_type type)
{
    static const char *const names[] = {"", "f32", "f64", "f16", "bf16", "c32", "c64"};
    return names[type];
}

/* ---- Numbers ---- */

/* A number that the type holds exactly, as its bits. */
static uint16_t half_bits(xgemm_type type, double x)
{
    int exponent;
    const double fraction = frexp(fabs(x), &exponent);
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return (uint16_t)(sign | (type == XGEMM_F16 ? 0x7c00 : 0x7f80));
    if (x == 0.0)
        return (uint16_t)sign;
    if (type == XGEMM_F16)
        return (uint16_t)(sign + ((unsigned)(exponent + 13) << 10) + (unsigned)ldexp(fraction, 11));
    return (uint16_t)(sign + ((unsigned)(exponent + 125) << 7) + (unsigned)ldexp(fraction, 8));
}

static double half_value(xgemm_type type, uint16_t bits)
{
    const int fraction_bits = type == XGEMM_F16 ? 10 : 7, most = type == XGEMM_F16 ? 31 : 255;
    const int exponent = (bits & 0x7fff) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double magnitude = exponent == most
                                 ? (fraction ? (double)NAN : (double)INFINITY)
                                 : ldexp(exponent ? fraction + (1 << fraction_bits) : fraction,
                                         (exponent ? exponent : 1) - most / 2 - fraction_bits);
    return bits & 0x8000 ? -magnitude : magnitude;
}

void typed_put(xgemm_type type, void *memory, size_t i, double x)
{
    if (is_double(type))
        ((double *)memory)[i] = x;
    else if (is_half(type))
        ((uint16_t *)memory)[i] = half_bits(type, x);
    else
        ((float *)memory)[i] = (float)x;
}

double typed_get(xgemm_type type, const void *memory, size_t i)
{
    if (is_double(type))
        return ((const double *)memory)[i];
    if (is_half(type))
        return half_value(type, ((const uint16_t *)memory)[i]);
    return (double)((const float *)memory)[i];
}

/* A number that every type holds exactly. */
static double draw(generator *from)
{
    return (random_below(from, 255) - 127) / 64.0;
}

/* ---- Matrices ---- */

/* Matrices of a batch: rows x columns before op, in memory with guards. */
typedef struct {
    xgemm_type type;
    xgemm_order order;
    int rows, columns, count;
    int64_t ld, stride;
    size_t elements;
    unsigned char *before, *after;
    char *device;
    void **pointers; /* of the device */
} typed_matrix;

static int parts_of(xgemm_type type)
{
    return typed_is_complex(type) ? 2 : 1;
}

static size_t place(const typed_matrix *x, int number, int row, int column)
{
    const int64_t line = x->order == XGEMM_ROW_MAJOR ? row : column;
    const int64_t along = x->order == XGEMM_ROW_MAJOR ? column : row;
    return (size_t)(GUARD + number * x->stride + line * x->ld + along);
}

static typed_matrix make(const typed_spec *s, xgemm_type type, xgemm_transpose trans, int rows,
                         int columns, bool shared, bool all_nan, generator *from)
{
    const bool transposed = trans != XGEMM_NO_TRANS;
    typed_matrix x = {.type = type, .order = s->order, .count = s->count};
    x.rows = transposed ? columns : rows;
    x.columns = transposed ? rows : columns;
    const int lines = s->order == XGEMM_ROW_MAJOR ? x.rows : x.columns;
    const int width = s->order == XGEMM_ROW_MAJOR ? x.columns : x.rows;
    x.ld = (width > 0 ? width : 1) + s->gap;
    x.stride = shared ? 0 : lines * x.ld + s->gap;
    x.elements = (size_t)(2 * GUARD + x.count * (lines * x.ld + s->gap));
    const size_t bytes = x.elements * typed_bytes(type);
    x.before = allocate(bytes);
    x.after = allocate(bytes);
    for (size_t i = 0; i < bytes / 2; i++)
        ((uint16_t *)(void *)x.before)[i] = 0x7fff; /* NaN of every type */
    for (int number = 0; number < x.count && !all_nan; number++)
        for (int i = 0; i < x.rows; i++)
            for (int j = 0; j < x.columns; j++)
                for (int part = 0; part < parts_of(type); part++)
                    typed_put(type, x.before,
                              place(&x, number, i, j) * (size_t)parts_of(type) + (size_t)part,
                              draw(from));
    return x;
}

static void send(xgemm_handle *handle, typed_matrix *x)
{
    const size_t bytes = x->elements * typed_bytes(x->type);
    void *memory, *list[64];
    require(xgemm_malloc(handle, bytes, &memory) == XGEMM_OK, xgemm_last_error(handle));
    require(xgemm_upload(handle, memory, x->before, bytes) == XGEMM_OK, xgemm_last_error(handle));
    x->device = memory;
    for (int i = 0; i < x->count; i++)
        list[i] = x->device + place(x, i, 0, 0) * typed_bytes(x->type);
    require(xgemm_malloc(handle, sizeof list, &memory) == XGEMM_OK, xgemm_last_error(handle));
    x->pointers = memory;
    require(xgemm_upload(handle, memory, list, sizeof list) == XGEMM_OK, xgemm_last_error(handle));
}

static void receive(xgemm_handle *handle, typed_matrix *x)
{
    const size_t bytes = x->elements * typed_bytes(x->type);
    require(xgemm_download(handle, x->after, x->device, bytes) == XGEMM_OK,
            xgemm_last_error(handle));
    xgemm_free(handle, x->device);
    xgemm_free(handle, x->pointers);
}

static void drop(typed_matrix *x)
{
    free(x->before);
    free(x->after);
}

/* ---- The reference ---- */

typedef struct {
    long double part[2], size; /* and the sum of magnitudes that it is made of */
} exact;

static exact element_of(const typed_matrix *x, int number, int row, int column,
                        xgemm_transpose trans)
{
    const bool transposed = trans != XGEMM_NO_TRANS;
    const size_t parts = (size_t)parts_of(x->type);
    const size_t at =
        parts * place(x, number, transposed ? column : row, transposed ? row : column);
    exact e = {.part = {(long double)typed_get(x->type, x->before, at), 0.0L}};
    if (parts == 2)
        e.part[1] = (trans == XGEMM_CONJ_TRANS ? -1.0L : 1.0L) *
                    (long double)typed_get(x->type, x->before, at + 1);
    e.size = fabsl(e.part[0]) + fabsl(e.part[1]);
    return e;
}

static void add_product(exact *to, const exact *x, const exact *y)
{
    to->part[0] += x->part[0] * y->part[0];
    if (x->part[1] != 0.0L || y->part[1] != 0.0L) { /* a real product has no 0 * Inf */
        to->part[0] -= x->part[1] * y->part[1];
        to->part[1] += x->part[0] * y->part[1] + x->part[1] * y->part[0];
    }
    to->size += x->size * y->size;
}

static exact scalar_of(const double parts[2])
{
    const exact e = {.part = {(long double)parts[0], (long double)parts[1]}};
    return (exact){{e.part[0], e.part[1]}, fabsl(e.part[0]) + fabsl(e.part[1])};
}

static long double activate(xgemm_activation activation, long double x)
{
    switch (activation) {
    case XGEMM_RELU:
        return x < 0.0L ? 0.0L : x;
    case XGEMM_GELU:
        return x * erfcl(-x / sqrtl(2.0L)) / 2.0L;
    case XGEMM_GELU_TANH:
        return x * (1.0L + tanhl(0.797884560802865355880L * (x + 0.044715L * x * x * x))) / 2.0L;
    case XGEMM_SILU:
        return x / (1.0L + expl(-x));
    case XGEMM_ACTIVATION_NONE:
        break;
    }
    return x;
}

typedef struct {
    const typed_spec *s;
    typed_matrix a, b, c;
    double bias[BIASES];
} typed_product;

static exact expected(const typed_product *p, int number, int i, int j)
{
    const typed_spec *s = p->s;
    const exact alpha = scalar_of(s->alpha), beta = scalar_of(s->beta);
    exact sum = {{0.0L, 0.0L}, 0.0L}, result = {{0.0L, 0.0L}, 0.0L};
    if (alpha.size != 0.0L)
        for (int l = 0; l < s->k; l++) {
            const exact x = element_of(&p->a, number, i, l, s->transa);
            const exact y = element_of(&p->b, s->shared_b ? 0 : number, l, j, s->transb);
            add_product(&sum, &x, &y);
        }
    if (alpha.size != 0.0L)
        add_product(&result, &alpha, &sum);
    result.size = alpha.size * sum.size;
    if (beta.size != 0.0L) {
        const exact old = element_of(&p->c, number, i, j, XGEMM_NO_TRANS);
        add_product(&result, &beta, &old);
    }
    if (s->type_bias) {
        const int parts = parts_of(s->type_bias), at = s->bias_per_row ? i : j;
        for (int part = 0; part < parts; part++)
            result.part[part] += (long double)p->bias[at * parts + part];
        result.size += fabsl((long double)p->bias[at * parts]) + 2.0L * (parts - 1);
    }
    result.part[0] = activate(s->activation, result.part[0]);
    return result;
}

/* The worst rounding of sums, and of C. */
static long double bound_of(const typed_spec *s, const exact *e, int part)
{
    const long double sum = is_double(s->type) ? 0x1p-53L : 0x1p-24L;
    const long double c = s->type_c == XGEMM_F16    ? 0x1p-11L
                          : s->type_c == XGEMM_BF16 ? 0x1p-8L
                                                    : sum;
    const int operations = (s->k + 8) * (typed_is_complex(s->type) ? 4 : 1);
    return operations * sum * e->size * 1.2L + (c + 8.0L * sum) * fabsl(e->part[part]) +
           (s->type_c == XGEMM_F16 ? 0x1p-24L : 0.0L);
}

static void compare(const typed_product *p, int number, int i, int j)
{
    const typed_matrix *c = &p->c;
    const exact e = expected(p, number, i, j);
    for (int part = 0; part < parts_of(c->type); part++) {
        const size_t at = place(c, number, i, j) * (size_t)parts_of(c->type) + (size_t)part;
        const long double got = (long double)typed_get(c->type, c->after, at);
        const long double most = c->type == XGEMM_F16 ? 65520.0L : INFINITY;
        const bool same = isnan(e.part[part])
                              ? isnan(got)
                              : (isinf(e.part[part]) || fabsl(e.part[part]) >= most
                                     ? isinf(got) && (got > 0.0L) == (e.part[part] > 0.0L)
                                     : fabsl(got - e.part[part]) <= bound_of(p->s, &e, part));
        ck_assert_msg(same,
                      "%s x %s -> %s, %d x %d x %d, order %d, trans %d %d: C[%d](%d, %d) part %d "
                      "is %.17Lg, expected %.17Lg",
                      typed_name(p->s->type), typed_name(p->s->type), typed_name(c->type), p->s->m,
                      p->s->n, p->s->k, (int)p->s->order, (int)p->s->transa, (int)p->s->transb,
                      number, i, j, part, got, e.part[part]);
    }
}

/* What is no element of C is as before. */
static void compare_gaps(const typed_matrix *c)
{
    const size_t bytes = typed_bytes(c->type);
    for (int number = 0; number < c->count; number++)
        for (int i = 0; i < c->rows; i++)
            for (int j = 0; j < c->columns; j++) {
                const size_t at = place(c, number, i, j) * bytes;
                memcpy(c->before + at, c->after + at, bytes);
            }
    ck_assert_msg(memcmp(c->before, c->after, c->elements * bytes) == 0,
                  "something beside C was written");
}

/* ---- Running ---- */

static void *on_device(xgemm_handle *handle, const void *from, size_t bytes)
{
    void *memory;
    require(xgemm_malloc(handle, bytes, &memory) == XGEMM_OK, xgemm_last_error(handle));
    require(xgemm_upload(handle, memory, from, bytes) == XGEMM_OK, xgemm_last_error(handle));
    return memory;
}

static void set_matrices(xgemm_product *call, const typed_product *p)
{
    const bool lists = p->s->pointer_arrays;
    const typed_matrix *const x[3] = {&p->a, &p->b, &p->c};
    void *at[3];
    for (int i = 0; i < 3; i++)
        at[i] = lists ? (void *)x[i]->pointers
                      : x[i]->device + place(x[i], 0, 0, 0) * typed_bytes(x[i]->type);
    call->a = at[0], call->lda = p->a.ld, call->stride_a = p->a.stride;
    call->b = at[1], call->ldb = p->b.ld, call->stride_b = p->b.stride;
    call->c = at[2], call->ldc = p->c.ld, call->stride_c = p->c.stride;
}

static void multiply(xgemm_handle *handle, typed_product *p, generator *from)
{
    const typed_spec *s = p->s;
    const xgemm_type scalar = is_half(s->type) ? XGEMM_F32 : s->type;
    double alpha[2], beta[2], bias[BIASES];
    for (int part = 0; part < 2; part++) {
        typed_put(scalar, alpha, (size_t)part, s->alpha[part]);
        typed_put(scalar, beta, (size_t)part, s->beta[part]);
    }
    xgemm_product call = XGEMM_PRODUCT_INIT;
    call.order = s->order, call.transa = s->transa, call.transb = s->transb;
    call.m = s->m, call.n = s->n, call.k = s->k;
    call.type_a = call.type_b = s->type, call.type_c = s->type_c;
    call.batch_count = s->count;
    call.flags = (s->device_scalars ? XGEMM_DEVICE_SCALARS : 0u) |
                 (s->pointer_arrays ? XGEMM_POINTER_ARRAYS : 0u);
    call.alpha = s->device_scalars ? on_device(handle, alpha, sizeof alpha) : alpha;
    call.beta = s->device_scalars ? on_device(handle, beta, sizeof beta) : beta;
    call.activation = s->activation;
    set_matrices(&call, p);
    if (s->type_bias) {
        for (int i = 0; i < COUNT(p->bias); i++) {
            p->bias[i] = draw(from);
            if ((size_t)(i + 1) * typed_bytes(s->type_bias) <=
                sizeof bias * (size_t)parts_of(s->type_bias))
                typed_put(s->type_bias, bias, (size_t)i, p->bias[i]);
        }
        call.bias = on_device(handle, bias, sizeof bias);
        call.type_bias = s->type_bias;
        call.bias_per_row = s->bias_per_row;
    }
    ck_assert_msg(xgemm_gemm(handle, &call) == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_synchronize(handle), XGEMM_OK);
    if (s->device_scalars) {
        xgemm_free(handle, (void *)(uintptr_t)call.alpha);
        xgemm_free(handle, (void *)(uintptr_t)call.beta);
    }
    if (s->type_bias)
        xgemm_free(handle, (void *)(uintptr_t)call.bias);
}

static typed_product run(xgemm_handle *handle, const typed_spec *s, uint64_t seed)
{
    generator from = {seed};
    const bool no_product = s->alpha[0] == 0.0 && s->alpha[1] == 0.0;
    const bool no_c = s->beta[0] == 0.0 && s->beta[1] == 0.0;
    typed_product p = {.s = s};
    p.a = make(s, s->type, s->transa, s->m, s->k, false, no_product, &from);
    p.b = make(s, s->type, s->transb, s->k, s->n, s->shared_b, no_product, &from);
    p.c = make(s, s->type_c, XGEMM_NO_TRANS, s->m, s->n, false, no_c, &from);
    if (s->special != 0.0 && s->k > 0)
        typed_put(s->type, p.a.before, place(&p.a, 0, 0, 0) * (size_t)parts_of(s->type),
                  s->special);
    send(handle, &p.a);
    send(handle, &p.b);
    send(handle, &p.c);
    multiply(handle, &p, &from);
    receive(handle, &p.a);
    receive(handle, &p.b);
    receive(handle, &p.c);
    return p;
}

void typed_check(xgemm_handle *handle, const typed_spec *s, uint64_t seed)
{
    typed_product p = run(handle, s, seed);
    for (int number = 0; number < s->count; number++)
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->n; j++)
                compare(&p, number, i, j);
    compare_gaps(&p.c);
    drop(&p.a);
    drop(&p.b);
    drop(&p.c);
}

void *typed_result(xgemm_handle *handle, const typed_spec *s, uint64_t seed, size_t *bytes)
{
    typed_product p = run(handle, s, seed);
    *bytes = p.c.elements * typed_bytes(s->type_c);
    drop(&p.a);
    drop(&p.b);
    free(p.c.before);
    return p.c.after;
}

typed_spec typed_spec_of(xgemm_type type, int m, int n, int k)
{
    return (typed_spec){.type = type,
                        .type_c = type,
                        .order = XGEMM_ROW_MAJOR,
                        .transa = XGEMM_NO_TRANS,
                        .transb = XGEMM_NO_TRANS,
                        .m = m,
                        .n = n,
                        .k = k,
                        .count = 1,
                        .alpha = {1.0, 0.0}};
}
