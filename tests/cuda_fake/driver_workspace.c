/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: a workspace that grows where it is, on GPUs that can map memory. */
#include "driver_support.h"
#include "families/transform/args.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void setup_ranges(void)
{
    setup();
    set("FAKE_CUDA_RANGES", 1);
}

static shape square(int size)
{
    return (shape){XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, size, size, size};
}

/* Runs a product of that size with the handle's kernel, and checks it. */
static void multiply_square(xgemm_handle *handle, int size)
{
    const shape s = square(size);
    problem p = prepare(handle, &s);
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
}

/* Where the last step read the workspace. */
static const void *last_workspace(void)
{
    xg_unpad_args last;
    memcpy(&last, fake.last_arguments(), sizeof last);
    return last.from;
}

static xgemm_handle *with_padded(void)
{
    xgemm_handle *handle = create(0);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    return handle;
}

static uint64_t used_by(xgemm_handle *handle)
{
    uint64_t free_bytes, total;
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    return total - free_bytes;
}

/* Two matrices of 32-bit numbers, and the third where C begins in the workspace. */
START_TEST(test_grows_in_place)
{
    enum { LARGEST = 300, MATRICES = 3 };
    xgemm_handle *handle = with_padded();
    const uint64_t before = used_by(handle);
    for (int size = 20; size <= LARGEST; size += 20)
        multiply_square(handle, size);
    const uint64_t held = used_by(handle) - before;
    const uint64_t needed = MATRICES * 320 * 320 * sizeof(float);
    ck_assert_uint_ge(held, needed);
    ck_assert_uint_le(held, needed / 4 * 5 + 65536);
    const int mapped = fake.calls("cuMemMap");
    ck_assert_int_le(mapped, 12);
    multiply_square(handle, 40);
    ck_assert_int_eq(fake.calls("cuMemMap"), mapped);
    destroy(handle);
}
END_TEST

/* What was captured with the workspace as it was can still run. */
START_TEST(test_keeps_its_address)
{
    xgemm_handle *handle = with_padded();
    multiply_square(handle, 100);
    const void *first = last_workspace();
    multiply_square(handle, 100);
    ck_assert_ptr_eq(last_workspace(), first);
    multiply_square(handle, 400);
    multiply_square(handle, 100);
    ck_assert_ptr_eq(last_workspace(), first);
    destroy(handle);
}
END_TEST

START_TEST(test_one_for_each_stream)
{
    int tokens[2];
    xgemm_handle *handle = with_padded();
    const void *workspaces[2];
    for (int i = 0; i < 4; i++) {
        OK(handle, xgemm_set_stream(handle, &tokens[i % 2]));
        multiply_square(handle, 64);
        ck_assert(i < 2 || last_workspace() == workspaces[i % 2]);
        workspaces[i % 2] = last_workspace();
    }
    ck_assert_ptr_ne(workspaces[0], workspaces[1]);
    ck_assert_int_eq(fake.calls("cuMemAddressReserve"), 2);
    destroy(handle);
}
END_TEST

static void *multiply_in_a_thread(void *handle)
{
    multiply_square(handle, 64);
    return (void *)(uintptr_t)last_workspace();
}

static const void *workspace_of_a_thread(xgemm_handle *handle)
{
    pthread_t thread;
    void *workspace;
    ck_assert_int_eq(pthread_create(&thread, NULL, multiply_in_a_thread, handle), 0);
    ck_assert_int_eq(pthread_join(thread, &workspace), 0);
    return workspace;
}

/* The default stream by both of its tokens; and each thread's own, by the one that they share. */
START_TEST(test_default_streams)
{
    xgemm_handle *handle = with_padded();
    multiply_square(handle, 64);
    const void *const by_null = last_workspace();
    OK(handle, xgemm_set_stream(handle, (void *)(uintptr_t)XG_CU_STREAM_LEGACY));
    ck_assert_ptr_eq(workspace_of_a_thread(handle), by_null);
    OK(handle, xgemm_set_stream(handle, (void *)(uintptr_t)XG_CU_STREAM_PER_THREAD));
    multiply_square(handle, 64);
    const void *const own = last_workspace();
    const void *const others[] = {workspace_of_a_thread(handle), workspace_of_a_thread(handle)};
    ck_assert_ptr_ne(own, by_null);
    ck_assert_ptr_ne(own, others[0]);
    ck_assert_ptr_ne(own, others[1]);
    ck_assert_ptr_ne(others[0], others[1]);
    multiply_square(handle, 64);
    ck_assert_ptr_eq(last_workspace(), own);
    destroy(handle);
}
END_TEST

/* Threads that have ended leave no more than some workspaces; but a stream's that was captured
   stays, and those of streams that are used in turns. */
START_TEST(test_threads_that_end)
{
    enum { THREADS = 1500, STREAMS = 100 };
    xgemm_handle *handle = with_padded();
    static int tokens[STREAMS];
    uint64_t most = 0;
    OK(handle, xgemm_set_stream(handle, &tokens[0]));
    const shape of_64 = square(64);
    problem p = prepare(handle, &of_64);
    setenv("FAKE_CUDA_CAPTURE", "1", 1);
    OK(handle, run(handle, &p));
    unsetenv("FAKE_CUDA_CAPTURE");
    const void *const captured = last_workspace();
    finish(handle, &p);
    const uint64_t one = used_by(handle);
    OK(handle, xgemm_set_stream(handle, (void *)(uintptr_t)XG_CU_STREAM_PER_THREAD));
    const int waits = fake.calls("cuCtxSynchronize");
    for (int i = 0; i < THREADS; i++) {
        workspace_of_a_thread(handle);
        most = used_by(handle) > most ? used_by(handle) : most;
    }
    ck_assert_uint_lt(most, 800 * one);
    ck_assert_int_le(fake.calls("cuCtxSynchronize"), waits + THREADS / 100);
    OK(handle, xgemm_set_stream(handle, &tokens[0]));
    multiply_square(handle, 64);
    ck_assert_ptr_eq(last_workspace(), captured);
    for (int i = 0; i < 2 * STREAMS; i++) {
        OK(handle, xgemm_set_stream(handle, &tokens[i % STREAMS]));
        multiply_square(handle, 64);
    }
    const int reserved = fake.calls("cuMemAddressReserve");
    for (int i = 0; i < 5 * STREAMS; i++) {
        OK(handle, xgemm_set_stream(handle, &tokens[i % STREAMS]));
        multiply_square(handle, 64);
    }
    ck_assert_int_eq(fake.calls("cuMemAddressReserve"), reserved);
    destroy(handle);
}
END_TEST

/* Less than a quarter more will do where there is no more memory; and none is an error. */
START_TEST(test_little_memory)
{
    enum { PAGE = 65536 };
    xgemm_handle *handle = with_padded();
    multiply_square(handle, 320);
    const shape larger = square(336), largest = square(640);
    problem p = prepare(handle, &larger), q = prepare(handle, &largest);
    set("FAKE_CUDA_MEMORY", (long long)used_by(handle) + 4 * PAGE);
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, run(handle, &q));
    says(handle, "xgemm_sgemm: GPU 0 has no ");
    OK(handle, xgemm_set_kernel(handle, NULL)); /* one that needs less */
    OK(handle, run(handle, &q));
    unsetenv("FAKE_CUDA_MEMORY");
    finish(handle, &p);
    finish(handle, &q);
    destroy(handle);
}
END_TEST

/* A first call inside a capture reserves and maps. */
START_TEST(test_in_a_capture)
{
    xgemm_handle *handle = with_padded();
    const shape s = square(50);
    problem p = prepare(handle, &s);
    set("FAKE_CUDA_CAPTURE", 1);
    OK(handle, run(handle, &p));
    unsetenv("FAKE_CUDA_CAPTURE");
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

static const char *const failing[] = {"cuMemAddressReserve", "cuMemGetAllocationGranularity",
                                      "cuMemCreate", "cuMemMap", "cuMemSetAccess"};

START_TEST(test_driver_fails)
{
    xgemm_handle *handle = with_padded();
    const shape s = square(50);
    problem p = prepare(handle, &s);
    fail_next(failing[_i], 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    says(handle, "CUDA_ERROR_UNKNOWN");
    unsetenv("FAKE_CUDA_FAIL");
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/*
 * A GPU that runs is not waited for while a stream is captured, and cuMemUnmap does not wait: the
 * workspace of a handle that ends then stays until another one ends.
 */
START_TEST(test_handle_ends_in_a_capture)
{
    xgemm_handle *other = create(0), *handle = with_padded(), *third = create(0);
    void *stream, *graph;
    multiply_square(handle, 40);
    const int unmapped = fake.calls("cuMemUnmap");
    ck_assert_int_eq(xgemm_make_current(other), XGEMM_OK);
    ck_assert_int_eq(fake.stream_create(&stream, 0), 0);
    ck_assert_int_eq(fake.capture_begin(stream, 0), 0);
    xgemm_destroy(handle);
    ck_assert_int_eq(fake.calls("cuMemUnmap"), unmapped);
    ck_assert_int_eq(fake.capture_end(stream, &graph), 901); /* so the driver does */
    ck_assert_int_eq(fake.stream_destroy(stream), 0);
    cu.context_set(NULL);
    destroy(third);
    ck_assert_int_eq(fake.calls("cuMemUnmap"), unmapped + 1);
    destroy(other);
}
END_TEST

/* Without a range of addresses a workspace is a block of memory. */
START_TEST(test_no_addresses)
{
    static const unsigned failures[] = {2, 801};
    fail_next("cuMemAddressReserve", failures[_i]);
    xgemm_handle *handle = with_padded();
    multiply_square(handle, 40);
    ck_assert_str_eq(xgemm_last_kernel(handle), "padded");
    destroy(handle);
}
END_TEST

void add_workspace_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "workspace", setup_ranges, teardown);
    tcase_add_test(tcase, test_grows_in_place);
    tcase_add_test(tcase, test_keeps_its_address);
    tcase_add_test(tcase, test_one_for_each_stream);
    tcase_add_test(tcase, test_default_streams);
    tcase_add_test(tcase, test_threads_that_end);
    tcase_add_test(tcase, test_little_memory);
    tcase_add_test(tcase, test_in_a_capture);
    tcase_add_test(tcase, test_handle_ends_in_a_capture);
    tcase_add_loop_test(tcase, test_no_addresses, 0, 2);
    tcase_add_loop_test(tcase, test_driver_fails, 0, sizeof failing / sizeof *failing);
}
