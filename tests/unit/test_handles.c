/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, statuses, structs that say their size, memory and timers. */
#include "support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Statuses and versions ---- */

START_TEST(statuses_have_names)
{
    static const struct {
        xgemm_status status;
        const char *name, *sentence;
    } rows[] = {
#define ROW(name, value, sentence) {XGEMM_##name, "XGEMM_" #name, sentence},
        XGEMM_STATUS_MAP(ROW)
#undef ROW
    };
    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(rows[i].status, -i);
        ck_assert_str_eq(xgemm_status_name(rows[i].status), rows[i].name);
        ck_assert_str_eq(xgemm_strerror(rows[i].status), rows[i].sentence);
    }
    static const int unknown[] = {1, -COUNT(rows), -1000, INT_MAX, INT_MIN};
    for (int i = 0; i < COUNT(unknown); i++) {
        ck_assert_str_eq(xgemm_status_name((xgemm_status)unknown[i]), "unknown");
        ck_assert_str_eq(xgemm_strerror((xgemm_status)unknown[i]), "unknown status");
    }
}
END_TEST

START_TEST(version_is_that_of_the_headers)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", XGEMM_VERSION_MAJOR, XGEMM_VERSION_MINOR,
             XGEMM_VERSION_PATCH);
    ck_assert_str_eq(xgemm_version(), text);
    ck_assert_int_eq(XGEMM_VERSION_NUMBER, XGEMM_VERSION_MAJOR * 1000000 +
                                               XGEMM_VERSION_MINOR * 1000 + XGEMM_VERSION_PATCH);
}
END_TEST

/* ---- Structs that say their size ---- */

enum { SPARE = 64 };

typedef xgemm_status (*getter)(void *);

static xgemm_status get_device(void *result)
{
    return xgemm_device_get(XGEMM_DEVICE_CPU, result);
}

static xgemm_status get_kernel(void *result)
{
    return xgemm_kernel_get(0, result);
}

/* With that struct_size: the call works and writes nothing from there on, and not past size. */
static void check_struct_size(getter get, size_t size, size_t struct_size)
{
    unsigned char *bytes = malloc(size + SPARE);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 0xa5, size + SPARE);
    memcpy(bytes, &struct_size, sizeof struct_size);
    ck_assert_msg(get(bytes) == XGEMM_OK, "%s", xgemm_last_error(NULL));
    ck_assert_mem_eq(bytes, &struct_size, sizeof struct_size);
    for (size_t i = struct_size < size ? struct_size : size; i < size + SPARE; i++)
        ck_assert_msg(bytes[i] == 0xa5, "byte %zu of a struct of %zu was written", i, struct_size);
    free(bytes);
}

static void check_sizes(getter get, size_t size, const char *function)
{
    const size_t good[] = {sizeof(size_t), sizeof(size_t) + 1, size / 2,    size - 1,
                           size,           size + 1,           size + SPARE};
    for (int i = 0; i < COUNT(good); i++)
        check_struct_size(get, size, good[i]);
    for (size_t small = 0; small < sizeof(size_t); small++) {
        size_t *whole = calloc(1, size);
        char part[32];
        ck_assert_ptr_nonnull(whole);
        *whole = small;
        snprintf(part, sizeof part, "struct_size is %zu", small);
        assert_refused(NULL, get(whole), XGEMM_ERROR_INVALID_VALUE, function, part);
        free(whole);
    }
}

START_TEST(struct_sizes)
{
    check_sizes(get_device, sizeof(xgemm_device), "xgemm_device_get: ");
    check_sizes(get_kernel, sizeof(xgemm_kernel_info), "xgemm_kernel_get: ");
}
END_TEST

/* ---- Handles ---- */

static void assert_no_handle(xgemm_status status, const char *function)
{
    assert_refused(NULL, status, XGEMM_ERROR_NULL_POINTER, function, ": handle is NULL");
}

START_TEST(null_handles)
{
    float x = 2.0f;
    void *address = &x;
    uint64_t bytes = 0;
    xgemm_timer *timer = (xgemm_timer *)&x;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_destroy(NULL);
    assert_no_handle(xgemm_set_stream(NULL, NULL), "xgemm_set_stream");
    assert_no_handle(xgemm_set_math(NULL, XGEMM_MATH_STRICT), "xgemm_set_math");
    assert_no_handle(xgemm_set_kernel(NULL, "auto"), "xgemm_set_kernel");
    assert_no_handle(xgemm_set_workspace(NULL, NULL, 0), "xgemm_set_workspace");
    assert_no_handle(xgemm_synchronize(NULL), "xgemm_synchronize");
    assert_no_handle(xgemm_make_current(NULL), "xgemm_make_current");
    assert_no_handle(xgemm_kernel_resources_get(NULL, "naive", &resources),
                     "xgemm_kernel_resources_get");
    assert_no_handle(xgemm_malloc(NULL, 16, &address), "xgemm_malloc");
    ck_assert_ptr_null(address);
    assert_no_handle(xgemm_free(NULL, NULL), "xgemm_free");
    assert_no_handle(xgemm_upload(NULL, &x, &x, 0), "xgemm_upload");
    assert_no_handle(xgemm_download(NULL, &x, &x, 0), "xgemm_download");
    assert_no_handle(xgemm_memory_info(NULL, &bytes, &bytes), "xgemm_memory_info");
    assert_no_handle(xgemm_timer_create(NULL, &timer), "xgemm_timer_create");
    ck_assert_ptr_null(timer);
    assert_no_handle(xgemm_sgemm(NULL, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                 1.0f, &x, 1, &x, 1, 0.0f, &x, 1),
                     "xgemm_sgemm");
    ck_assert(x == 2.0f);
    ck_assert_int_eq(xgemm_get_device(NULL), XGEMM_DEVICE_AUTO);
    ck_assert_ptr_null(xgemm_last_kernel(NULL));
}
END_TEST

START_TEST(settings_of_a_handle)
{
    xgemm_handle *handle = open_handle(test_device());
    static const int unknown[] = {-1, 3, INT_MAX};
    ck_assert_str_eq(xgemm_last_error(handle), "");
    ck_assert_int_eq(xgemm_get_device(handle), test_device());
    for (int i = 0; i < COUNT(unknown); i++) {
        char part[32];
        snprintf(part, sizeof part, "math is %d;", unknown[i]);
        assert_refused(handle, xgemm_set_math(handle, (xgemm_math)unknown[i]),
                       XGEMM_ERROR_INVALID_VALUE, "xgemm_set_math: ", part);
    }
    ck_assert_int_eq(xgemm_set_stream(handle, NULL), XGEMM_OK);
    if (test_device() < 0)
        assert_refused(handle, xgemm_set_stream(handle, &handle), XGEMM_ERROR_NOT_SUPPORTED,
                       "xgemm_set_stream: ", "no streams");
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(xgemm_synchronize(handle), XGEMM_OK);
    xgemm_destroy(handle);
}
END_TEST

/* A handle keeps its sentence to itself. */
START_TEST(sentences_belong_to_handles)
{
    xgemm_handle *one = open_handle(test_device()), *other = open_handle(XGEMM_DEVICE_CPU);
    ck_assert_int_eq(xgemm_set_kernel(one, "first"), XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert_str_eq(xgemm_last_error(other), "");
    ck_assert_str_eq(xgemm_last_error(NULL), "");
    ck_assert_int_eq(xgemm_set_kernel(other, "second"), XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert_int_eq(xgemm_set_kernel(one, NULL), XGEMM_OK);
    assert_says(xgemm_last_error(one), "\"first\"");
    assert_says(xgemm_last_error(other), "\"second\"");
    xgemm_destroy(one);
    xgemm_destroy(other);
}
END_TEST

/* ---- Memory ---- */

START_TEST(memory_round_trip)
{
    static const size_t sizes[] = {1, 3, 255, 256, 257, 100003};
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < COUNT(sizes); i++) {
        unsigned char *out = malloc(sizes[i]), *back = calloc(1, sizes[i]);
        void *there;
        generator from = {(uint64_t)i};
        ck_assert(out && back);
        for (size_t j = 0; j < sizes[i]; j++)
            out[j] = (unsigned char)random_bits(&from);
        ck_assert_int_eq(xgemm_malloc(handle, sizes[i], &there), XGEMM_OK);
        ck_assert_uint_eq((uintptr_t)there % 256, 0);
        ck_assert_int_eq(xgemm_upload(handle, there, out, sizes[i]), XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, back, there, sizes[i]), XGEMM_OK);
        ck_assert_mem_eq(out, back, sizes[i]);
        ck_assert_int_eq(xgemm_free(handle, there), XGEMM_OK);
        free(out);
        free(back);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(memory_arguments)
{
    xgemm_handle *handle = open_handle(test_device());
    void *there = handle;
    char here = 0;
    uint64_t available = 0, total = 0;
    ck_assert_int_eq(xgemm_malloc(handle, 0, &there), XGEMM_OK);
    ck_assert_ptr_null(there);
    ck_assert_int_eq(xgemm_free(handle, NULL), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, NULL, NULL, 0), XGEMM_OK);
    ck_assert_int_eq(xgemm_download(handle, NULL, NULL, 0), XGEMM_OK);
    assert_refused(handle, xgemm_malloc(handle, 1, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_malloc: ", "memory is NULL");
    assert_refused(handle, xgemm_upload(handle, NULL, &here, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_upload: ", "device_memory is NULL");
    assert_refused(handle, xgemm_upload(handle, &here, NULL, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_upload: ", "host_memory is NULL");
    assert_refused(handle, xgemm_download(handle, NULL, &here, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_download: ", "host_memory is NULL");
    assert_refused(handle, xgemm_download(handle, &here, NULL, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_download: ", "device_memory is NULL");
    assert_refused(handle, xgemm_memory_info(handle, NULL, &total), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_memory_info: ", "free_bytes is NULL");
    assert_refused(handle, xgemm_memory_info(handle, &available, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_memory_info: ", "total_bytes is NULL");
    ck_assert_int_eq(xgemm_memory_info(handle, &available, &total), XGEMM_OK);
    ck_assert(available > 0 && available <= total);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(memory_that_nobody_has)
{
    xgemm_handle *handle = open_handle(test_device());
    void *there = handle;
    const bool gpu = test_device() >= 0;
    assert_refused(handle, xgemm_malloc(handle, gpu ? (size_t)1 << 60 : SIZE_MAX, &there),
                   gpu ? XGEMM_ERROR_OUT_OF_DEVICE_MEMORY : XGEMM_ERROR_OUT_OF_MEMORY,
                   "xgemm_malloc: ", "bytes");
    ck_assert_ptr_null(there);
    xgemm_destroy(handle);
}
END_TEST

/* ---- Timers ---- */

static void assert_not_measured(const xgemm_handle *handle, xgemm_timer *timer)
{
    double microseconds = -1.0;
    assert_refused(handle, xgemm_timer_elapsed(timer, &microseconds), XGEMM_ERROR_INVALID_VALUE,
                   "xgemm_timer_elapsed: ", "not started and stopped");
    ck_assert(microseconds == -1.0);
}

START_TEST(timers)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_timer *timer;
    double microseconds = -1.0;
    ck_assert_int_eq(xgemm_timer_create(handle, &timer), XGEMM_OK);
    ck_assert_ptr_nonnull(timer);
    assert_not_measured(handle, timer);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(xgemm_timer_start(timer), XGEMM_OK);
        assert_not_measured(handle, timer);
        const shape s = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 40, 40, 40,
                         .alpha = 1.0f};
        check_shape(handle, &s, random_dyadic, EXACT, 1);
        ck_assert_int_eq(xgemm_timer_stop(timer), XGEMM_OK);
        ck_assert_int_eq(xgemm_timer_elapsed(timer, &microseconds), XGEMM_OK);
        ck_assert(microseconds > 0.0 && microseconds < 60e6);
    }
    assert_refused(handle, xgemm_timer_elapsed(timer, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_elapsed: ", "microseconds is NULL");
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(timer_stopped_before_it_starts)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_timer *timer;
    ck_assert_int_eq(xgemm_timer_create(handle, &timer), XGEMM_OK);
    xgemm_timer_stop(timer);
    assert_not_measured(handle, timer);
    ck_assert_int_eq(xgemm_timer_start(timer), XGEMM_OK);
    assert_not_measured(handle, timer);
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(null_timers)
{
    xgemm_handle *handle = open_handle(test_device());
    double microseconds;
    xgemm_timer_destroy(NULL);
    assert_refused(handle, xgemm_timer_create(handle, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_create: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_start(NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_start: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_stop(NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_stop: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_elapsed(NULL, &microseconds), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_elapsed: ", "timer is NULL");
    xgemm_destroy(handle);
}
END_TEST

static Suite *handles(void)
{
    Suite *suite = suite_create("handles");
    TCase *cases = add_case(suite, "handles");
    tcase_add_test(cases, statuses_have_names);
    tcase_add_test(cases, version_is_that_of_the_headers);
    tcase_add_test(cases, struct_sizes);
    tcase_add_test(cases, null_handles);
    tcase_add_test(cases, settings_of_a_handle);
    tcase_add_test(cases, sentences_belong_to_handles);
    tcase_add_test(cases, memory_round_trip);
    tcase_add_test(cases, memory_arguments);
    tcase_add_test(cases, memory_that_nobody_has);
    tcase_add_test(cases, timers);
    tcase_add_test(cases, timer_stopped_before_it_starts);
    tcase_add_test(cases, null_timers);
    return suite;
}

int main(void)
{
    return run_suite(handles());
}
