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

/* Why calls are passed on. */
#define TYPE    "cuBLAS is as fast for this type"
#define SIZE    "cuBLAS is as fast for this size"
#define ALIGNED "cuBLAS is as fast for aligned operands"

/*
 * Where libxgemm was measured to be at least as fast as cuBLAS (doc/results/), rows for each type
 * and math mode; what no row has is passed on.
 *
 * FP32: on 360 shapes on an H200 it was as fast or faster but for seven, at worst by 6 %; predicted
 * to take longer than cuBLAS does at its best, batches were not (128 of 1024 x 1024 x 64: 0.94 of
 * its speed). TF32: at 1024 two launches took 1.4 times as long as cuBLAS's one when nothing else
 * filled the host's time. FP16 and BF16: cuBLAS is slow where A or B begins, or its columns are
 * apart, by what is no multiple of 16 bytes. By odd elements libxgemm is 1.9 times as fast at 1025,
 * 2.6 at 2047, 2.9 at 2049, 3.5 at 4097, 4.3 at 8193, 4 to 4.5 at 4096 where one operand is so; by
 * two or four elements 2.0 to 2.5 times at 4096. FP64 and complex: 0.14 to 0.6 of cuBLAS's speed;
 * no row.
 */
enum { ANY = 16 }; /* bytes: what is aligned to more is not told apart */
static const struct row {
    xgemm_type type;
    xgemm_math math;
    double least_flops;      /* of a product, */
    int64_t least_size;      /* and of m, n and k */
    unsigned most_alignment; /* of A or of B, bytes */
    bool has_batches;        /* were measured, too */
    bool always_by_time;     /* not only beyond LAUNCHES_US */
    const char *kernels;     /* what the planned kernel's name begins with */
    size_t peak_gflops;      /* the field of xgemm_device, and */
    double share;            /* how much of it cuBLAS reaches at its best */
} rows[] = {
#define PEAK(type) offsetof(xgemm_device, peak_##type##_gflops)
    {XGEMM_F32, XGEMM_MATH_DEFAULT, 0, 0, ANY, true, false, "", PEAK(fp32), 0.77},
    {XGEMM_F32, XGEMM_MATH_STRICT, 0, 0, ANY, true, false, "", PEAK(fp32), 0.77},
    {XGEMM_F32, XGEMM_MATH_TF32, 1.6e10, 0, ANY, true, false, "fp16x1", PEAK(tf32), 0.79},
    {XGEMM_F16, XGEMM_MATH_DEFAULT, 0, 2048, 2, false, true, "", PEAK(fp16), 0.16},
    {XGEMM_F16, XGEMM_MATH_DEFAULT, 0, 1000, 2, false, true, "", PEAK(fp16), 0.085},
    {XGEMM_F16, XGEMM_MATH_DEFAULT, 0, 4096, 8, false, true, "", PEAK(fp16), 0.27},
    {XGEMM_BF16, XGEMM_MATH_DEFAULT, 0, 2048, 2, false, true, "", PEAK(bf16), 0.16},
    {XGEMM_BF16, XGEMM_MATH_DEFAULT, 0, 1000, 2, false, true, "", PEAK(bf16), 0.085},
    {XGEMM_BF16, XGEMM_MATH_DEFAULT, 0, 4096, 8, false, true, "", PEAK(bf16), 0.27},
#undef PEAK
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Rows ---- */

/* XGEMM_SERVE=all serves also what is slower, or was not measured: for tests. */
static bool serves_all;

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = secure_getenv("XGEMM_SERVE");
    serves_all = text && strcmp(text, "all") == 0;
}

static unsigned bytes_of(xgemm_type type)
{
    static const unsigned char bytes[] = {[XGEMM_F32] = 4,  [XGEMM_F64] = 8, [XGEMM_F16] = 2,
                                          [XGEMM_BF16] = 2, [XGEMM_C32] = 8, [XGEMM_C64] = 16};
    return bytes[type];
}

/* The largest power of two, up to ANY, that the places of all columns are multiples of. */
static unsigned alignment_to(xgemm_type type, const void *base, int64_t ld)
{
    const uint64_t places = (uint64_t)(uintptr_t)base | (uint64_t)ld * bytes_of(type) | ANY;
    return (unsigned)(places & (~places + 1));
}

static const char *check_row(const struct row *row, const xgemm_product *p)
{
    if (p->type_b != row->type || p->type_c != row->type)
        return "the types were not measured";
    if (row->most_alignment < ANY && alignment_to(row->type, p->a, p->lda) > row->most_alignment &&
        alignment_to(row->type, p->b, p->ldb) > row->most_alignment)
        return ALIGNED;
    if (2.0 * (double)p->m * (double)p->n * (double)p->k < row->least_flops ||
        p->m < row->least_size || p->n < row->least_size || p->k < row->least_size)
        return SIZE;
    const bool is_batch = p->batch_count > 1 || p->flags & XGEMM_POINTER_ARRAYS;
    return is_batch && !row->has_batches ? "batches were not measured" : NULL;
}

/* The row of a product in a math mode; NULL, and why there is none. */
static const struct row *row_of(const xgemm_product *p, xgemm_math math, const char **why)
{
    *why = TYPE;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].type == p->type_a && rows[i].math == math &&
            (*why = check_row(&rows[i], p)) == NULL)
            return &rows[i];
    return NULL;
}

const char *refused(const xgemm_product *p, xgemm_math math)
{
    const char *why;
    return serves_all || row_of(p, math, &why) ? NULL : why;
}

const char *refused_always(const xgemm_product *p)
{
    const char *why = TYPE;
    for (int i = 0; i < ROWS && !serves_all; i++)
        if (rows[i].type == p->type_a && (why = check_row(&rows[i], p)) == NULL)
            return NULL;
    return serves_all ? NULL : why;
}

const char *refused_operand(xgemm_type type, const void *base, int64_t ld)
{
    const char *why = TYPE;
    for (int i = 0; i < ROWS && !serves_all; i++) {
        if (rows[i].type != type)
            continue;
        if (alignment_to(type, base, ld) <= rows[i].most_alignment)
            return NULL;
        why = ALIGNED;
    }
    return serves_all ? NULL : why;
}

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

static double c_bytes(const xgemm_product *p)
{
    return (double)p->batch_count * (double)p->m * (double)p->n * (double)bytes_of(p->type_c);
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
    const double bytes = (double)bytes_of(p->type_a) * (a * m * k + b * k * n) + c_bytes(p);
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

/* Why the planned product is passed on; NULL: it is served. Gives the predicted times. */
static const char *refusal(const state *s, const call *c, double *us, double *other_us)
{
    const xgemm_product *p = &c->product;
    const char *why;
    const struct row *row = row_of(p, c->math, &why);
    xgemm_plan plan = {.struct_size = sizeof plan};
    if (!serves_all && !row)
        return why;
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
    if (strncmp(plan.kernel, row->kernels, strlen(row->kernels)) != 0)
        return SIZE;
    if (epilogue_us(c, &s->device) > 0 && *us > *other_us)
        return "bias and activation take longer";
    if ((row->always_by_time || *us > LAUNCHES_US) && *us > *other_us)
        return SIZE;
    return NULL;
}

static char letter_of(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS     ? 'N'
           : trans == XGEMM_TRANS      ? 'T'
           : trans == XGEMM_CONJ_TRANS ? 'C'
                                       : '?';
}

static counters_kind *find_kind(const call *c, const char *why, double us, double other_us)
{
    static const char *const types[] = {"?", "f32", "f64", "f16", "bf16", "c32", "c64"};
    static const char *const maths[] = {"default", "strict", "tf32"};
    const xgemm_product *p = &c->product;
    counters_key key;
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
    d->kind = counters_open() ? find_kind(c, why, us, other_us) : NULL;
    return d;
}

/* What a thread passed on lately, so that a text is made of a kind of call only once. */
typedef struct {
    const char *function, *why;
    int64_t m, n, k, batch;
    xgemm_type type;
    xgemm_math math;
    xgemm_transpose transa, transb;
    counters_kind *kind;
} recent;

enum { RECENT = 64 };

void count_passed_on(const call *c, const char *why)
{
    static _Thread_local recent list[RECENT];
    const xgemm_product *p = &c->product;
    if (!counters_open())
        return;
    const uint64_t hash = (((uint64_t)p->m * 31 + (uint64_t)p->n) * 31 + (uint64_t)p->k) * 31 +
                          (uintptr_t)c->function;
    recent *at = &list[hash * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (!at->kind || at->function != c->function || at->why != why || at->m != p->m ||
        at->n != p->n || at->k != p->k || at->batch != p->batch_count || at->type != p->type_a ||
        at->math != c->math || at->transa != p->transa || at->transb != p->transb)
        *at = (recent){.function = c->function,
                       .why = why,
                       .m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .batch = p->batch_count,
                       .type = p->type_a,
                       .math = c->math,
                       .transa = p->transa,
                       .transb = p->transb,
                       .kind = find_kind(c, why, 0, 0)};
    counters_count(at->kind);
}
