/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: contexts, handles, devices, threads. */
#include "driver_support.h"

#include <pthread.h>
#include <stdlib.h>

/* Every public function, with whatever context is current. */
static void use(xgemm_handle *handle)
{
    xgemm_timer *timer;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    uint64_t free_bytes, total;
    double us;
    OK(handle, xgemm_timer_create(handle, &timer));
    OK(handle, xgemm_timer_start(timer));
    OK(handle, xgemm_set_kernel(handle, "padded"));
    multiply(handle);
    OK(handle, xgemm_timer_stop(timer));
    OK(handle, xgemm_timer_elapsed(timer, &us));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    OK(handle, xgemm_kernel_resources_get(handle, "naive", &resources));
    OK(handle, xgemm_synchronize(handle));
    xgemm_timer_destroy(timer);
    same_context("xgemm_timer_destroy");
}

START_TEST(test_context_none)
{
    xgemm_handle *handle = create(0);
    use(handle);
    destroy(handle);
}
END_TEST

/* The caller has the context of a device (0 is also the handle's) on its stack, below another. */
START_TEST(test_context_of_caller)
{
    xg_cu_context below, top;
    ck_assert_uint_eq(cu.context_retain(&below, 1 - _i), 0);
    ck_assert_uint_eq(cu.context_retain(&top, _i), 0);
    ck_assert_uint_eq(cu.context_push(below), 0);
    ck_assert_uint_eq(cu.context_push(top), 0);
    expected_context = top;
    expected_depth = 2;
    xgemm_handle *handle = create(0);
    use(handle);
    destroy(handle);
    ck_assert_int_eq(fake.retains(0), 1);
    xg_cu_context popped;
    ck_assert_uint_eq(cu.context_pop(&popped), 0);
    ck_assert_ptr_eq(popped, top);
    ck_assert_uint_eq(cu.context_pop(&popped), 0);
    ck_assert_ptr_eq(popped, below);
    ck_assert_uint_eq(cu.context_release(0), 0);
    ck_assert_uint_eq(cu.context_release(1), 0);
}
END_TEST

START_TEST(test_context_fails)
{
    xgemm_handle *handle = create(0);
    void *memory;
    fail_next("cuCtxPushCurrent_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_malloc(handle, 1, &memory));
    says(handle, "xgemm_malloc: cuCtxPushCurrent failed: CUDA_ERROR_UNKNOWN");
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_synchronize(handle));
    fail_next("cuCtxSetCurrent", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_make_current(handle));
    says(handle, "xgemm_make_current: cuCtxSetCurrent failed: CUDA_ERROR_UNKNOWN");
    fail_no_more();
    use(handle);
    destroy(handle);
}
END_TEST

START_TEST(test_make_current)
{
    xgemm_handle *handle = create(0);
    xg_cu_context context = NULL;
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_uint_eq(cu.context_current(&context), 0);
    ck_assert_ptr_nonnull(context);
    ck_assert_int_eq(fake.depth(), 1);
    expected_context = context;
    expected_depth = 1;
    const int before = fake.calls("cuCtxPushCurrent_v2") - fake.calls("cuLibraryLoadData");
    use(handle);
    OK(handle, xgemm_make_current(handle)); /* replaces, does not push, as only other threads do */
    ck_assert_int_eq(fake.calls("cuCtxPushCurrent_v2") - fake.calls("cuLibraryLoadData"), before);
    ck_assert_uint_eq(cu.context_set(NULL), 0);
    expected_context = NULL;
    expected_depth = 0;
    destroy(handle);
}
END_TEST

START_TEST(test_two_handles)
{
    xgemm_handle *first = create(0), *second = create(0);
    ck_assert_int_eq(fake.retains(0), 1);
    use(first);
    const int loads = call_count(LOADING);
    use(second);
    ck_assert_int_eq(call_count(LOADING), loads);
    destroy(first);
    ck_assert_int_eq(fake.retains(0), 1);
    ck_assert_int_eq(call_count(UNLOADING), 0);
    use(second);
    destroy(second);
    ck_assert_int_eq(fake.retains(0), 0);
    ck_assert_int_eq(call_count(UNLOADING), loads);
    second = create(0); /* and from the beginning */
    ck_assert_int_eq(fake.retains(0), 1);
    use(second);
    ck_assert_int_eq(call_count(LOADING), 2 * loads);
    destroy(second);
    ck_assert_int_eq(fake.retains(0), 0);
}
END_TEST

START_TEST(test_two_devices)
{
    xgemm_handle *first = create(0), *second = create(1);
    uint64_t free_bytes, total;
    void *memory;
    ck_assert_int_eq(fake.retains(0), 1);
    ck_assert_int_eq(fake.retains(1), 1);
    OK(second, xgemm_malloc(second, 1000, &memory));
    OK(first, xgemm_memory_info(first, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total);
    OK(second, xgemm_memory_info(second, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total - 1000);
    use(first);
    use(second);
    use(first);
    destroy(first);
    ck_assert_int_eq(fake.retains(0), 0);
    use(second);
    OK(second, xgemm_free(second, memory));
    destroy(second);
    ck_assert_int_eq(fake.retains(1), 0);
}
END_TEST

enum { THREADS = 4 };

/* Whether the context is kept. Who closes a device lets go of it after others may open it again. */
static bool is_retained(int device)
{
    return fake.retains(device) >= 1 && fake.retains(device) <= THREADS;
}

/* Threads, each with its handles; assertions are made by the thread that waits for them. */
static void *work(void *result)
{
    enum { SIZE = 33 };
    static const float ones[SIZE * SIZE];
    *(xgemm_status *)result = XGEMM_OK;
    for (int i = 0; i < 10; i++) {
        float c[SIZE * SIZE];
        void *memory = NULL;
        xgemm_handle *handle;
        xgemm_status status = xgemm_create(&handle, i % 2);
        if (!status && !is_retained(i % 2))
            status = XGEMM_ERROR_INTERNAL;
        if (!status)
            status = xgemm_set_kernel(handle, i % 3 ? "padded" : "tiled16");
        if (!status)
            status = xgemm_malloc(handle, sizeof ones, &memory);
        if (!status)
            status = xgemm_upload(handle, memory, ones, sizeof ones);
        if (!status)
            status = xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIZE,
                                 SIZE, SIZE, 1.0f, memory, SIZE, memory, SIZE, 0.0f, memory, SIZE);
        if (!status)
            status = xgemm_download(handle, c, memory, sizeof c);
        if (!status)
            status = xgemm_free(handle, memory);
        xgemm_destroy(handle);
        if (!status && (fake.depth() || c[SIZE] != 0.0f))
            status = XGEMM_ERROR_INTERNAL;
        if (status)
            *(xgemm_status *)result = status;
    }
    return NULL;
}

START_TEST(test_threads)
{
    pthread_t threads[THREADS];
    xgemm_status results[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &results[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_msg(results[i] == XGEMM_OK, "%s", xgemm_status_name(results[i]));
    }
    ck_assert_int_eq(fake.retains(0), 0);
    ck_assert_int_eq(fake.retains(1), 0);
}
END_TEST

START_TEST(test_environment_names_gpu)
{
    xgemm_handle *handle;
    setenv("XGEMM_DEVICE", "1", 1);
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), 1);
    destroy(handle);
}
END_TEST

void add_context_cases(Suite *suite)
{
    TCase *one = add_case(suite, "contexts", setup, teardown);
    tcase_add_test(one, test_context_none);
    tcase_add_test(one, test_context_fails);
    tcase_add_test(one, test_make_current);
    tcase_add_test(one, test_two_handles);
    TCase *two = add_case(suite, "two devices", setup_two, teardown);
    tcase_add_test(two, test_environment_names_gpu);
    tcase_add_test(two, test_two_devices);
    tcase_add_test(two, test_threads);
    tcase_add_loop_test(two, test_context_of_caller, 0, 2);
}
