/* SPDX-License-Identifier: BSD-3-Clause */
/* What xgemm_gemm() and xgemm_gemm_plan() refuse, with which status and sentence, and plans. */
#include "support.h"

#include <string.h>

enum { N = 4, BYTES = N * N * 16 };

/* Memory for a product of any type; a refused one leaves C as it was. */
typedef struct {
    xgemm_handle *handle;
    char *a, *b, *c, *bias;
} memory;

static memory memory_new(void)
{
    memory m = {.handle = open_handle(test_device())};
    char **const all[] = {&m.a, &m.b, &m.c, &m.bias};
    char zeros[BYTES] = {0};
    for (int i = 0; i < COUNT(all); i++) {
        void *block;
        require(xgemm_malloc(m.handle, BYTES, &block) == XGEMM_OK, xgemm_last_error(m.handle));
        require(xgemm_upload(m.handle, block, zeros, BYTES) == XGEMM_OK, "upload");
        *all[i] = block;
    }
    return m;
}

static void memory_free(memory *m)
{
    xgemm_free(m->handle, m->a);
    xgemm_free(m->handle, m->b);
    xgemm_free(m->handle, m->c);
    xgemm_free(m->handle, m->bias);
    xgemm_destroy(m->handle);
}

static xgemm_product good(const memory *m, xgemm_type type)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = N;
    p.type_a = p.type_b = p.type_c = type;
    p.a = m->a, p.b = m->b, p.c = m->c;
    return p;
}

/* Refused by the product and by its plan alike, but for pointers, which a plan does not follow. */
static void refused(const memory *m, const xgemm_product *p, xgemm_status wanted, const char *part)
{
    xgemm_plan plan = {.struct_size = sizeof plan};
    assert_refused(m->handle, xgemm_gemm(m->handle, p), wanted, "xgemm_gemm: ", part);
    assert_refused(m->handle, xgemm_gemm_plan(m->handle, p, &plan), wanted,
                   "xgemm_gemm_plan: ", part);
}

START_TEST(structs)
{
    memory m = memory_new();
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = good(&m, XGEMM_F32);
    assert_refused(m.handle, xgemm_gemm(m.handle, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_gemm: ", "product is NULL");
    assert_refused(NULL, xgemm_gemm(NULL, &p), XGEMM_ERROR_NULL_POINTER, "xgemm_gemm: ", "NULL");
    assert_refused(NULL, xgemm_gemm_plan(NULL, &p, &plan), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_gemm_plan: ", "NULL");
    assert_refused(m.handle, xgemm_gemm_plan(m.handle, &p, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_gemm_plan: ", "plan is NULL");
    p.struct_size = 0;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "struct_size is 0; begin with XGEMM_PRODUCT_INIT");
    p.struct_size = 40;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "struct_size is 40");
    p.struct_size = SIZE_MAX / 2; /* memory that was never set */
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "begin with XGEMM_PRODUCT_INIT");
    /* A program of a newer library: zeros after what this one knows change nothing. */
    struct {
        xgemm_product product;
        char more[64];
    } newer = {.product = good(&m, XGEMM_F32)};
    newer.product.struct_size = sizeof newer;
    ck_assert_int_eq(xgemm_gemm(m.handle, &newer.product), XGEMM_OK);
    newer.more[5] = 1;
    refused(&m, &newer.product, XGEMM_ERROR_NOT_SUPPORTED, "of the product is set");
    memory_free(&m);
}
END_TEST

START_TEST(types)
{
    memory m = memory_new();
    xgemm_product p = good(&m, (xgemm_type)0);
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "type_a is 0; it must be XGEMM_F32 (1)");
    p = good(&m, XGEMM_F32);
    p.type_b = (xgemm_type)7;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "type_b is 7");
    p.type_b = XGEMM_F32, p.type_c = (xgemm_type)-1;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "type_c is -1");
    p.type_c = XGEMM_F32, p.type_b = XGEMM_F64;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "A is of float and B of double");
    p.type_b = XGEMM_F32, p.type_c = XGEMM_F16;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "C is of half; it must be of the same type");
    p.type_a = p.type_b = XGEMM_BF16, p.type_c = XGEMM_F64;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "it can be of half, bfloat16 or float");
    memory_free(&m);
}
END_TEST

START_TEST(flags)
{
    memory m = memory_new();
    xgemm_product p = good(&m, XGEMM_F32);
    p.flags = 8;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "flags is 0x8, which has bits other than");
    p.flags = XGEMM_DEVICE_SCALARS;
    p.alpha = m.bias + 2;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "which is not aligned to the 4 bytes of a float");
    p.flags = XGEMM_POINTER_ARRAYS;
    p.alpha = NULL, p.a = m.a + 4;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "which is not aligned to the 8 bytes of a pointer");
    memory_free(&m);
}
END_TEST

START_TEST(epilogues)
{
    memory m = memory_new();
    xgemm_product p = good(&m, XGEMM_C32);
    p.activation = XGEMM_RELU;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "activations are functions of real numbers");
    p = good(&m, XGEMM_F16);
    p.activation = (xgemm_activation)5;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "activation is 5");
    p.activation = XGEMM_SILU, p.bias = m.bias;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "type_bias is 0");
    p.type_bias = XGEMM_F64;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "the bias is of double and A and B are of half");
    p.type_bias = XGEMM_F32, p.bias = m.bias + 2;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "bias is ");
    p = good(&m, XGEMM_F64);
    p.bias = m.bias, p.type_bias = XGEMM_F32;
    refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "it must be of the same type");
    memory_free(&m);
}
END_TEST

/* Alignment is that of a part, whatever the type; pointers are needed where they are read. */
START_TEST(pointers)
{
    static const struct {
        xgemm_type type;
        int wrong;
        const char *part;
    } cases[] = {{XGEMM_F64, 4, "the 8 bytes of a double"},
                 {XGEMM_F16, 1, "the 2 bytes of a half"},
                 {XGEMM_BF16, 1, "the 2 bytes of a bfloat16"},
                 {XGEMM_C32, 2, "the 4 bytes of a float"},
                 {XGEMM_C64, 4, "the 8 bytes of a double"}};
    memory m = memory_new();
    for (int i = 0; i < COUNT(cases); i++) {
        xgemm_product p = good(&m, cases[i].type);
        p.b = m.b + cases[i].wrong;
        refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, cases[i].part);
    }
    xgemm_product p = good(&m, XGEMM_F64);
    p.a = NULL;
    assert_refused(m.handle, xgemm_gemm(m.handle, &p), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_gemm: ", "a is NULL");
    const double zero = 0.0;
    p.alpha = &zero;
    p.b = NULL;
    ck_assert_int_eq(xgemm_gemm(m.handle, &p), XGEMM_OK);
    p = good(&m, XGEMM_C64);
    p.lda = N - 1;
    refused(&m, &p, XGEMM_ERROR_INVALID_VALUE, "lda is 3; with transa = N");
    memory_free(&m);
}
END_TEST

/* A kernel for floats, named for another type, says so; and plans tell what runs. */
START_TEST(kernels)
{
    memory m = memory_new();
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = good(&m, XGEMM_F64);
    const bool cpu = test_device() == XGEMM_DEVICE_CPU;
    if (!cpu) {
        ck_assert_int_eq(xgemm_set_kernel(m.handle, "vectorized"), XGEMM_OK);
        refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED,
                "kernel vectorized does not multiply matrices of double");
        p = good(&m, XGEMM_F32);
        p.flags = XGEMM_DEVICE_SCALARS, p.alpha = m.bias;
        refused(&m, &p, XGEMM_ERROR_NOT_SUPPORTED, "alpha and beta from device memory");
        p.flags = 0, p.alpha = NULL, p.activation = XGEMM_RELU;
        ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &plan), XGEMM_OK);
        ck_assert_str_eq(plan.kernel, "vectorized");
        ck_assert_int_eq(plan.launches, 2);
        ck_assert_int_eq(xgemm_set_kernel(m.handle, "auto"), XGEMM_OK);
        /* Alpha on the device: the product in the workspace, then what becomes of it. */
        const xgemm_product by_value = p = good(&m, XGEMM_F32);
        p.flags = XGEMM_DEVICE_SCALARS, p.alpha = m.bias;
        xgemm_plan with = {.struct_size = sizeof with};
        ck_assert_int_eq(xgemm_gemm_plan(m.handle, &by_value, &plan), XGEMM_OK);
        ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &with), XGEMM_OK);
        ck_assert_str_eq(with.kernel, plan.kernel);
        ck_assert_int_eq(with.launches, plan.launches + 1);
        ck_assert_uint_gt(with.workspace_bytes, plan.workspace_bytes);
        static _Alignas(256) char workspace[256];
        ck_assert_int_eq(xgemm_set_workspace(m.handle, workspace, sizeof workspace), XGEMM_OK);
        ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &with), XGEMM_OK);
        ck_assert_str_eq(with.kernel, "general");
        ck_assert_int_eq(xgemm_set_workspace(m.handle, NULL, 0), XGEMM_OK);
    }
    p = good(&m, XGEMM_F64);
    p.bias = m.bias, p.type_bias = XGEMM_F64;
    ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 1);
    if (!cpu)
        ck_assert(strncmp(plan.kernel, "pipelined-", 10) == 0);
    p = good(&m, XGEMM_F16);
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 2048;
    ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &plan), XGEMM_OK);
    if (test_device() == XGEMM_DEVICE_SIM) {
        ck_assert(strncmp(plan.kernel, "fp16x1-", 7) == 0);
        ck_assert_int_eq(plan.launches, 1);
        p.lda = 2049; /* TMA cannot read its rows: they are copied first */
        ck_assert_int_eq(xgemm_gemm_plan(m.handle, &p, &plan), XGEMM_OK);
        ck_assert_int_eq(plan.launches, 2);
    }
    memory_free(&m);
}
END_TEST

/* A batch by pointers that the kernel does not take runs product by product, and is so planned. */
START_TEST(plans_of_pointer_arrays)
{
    static const int devices[] = {XGEMM_DEVICE_CPU, XGEMM_DEVICE_SIM};
    static const char *const names[] = {"reference", "naive"};
    xgemm_handle *handle = open_handle(devices[_i]);
    xgemm_product p = XGEMM_PRODUCT_INIT;
    xgemm_plan plan = {.struct_size = sizeof plan};
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 8;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.flags = XGEMM_POINTER_ARRAYS;
    p.batch_count = 5;
    ck_assert_int_eq(xgemm_set_kernel(handle, names[_i]), XGEMM_OK);
    ck_assert_msg(xgemm_gemm_plan(handle, &p, &plan) == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_str_eq(plan.kernel, names[_i]);
    ck_assert_int_eq(plan.launches, 5);
    ck_assert_int_eq(plan.together, 1);
    p.batch_count = 0;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 0);
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("product arguments");
    TCase *refusals = add_case(suite, "refusals");
    tcase_add_test(refusals, structs);
    tcase_add_test(refusals, types);
    tcase_add_test(refusals, flags);
    tcase_add_test(refusals, epilogues);
    tcase_add_test(refusals, pointers);
    tcase_add_test(refusals, kernels);
    TCase *plans = add_case(suite, "plans");
    tcase_add_loop_test(plans, plans_of_pointer_arrays, 0, 2);
    return run_suite(suite);
}
