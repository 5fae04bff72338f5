/* SPDX-License-Identifier: BSD-3-Clause */
#include "accuracy.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const data_kind *kind_named(const char *name)
{
    const data_kind *kind = data_find(name, strlen(name));
    ck_assert_msg(kind != NULL, "there is no kind of data %s", name);
    return kind;
}

kind_pair with_normal(const data_kind *kind)
{
    return (kind_pair){kind, kind_named("normal")};
}

kind_pair with_itself(const data_kind *kind)
{
    return (kind_pair){kind, kind};
}

static void *zeros(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

float *a_at(const problem *p, int64_t i, int64_t l)
{
    return &p->a[p->transposed ? l * p->m + i : i * p->k + l];
}

float *b_at(const problem *p, int64_t l, int64_t j)
{
    return &p->b[p->transposed ? j * p->k + l : l * p->n + j];
}

static int64_t row_of(const problem *p, int64_t i)
{
    return i * p->m / p->rows;
}

/*
 * A row of op(A) op(B) and of its mass, in the order in which B lies in memory: large products
 * would wait for it otherwise.
 */
static void sum_row(const problem *p, const double *a, double *sums, double *masses)
{
    for (int64_t l = 0; l < p->k && !p->transposed; l++)
        for (int64_t j = 0; j < p->n; j++) {
            const double term = a[l] * (double)p->b[l * p->n + j];
            sums[j] += term;
            masses[j] += fabs(term);
        }
    for (int64_t j = 0; j < p->n && p->transposed; j++) {
        double sum = 0.0, mass = 0.0;
        for (int64_t l = 0; l < p->k; l++) {
            const double term = a[l] * (double)p->b[j * p->k + l];
            sum += term;
            mass += fabs(term);
        }
        sums[j] = sum;
        masses[j] = mass;
    }
}

void make_reference(problem *p)
{
    double *const a = zeros(p->k, sizeof *a);
    memset(p->want, 0, (size_t)(p->rows * p->n) * sizeof *p->want);
    memset(p->mass, 0, (size_t)(p->rows * p->n) * sizeof *p->mass);
    for (int64_t i = 0; i < p->rows; i++) {
        double *const want = p->want + i * p->n, *const mass = p->mass + i * p->n;
        const float *const c = p->c + row_of(p, i) * p->n;
        for (int64_t l = 0; l < p->k; l++)
            a[l] = (double)*a_at(p, row_of(p, i), l);
        sum_row(p, a, want, mass);
        for (int64_t j = 0; j < p->n; j++) {
            const double added = p->beta == 0.0f ? 0.0 : (double)p->beta * (double)c[j];
            want[j] = (double)p->alpha * want[j] + added;
            mass[j] = fabs((double)p->alpha) * mass[j] + fabs(added);
        }
    }
    free(a);
}

problem problem_new(int64_t m, int64_t n, int64_t k, kind_pair kinds, uint64_t seed)
{
    generator from = {seed};
    enum { ROWS_MOST = 200, SOME_ROWS = 24 };
    problem p = {.m = m, .n = n, .k = k, .transposed = seed % 2 != 0};
    p.rows = m > ROWS_MOST ? SOME_ROWS : m;
    p.alpha = seed % 3 == 0 ? 1.0f : -0.7f;
    p.beta = seed % 5 < 2 ? 0.0f : 0.3f;
    p.a = zeros(m * k, sizeof *p.a);
    p.b = zeros(k * n, sizeof *p.b);
    p.c = zeros(m * n, sizeof *p.c);
    p.want = zeros(p.rows * n, sizeof *p.want);
    p.mass = zeros(p.rows * n, sizeof *p.mass);
    const data_operand a = {p.a, false, m, k, p.transposed ? 1 : k, p.transposed ? m : 1};
    const data_operand b = {p.b, true, n, k, p.transposed ? k : 1, p.transposed ? 1 : n};
    ck_assert(data_fill(kinds.a, seed, &a) && data_fill(kinds.b, seed, &b));
    for (int64_t i = 0; i < m * n; i++)
        p.c[i] = p.beta == 0.0f ? NAN : random_real(&from);
    make_reference(&p);
    return p;
}

void problem_free(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->want);
    free(p->mass);
}

static float *upload(xgemm_handle *handle, const float *from, int64_t count)
{
    void *memory;
    const size_t bytes = (size_t)count * sizeof *from;
    ck_assert_int_eq(xgemm_malloc(handle, bytes, &memory), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, memory, from, bytes), XGEMM_OK);
    return memory;
}

float *problem_multiply(xgemm_handle *handle, const problem *p)
{
    float *const result = zeros(p->m * p->n, sizeof *result);
    float *a = upload(handle, p->a, p->m * p->k), *b = upload(handle, p->b, p->k * p->n);
    float *c = upload(handle, p->c, p->m * p->n);
    const xgemm_transpose trans = p->transposed ? XGEMM_TRANS : XGEMM_NO_TRANS;
    const xgemm_status status =
        xgemm_sgemm(handle, XGEMM_ROW_MAJOR, trans, trans, p->m, p->n, p->k, p->alpha, a,
                    p->transposed ? p->m : p->k, b, p->transposed ? p->k : p->n, p->beta, c, p->n);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_download(handle, result, c, (size_t)(p->m * p->n) * sizeof *result),
                     XGEMM_OK);
    xgemm_free(handle, a);
    xgemm_free(handle, b);
    xgemm_free(handle, c);
    return result;
}

errors errors_of(const problem *p, const float *c)
{
    errors e = {0.0, 0.0, 0};
    double sum = 0.0, all = 0.0;
    const double tiny = ((double)p->k + 2.0) * 0x1p-150;
    for (int64_t i = 0; i < p->rows * p->n; i++) {
        const double got = (double)c[row_of(p, i / p->n) * p->n + i % p->n], want = p->want[i];
        if (!isfinite(want)) {
            e.special += isnan(want) ? !isnan(got) : got != want;
            continue;
        }
        if (p->mass[i] > (double)FLT_MAX / 4.0)
            continue;
        const double off = fabs(got - want) - tiny;
        const double error = off > 0.0 ? off / p->mass[i] : off <= 0.0 ? 0.0 : INFINITY;
        e.largest = error > e.largest ? error : e.largest;
        sum += off > 0.0 ? off * off : 0.0;
        all += want * want;
    }
    e.frobenius = all > 0.0 ? sqrt(sum / all) : 0.0;
    return e;
}
