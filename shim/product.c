/* SPDX-License-Identifier: BSD-3-Clause */
#include "product.h"

#include <stdio.h>
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

counters_kind *kind_of(const char *function, const xgemm_product *product, xgemm_math math,
                       const char *why, double us, double library_us)
{
    static const char *const types[] = {"?", "f32", "f64", "f16", "bf16", "c32", "c64"};
    static const char *const maths[] = {"default", "strict", "tf32"};
    counters_key key;
    memset(&key, 0, sizeof key);
    snprintf(key.function, sizeof key.function, "%s", function);
    snprintf(key.type, sizeof key.type, "%s", types[product->type_a]);
    snprintf(key.math, sizeof key.math, "%s", maths[math]);
    snprintf(key.transposes, sizeof key.transposes, "%c%c", letter_of(product->transa),
             letter_of(product->transb));
    snprintf(key.reason, sizeof key.reason, "%s", why ? why : "");
    key.m = product->m, key.n = product->n, key.k = product->k, key.batch = product->batch_count;
    return counters_find(&key, us, library_us);
}
