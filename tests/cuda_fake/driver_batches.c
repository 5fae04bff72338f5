/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: batches. */
#include "driver_support.h"

#include <stdlib.h>

/* A batch of the same product on the device: A for all, B and C one after another. */
enum { PRODUCTS = 3 };

typedef struct {
    problem one;
    float *b, *c; /* the host's, of all products */
    void *device_b, *device_c, *list[3];
} many;

static void *upload_list(xgemm_handle *handle, const void *first, size_t apart)
{
    const void *pointers[PRODUCTS];
    void *list;
    for (size_t i = 0; i < PRODUCTS; i++)
        pointers[i] = (const float *)first + i * apart;
    OK(handle, xgemm_malloc(handle, sizeof pointers, &list));
    OK(handle, xgemm_upload(handle, list, pointers, sizeof pointers));
    return list;
}

static many prepare_many(xgemm_handle *handle)
{
    many all = {.one = prepare(handle, &odd)};
    const problem *p = &all.one;
    all.b = matrix(PRODUCTS * p->b_count, 5);
    all.c = matrix(PRODUCTS * p->c_count, 6);
    all.device_b = upload(handle, all.b, PRODUCTS * p->b_count);
    all.device_c = upload(handle, all.c, PRODUCTS * p->c_count);
    all.list[0] = upload_list(handle, p->device_a, 0);
    all.list[1] = upload_list(handle, all.device_b, p->b_count);
    all.list[2] = upload_list(handle, all.device_c, p->c_count);
    return all;
}

static void finish_many(xgemm_handle *handle, many *all)
{
    for (int i = 0; i < 3; i++)
        OK(handle, xgemm_free(handle, all->list[i]));
    OK(handle, xgemm_free(handle, all->device_b));
    OK(handle, xgemm_free(handle, all->device_c));
    free(all->b);
    free(all->c);
    finish(handle, &all->one);
}

static xgemm_status run_many(xgemm_handle *handle, const many *all, bool pointer_arrays)
{
    const problem *p = &all->one;
    const shape *s = &p->shape;
    if (pointer_arrays)
        return xgemm_sgemm_batched(handle, s->order, s->transa, s->transb, s->m, s->n, s->k, alpha,
                                   all->list[0], p->lda, all->list[1], p->ldb, beta, all->list[2],
                                   p->ldc, PRODUCTS);
    return xgemm_sgemm_strided_batched(handle, s->order, s->transa, s->transb, s->m, s->n, s->k,
                                       alpha, p->device_a, p->lda, 0, all->device_b, p->ldb,
                                       (int64_t)p->b_count, beta, all->device_c, p->ldc,
                                       (int64_t)p->c_count, PRODUCTS);
}

/* Each product as one problem; then C again as it was. */
static void check_many(xgemm_handle *handle, const many *all)
{
    for (size_t i = 0; i < PRODUCTS; i++) {
        problem p = all->one;
        p.b = all->b + i * p.b_count;
        p.c = all->c + i * p.c_count;
        OK(handle, xgemm_download(handle, p.result, (float *)all->device_c + i * p.c_count,
                                  p.c_count * sizeof(float)));
        check_result(&p);
    }
    OK(handle,
       xgemm_upload(handle, all->device_c, all->c, PRODUCTS * all->one.c_count * sizeof(float)));
}

/* Both forms, again without allocating; in a capture too. */
START_TEST(test_batches)
{
    xgemm_handle *handle = create(0);
    many all = prepare_many(handle);
    for (int pointer_arrays = 0; pointer_arrays < 2; pointer_arrays++) {
        OK(handle, run_many(handle, &all, pointer_arrays));
        check_many(handle, &all);
        const int allocated = fake.calls("cuMemAlloc_v2"), launched = fake.calls("cuLaunchKernel");
        setenv("FAKE_CUDA_CAPTURE", "1", 1);
        OK(handle, run_many(handle, &all, pointer_arrays));
        unsetenv("FAKE_CUDA_CAPTURE");
        ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), allocated);
        ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 1);
        check_many(handle, &all);
    }
    finish_many(handle, &all);
    destroy(handle);
}
END_TEST

START_TEST(test_batches_by_name)
{
    xgemm_handle *handle = create(0);
    many all = prepare_many(handle);
    OK(handle, xgemm_set_kernel(handle, "tiled16"));
    const int launched = fake.calls("cuLaunchKernel");
    OK(handle, run_many(handle, &all, false));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + PRODUCTS);
    check_many(handle, &all);
    GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, run_many(handle, &all, true));
    says(handle, "xgemm_sgemm_batched: kernel tiled16 cannot compute a batch from arrays of "
                 "pointers on the CUDA device");
    OK(handle, xgemm_set_kernel(handle, "pipelined-scalar-32x64"));
    OK(handle, run_many(handle, &all, true));
    check_many(handle, &all);
    finish_many(handle, &all);
    destroy(handle);
}
END_TEST

/* A grid's z ends at 65 535. */
START_TEST(test_batch_past_the_grid)
{
    enum { MANY = 65536 + 10 };
    xgemm_handle *handle = create(0);
    float *values = matrix(MANY, 9), *result = matrix(MANY, 0);
    void *c = upload(handle, values, MANY), *list;
    float **pointers = malloc(MANY * sizeof *pointers);
    ck_assert_ptr_nonnull(pointers);
    for (int i = 0; i < MANY; i++)
        pointers[i] = (float *)c + (MANY - 1 - i);
    OK(handle, xgemm_malloc(handle, MANY * sizeof *pointers, &list));
    OK(handle, xgemm_upload(handle, list, pointers, MANY * sizeof *pointers));
    const int launched = fake.calls("cuLaunchKernel");
    OK(handle,
       xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                   0.0f, NULL, 1, 0, NULL, 1, 0, 3.0f, c, 1, 1, MANY));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 2);
    OK(handle, xgemm_sgemm_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                   0.0f, NULL, 1, NULL, 1, 2.0f, list, 1, MANY));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 4);
    OK(handle, xgemm_download(handle, result, c, MANY * sizeof *result));
    for (int i = 0; i < MANY; i++)
        ck_assert(result[i] == 2.0f * (3.0f * values[i]));
    free(pointers);
    free(values);
    free(result);
    OK(handle, xgemm_free(handle, list));
    OK(handle, xgemm_free(handle, c));
    destroy(handle);
}
END_TEST

void add_batch_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "batches", setup, teardown);
    tcase_add_test(tcase, test_batches);
    tcase_add_test(tcase, test_batches_by_name);
    tcase_add_test(tcase, test_batch_past_the_grid);
}
