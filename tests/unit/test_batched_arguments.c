/* SPDX-License-Identifier: BSD-3-Clause */
/* Batched products: what is refused, and what does nothing. */
#include "support.h"

typedef struct {
    xgemm_status status;
    const char *part;
    int64_t m, n, k, lda, stride_a, stride_b, ldc, stride_c, count;
} refusal;

static const float somewhere[64];

static xgemm_status call_refused(xgemm_handle *handle, const refusal *r, xgemm_order order)
{
    static float c[64];
    return xgemm_sgemm_strided_batched(handle, order, XGEMM_NO_TRANS, XGEMM_NO_TRANS, r->m, r->n,
                                       r->k, 1.0f, somewhere, r->lda, r->stride_a, somewhere, 8,
                                       r->stride_b, 0.0f, c, r->ldc, r->stride_c, r->count);
}

#define HUGE_SIZE ((int64_t)1 << 62)

START_TEST(refused)
{
    static const refusal refusals[] = {
        {XGEMM_ERROR_INVALID_VALUE, "batch_count is -1; it must be at least 0", 2, 2, 2, 2, 4, 4, 2,
         4, -1},
        {XGEMM_ERROR_INVALID_VALUE, "stride_a is -4; a stride must be at least 0", 2, 2, 2, 2, -4,
         4, 2, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_b is -1; a stride must be at least 0", 2, 2, 2, 2, 4,
         -1, 2, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is -1; a stride must be at least 0", 2, 2, 2, 2, 4, 4,
         2, -1, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 0; with ldc = 2 the products of a batch would", 2,
         2, 2, 2, 4, 4, 2, 0, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 3; with ldc = 2", 2, 2, 2, 2, 4, 4, 2, 3, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 4; with ldc = 3", 2, 2, 2, 2, 4, 4, 3, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "lda is 1; with transa = N in row order", 2, 2, 2, 1, 4, 4, 2,
         4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "m is -1", -1, 2, 2, 2, 4, 4, 2, 4, 2},
        {XGEMM_ERROR_OVERFLOW, "a has 3 matrices 4611686018427387904 elements apart", 2, 2, 2, 2,
         HUGE_SIZE, 4, 2, 4, 3},
        {XGEMM_ERROR_OVERFLOW, "b has 4611686018427387904 matrices 4 elements apart", 2, 2, 2, 2, 0,
         4, 2, 4, HUGE_SIZE},
        {XGEMM_ERROR_OVERFLOW, "c has 9223372036854775807 matrices 4 elements apart", 2, 2, 2, 2, 0,
         0, 2, 4, INT64_MAX},
    };
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < COUNT(refusals); i++) {
        const refusal *r = &refusals[i];
        const xgemm_status status = call_refused(handle, r, XGEMM_ROW_MAJOR);
        assert_refused(handle, status, r->status, "xgemm_sgemm_strided_batched: ", r->part);
    }
    xgemm_destroy(handle);
    ck_assert_int_eq(call_refused(NULL, &refusals[0], XGEMM_ROW_MAJOR), XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_sgemm_strided_batched: handle is NULL");
}
END_TEST

static void assert_list_refused(xgemm_handle *handle, const void *a, const void *b, const void *c,
                                int64_t count, xgemm_status wanted, const char *part)
{
    const xgemm_status status =
        xgemm_sgemm_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 2, 2, 2, 1.0f,
                            a, 2, b, 2, 0.0f, (float *const *)(uintptr_t)c, 2, count);
    assert_refused(handle, status, wanted, "xgemm_sgemm_batched: ", part);
}

START_TEST(refused_pointer_arrays)
{
    const xgemm_status null = XGEMM_ERROR_NULL_POINTER, invalid = XGEMM_ERROR_INVALID_VALUE;
    static float c[8] = {1.0f, 2.0f};
    const float *good[2] = {somewhere, somewhere}, *none[2] = {somewhere, NULL};
    const float *odd[2] = {somewhere, (const float *)((uintptr_t)somewhere + 2)};
    float *to[2] = {c, c + 4};
    xgemm_handle *handle = open_handle(test_device());
    assert_list_refused(handle, NULL, good, to, 2, null,
                        "a is NULL, and pointers to 2 matrices are to be read there");
    assert_list_refused(handle, good, NULL, to, 2, null, "b is NULL");
    assert_list_refused(handle, good, good, NULL, 2, null, "c is NULL");
    assert_list_refused(handle, good, good, to, -3, invalid, "batch_count is -3");
    assert_list_refused(handle, (const char *)good + 4, good, to, 1, invalid,
                        "which is not aligned to the 8 bytes of a pointer");
    if (test_device() < 0) {
        assert_list_refused(handle, none, good, to, 2, null, "a[1] is NULL");
        assert_list_refused(handle, good, none, to, 2, null, "b[1] is NULL");
        assert_list_refused(handle, good, good, none, 2, null, "c[1] is NULL");
        assert_list_refused(handle, good, odd, to, 2, invalid, "b[1] is ");
        assert_list_refused(handle, good, odd, to, 2, invalid, "not aligned to the 4 bytes");
    }
    ck_assert(c[0] == 1.0f && c[1] == 2.0f);
    xgemm_destroy(handle);
    assert_list_refused(NULL, good, good, to, 2, null, "handle is NULL");
}
END_TEST

/* Nothing is read or written, and NULL is fine. */
START_TEST(empty)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 5; i++) {
        const int64_t m = i == 1 ? 0 : 3, n = i == 2 ? 0 : 3, k = i == 3 ? 0 : 3;
        const int64_t count = i == 0 ? 0 : 2;
        const float alpha = i == 4 ? 0.0f : 1.0f, beta = i == 3 || i == 4 ? 1.0f : 0.5f;
        ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_TRANS,
                                                     XGEMM_NO_TRANS, m, n, k, alpha, NULL, 3, 9,
                                                     NULL, 3, 9, beta, NULL, 3, 9, count),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_sgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS,
                                             m, n, k, alpha, NULL, 3, NULL, 3, beta, NULL, 3,
                                             count),
                         XGEMM_OK);
        ck_assert_ptr_null(xgemm_last_kernel(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

static Suite *arguments(void)
{
    Suite *suite = suite_create("batched arguments");
    TCase *cases = add_case(suite, "arguments");
    tcase_add_loop_test(cases, empty, 0, test_kernels());
    tcase_add_test(cases, refused);
    tcase_add_test(cases, refused_pointer_arrays);
    return suite;
}

int main(void)
{
    return run_suite(arguments());
}
