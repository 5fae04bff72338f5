/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On a GPU: products large enough for its fastest kernels, on two streams at once and replayed as
 * graphs, give the same bits as one by itself. Small ones, by all kernels: test_threads.c.
 */
#include "support.h"

#include "recorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LD = 4099, FLOATS = LD * LD, AT_ONCE = 20, REPLAYS = 10, SIDES = 2 };

/* A handle with a stream, and memory of its own. */
typedef struct {
    xgemm_handle *handle;
    recorder *recorder;
    void *a, *b, *c;
    float *result;
} side;

/* What is multiplied; leading dimensions are LD, so that rows begin anywhere, or aligned. */
typedef struct {
    int64_t m, n, k, ld;
} size;

static const size sizes[] = {{512, 512, 512, 4096},    {1024, 1024, 1024, 4096},
                             {1025, 1025, 1025, LD},   {2049, 2047, 2049, LD},
                             {257, 515, 700, LD},      {3001, 2999, 700, LD},
                             {4096, 4096, 4096, 4096}, {4097, 4097, 4097, LD},
                             {64, 64, 4096, 4096},     {4096, 1, 4096, 4096}};

static const xgemm_math modes[] = {XGEMM_MATH_DEFAULT, XGEMM_MATH_STRICT, XGEMM_MATH_TF32};

static void works(const side *s, xgemm_status status)
{
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(s->handle));
}

/* Real numbers, a few of which are too large for a split into two FP16. */
static float *random_matrix(uint64_t seed)
{
    generator from = {seed};
    float *x = malloc(FLOATS * sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (int i = 0; i < FLOATS; i++)
        x[i] = random_real(&from);
    for (int i = 0; i < 40; i++)
        x[random_below(&from, FLOATS)] = 1e20f;
    return x;
}

static void *upload(const side *s, const float *from)
{
    void *memory = NULL;
    works(s, xgemm_malloc(s->handle, FLOATS * sizeof *from, &memory));
    works(s, xgemm_upload(s->handle, memory, from, FLOATS * sizeof *from));
    return memory;
}

static side open_side(const float *a, const float *b)
{
    char why[256] = "";
    side s = {.handle = open_handle(test_device())};
    s.recorder = recorder_open(s.handle, why, sizeof why);
    ck_assert_msg(s.recorder != NULL, "%s", why);
    s.a = upload(&s, a);
    s.b = upload(&s, b);
    s.c = upload(&s, a);
    s.result = malloc(FLOATS * sizeof *s.result);
    ck_assert_ptr_nonnull(s.result);
    return s;
}

static void close_side(side *s)
{
    void *const memory[] = {s->a, s->b, s->c};
    for (int i = 0; i < COUNT(memory); i++)
        works(s, xgemm_free(s->handle, memory[i]));
    recorder_close(s->recorder);
    xgemm_destroy(s->handle);
    free(s->result);
}

static xgemm_status multiply(const side *s, const size *of, int layout)
{
    shape lies;
    set_layout(&lies, layout);
    return xgemm_sgemm(s->handle, lies.order, lies.transa, lies.transb, of->m, of->n, of->k, 1.0f,
                       s->a, of->ld, s->b, of->ld, 0.0f, s->c, of->ld);
}

static void clear(const side *s, const float *with)
{
    works(s, xgemm_upload(s->handle, s->c, with, FLOATS * sizeof *with));
}

static void fetch(const side *s)
{
    works(s, xgemm_synchronize(s->handle));
    works(s, xgemm_download(s->handle, s->result, s->c, FLOATS * sizeof *s->result));
}

typedef struct {
    pthread_t thread;
    const side *side;
    const size *of;
    int layout;
    xgemm_status status;
} caller;

static void *multiply_again(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < AT_ONCE && c->status == XGEMM_OK; i++)
        c->status = multiply(c->side, c->of, c->layout);
    return NULL;
}

static void multiply_at_once(side sides[SIDES], const size *of, int layout)
{
    caller callers[SIDES];
    for (int i = 0; i < SIDES; i++) {
        callers[i] = (caller){.side = &sides[i], .of = of, .layout = layout};
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, multiply_again, &callers[i]), 0);
    }
    for (int i = 0; i < SIDES; i++) {
        ck_assert_int_eq(pthread_join(callers[i].thread, NULL), 0);
        works(&sides[i], callers[i].status);
        fetch(&sides[i]);
    }
}

/* Two products in a row, as a graph. */
static void replay(const side *s, const size *of, int layout)
{
    works(s, xgemm_make_current(s->handle));
    ck_assert_msg(recorder_begin(s->recorder), "%s", recorder_error(s->recorder));
    const xgemm_status first = multiply(s, of, layout), second = multiply(s, of, layout);
    ck_assert_msg(recorder_end(s->recorder, true), "%s", recorder_error(s->recorder));
    works(s, first);
    works(s, second);
    for (int i = 0; i < REPLAYS; i++)
        ck_assert_msg(recorder_replay(s->recorder), "%s", recorder_error(s->recorder));
    fetch(s);
}

static void check_bits(const side *s, const float *wanted, const char *how, const size *of,
                       int layout)
{
    ck_assert_msg(memcmp(s->result, wanted, FLOATS * sizeof *wanted) == 0,
                  "%d x %d x %d, layout %d: %s, C has other bits", (int)of->m, (int)of->n,
                  (int)of->k, layout, how);
}

static void check_size(side sides[SIDES], const float *before, float *wanted, const size *of,
                       int layout)
{
    clear(&sides[0], before);
    works(&sides[0], multiply(&sides[0], of, layout));
    fetch(&sides[0]);
    memcpy(wanted, sides[0].result, FLOATS * sizeof *wanted);
    for (int i = 0; i < SIDES; i++)
        clear(&sides[i], before);
    multiply_at_once(sides, of, layout);
    for (int i = 0; i < SIDES; i++)
        check_bits(&sides[i], wanted, "two streams at once", of, layout);
    clear(&sides[0], before);
    replay(&sides[0], of, layout);
    check_bits(&sides[0], wanted, "replayed", of, layout);
}

START_TEST(same_bits)
{
    float *const a = random_matrix(1), *const b = random_matrix(2),
                 *const wanted = random_matrix(3);
    side sides[SIDES] = {open_side(a, b), open_side(a, b)};
    for (int i = 0; i < SIDES; i++)
        works(&sides[i], xgemm_set_math(sides[i].handle, modes[_i]));
    for (int i = 0; i < COUNT(sizes); i++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            check_size(sides, a, wanted, &sizes[i], layout);
    for (int i = 0; i < SIDES; i++)
        close_side(&sides[i]);
    free(a);
    free(b);
    free(wanted);
}
END_TEST

static Suite *streams(void)
{
    Suite *suite = suite_create("streams");
    tcase_add_loop_test(add_case(suite, "large products"), same_bits, 0, COUNT(modes));
    return suite;
}

int main(void)
{
    return test_device() < 0 ? 77 : run_suite(streams());
}
