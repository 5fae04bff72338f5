/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_products.h"

#include "random.h"

#include <math.h>

/* Below the limit. */
static int random_to(random_source *source, int limit)
{
    return (int)(random_bits(source) % (unsigned)limit);
}

/* Over [0, 1). */
static double uniform(random_source *source)
{
    return (double)(random_bits(source) >> 11) * 0x1p-53;
}

/* 1 to most, each octave as often as another. */
static int64_t size_to(random_source *source, int64_t most)
{
    const int64_t size = (int64_t)exp(uniform(source) * log((double)most + 1.0));
    return size < 1 ? 1 : size > most ? most : size;
}

/* 0, 1 and -1 have code of their own, and so have real numbers. */
static scalar factor(random_source *source, xgemm_type type)
{
    scalar x = {(double)random_to(source, 3) - 1.0, 0.0};
    if (random_to(source, 2) == 0)
        x.re = 4.0 * uniform(source) - 2.0;
    if (type_is_complex(type) && random_to(source, 2) == 0)
        x.im = 4.0 * uniform(source) - 2.0;
    return x;
}

static xgemm_transpose transpose(random_source *source, xgemm_type type)
{
    static const xgemm_transpose all[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    return all[random_to(source, type_is_complex(type) ? 3 : 2)];
}

static values_choice values_of(random_source *source, const data_list *kinds, bool given)
{
    const int plain = random_to(source, 2 * VALUES_COUNT), pair = random_to(source, kinds->count);
    if (!given && plain < VALUES_COUNT)
        return (values_choice){(values_kind)plain, NULL};
    return (values_choice){VALUES_DATA, &kinds->pairs[pair]};
}

random_product random_product_of(const problem_options *options, shape most, const data_list *kinds,
                                 bool given, uint64_t seed)
{
    random_source source = {~seed}; /* not what the operands are drawn with */
    problem_options p = *options;
    p.order = random_to(&source, 2) ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    p.transa = transpose(&source, p.type);
    p.transb = transpose(&source, p.type);
    p.alpha = factor(&source, p.type);
    p.beta = factor(&source, p.type);
    const shape size = {size_to(&source, most.m), size_to(&source, most.n),
                        size_to(&source, most.k)};
    random_product of = {.work = problem_workload(&p, size)};
    workload *const w = &of.work;
    w->lda += random_to(&source, 2) * random_to(&source, 9);
    w->ldb += random_to(&source, 2) * random_to(&source, 9);
    w->ldc += random_to(&source, 2) * random_to(&source, 9);
    w->shift = random_to(&source, 2) * random_to(&source, 8);
    if (random_to(&source, 4) == 0) {
        workload_repeat(w, 2 + random_to(&source, 2),
                        random_to(&source, 2) * random_to(&source, 9));
        w->lists = random_to(&source, 2) == 1;
    }
    of.values = values_of(&source, kinds, given);
    return of;
}
