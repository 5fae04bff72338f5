/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XGEMM_LOG and xgemm_fallback_count(): what ran, and what would have run with more memory. Check
 * runs each test in a child, whose environment this changes.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_name[] = "/tmp/xgemm-log-XXXXXX";

static void log_to_file(void)
{
    const int file = mkstemp(log_name);
    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(setenv("XGEMM_LOG", log_name, 1), 0);
}

/* The log's lines, and how many: it is removed. */
static int read_log(char *text, size_t size)
{
    FILE *file = fopen(log_name, "r");
    ck_assert_ptr_nonnull(file);
    const size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    unlink(log_name);
    text[length] = '\0';
    int lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* m = n = k, all zeros, in memory of the host. */
static xgemm_status multiply(xgemm_handle *handle, int64_t size)
{
    float *memory = calloc((size_t)(3 * size * size), sizeof *memory);
    ck_assert_ptr_nonnull(memory);
    float *const b = memory + size * size, *const c = b + size * size;
    const xgemm_status status =
        xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_TRANS, size, size, size, 1.0f,
                    memory, size, b, size, 0.5f, c, size);
    free(memory);
    return status;
}

START_TEST(lines)
{
    char text[4096];
    log_to_file();
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    ck_assert_int_eq(multiply(handle, 17), XGEMM_OK);
    ck_assert_int_eq(xgemm_sgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                 1.0f, NULL, 1, NULL, 1, 0.0f, NULL, 1),
                     XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 0, 5, 5,
                                 1.0f, NULL, 5, NULL, 5, 0.0f, NULL, 5),
                     XGEMM_OK);
    xgemm_destroy(handle);
    ck_assert_int_eq(read_log(text, sizeof text), 3);
    assert_says(text, "xgemm_sgemm device=-3 math=strict order=row trans=NT m=17 n=17 k=17 lda=17 "
                      "ldb=17 ldc=17 beta=0.5 batch=1 kernel=");
    assert_says(text, " predicted_us=");
    assert_says(text, "order=col trans=NN m=1 ");
    assert_says(text, " status=XGEMM_ERROR_NULL_POINTER error=\"a is NULL");
    assert_says(text, "m=0 n=5 k=5 lda=5 ldb=5 ldc=5 beta=0 batch=1 kernel=none workspace=0\n");
    ck_assert_ptr_null(strstr(text, "wanted"));
}
END_TEST

/* What is said of a product that has more to it. */
START_TEST(arguments)
{
    char text[4096];
    static const float alpha = 0.25f, beta = 0.0f;
    float x[40] = {0};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    log_to_file();
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 2;
    p.type_a = p.type_b = p.type_c = p.type_bias = XGEMM_F32;
    p.a = x, p.b = x + 10, p.c = x + 20, p.bias = x + 36;
    p.alpha = &alpha, p.beta = &beta;
    p.stride_a = 4, p.stride_c = 5, p.batch_count = 3;
    p.activation = XGEMM_GELU_TANH;
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    xgemm_destroy(handle);
    ck_assert_int_eq(read_log(text, sizeof text), 1);
    assert_says(text, " beta=0 alpha=0.25 bias=column type_bias=f32 activation=gelu-tanh batch=3 "
                      "stride_a=4 stride_b=0 stride_c=5 reproducible=element kernel=");
}
END_TEST

/* Where nothing else is asked for, there is no file, and nothing on standard error. */
START_TEST(off)
{
    static const char *const values[] = {NULL, ""};
    for (int i = 0; i < COUNT(values); i++) {
        if (values[i])
            ck_assert_int_eq(setenv("XGEMM_LOG", values[i], 1), 0);
        else
            ck_assert_int_eq(unsetenv("XGEMM_LOG"), 0);
        xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
        ck_assert_int_eq(multiply(handle, 3), XGEMM_OK);
        xgemm_destroy(handle);
    }
}
END_TEST

START_TEST(cannot_be_opened)
{
    xgemm_handle *handle = (xgemm_handle *)log_name;
    ck_assert_int_eq(setenv("XGEMM_LOG", "/nonexistent/folder/log", 1), 0);
    const xgemm_status status = xgemm_create(&handle, XGEMM_DEVICE_CPU);
    assert_refused(NULL, status, XGEMM_ERROR_ENVIRONMENT, "xgemm_create: ",
                   "XGEMM_LOG=\"/nonexistent/folder/log\", which cannot be opened: No such file");
    ck_assert_ptr_null(handle);
}
END_TEST

/* A disk that is full fails no product. */
START_TEST(cannot_be_written)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    ck_assert_int_eq(setenv("XGEMM_LOG", "/dev/full", 1), 0);
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(multiply(handle, 3), XGEMM_OK);
    xgemm_destroy(handle);
}
END_TEST

/* 16 x 16 x 4096 takes split-K, with partial sums in a workspace. */
static xgemm_status long_product(xgemm_handle *handle, const float *memory, float *c)
{
    return xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 16, 16, 4096, 1.0f,
                       memory, 4096, memory, 16, 0.0f, c, 16);
}

START_TEST(too_small_a_workspace)
{
    char text[4096], wanted[100];
    float *memory = calloc(16 * 4096, sizeof *memory), *c = calloc(256, sizeof *c);
    void *workspace = aligned_alloc(256, 1 << 20);
    log_to_file();
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    ck_assert_int_eq(long_product(handle, memory, c), XGEMM_OK); /* a workspace of its own */
    const char *const best = xgemm_last_kernel(handle);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 1 << 20), XGEMM_OK);
    ck_assert_int_eq(long_product(handle, memory, c), XGEMM_OK); /* enough */
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    ck_assert_str_eq(xgemm_last_kernel(handle), best);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 256), XGEMM_OK);
    for (int i = 1; i <= 2; i++) { /* the second finds both plans */
        ck_assert_int_eq(long_product(handle, memory, c), XGEMM_OK);
        ck_assert_int_eq(xgemm_fallback_count(handle), i);
    }
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    ck_assert_int_eq(long_product(handle, memory, c), XGEMM_OK);
    ck_assert_int_eq(xgemm_fallback_count(handle), 2);
    xgemm_destroy(handle);
    ck_assert_int_eq(read_log(text, sizeof text), 5);
    snprintf(wanted, sizeof wanted, " wanted=%s wanted_workspace=", best);
    const char *const first = strstr(text, wanted);
    ck_assert_msg(first != NULL, "no \"%s\" in %s", wanted, text);
    ck_assert_ptr_nonnull(strstr(first + 1, wanted));
    free(workspace);
    free(memory);
    free(c);
}
END_TEST

START_TEST(null_handle)
{
    ck_assert_int_eq(xgemm_fallback_count(NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *cases = add_case(suite, "log");
    tcase_add_test(cases, lines);
    tcase_add_test(cases, arguments);
    tcase_add_test(cases, off);
    tcase_add_test(cases, cannot_be_opened);
    tcase_add_test(cases, cannot_be_written);
    tcase_add_test(cases, too_small_a_workspace);
    tcase_add_test(cases, null_handle);
    return run_suite(suite);
}
