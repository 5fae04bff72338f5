/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <string.h>

static float *new_floats(xgemm_handle *handle, const float *contents)
{
    void *result;
    ck_assert_int_eq(xgemm_malloc(handle, FLOATS * sizeof(float), &result), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, result, contents, FLOATS * sizeof(float)), XGEMM_OK);
    return result;
}

static void fill_contents(float contents[FLOATS])
{
    generator from = {1};
    for (int i = 0; i < FLOATS; i++)
        contents[i] = random_dyadic(&from);
}

memory memory_new(int device)
{
    float contents[FLOATS];
    fill_contents(contents);
    memory m = {.handle = open_handle(device)};
    m.a = new_floats(m.handle, contents);
    m.b = new_floats(m.handle, contents);
    m.c = new_floats(m.handle, contents);
    return m;
}

void memory_free(memory *m)
{
    xgemm_free(m->handle, m->a);
    xgemm_free(m->handle, m->b);
    xgemm_free(m->handle, m->c);
    xgemm_destroy(m->handle);
}

bool c_is_unchanged(const memory *m)
{
    float contents[FLOATS], now[FLOATS];
    fill_contents(contents);
    ck_assert_int_eq(xgemm_download(m->handle, now, m->c, sizeof now), XGEMM_OK);
    return memcmp(contents, now, sizeof now) == 0;
}

static float *pointer_of(float *data, bool null, bool odd)
{
    return null ? NULL : (float *)(void *)((char *)data + (odd ? 2 : 0));
}

xgemm_status perform(const memory *m, const call *c)
{
    const unsigned p = c->pointers;
    return xgemm_sgemm(m->handle, c->order, c->transa, c->transb, c->m, c->n, c->k, c->alpha,
                       pointer_of(m->a, p & A_NULL, p & A_ODD), c->lda,
                       pointer_of(m->b, p & B_NULL, p & B_ODD), c->ldb, c->beta,
                       pointer_of(m->c, p & C_NULL, p & C_ODD), c->ldc);
}

void assert_call_refused(const memory *m, const call *c, xgemm_status wanted, const char *part)
{
    assert_refused(m->handle, perform(m, c), wanted, "xgemm_sgemm: ", part);
    ck_assert_msg(c_is_unchanged(m), "C has changed, though: %s", xgemm_last_error(m->handle));
}

void assert_call_works(const memory *m, const call *c)
{
    ck_assert_msg(perform(m, c) == XGEMM_OK, "%s", xgemm_last_error(m->handle));
    ck_assert_int_eq(xgemm_synchronize(m->handle), XGEMM_OK);
}

call good_call(int layout)
{
    shape s;
    set_layout(&s, layout);
    const call c = {s.order, s.transa, s.transb, 3, 4, 5, SIDE, SIDE, SIDE, 1.0f, 0.5f, 0};
    return c;
}
