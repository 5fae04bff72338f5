/* SPDX-License-Identifier: BSD-3-Clause */
/* Batched products: their results, plans and passes. */
#include "batches.h"

#include <stdlib.h>
#include <string.h>

static const int64_t sizes[][3] = {{1, 1, 1},   {3, 130, 17}, {33, 65, 20}, {64, 64, 64},
                                   {130, 5, 9}, {16, 100, 7}, {36, 68, 33}};

/* A mix over sizes, layouts, factors, gaps and shared operands; all of it at full effort. */
static void run_mix(xgemm_handle *handle, bool pointer_arrays)
{
    static const float factors[] = {1.0f, 0.0f, -0.7f};
    const int runs = COUNT(sizes) * LAYOUTS * 2, step = test_effort() >= 100 ? 1 : 7;
    for (int run = 0; run < runs; run += step) {
        const int64_t *size = sizes[run % COUNT(sizes)];
        batch_spec s = {.m = size[0],
                        .n = size[1],
                        .k = size[2],
                        .count = 1 + run % 5,
                        .alpha = factors[run % 7 == 3 ? 1 : run % 2 * 2],
                        .beta = factors[run / 3 % 3],
                        .gap = run % 4 == 1   ? 3
                               : run % 4 == 2 ? 4
                                              : 0,
                        .between_a = run % 3 * 4,
                        .between_b = run % 5,
                        .between_c = run % 2 * 3,
                        .shared_a = !pointer_arrays && run % 6 == 0,
                        .shared_b = !pointer_arrays && run % 4 == 0,
                        .shift = run % 8 == 5 ? 1 : 0,
                        .pointer_arrays = pointer_arrays};
        batch_set_layout(&s, run / COUNT(sizes) % LAYOUTS);
        batch_check(handle, &s, (uint64_t)run);
    }
}

/* Whether it takes pointer arrays; on a GPU not every kernel does. */
static bool takes_pointer_arrays(xgemm_handle *handle)
{
    batch_spec s = {.m = 2, .n = 2, .k = 2, .count = 1, .alpha = 1.0f, .pointer_arrays = true};
    batch_set_layout(&s, 0);
    batch *b = batch_new(handle, &s, random_real, 1);
    const xgemm_status status = batch_call(b);
    if (status == XGEMM_ERROR_NOT_SUPPORTED)
        ck_assert_msg(strstr(xgemm_last_error(handle),
                             "cannot compute a batch from arrays of pointers") != NULL,
                      "%s", xgemm_last_error(handle));
    else
        ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert(status == XGEMM_OK || test_device() >= 0);
    batch_free(b);
    return status == XGEMM_OK;
}

START_TEST(strided)
{
    xgemm_handle *handle = open_with_kernel(_i);
    run_mix(handle, false);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(pointer_arrays)
{
    xgemm_handle *handle = open_with_kernel(_i);
    if (takes_pointer_arrays(handle))
        run_mix(handle, true);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(on_the_cpu)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    run_mix(handle, false);
    run_mix(handle, true);
    xgemm_destroy(handle);
}
END_TEST

/* The simulator stops what leaves its matrices: also those of one product for another's. */
START_TEST(watched)
{
    static const char *const kernels[] = {"auto",   "pipelined-32x64", "tma-128x128",
                                          "padded", "skinny",          "skinny-batched"};
    setenv("XGEMM_SIM", "check", 1);
    xgemm_handle *handle;
    if (xgemm_create(&handle, XGEMM_DEVICE_SIM) == XGEMM_ERROR_NOT_SUPPORTED)
        return; /* a build that cannot trace */
    for (int i = 0; i < COUNT(kernels); i++)
        for (int layout = 0; layout < LAYOUTS; layout += 3)
            for (int kind = 0; kind < 4; kind++) {
                batch_spec s = {.m = 36, .n = 68, .k = 33, .count = 3, .alpha = 1.0f};
                s.beta = kind == 1 ? 0.5f : 0.0f;
                s.alpha = kind == 3 ? 0.0f : 1.0f;
                s.gap = kind == 2 ? 1 : 0;
                s.shared_b = kind == 1;
                s.pointer_arrays = kind >= 2;
                batch_set_layout(&s, layout);
                ck_assert_int_eq(xgemm_set_kernel(handle, kernels[i]), XGEMM_OK);
                batch_check(handle, &s, (uint64_t)layout);
            }
    xgemm_destroy(handle);
}
END_TEST

static xgemm_plan plan_of(const batch *b)
{
    const batch_spec *s = &b->s;
    xgemm_plan plan = {.struct_size = sizeof plan};
    const xgemm_status status = xgemm_sgemm_strided_batched_plan(
        b->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
        b->a.memory + s->shift, b->a.ld, b->a.stride, b->b.memory + s->shift, b->b.ld, b->b.stride,
        s->beta, b->c.memory + s->shift, b->c.ld, b->c.stride, s->count, &plan);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(b->handle));
    return plan;
}

/* With room for the copies of two products at once there are three passes for five. */
START_TEST(passes)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    batch_spec s = {.m = 64, .n = 64, .k = 64, .count = 5, .alpha = 1.0f, .beta = -1.0f};
    batch_set_layout(&s, 0);
    const size_t copy = 4 * 64 * 96; /* of one A, and a line more than it needs */
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, 2 * copy, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-32x64"), XGEMM_OK);
    batch *b = batch_new(handle, &s, random_real, 5);
    xgemm_plan plan = plan_of(b);
    ck_assert_int_eq(plan.together, 5);
    ck_assert_int_eq(plan.launches, 2); /* copies of A, and products */
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 2 * copy), XGEMM_OK);
    plan = plan_of(b);
    ck_assert_int_eq(plan.together, 2);
    ck_assert_int_eq(plan.launches, 6); /* 2, 2 and 1 */
    ck_assert_uint_le(plan.workspace_bytes, 2 * copy);
    batch_check_results(b);
    batch_free(b);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* A few products with a long k: split-K. */
START_TEST(split)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-scalar-32x64"), XGEMM_OK);
    for (int layout = 0; layout < LAYOUTS; layout += 5) {
        batch_spec s = {
            .m = 20, .n = 40, .k = 1500, .count = 3, .alpha = 0.5f, .beta = 1.0f, .gap = 1};
        batch_set_layout(&s, layout);
        batch *b = batch_new(handle, &s, random_real, 5);
        const xgemm_plan plan = plan_of(b);
        ck_assert_int_gt(plan.split_k, 1);
        ck_assert_int_eq(plan.together, 3);
        ck_assert_int_eq(plan.launches, 2);
        batch_check_results(b);
        batch_free(b);
    }
    xgemm_destroy(handle);
}
END_TEST

/* With no memory for partial sums k is split in two, which clusters of two blocks reduce. */
START_TEST(split_in_pairs)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, 64, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 64), XGEMM_OK);
    for (int layout = 0; layout < LAYOUTS; layout += 5) {
        batch_spec s = {
            .m = 60, .n = 60, .k = 1500, .count = 3, .alpha = 0.5f, .beta = 1.0f, .gap = 1};
        batch_set_layout(&s, layout);
        batch *b = batch_new(handle, &s, random_real, 5);
        const xgemm_plan plan = plan_of(b);
        if (test_device() == XGEMM_DEVICE_SIM) { /* others may have no clusters */
            ck_assert_int_eq(plan.split_k, 2);
            ck_assert_int_eq(plan.launches, 1);
            ck_assert_int_eq((int)plan.workspace_bytes, 0);
        }
        batch_check_results(b);
        batch_free(b);
    }
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* Two runs, and a run with a plan that was kept while another took its turn. */
START_TEST(same_bits)
{
    xgemm_handle *handle = open_handle(test_device());
    for (int kind = 0; kind < 2; kind++) {
        batch_spec s = {
            .m = 37, .n = 70, .k = 200, .count = 4, .alpha = 0.3f, .pointer_arrays = kind == 1};
        batch_set_layout(&s, 2);
        batch *b = batch_new(handle, &s, random_real, 5);
        const size_t bytes = b->c.floats * sizeof(float);
        float *first = malloc(bytes);
        ck_assert(first != NULL);
        batch_run(b);
        memcpy(first, b->c.after, bytes);
        const batch_spec other = {.m = 3,
                                  .n = 4,
                                  .k = 5,
                                  .count = 2,
                                  .alpha = 1.0f,
                                  .order = XGEMM_COL_MAJOR,
                                  .transa = XGEMM_TRANS,
                                  .transb = XGEMM_NO_TRANS};
        batch_check(handle, &other, 1);
        batch_run(b);
        ck_assert(memcmp(first, b->c.after, bytes) == 0);
        free(first);
        batch_free(b);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Columns of one matrix of C in turn: their rows are interleaved. */
START_TEST(side_by_side)
{
    enum { M = 9, N = 12, K = 5, PRODUCTS = 4, LD = PRODUCTS * N };
    float a[PRODUCTS * M * K], b[K * N], c[M * LD], *device[3];
    generator from = {7};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(a); i++)
        a[i] = random_dyadic(&from);
    for (int i = 0; i < COUNT(b); i++)
        b[i] = random_dyadic(&from);
    const struct {
        void *from;
        size_t bytes;
    } arrays[] = {{a, sizeof a}, {b, sizeof b}, {c, sizeof c}};
    memset(c, 0xff, sizeof c);
    for (int i = 0; i < 3; i++) {
        void *memory;
        put_on_device(handle, &memory, arrays[i].from, arrays[i].bytes);
        device[i] = memory;
    }
    const xgemm_status status = xgemm_sgemm_strided_batched(
        handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, M, N, K, 1.0f, device[0], K, M * K,
        device[1], N, 0, 0.0f, device[2], LD, N, PRODUCTS);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_download(handle, c, device[2], sizeof c), XGEMM_OK);
    for (int which = 0; which < PRODUCTS; which++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int l = 0; l < K; l++)
                    sum += a[which * M * K + i * K + l] * b[l * N + j];
                ck_assert_float_eq(c[i * LD + which * N + j], sum);
            }
    for (int i = 0; i < 3; i++)
        xgemm_free(handle, device[i]);
    xgemm_destroy(handle);
}
END_TEST

/* More products than a grid has blocks along z, scaled and (the simulator takes seconds)
 * multiplied. */
START_TEST(more_than_a_grid)
{
    enum { PRODUCTS = 65536 + 3 };
    xgemm_handle *handle = open_handle(test_device());
    const size_t bytes = PRODUCTS * sizeof(float);
    float *host = malloc(bytes);
    void *a, *c;
    ck_assert(host != NULL);
    for (int i = 0; i < PRODUCTS; i++)
        host[i] = (float)i;
    put_on_device(handle, &a, host, bytes);
    put_on_device(handle, &c, host, bytes);
    ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                                 XGEMM_NO_TRANS, 1, 1, 0, 1.0f, NULL, 1, 0, NULL, 1,
                                                 0, 3.0f, c, 1, 1, PRODUCTS),
                     XGEMM_OK);
    ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
    for (int i = 0; i < PRODUCTS; i++)
        ck_assert_float_eq(host[i], 3.0f * (float)i);
    if (test_effort() >= 100) {
        ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                                     XGEMM_NO_TRANS, 1, 1, 1, 2.0f, a, 1, 1, a, 1,
                                                     0, 1.0f, c, 1, 1, PRODUCTS),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
        for (int i = 0; i < PRODUCTS; i++)
            ck_assert_float_eq(host[i], 3.0f * (float)i); /* B is a[0], which is 0 */
        ck_assert_int_eq(xgemm_sgemm_strided_batched(
                             handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1, 2.0f,
                             a, 1, 1, (const float *)a + 1, 1, 0, 1.0f, c, 1, 1, PRODUCTS),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
        for (int i = 0; i < PRODUCTS; i++)
            ck_assert_float_eq(host[i], 5.0f * (float)i);
    }
    free(host);
    xgemm_free(handle, a);
    xgemm_free(handle, c);
    xgemm_destroy(handle);
}
END_TEST

static Suite *batched(void)
{
    Suite *suite = suite_create("batched");
    TCase *cases = add_case(suite, "batches");
    tcase_add_loop_test(cases, strided, 0, test_kernels());
    tcase_add_loop_test(cases, pointer_arrays, 0, test_kernels());
    tcase_add_loop_test(cases, side_by_side, 0, test_kernels());
    tcase_add_test(cases, on_the_cpu);
    tcase_add_test(cases, watched);
    tcase_add_test(cases, passes);
    tcase_add_test(cases, split);
    tcase_add_test(cases, split_in_pairs);
    tcase_add_test(cases, same_bits);
    tcase_add_test(cases, more_than_a_grid);
    return suite;
}

int main(void)
{
    return run_suite(batched());
}
