/* SPDX-License-Identifier: BSD-3-Clause */
#include "decide.h"
#include "shim/library.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DECISIONS = 1024,
    LAUNCHES_US = 50 /* beyond it, what a launch costs is no reason for a longer time */
};

/*
 * Where libxgemm was measured to be at least as fast as cuBLAS (doc/results/), a row for each type
 * and math mode; what no row has is passed on. FP32: on 360 shapes on an H200 it was as fast or
 * faster but for seven, at worst by 6 %; predicted to take longer than cuBLAS does at its best,
 * batches were not (128 of 1024 x 1024 x 64: 0.94 of its speed). TF32: at 1024 two launches
 * took 1.4 times as long as cuBLAS's one when nothing else filled the host's time.
 */
static const struct row {
    xgemm_type type;
    xgemm_math math;
    double least_flops;  /* of a product */
    const char *kernels; /* what the planned kernel's name begins with */
    size_t peak_gflops;  /* the field of xgemm_device, and */
    double share;        /* how much of it cuBLAS reaches on large products */
} rows[] = {
    {XGEMM_F32, XGEMM_MATH_DEFAULT, 0, "", offsetof(xgemm_device, peak_fp32_gflops), 0.77},
    {XGEMM_F32, XGEMM_MATH_STRICT, 0, "", offsetof(xgemm_device, peak_fp32_gflops), 0.77},
    {XGEMM_F32, XGEMM_MATH_TF32, 1.6e10, "fp16x1", offsetof(xgemm_device, peak_tf32_gflops), 0.79},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Keys ---- */

static unsigned char alignment_of(const void *memory)
{
    return (unsigned char)((uintptr_t)memory & 15);
}

bool is_zero(xgemm_type type, const void *scalar)
{
    const float *f = scalar;
    const double *d = scalar;
    if (!scalar)
        return false;
    switch (type) {
    case XGEMM_F64:
        return d[0] == 0.0;
    case XGEMM_C32:
        return f[0] == 0.0f && f[1] == 0.0f;
    case XGEMM_C64:
        return d[0] == 0.0 && d[1] == 0.0;
    default:
        return f[0] == 0.0f;
    }
}

static decision_key key_of(const call *c)
{
    const xgemm_product *p = &c->product;
    decision_key key;
    memset(&key, 0, sizeof key);
    key.function = c->function;
    key.m = p->m, key.n = p->n, key.k = p->k;
    key.lda = p->lda, key.ldb = p->ldb, key.ldc = p->ldc;
    key.stride_a = p->stride_a, key.stride_b = p->stride_b, key.stride_c = p->stride_c;
    key.batch = p->batch_count;
    key.type_a = (unsigned char)p->type_a, key.type_b = (unsigned char)p->type_b;
    key.type_c = (unsigned char)p->type_c, key.type_bias = (unsigned char)p->type_bias;
    key.transa = (unsigned char)p->transa, key.transb = (unsigned char)p->transb;
    key.math = (unsigned char)c->math, key.activation = (unsigned char)p->activation;
    key.align_a = alignment_of(p->a), key.align_b = alignment_of(p->b);
    key.align_c = alignment_of(p->c);
    key.has_bias = p->bias != NULL, key.bias_per_row = p->bias_per_row != 0;
    key.flags = (unsigned char)p->flags;
    key.overwrites = !(p->flags & XGEMM_DEVICE_SCALARS) && is_zero(p->type_a, p->beta);
    key.is_used = 1;
    return key;
}

static decision *place_of(state *s, const decision_key *key)
{
    const unsigned char *bytes = (const unsigned char *)key;
    uint64_t hash = 0;
    _Static_assert(sizeof *key % sizeof hash == 0, "a key is whole words");
    for (size_t i = 0; i < sizeof *key; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return &s->decisions[hash % DECISIONS];
}

/* ---- Times ---- */

static double bytes_of(xgemm_type type)
{
    static const unsigned char bytes[] = {[XGEMM_F32] = 4,  [XGEMM_F64] = 8, [XGEMM_F16] = 2,
                                          [XGEMM_BF16] = 2, [XGEMM_C32] = 8, [XGEMM_C64] = 16};
    return bytes[type];
}

static double c_bytes(const xgemm_product *p)
{
    return (double)p->batch_count * (double)p->m * (double)p->n * bytes_of(p->type_c);
}

/* What the library below takes if it is as fast as on large products, or the memory. */
static double library_us(const struct row *row, const call *c, const xgemm_device *gpu)
{
    const xgemm_product *p = &c->product;
    double peak;
    memcpy(&peak, (const char *)gpu + row->peak_gflops, sizeof peak);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double count = (double)p->batch_count;
    const bool lists = p->flags & XGEMM_POINTER_ARRAYS;
    const double a = lists || p->stride_a ? count : 1, b = lists || p->stride_b ? count : 1;
    const double bytes = bytes_of(p->type_a) * (a * m * k + b * k * n) + c_bytes(p);
    const double work = peak > 0 ? 2e-3 * m * n * k * count / (peak * row->share) : 0;
    const double memory = gpu->peak_bandwidth_gbs > 0 ? 1e-3 * bytes / gpu->peak_bandwidth_gbs : 0;
    return work > memory ? work : memory;
}

/*
 * What bias and activation add to a predicted time: a launch that reads and writes C. The library
 * below has them in the product.
 */
static double epilogue_us(const call *c, const xgemm_device *gpu)
{
    enum { LAUNCH_US = 3 };
    const xgemm_product *p = &c->product;
    if (!p->bias && p->activation == XGEMM_ACTIVATION_NONE)
        return 0;
    return LAUNCH_US +
           (gpu->peak_bandwidth_gbs > 0 ? 2e-3 * c_bytes(p) / (0.8 * gpu->peak_bandwidth_gbs) : 0);
}

/* ---- Decisions ---- */

/* XGEMM_SERVE=all serves also what is slower, or was not measured: for tests. */
static bool serves_all;

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = secure_getenv("XGEMM_SERVE");
    serves_all = text && strcmp(text, "all") == 0;
}

static const struct row *row_of(const call *c)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].type == c->product.type_a && rows[i].math == c->math)
            return &rows[i];
    return NULL;
}

bool may_serve(xgemm_type type)
{
    bool found = serves_all;
    for (int i = 0; i < ROWS && !found; i++)
        found = rows[i].type == type;
    return found;
}

/* Why the planned product is passed on; NULL: it is served. Gives the predicted times. */
static const char *refusal(const state *s, const call *c, double *us, double *other_us)
{
    const xgemm_product *p = &c->product;
    const struct row *row = row_of(c);
    xgemm_plan plan = {.struct_size = sizeof plan};
    if (!serves_all && !row)
        return TYPE_REFUSED;
    if (library.set_math(s->xgemm, c->math) || library.gemm_plan(s->xgemm, p, &plan))
        return "libxgemm does not compute it";
    if (!plan.kernel)
        return "nothing is multiplied";
    if (row)
        *other_us = library_us(row, c, &s->device);
    if (plan.microseconds > 0)
        *us = plan.microseconds + epilogue_us(c, &s->device);
    if (serves_all)
        return NULL;
    if (!s->is_measured)
        return "nothing was measured on this GPU";
    if (*us == 0)
        return "its time is not known";
    if (strncmp(plan.kernel, row->kernels, strlen(row->kernels)) != 0 ||
        2.0 * (double)p->m * (double)p->n * (double)p->k < row->least_flops)
        return "cuBLAS is as fast for this size";
    if (epilogue_us(c, &s->device) > 0 && *us > *other_us)
        return "bias and activation take longer";
    if (*us > LAUNCHES_US && *us > *other_us)
        return "cuBLAS is as fast for this size";
    return NULL;
}

static char letter_of(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS     ? 'N'
           : trans == XGEMM_TRANS      ? 'T'
           : trans == XGEMM_CONJ_TRANS ? 'C'
                                       : '?';
}

static counters_kind *kind_of(const call *c, const char *why, double us, double other_us)
{
    static const char *const types[] = {"?", "f32", "f64", "f16", "bf16", "c32", "c64"};
    static const char *const maths[] = {"default", "strict", "tf32"};
    const xgemm_product *p = &c->product;
    counters_key key;
    if (!counters_open())
        return NULL;
    memset(&key, 0, sizeof key);
    snprintf(key.function, sizeof key.function, "%s", c->function);
    snprintf(key.type, sizeof key.type, "%s", types[p->type_a]);
    snprintf(key.math, sizeof key.math, "%s", maths[c->math]);
    snprintf(key.transposes, sizeof key.transposes, "%c%c", letter_of(p->transa),
             letter_of(p->transb));
    snprintf(key.reason, sizeof key.reason, "%s", why ? why : "");
    key.m = p->m, key.n = p->n, key.k = p->k, key.batch = p->batch_count;
    return counters_find(&key, us, other_us);
}

const decision *decide(state *s, const call *c)
{
    const decision_key key = key_of(c);
    if (!s->decisions)
        s->decisions = calloc(DECISIONS, sizeof *s->decisions);
    if (!s->decisions)
        return NULL;
    decision *d = place_of(s, &key);
    if (memcmp(&d->key, &key, sizeof key) == 0)
        return d;
    double us = 0, other_us = 0;
    const char *why = refusal(s, c, &us, &other_us);
    d->key = key;
    d->is_served = !why;
    d->kind = kind_of(c, why, us, other_us);
    return d;
}

void count_passed_on(const call *c, const char *why)
{
    if (counters_open())
        counters_count(kind_of(c, why, 0, 0));
}
