/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: streams, workspaces, captured graphs, timers. */
#include "driver_support.h"
#include "families/transform/args.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

START_TEST(test_streams)
{
    xgemm_handle *handle = create(0);
    int tokens[3];
    const void *workspace[3];
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    const int before = fake.calls("cuMemAlloc_v2");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++) {
            void *stream = i ? &tokens[i] : NULL;
            OK(handle, xgemm_set_stream(handle, stream));
            OK(handle, xgemm_upload(handle, p.device_c, p.c, p.c_count * sizeof(float)));
            OK(handle, run(handle, &p));
            ck_assert_ptr_eq(fake.last_stream(), stream);
            xg_unpad_args last; /* unpad reads the workspace */
            memcpy(&last, fake.last_arguments(), sizeof last);
            const void *used = last.from;
            ck_assert(round == 0 || used == workspace[i]);
            workspace[i] = used;
            download_and_check(handle, &p);
        }
    ck_assert_ptr_ne(workspace[0], workspace[1]);
    ck_assert_ptr_ne(workspace[0], workspace[2]);
    ck_assert_ptr_ne(workspace[1], workspace[2]);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before + 3);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

static const shape deep = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 33, 40, 4000};

/* So deep that the library's choice splits k, and needs a workspace for partial sums. */
static void run_deep(xgemm_handle *handle, problem *p)
{
    OK(handle, xgemm_upload(handle, p->device_c, p->c, p->c_count * sizeof(float)));
    OK(handle, run(handle, p));
    download_and_check(handle, p);
}

START_TEST(test_choice_without_memory)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes, total;
    problem p = prepare(handle, &deep);
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    const int before = fake.calls("cuMemAlloc_v2");
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes));
    run_deep(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before + 1); /* tried */
    unsetenv("FAKE_CUDA_MEMORY");
    run_deep(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_choice_with_small_workspace)
{
    xgemm_handle *handle = create(0);
    void *workspace;
    problem p = prepare(handle, &deep);
    OK(handle, xgemm_malloc(handle, 256, &workspace));
    OK(handle, xgemm_set_workspace(handle, workspace, 256));
    const int before = fake.calls("cuMemAlloc_v2");
    run_deep(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before);
    finish(handle, &p);
    OK(handle, xgemm_free(handle, workspace));
    destroy(handle);
}
END_TEST

START_TEST(test_given_workspace)
{
    xgemm_handle *handle = create(0);
    char sentence[64];
    void *workspace;
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_malloc(handle, ODD_PADDED_BYTES, &workspace));
    OK(handle, xgemm_set_kernel(handle, "padded"));
    const int before = fake.calls("cuMemAlloc_v2");
    OK(handle, xgemm_set_workspace(handle, workspace, ODD_PADDED_BYTES - 1));
    GIVES(XGEMM_ERROR_WORKSPACE, handle, run(handle, &p));
    snprintf(sentence, sizeof sentence, "needs a workspace of %d bytes", ODD_PADDED_BYTES);
    says(handle, sentence);
    OK(handle, xgemm_set_workspace(handle, workspace, ODD_PADDED_BYTES));
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before);
    finish(handle, &p);
    OK(handle, xgemm_free(handle, workspace));
    destroy(handle);
}
END_TEST

/* A first call inside a capture loads and allocates, and leaves the mode of the caller. */
START_TEST(test_capture)
{
    const unsigned thread_local_mode = 1;
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    unsigned mode = thread_local_mode;
    cu.capture_mode(&mode);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    setenv("FAKE_CUDA_CAPTURE", "1", 1);
    OK(handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_next(LOADING, 999);
    OK(handle, xgemm_set_kernel(handle, "naive"));
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_next("cuModuleGetFunction", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    unsetenv("FAKE_CUDA_CAPTURE");
    set("FAKE_CUDA_MEMORY", 1);
    void *memory;
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, 2, &memory));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_no_more();
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
    mode = 0;
    cu.capture_mode(&mode);
}
END_TEST

/* ---- What was recomputed ---- */

static const shape for_split_k = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 130, 140, 128};

/* A small element in row 2 of A, and a column 3 of B in which the rest adds up to 0. */
static void plant_one(xgemm_handle *handle, problem *p)
{
    for (int k = 0; k < p->shape.k; k++) {
        p->a[2 * p->lda + k] = k ? 1.0f : 0x1p-40f;
        p->b[k * p->ldb + 3] = k < 2 ? 0.0f : k % 2 ? 1.0f : -1.0f;
    }
    OK(handle, xgemm_upload(handle, p->device_a, p->a, p->a_count * sizeof(float)));
    OK(handle, xgemm_upload(handle, p->device_b, p->b, p->b_count * sizeof(float)));
}

/* Each stream has a workspace of its own, and one that is not the handle's may be gone. */
START_TEST(test_recomputed)
{
    xgemm_handle *handle = create(0);
    int64_t elements = 7;
    int tokens[2];
    problem p = prepare(handle, &for_split_k), other = prepare(handle, &for_split_k);
    plant_one(handle, &p);
    OK(handle, xgemm_set_kernel(handle, "fp16x3-128x64"));
    OK(handle, xgemm_set_stream(handle, &tokens[0]));
    OK(handle, run(handle, &p));
    OK(handle, xgemm_set_stream(handle, &tokens[1]));
    GIVES(XGEMM_ERROR_INVALID_VALUE, handle, xgemm_last_recomputed(handle, &elements));
    says(handle, "xgemm_last_recomputed: the last product ran on another stream");
    ck_assert_int_eq(elements, 7);
    OK(handle, xgemm_set_stream(handle, &tokens[0]));
    OK(handle, xgemm_last_recomputed(handle, &elements));
    ck_assert_int_eq(elements, 1);
    OK(handle, xgemm_set_stream(handle, &tokens[1]));
    OK(handle, run(handle, &other));
    OK(handle, xgemm_last_recomputed(handle, &elements));
    ck_assert_int_eq(elements, 0);
    ck_assert_ptr_eq(fake.last_stream(), &tokens[1]);
    finish(handle, &p);
    finish(handle, &other);
    destroy(handle);
}
END_TEST

static void *ask_in_a_thread(void *handle)
{
    static xgemm_status status;
    int64_t elements;
    status = xgemm_last_recomputed(handle, &elements);
    return &status;
}

/* One token may mean a stream of each thread's own, and two tokens the default stream. */
START_TEST(test_recomputed_of_default_streams)
{
    xgemm_handle *handle = create(0);
    int64_t elements = 7;
    pthread_t thread;
    void *status;
    problem p = prepare(handle, &for_split_k);
    plant_one(handle, &p);
    OK(handle, xgemm_set_kernel(handle, "fp16x3-128x64"));
    OK(handle, xgemm_set_stream(handle, (void *)XG_CU_STREAM_PER_THREAD));
    OK(handle, run(handle, &p));
    ck_assert_int_eq(pthread_create(&thread, NULL, ask_in_a_thread, handle), 0);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq(*(const xgemm_status *)status, XGEMM_ERROR_INVALID_VALUE);
    OK(handle, xgemm_set_stream(handle, NULL));
    OK(handle, run(handle, &p));
    OK(handle, xgemm_set_stream(handle, (void *)XG_CU_STREAM_LEGACY));
    OK(handle, xgemm_last_recomputed(handle, &elements));
    ck_assert_int_eq(elements, 1);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_recomputed_fails)
{
    static const char *const symbols[] = {"cuStreamSynchronize", "cuMemcpyDtoHAsync_v2"};
    xgemm_handle *handle = create(0);
    int64_t elements = 7;
    problem p = prepare(handle, &for_split_k);
    plant_one(handle, &p);
    OK(handle, xgemm_set_kernel(handle, "fp16x3-128x64"));
    for (int i = 0; i < 2; i++) {
        OK(handle, run(handle, &p));
        fail_next(symbols[i], i ? 999 : XG_CUDA_ERROR_LAUNCH_FAILED);
        GIVES(i ? XGEMM_ERROR_DRIVER : XGEMM_ERROR_LAUNCH, handle,
              xgemm_last_recomputed(handle, &elements));
        fail_no_more();
    }
    /* No copy may become part of a graph: it would write to memory that is gone. */
    const int copies = fake.calls("cuMemcpyDtoHAsync_v2");
    setenv("FAKE_CUDA_CAPTURE", "1", 1);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_last_recomputed(handle, &elements));
    says(handle, "xgemm_last_recomputed: cuStreamSynchronize failed");
    unsetenv("FAKE_CUDA_CAPTURE");
    ck_assert_int_eq(fake.calls("cuMemcpyDtoHAsync_v2"), copies);
    ck_assert_int_eq(elements, 7);
    OK(handle, xgemm_last_recomputed(handle, &elements));
    ck_assert_int_eq(elements, 1);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* ---- Timers ---- */

static double microseconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) * 1e6 + (double)(to->tv_nsec - from->tv_nsec) * 1e-3;
}

START_TEST(test_timer)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    xgemm_handle *handle = create(0);
    struct timespec from, to;
    xgemm_timer *timer;
    double us = -1.0;
    int token;
    OK(handle, xgemm_set_stream(handle, &token));
    OK(handle, xgemm_timer_create(handle, &timer));
    GIVES(XGEMM_ERROR_INVALID_VALUE, handle, xgemm_timer_elapsed(timer, &us));
    clock_gettime(CLOCK_MONOTONIC, &from);
    OK(handle, xgemm_timer_start(timer));
    ck_assert_ptr_eq(fake.last_stream(), &token);
    GIVES(XGEMM_ERROR_INVALID_VALUE, handle, xgemm_timer_elapsed(timer, &us));
    nanosleep(&pause, NULL);
    OK(handle, xgemm_timer_stop(timer));
    clock_gettime(CLOCK_MONOTONIC, &to);
    OK(handle, xgemm_timer_elapsed(timer, &us));
    ck_assert_msg(us >= 19999.0 && us <= microseconds(&from, &to) + 1.0, "%f us", us);
    xgemm_timer_destroy(timer);
    destroy(handle);
}
END_TEST

START_TEST(test_timer_fails)
{
    xgemm_handle *handle = create(0);
    xgemm_timer *timer;
    double us;
    for (int nth = 1; nth <= 2; nth++) {
        fail_nth("cuEventCreate", 999, nth, 1);
        GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_create(handle, &timer));
        ck_assert_ptr_null(timer);
        says(handle, "xgemm_timer_create: cuEventCreate failed");
    }
    fail_no_more();
    OK(handle, xgemm_timer_create(handle, &timer));
    fail_next("cuEventRecord", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_start(timer));
    says(handle, "xgemm_timer_start: cuEventRecord failed");
    fail_no_more();
    OK(handle, xgemm_timer_start(timer));
    OK(handle, xgemm_timer_stop(timer));
    fail_next("cuEventSynchronize", XG_CUDA_ERROR_LAUNCH_FAILED);
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_timer_elapsed(timer, &us));
    says(handle, "xgemm_timer_elapsed: cuEventSynchronize failed");
    fail_next("cuEventElapsedTime", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_elapsed(timer, &us));
    fail_no_more();
    OK(handle, xgemm_timer_elapsed(timer, &us));
    xgemm_timer_destroy(timer);
    destroy(handle);
}
END_TEST

void add_stream_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "streams", setup, teardown);
    tcase_add_test(tcase, test_streams);
    tcase_add_test(tcase, test_given_workspace);
    tcase_add_test(tcase, test_choice_without_memory);
    tcase_add_test(tcase, test_choice_with_small_workspace);
    tcase_add_test(tcase, test_capture);
    tcase_add_test(tcase, test_recomputed);
    tcase_add_test(tcase, test_recomputed_of_default_streams);
    tcase_add_test(tcase, test_recomputed_fails);
}

void add_timer_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "timers", setup, teardown);
    tcase_add_test(tcase, test_timer);
    tcase_add_test(tcase, test_timer_fails);
}
