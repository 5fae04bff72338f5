/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of matrices in host memory: tiles, blocks of k, several devices, what is not read. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static xgemm_handle *handle;

static void setup(void)
{
    handle = NULL;
    ck_assert_int_eq(xgemm_create(&handle, test_device()), XGEMM_OK);
}

static void teardown(void)
{
    xgemm_destroy(handle);
}

/* Small integers, whose sums every type holds exactly. */
static double value_of(int which, int64_t i)
{
    return (double)((i * (which + 3) + i / 7) % 5 - 2);
}

typedef struct {
    xgemm_type type;
    int64_t m, n, k;
    xgemm_order order;
    xgemm_transpose transa, transb;
    double beta;
    bool has_bias;
} host_case;

static double get(xgemm_type type, const void *from, int64_t i)
{
    return type == XGEMM_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static void *filled(xgemm_type type, int which, int64_t count)
{
    void *memory = calloc((size_t)count + 1, type == XGEMM_F64 ? 8 : 4);
    ck_assert_ptr_nonnull(memory);
    for (int64_t i = 0; i < count; i++) {
        if (type == XGEMM_F64)
            ((double *)memory)[i] = value_of(which, i);
        else
            ((float *)memory)[i] = (float)value_of(which, i);
    }
    return memory;
}

static int64_t at(bool is_row_order, int64_t ld, int64_t i, int64_t j)
{
    return is_row_order ? i * ld + j : j * ld + i;
}

static double element(const host_case *c, int which, int64_t ld, int64_t i, int64_t j)
{
    const bool plain = (which ? c->transb : c->transa) == XGEMM_NO_TRANS;
    const bool rows = c->order == XGEMM_ROW_MAJOR;
    return value_of(which, plain ? at(rows, ld, i, j) : at(rows, ld, j, i));
}

static double wanted(const host_case *c, const int64_t ld[3], int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t l = 0; l < c->k; l++)
        sum += element(c, 0, ld[0], i, l) * element(c, 1, ld[1], l, j);
    sum = 2 * sum + c->beta * value_of(2, at(c->order == XGEMM_ROW_MAJOR, ld[2], i, j));
    if (c->has_bias)
        sum += value_of(3, i);
    return c->has_bias && sum < 0 ? 0 : sum;
}

/* Leading dimensions with a gap, which must stay as it is. */
static void multiply(xgemm_handle *on, const host_case *c)
{
    const bool rows = c->order == XGEMM_ROW_MAJOR;
    const bool a_plain = (c->transa == XGEMM_NO_TRANS) == rows;
    const bool b_plain = (c->transb == XGEMM_NO_TRANS) == rows;
    const int64_t ld[3] = {(a_plain ? c->k : c->m) + 3, (b_plain ? c->n : c->k) + 1,
                           (rows ? c->n : c->m) + 2};
    const int64_t counts[3] = {ld[0] * (a_plain ? c->m : c->k), ld[1] * (b_plain ? c->k : c->n),
                               ld[2] * (rows ? c->m : c->n)};
    void *memory[4];
    for (int i = 0; i < 3; i++)
        memory[i] = filled(c->type, i, counts[i]);
    memory[3] = filled(c->type, 3, c->m);
    const float two = 2, beta = (float)c->beta;
    const double two_double = 2;
    const bool is_double = c->type == XGEMM_F64;
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.order = c->order;
    p.transa = c->transa, p.transb = c->transb;
    p.m = c->m, p.n = c->n, p.k = c->k;
    p.type_a = p.type_b = p.type_c = p.type_bias = c->type;
    p.alpha = is_double ? (const void *)&two_double : (const void *)&two;
    p.beta = is_double ? (const void *)&c->beta : (const void *)&beta;
    p.a = memory[0], p.lda = ld[0];
    p.b = memory[1], p.ldb = ld[1];
    p.c = memory[2], p.ldc = ld[2];
    p.flags = XGEMM_HOST_MEMORY;
    p.bias = c->has_bias ? memory[3] : NULL;
    p.bias_per_row = 1;
    p.activation = c->has_bias ? XGEMM_RELU : XGEMM_ACTIVATION_NONE;
    const xgemm_status status = xgemm_gemm(on, &p);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(on));
    const int64_t lines = rows ? c->m : c->n, width = rows ? c->n : c->m;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t x = 0; x < ld[2]; x++) {
            const int64_t place = line * ld[2] + x;
            const double should = x >= width ? value_of(2, place)
                                  : rows     ? wanted(c, ld, line, x)
                                             : wanted(c, ld, x, line);
            ck_assert_msg(get(c->type, memory[2], place) == should, "C[%d] is %g, not %g",
                          (int)place, get(c->type, memory[2], place), should);
        }
    for (int i = 0; i < 4; i++)
        free(memory[i]);
}

static const host_case cases[] = {
    {XGEMM_F32, 70, 50, 30, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 0, false},
    {XGEMM_F32, 70, 50, 30, XGEMM_COL_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 3, false},
    {XGEMM_F32, 530, 1030, 20, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_TRANS, 1, true},
    {XGEMM_F32, 1030, 520, 17, XGEMM_COL_MAJOR, XGEMM_TRANS, XGEMM_TRANS, 0, true},
    {XGEMM_F64, 600, 40, 33, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_TRANS, 2, true},
    {XGEMM_F32, 1, 700, 9, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 0, false},
    {XGEMM_F64, 2, 3, 560000, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, false},
    {XGEMM_F32, 20, 30, 0, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 3, true},
};

START_TEST(products)
{
    multiply(handle, &cases[_i]);
}
END_TEST

/* The threads that copy are the parent's: a child makes its own, and ends without the parent's. */
/* By element the bits of complex sums are the same in each order of the same matrices. */
START_TEST(bits_of_complex_numbers)
{
    enum { SIDE = 20, PARTS = 2 * SIDE * SIDE };
    const float one[2] = {1, 0}, zero[2] = {0, 0};
    float *a = filled(XGEMM_F32, 0, PARTS), *b = filled(XGEMM_F32, 1, PARTS);
    float rows[PARTS], columns[PARTS];
    xgemm_product p = XGEMM_PRODUCT_INIT;
    for (int i = 0; i < PARTS; i++) /* whose products are rounded */
        a[i] *= 1.0f + 0x1p-20f * (float)i, b[i] *= 1.0f - 0x1p-20f * (float)i;
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    p.type_a = p.type_b = p.type_c = XGEMM_C32;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = SIDE;
    p.a = a, p.b = b, p.c = rows, p.alpha = one, p.beta = zero;
    p.flags = XGEMM_HOST_MEMORY;
    ck_assert_msg(xgemm_gemm(handle, &p) == XGEMM_OK, "%s", xgemm_last_error(handle));
    p.order = XGEMM_COL_MAJOR;
    p.transa = p.transb = XGEMM_TRANS;
    p.c = columns;
    ck_assert_msg(xgemm_gemm(handle, &p) == XGEMM_OK, "%s", xgemm_last_error(handle));
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            ck_assert_mem_eq(&rows[2 * (i * SIDE + j)], &columns[2 * (j * SIDE + i)],
                             2 * sizeof(float));
    free(a);
    free(b);
}
END_TEST

/* The tiles' recomputed elements are the product's. */
START_TEST(recomputed_elements)
{
    enum { SIDE = 64, DEPTH = 256 };
    static float a[SIDE * DEPTH], b[DEPTH * SIDE], c[SIDE * SIDE];
    const float one = 1, zero = 0;
    int64_t elements = 0;
    xgemm_product p = XGEMM_PRODUCT_INIT;
    if (xgemm_set_kernel(handle, "fp16x3-128x64"))
        return; /* not for this device */
    for (int i = 0; i < SIDE; i++)
        for (int l = 0; l < DEPTH; l++) { /* sums that cancel */
            a[i * DEPTH + l] = l == 0 ? 1.0f : l == 1 ? -1.0f : 0x1p-40f * (float)(1 + i % 3);
            b[l * SIDE + i] = l < 2 ? 1.0f : 0x1p-40f;
        }
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.m = p.n = p.ldb = p.ldc = SIDE;
    p.k = p.lda = DEPTH;
    p.a = a, p.b = b, p.c = c, p.alpha = &one, p.beta = &zero;
    p.flags = XGEMM_HOST_MEMORY;
    const xgemm_status status = xgemm_gemm(handle, &p);
    if (status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY)
        return; /* of that device, for this kernel's workspace */
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_last_recomputed(handle, &elements), XGEMM_OK);
    ck_assert_int_gt(elements, 0);
}
END_TEST

START_TEST(after_a_fork)
{
    int status = 1;
    if (test_device() >= 0) /* a GPU is the parent's alone */
        return;
    multiply(handle, &cases[0]);
    const pid_t child = fork();
    ck_assert_int_ne(child, -1);
    if (child == 0) {
        alarm(300);
        multiply(handle, &cases[1]);
        xgemm_destroy(handle);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    multiply(handle, &cases[1]);
}
END_TEST

START_TEST(several_devices)
{
    const int twice[] = {test_device(), test_device()};
    xgemm_handle *both;
    ck_assert_int_eq(xgemm_create_devices(&both, twice, 2), XGEMM_OK);
    multiply(both, &cases[2]);
    multiply(both, &cases[4]);
    xgemm_destroy(both);
}
END_TEST

START_TEST(wrong_devices)
{
    const int none[] = {XGEMM_DEVICE_CPU, -1000};
    xgemm_handle *made = handle;
    ck_assert_int_eq(xgemm_create_devices(&made, none, 2), XGEMM_ERROR_NO_DEVICE);
    ck_assert_ptr_null(made);
    ck_assert_int_eq(xgemm_create_devices(&made, none, 0), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_int_eq(xgemm_create_devices(&made, NULL, 1), XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_create_devices(NULL, none, 1), XGEMM_ERROR_NULL_POINTER);
}
END_TEST

/* NaN where nothing is to be read, and batches of both kinds. */
START_TEST(batches)
{
    enum { SIZE = 5, PRODUCTS = 3 };
    float a[PRODUCTS][SIZE * SIZE], b[SIZE * SIZE], c[PRODUCTS][SIZE * SIZE];
    const float *as[PRODUCTS], *bs[PRODUCTS];
    float *cs[PRODUCTS];
    for (int i = 0; i < SIZE * SIZE; i++) {
        b[i] = i % (SIZE + 1) == 0 ? 1.0f : 0.0f;
        for (int j = 0; j < PRODUCTS; j++) {
            a[j][i] = (float)(i + 100 * j);
            c[j][i] = NAN;
        }
    }
    for (int j = 0; j < PRODUCTS; j++)
        as[j] = a[j], bs[j] = b, cs[j] = c[j];
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = SIZE;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.a = a, p.b = b, p.c = c;
    p.stride_a = p.stride_c = SIZE * SIZE;
    p.batch_count = PRODUCTS;
    p.flags = XGEMM_HOST_MEMORY;
    ck_assert_msg(xgemm_gemm(handle, &p) == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_mem_eq(a, c, sizeof a);
    memset(c, 0xff, sizeof c);
    p.a = (const void *)as, p.b = (const void *)bs, p.c = (void *)cs;
    p.flags |= XGEMM_POINTER_ARRAYS;
    ck_assert_msg(xgemm_gemm(handle, &p) == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_mem_eq(a, c, sizeof a);
    p.flags |= XGEMM_DEVICE_SCALARS;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_ERROR_INVALID_VALUE);
    xgemm_plan plan = {.struct_size = sizeof plan};
    p.flags = XGEMM_HOST_MEMORY;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host memory");
    TCase *tests = add_case(suite, "products");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, products, 0, COUNT(cases));
    tcase_add_test(tests, bits_of_complex_numbers);
    tcase_add_test(tests, recomputed_elements);
    tcase_add_test(tests, after_a_fork);
    tcase_add_test(tests, several_devices);
    tcase_add_test(tests, wrong_devices);
    tcase_add_test(tests, batches);
    return run_suite(suite);
}
