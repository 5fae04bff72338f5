/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments at the limits of what they may be: sizes that no memory holds, batches and strides
 * whose bytes do not fit 63 bits, scalars at odd addresses, devices made by hand, a small
 * workspace; what a refused call leaves as it was, and a child of fork(). Few calls read or write
 * what they are given.
 */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* AddressSanitizer's allocator fails as malloc() does, and does not end the program. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static double somewhere[64];

static xgemm_product product_of(xgemm_type type, int64_t m, int64_t n, int64_t k)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.type_a = p.type_b = p.type_c = type;
    p.m = m, p.n = n, p.k = k;
    p.lda = k, p.ldb = p.ldc = n;
    p.a = p.b = p.c = somewhere;
    return p;
}

/* Of a k that is in one block no device has the memory. */
START_TEST(host_memory_of_huge_k)
{
    static const xgemm_type types[] = {XGEMM_F16, XGEMM_BF16, XGEMM_F32};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int i = 0; i < COUNT(types); i++)
        for (int bits = 55; bits < 63; bits++)
            for (int transposed = 0; transposed < 2; transposed++) {
                xgemm_product p = product_of(types[i], 1, 1, INT64_C(1) << bits);
                p.flags = XGEMM_HOST_MEMORY;
                p.transa = transposed ? XGEMM_TRANS : XGEMM_NO_TRANS;
                p.lda = transposed ? 1 : p.k;
                ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT),
                                 XGEMM_OK);
                const xgemm_status status = xgemm_gemm(handle, &p);
                ck_assert_msg(
                    status == XGEMM_ERROR_OVERFLOW || status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY ||
                        status == XGEMM_ERROR_OUT_OF_MEMORY,
                    "type %d, k = 2^%d: %s", (int)types[i], bits, xgemm_last_error(handle));
            }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(huge_batches_of_pointers)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int i = 0; i < 2 * 6; i++) {
        xgemm_product p = product_of((xgemm_type)(XGEMM_F32 + i / 2), 1024, 1024, 256);
        xgemm_plan plan = {.struct_size = sizeof plan};
        p.flags = XGEMM_POINTER_ARRAYS;
        p.batch_count = i % 2 ? INT64_MAX : (INT64_C(1) << 60) - 1;
        const xgemm_status status = xgemm_gemm_plan(handle, &p, &plan);
        ck_assert_int_eq(status, i % 2 ? XGEMM_ERROR_OVERFLOW : XGEMM_OK);
    }
    xgemm_destroy(handle);
}
END_TEST

/* The stride of one group's matrix, and of none, is never multiplied. */
START_TEST(ragged_strides_without_matrices)
{
    static const int64_t offsets[] = {0, 2};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    for (int k = 0; k <= 2; k += 2) {
        xgemm_product p = product_of(XGEMM_F32, 2, 2, k);
        p.lda = 2;
        p.stride_b = INT64_MAX;
        ck_assert_msg(xgemm_gemm_ragged(handle, &p, offsets, 1) == XGEMM_OK, "%s",
                      xgemm_last_error(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

/* The host's scalars may lie anywhere. */
START_TEST(scalars_at_odd_addresses)
{
    static const xgemm_type types[] = {XGEMM_F32, XGEMM_F64, XGEMM_BF16, XGEMM_C32};
    float a[2] = {3.0f, 0.0f}, b[2] = {5.0f, 0.0f}, c[2] = {0.0f, 0.0f};
    char bytes[sizeof(double) + 1];
    const float two = 2.0f;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    memcpy(bytes + 1, &two, sizeof two);
    xgemm_product p = product_of(XGEMM_F32, 1, 1, 1);
    p.a = a, p.b = b, p.c = c, p.alpha = bytes + 1;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    ck_assert_float_eq(c[0], 30.0f);
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < COUNT(types); i++) {
        p = product_of(types[i], 1, 1, 1);
        p.beta = bytes + 1;
        ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    }
    xgemm_destroy(handle);
}
END_TEST

static void check_device(void (*change)(xgemm_device *), xgemm_status wanted)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    const xgemm_product p = product_of(XGEMM_F32, 4518, 4367, 737);
    ck_assert_int_eq(xgemm_device_find("H100", &gpu), XGEMM_OK);
    change(&gpu);
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), wanted);
    ck_assert(wanted || isfinite(plan.microseconds));
    xgemm_destroy(handle);
}

static void as_many_as_may_be(xgemm_device *gpu)
{
    gpu->multiprocessors = 1 << 24;
}

static void infinite_clock(xgemm_device *gpu)
{
    gpu->core_clock_mhz = INFINITY;
}

static void no_number(xgemm_device *gpu)
{
    gpu->peak_bandwidth_gbs = NAN;
}

START_TEST(devices_made_by_hand)
{
    check_device(as_many_as_may_be, XGEMM_OK);
    check_device(infinite_clock, XGEMM_ERROR_INVALID_VALUE);
    check_device(no_number, XGEMM_ERROR_INVALID_VALUE);
}
END_TEST

/* Matrices that take no memory as long as nothing is written to them. */
START_TEST(traces_of_huge_products)
{
    xgemm_trace_problem p = {.struct_size = sizeof p, .k = 20, .most_blocks = 1};
    xgemm_trace_report *report;
    p.m = p.n = INT64_C(1) << 28;
    ck_assert_int_eq(xgemm_trace("naive", &p, NULL, &report), XGEMM_ERROR_OUT_OF_MEMORY);
    p.m = p.n = INT64_C(1) << 14;
    ck_assert_msg(xgemm_trace("naive", &p, NULL, &report) == XGEMM_OK, "%s",
                  xgemm_last_error(NULL));
    xgemm_trace_free(report);
}
END_TEST

/* Refused, for whatever reason: the last product is still the last. */
START_TEST(refused_calls_leave_the_last_kernel)
{
    static const void *const lists[] = {NULL};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    float zeros[4] = {0.0f};
    xgemm_product p = product_of(XGEMM_F32, 2, 2, 2);
    p.a = p.b = p.c = zeros;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    const char *const ran = xgemm_last_kernel(handle);
    ck_assert_ptr_nonnull(ran);
    p.lda = 1;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_eq(xgemm_last_kernel(handle), ran);
    p.flags = XGEMM_HOST_MEMORY;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_eq(xgemm_last_kernel(handle), ran);
    p.lda = 2;
    p.flags = XGEMM_POINTER_ARRAYS;
    p.batch_count = 1;
    p.a = p.b = lists;
    p.c = (void *)(uintptr_t)lists;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_eq(xgemm_last_kernel(handle), ran);
    xgemm_destroy(handle);
}
END_TEST

/* k is split as far as the caller's workspace goes, and the kernel stays: here from 16 splits to 6.
 */
START_TEST(splits_within_a_workspace)
{
    enum { BYTES = 4096 };
    xgemm_device gpu = {.struct_size = sizeof gpu};
    xgemm_plan all = {.struct_size = sizeof all, .device = &gpu}, within = all;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_product p = product_of(XGEMM_BF16, 64, 512, 30000);
    void *workspace;
    p.transb = XGEMM_TRANS, p.ldb = p.k;
    p.a = p.b = p.c = NULL;
    ck_assert_int_eq(xgemm_device_find("H200 SXM", &gpu), XGEMM_OK);
    ck_assert_int_eq(xgemm_malloc(handle, BYTES, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &all), XGEMM_OK);
    ck_assert_int_gt(all.workspace_bytes, BYTES);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, BYTES), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &within), XGEMM_OK);
    ck_assert_int_le(within.workspace_bytes, BYTES);
    ck_assert_str_eq(within.kernel, all.kernel);
    ck_assert_double_lt(within.microseconds, 2.0 * all.microseconds);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/*
 * Forks beside another thread are not tested with AddressSanitizer: a lock that GCC 12's allocator
 * has at a fork() stays locked in the child.
 */
#ifndef __SANITIZE_ADDRESS__
static xgemm_status multiply_ones(int device, int64_t size)
{
    static float ones[64 * 64], c[64 * 64];
    xgemm_handle *handle;
    xgemm_product p = product_of(XGEMM_F32, size, size, size);
    for (int i = 0; i < 64 * 64; i++)
        ones[i] = 1.0f;
    xgemm_status status = xgemm_create(&handle, device);
    if (status)
        return status;
    p.a = p.b = ones, p.c = c;
    status = xgemm_gemm(handle, &p);
    xgemm_destroy(handle);
    return c[0] == (float)size ? status : XGEMM_ERROR_INTERNAL;
}

static void *multiply_for_ever(void *unused)
{
    (void)unused;
    while (!multiply_ones(XGEMM_DEVICE_SIM, 64))
        ;
    return NULL;
}

/* A launch of another thread is not the child's, nor is the lock that it has. */
START_TEST(children_of_a_fork)
{
    pthread_t thread;
    int status = 1;
    ck_assert_int_eq(pthread_create(&thread, NULL, multiply_for_ever, NULL), 0);
    for (int i = 0; i < 10; i++) {
        usleep(20000);
        const pid_t child = fork();
        ck_assert_int_ne(child, -1);
        if (child == 0) {
            signal(SIGALRM, SIG_DFL); /* Check's handler kills all of the test */
            alarm(300);
            _exit(multiply_ones(XGEMM_DEVICE_SIM, 2) != XGEMM_OK);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST
#endif

/* What a later header may have added to xgemm_product: zeros are what it is without. */
START_TEST(fields_of_a_later_header)
{
    struct {
        xgemm_product known;
        char later[16];
    } p;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    float x = 2.0f, c = 0.0f;
    memset(&p, 0, sizeof p);
    p.known = product_of(XGEMM_F32, 1, 1, 1);
    p.known.a = p.known.b = &x, p.known.c = &c;
    p.known.struct_size = sizeof p;
    ck_assert_int_eq(xgemm_gemm(handle, &p.known), XGEMM_OK);
    ck_assert(c == 4.0f);
    p.later[5] = 1;
    ck_assert_int_eq(xgemm_gemm(handle, &p.known), XGEMM_ERROR_NOT_SUPPORTED);
    xgemm_destroy(handle);
}
END_TEST

static Suite *limits(void)
{
    Suite *suite = suite_create("limits");
    TCase *tests = add_case(suite, "limits");
    tcase_add_test(tests, host_memory_of_huge_k);
    tcase_add_test(tests, huge_batches_of_pointers);
    tcase_add_test(tests, ragged_strides_without_matrices);
    tcase_add_test(tests, scalars_at_odd_addresses);
    tcase_add_test(tests, devices_made_by_hand);
    tcase_add_test(tests, splits_within_a_workspace);
    tcase_add_test(tests, traces_of_huge_products);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(tests, children_of_a_fork);
#endif
    tcase_add_test(tests, fields_of_a_later_header);
    tcase_add_test(tests, refused_calls_leave_the_last_kernel);
    return suite;
}

int main(void)
{
    return run_suite(limits());
}
