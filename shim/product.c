/* SPDX-License-Identifier: BSD-3-Clause */
#include "product.h"

#include <string.h>

unsigned bytes_of(xgemm_type type)
{
    static const unsigned char bytes[] = {[XGEMM_F32] = 4,  [XGEMM_F64] = 8, [XGEMM_F16] = 2,
                                          [XGEMM_BF16] = 2, [XGEMM_C32] = 8, [XGEMM_C64] = 16};
    return bytes[type];
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

static char letter_of(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS     ? 'N'
           : trans == XGEMM_TRANS      ? 'T'
           : trans == XGEMM_CONJ_TRANS ? 'C'
                                       : '?';
}

static void put(char *to, size_t size, const char *text)
{
    memccpy(to, text, '\0', size - 1);
}

counters_kind *kind_of(const char *function, const xgemm_product *product, xgemm_math math,
                       const char *why, double us, double library_us)
{
    static const char *const types[] = {"?", "f32", "f64", "f16", "bf16", "c32", "c64"};
    static const char *const maths[] = {"default", "strict", "tf32"};
    counters_key key;
    memset(&key, 0, sizeof key);
    put(key.function, sizeof key.function, function);
    put(key.type, sizeof key.type, types[product->type_a]);
    put(key.math, sizeof key.math, maths[math]);
    key.transposes[0] = letter_of(product->transa), key.transposes[1] = letter_of(product->transb);
    put(key.reason, sizeof key.reason, why ? why : "");
    key.m = product->m, key.n = product->n, key.k = product->k, key.batch = product->batch_count;
    return counters_find(&key, us, library_us);
}

/* What a thread counted lately, so that the texts are made of a kind of call only once. */
typedef struct {
    const char *function, *why;
    int64_t m, n, k, batch;
    xgemm_type type;
    xgemm_math math;
    xgemm_transpose transa, transb;
    counters_kind *kind; /* NULL: it found no place */
} recent;

enum { RECENT_BITS = 6 };

void count_call(const char *function, const xgemm_product *p, xgemm_math math, const char *why,
                double us, double library_us)
{
    static _Thread_local recent list[1 << RECENT_BITS];
    if (!counters_open())
        return;
    const uint64_t hash =
        (((uint64_t)p->m * 31 + (uint64_t)p->n) * 31 + (uint64_t)p->k) * 31 + (uintptr_t)function;
    recent *at = &list[hash * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
    if (at->function != function || at->why != why || at->m != p->m || at->n != p->n ||
        at->k != p->k || at->batch != p->batch_count || at->type != p->type_a || at->math != math ||
        at->transa != p->transa || at->transb != p->transb)
        *at = (recent){.function = function,
                       .why = why,
                       .m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .batch = p->batch_count,
                       .type = p->type_a,
                       .math = math,
                       .transa = p->transa,
                       .transb = p->transb,
                       .kind = kind_of(function, p, math, why, us, library_us)};
    counters_count(at->kind);
}
