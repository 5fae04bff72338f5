/* SPDX-License-Identifier: BSD-3-Clause */
#include "decide.h"

#include "measured.h"
#include "shim/library.h"
#include "shim/options.h"
#include "shim/product.h"

#include <stdlib.h>
#include <string.h>

enum { DECISIONS = 1024 };

/* ---- Keys ---- */

static unsigned char alignment_of(const void *memory)
{
    return (unsigned char)((uintptr_t)memory & 15);
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
    key.copies = c->source != NULL;
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

/* ---- Decisions ---- */

/*
 * By the first of the call's rows whose kernel is as fast; the times and the reason are those of
 * the first row else.
 */
static const char *compare(const state *s, const call *c, const char *kernel, double us,
                           double *other_us, bool *for_launches)
{
    const char *why, *first = NULL, *ignored;
    for (const measured *row = measured_row(c, NULL, &why); row;
         row = measured_row(c, row, &ignored)) {
        const double row_us = measured_us(row, c, &s->device);
        why = measured_slower(row, c, kernel, us, row_us);
        if (!why || !first)
            *other_us = row_us;
        if (!why) {
            *for_launches = measured_for_launches(row);
            return NULL;
        }
        first = first ? first : why;
    }
    return first ? first : why;
}

/* Why the planned product is passed on; NULL: it is served. Gives the predicted times. */
static const char *refusal(const state *s, const call *c, double *us, double *other_us,
                           bool *for_launches)
{
    const char *why = refused(c, c->math);
    xgemm_plan plan = {.struct_size = sizeof plan};
    if (why)
        return why;
    if (library.set_math(s->xgemm, c->math) || library.gemm_plan(s->xgemm, &c->product, &plan))
        return "libxgemm does not compute it";
    if (!plan.kernel)
        return "nothing is multiplied";
    if (plan.microseconds > 0)
        *us = plan.microseconds + beside_us(c, &s->device);
    why = compare(s, c, plan.kernel, *us, other_us, for_launches);
    if (options.serves_all) {
        *for_launches = false;
        return NULL;
    }
    if (!s->is_measured)
        return "nothing was measured on this GPU";
    return *us == 0 ? "its time is not known" : why;
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
    bool for_launches = false;
    const char *why = refusal(s, c, &us, &other_us, &for_launches);
    d->key = key;
    d->is_served = !why;
    d->for_launches = for_launches;
    d->kind =
        counters_open() ? kind_of(c->function, &c->product, c->math, why, us, other_us) : NULL;
    return d;
}

void count_passed_on(const call *c, const char *why)
{
    count_call(c->function, &c->product, c->math, why, 0, 0);
}
