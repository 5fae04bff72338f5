/* SPDX-License-Identifier: BSD-3-Clause */
#include "residues.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char residues_kernel[] = "fp16x3-128x256";

/* What the kernel leaves at the begin of its workspace: bits of floats, and a count. */
typedef struct {
    uint32_t ratio, ratio_most, others, others_most;
    uint64_t recomputed;
} ratios;

/* ---- Problems ---- */

static size_t parts_of(const residues_problem *p)
{
    return p->type == XGEMM_C64 ? 2 : 1;
}

residues_problem residues_plain(xgemm_type type, int m, int n, int k)
{
    return (residues_problem){.type = type,
                              .order = XGEMM_ROW_MAJOR,
                              .transa = XGEMM_NO_TRANS,
                              .transb = XGEMM_NO_TRANS,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = {1.0, 0.0}};
}

residues_problem residues_new(const residues_problem *like, doubles_fill *draw[2], uint64_t seed)
{
    generator from = {seed};
    residues_problem p = *like;
    const size_t m = (size_t)p.m, n = (size_t)p.n, k = (size_t)p.k, parts = parts_of(&p);
    const bool reads_c = p.beta[0] != 0.0 || p.beta[1] != 0.0;
    p.a = allocate(parts * m * k * sizeof(double));
    p.b = allocate(parts * k * n * sizeof(double));
    p.c = allocate(parts * m * n * sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k * parts; l++)
            p.a[i * k * parts + l] = draw[l % parts](&from, 0, (int)i, (int)(l / parts));
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < n * parts; j++)
            p.b[l * n * parts + j] = draw[j % parts](&from, 1, (int)(j / parts), (int)l);
    for (size_t i = 0; i < m * n * parts; i++)
        p.c[i] = reads_c ? doubles_normal(&from) : (double)NAN;
    return p;
}

void residues_free(residues_problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

/* A matrix, which is given by rows, as a call wants it, on the device; the gaps are NaN. */
typedef struct {
    void *memory;
    double *device;
    int64_t ld;
    size_t elements;
} stored;

static bool by_rows(xgemm_order order, xgemm_transpose trans)
{
    return (order == XGEMM_ROW_MAJOR) == (trans == XGEMM_NO_TRANS);
}

static stored store(xgemm_handle *handle, const residues_problem *p, const double *from, int rows,
                    int columns, bool rowwise)
{
    stored to = {.ld = (rowwise ? columns : rows) + p->gap};
    const int64_t parts = (int64_t)parts_of(p);
    const size_t offset = (size_t)p->offset * sizeof(double);
    to.elements = (size_t)(parts * to.ld) * (size_t)(rowwise ? rows : columns);
    double *const host = allocate(to.elements * sizeof(double));
    for (size_t i = 0; i < to.elements; i++)
        host[i] = (double)NAN;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int64_t e = 0; e < parts; e++)
                host[parts * (rowwise ? i * to.ld + j : j * to.ld + i) + e] =
                    from[parts * ((int64_t)i * columns + j) + e];
    require(xgemm_malloc(handle, offset + to.elements * sizeof(double), &to.memory) == XGEMM_OK,
            xgemm_last_error(handle));
    to.device = (double *)to.memory + p->offset;
    require(xgemm_upload(handle, to.device, host, to.elements * sizeof(double)) == XGEMM_OK,
            xgemm_last_error(handle));
    free(host);
    return to;
}

static void fetch(xgemm_handle *handle, const residues_problem *p, const stored *from, double *to)
{
    const bool rowwise = p->order == XGEMM_ROW_MAJOR;
    const int64_t parts = (int64_t)parts_of(p);
    double *const host = allocate(from->elements * sizeof(double));
    require(xgemm_download(handle, host, from->device, from->elements * sizeof(double)) == XGEMM_OK,
            xgemm_last_error(handle));
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            for (int64_t e = 0; e < parts; e++)
                to[parts * ((int64_t)i * p->n + j) + e] =
                    host[parts * (rowwise ? i * from->ld + j : j * from->ld + i) + e];
    free(host);
}

/* C as the handle computes it, for the caller to free; and what its workspace says. */
static double *multiply(xgemm_handle *handle, const residues_problem *p, ratios *found)
{
    const stored a = store(handle, p, p->a, p->m, p->k, by_rows(p->order, p->transa));
    const stored b = store(handle, p, p->b, p->k, p->n, by_rows(p->order, p->transb));
    const stored c = store(handle, p, p->c, p->m, p->n, p->order == XGEMM_ROW_MAJOR);
    double *const result = allocate(parts_of(p) * (size_t)p->m * (size_t)p->n * sizeof(double));
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product call = XGEMM_PRODUCT_INIT;
    void *workspace;
    call.order = p->order, call.transa = p->transa, call.transb = p->transb;
    call.m = p->m, call.n = p->n, call.k = p->k;
    call.type_a = call.type_b = call.type_c = p->type;
    call.alpha = p->alpha, call.beta = p->beta;
    call.a = a.device, call.lda = a.ld;
    call.b = b.device, call.ldb = b.ld;
    call.c = c.device, call.ldc = c.ld;
    require(xgemm_gemm_plan(handle, &call, &plan) == XGEMM_OK, xgemm_last_error(handle));
    require(xgemm_malloc(handle, plan.workspace_bytes, &workspace) == XGEMM_OK,
            xgemm_last_error(handle));
    require(xgemm_set_workspace(handle, workspace, plan.workspace_bytes) == XGEMM_OK,
            xgemm_last_error(handle));
    require(xgemm_gemm(handle, &call) == XGEMM_OK, xgemm_last_error(handle));
    fetch(handle, p, &c, result);
    require(xgemm_download(handle, found, workspace, sizeof *found) == XGEMM_OK,
            xgemm_last_error(handle));
    ck_assert_str_eq(xgemm_last_kernel(handle), residues_kernel);
    xgemm_set_workspace(handle, NULL, 0);
    xgemm_free(handle, workspace);
    xgemm_free(handle, a.memory);
    xgemm_free(handle, b.memory);
    xgemm_free(handle, c.memory);
    return result;
}

/* How many moduli the ratios say; 0: none. */
static int moduli_of(const ratios *found)
{
    float ratio, most;
    memcpy(&ratio, &found->ratio, sizeof ratio);
    memcpy(&most, &found->ratio_most, sizeof most);
    if (found->others > found->others_most)
        return 0;
    return ratio <= 1.0f ? 15 : most <= 8.0f ? 16 : most <= 128.0f ? 17 : 0;
}

/* ---- The reference ---- */

/* A sum of two doubles, and one of magnitudes. */
typedef struct {
    double high, low, mass;
} exact;

static void add(exact *to, double x)
{
    const double sum = to->high + x, other = sum - to->high;
    to->low += (to->high - (sum - other)) + (x - other);
    to->high = sum;
}

static void add_product(exact *to, double x, double y)
{
    const double term = x * y;
    add(to, term);
    to->low += fma(x, y, -term);
    to->mass += fabs(term);
}

/* Adds a term of a product; of a sum that is known exactly. */
static void add_times(exact *to, double factor, const exact *x)
{
    const double mass = to->mass;
    add_product(to, factor, x->high);
    to->low += factor * x->low;
    to->mass = mass + fabs(factor) * x->mass;
}

/* Part "part" of the sum of products for element (i, j). */
static exact dot(const residues_problem *p, int i, int j, size_t part)
{
    const size_t parts = parts_of(p);
    const double sign_a = p->transa == XGEMM_CONJ_TRANS ? -1.0 : 1.0;
    const double sign_b = p->transb == XGEMM_CONJ_TRANS ? -1.0 : 1.0;
    exact sum = {0.0, 0.0, 0.0};
    for (int l = 0; l < p->k; l++) {
        const double *const a = p->a + parts * (size_t)(i * p->k + l);
        const double *const b = p->b + parts * (size_t)(l * p->n + j);
        add_product(&sum, a[0], part > 0 ? sign_b * b[1] : b[0]);
        if (parts > 1)
            add_product(&sum, sign_a * a[1], part > 0 ? b[0] : -sign_b * b[1]);
    }
    return sum;
}

/* Part "part" of the new element. */
static exact element(const residues_problem *p, int i, int j, size_t part)
{
    const size_t parts = parts_of(p), at = parts * (size_t)(i * p->n + j);
    const double sign = part > 0 ? 1.0 : -1.0;
    exact sum = dot(p, i, j, part), all = {0.0, 0.0, 0.0};
    add_times(&all, p->alpha[0], &sum);
    if (parts > 1) {
        sum = dot(p, i, j, 1 - part);
        add_times(&all, sign * p->alpha[1], &sum);
    }
    if (p->beta[0] == 0.0 && p->beta[1] == 0.0)
        return all;
    add_product(&all, p->beta[0], p->c[at + part]);
    if (parts > 1)
        add_product(&all, sign * p->beta[1], p->c[at + 1 - part]);
    return all;
}

/* The largest error as a part of the mass, in units of 2^-51; Inf where special values differ. */
static double worst_error(const residues_problem *p, const double *c)
{
    const size_t parts = parts_of(p);
    double worst = 0.0;
    for (size_t at = 0; at < parts * (size_t)(p->m * p->n); at++) {
        const int number = (int)(at / parts);
        const exact all = element(p, number / p->n, number % p->n, at % parts);
        if (!isfinite(all.high)) {
            const bool same = isnan(all.high) ? isnan(c[at]) : c[at] == all.high;
            worst = same ? worst : (double)INFINITY;
            continue;
        }
        const double error = fabs((c[at] - all.high) - all.low);
        if (!(error <= 0.0))
            worst = fmax(worst, isnan(error) ? (double)INFINITY : error / all.mass * 0x1p51);
    }
    return worst;
}

/* ---- Checks ---- */

xgemm_handle *residues_open(void)
{
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_DEFAULT), XGEMM_OK);
    if (xgemm_set_kernel(handle, residues_kernel) == XGEMM_OK)
        return handle;
    xgemm_destroy(handle);
    return NULL;
}

int residues_check(xgemm_handle *handle, const residues_problem *p, const char *what,
                   uint32_t *others)
{
    const int parts = (int)parts_of(p);
    ratios found = {0, 0, 0, 0, 0};
    double *const c = multiply(handle, p, &found);
    const int moduli = moduli_of(&found);
    const double worst = worst_error(p, c), most = moduli > 0 ? 1.0 : parts * p->k;
    ck_assert_msg(worst <= most, "%s, %d x %d x %d, %d moduli: an error of %g * 2^-51", what, p->m,
                  p->n, p->k, moduli, worst);
    if (moduli > 0)
        ck_assert_msg(found.recomputed <= found.others &&
                          (uint64_t)parts * found.recomputed >= found.others,
                      "%s: %u others", what, (unsigned)found.others);
    else
        ck_assert_int_eq((int64_t)found.recomputed, (int64_t)p->m * p->n);
    *others = found.others;
    free(c);
    return moduli;
}

void residues_check_refused(xgemm_type type, int64_t k_most)
{
    xgemm_handle *handle = residues_open();
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    if (!handle)
        return;
    p.m = p.n = p.k = 1000;
    p.lda = p.ldb = p.ldc = 1000;
    p.type_a = p.type_b = p.type_c = type;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 6);
    if (type == XGEMM_F64) { /* complex numbers have no activations */
        p.activation = XGEMM_RELU;
        ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
        p.activation = XGEMM_ACTIVATION_NONE;
    }
    p.k = k_most + 1, p.lda = p.k;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    p.k = k_most;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    xgemm_destroy(handle);
}
