/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xgemm_last_recomputed(): how many elements of C split FP16 did not serve.
 *
 * A and B are ones. An element of C has to be recomputed where a row of A with one small element,
 * 2^-40, meets a column of B whose signs alternate: the sum is 0, less than what the small element
 * may be off by. Either of them with other columns or rows gives no such element.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { SOME = 6 };

static const char *const kernels[] = {"fp16x3-128x64", "fp16x3-128x128", "fp16x3-128x256",
                                      "fp16x1-128x128", "fp16x1-128x256"};

/* Some elements of C, far from one another: rows and columns, all of which meet. */
static const int64_t some_rows[] = {3, 40, 299}, some_columns[] = {5, 258};

static shape shape_of(int64_t m, int64_t n, int64_t k)
{
    return (shape){XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, n, k, .alpha = 1.0f};
}

/* Elements of op(A) and op(B). */
static float *of_a(product *p, int64_t row, int64_t k)
{
    const bool transposed = p->shape.transa != XGEMM_NO_TRANS;
    return &p->a.before[matrix_at(&p->a, transposed ? k : row, transposed ? row : k)];
}

static float *of_b(product *p, int64_t k, int64_t column)
{
    const bool transposed = p->shape.transb != XGEMM_NO_TRANS;
    return &p->b.before[matrix_at(&p->b, transposed ? column : k, transposed ? k : column)];
}

static void plant_row(product *p, int64_t row, int64_t k)
{
    *of_a(p, row, k) = 0x1p-40f;
}

/* k is even. */
static void plant_column(product *p, int64_t column)
{
    const int64_t k = p->shape.k, ends[] = {0, 1, k - 2, k - 1};
    for (int64_t i = 1; i < k; i += 2)
        *of_b(p, i, column) = -1.0f;
    /* So that the sum is 0 where the rows have their small elements, too. */
    for (int i = 0; i < COUNT(ends); i++)
        *of_b(p, ends[i], column) = 0.0f;
}

static product *new_product(xgemm_handle *handle, const shape *s)
{
    product *p = product_new(handle, s);
    generator from = {1};
    product_fill(p, random_dyadic, &from);
    matrix_set(&p->a, 1.0f);
    matrix_set(&p->b, 1.0f);
    return p;
}

static void plant_some(product *p)
{
    for (int i = 0; i < COUNT(some_rows); i++)
        plant_row(p, some_rows[i], 0);
    for (int i = 0; i < COUNT(some_columns); i++)
        plant_column(p, some_columns[i]);
}

static int64_t recomputed(xgemm_handle *handle)
{
    int64_t elements = -1;
    const xgemm_status status = xgemm_last_recomputed(handle, &elements);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    return elements;
}

/* The count, and a C that is right: within FP32's bound where the kernel has its accuracy. */
static void check_count(product *p, int64_t wanted)
{
    ck_assert_msg(product_run(p), "%s", p->why);
    ck_assert_int_eq(recomputed(p->handle), wanted);
    ck_assert_int_eq(recomputed(p->handle), wanted); /* asking changes nothing */
    if (strncmp(xgemm_last_kernel(p->handle), "fp16x1", 6) != 0)
        ck_assert_msg(product_agrees(p, BOUND), "%s", p->why);
}

static void run_and_check(xgemm_handle *handle, const shape *s, void (*plant)(product *),
                          int64_t wanted)
{
    product *p = new_product(handle, s);
    if (plant)
        plant(p);
    check_count(p, wanted);
    product_free(p);
}

START_TEST(some_elements)
{
    xgemm_handle *handle = open_by_name(kernels[_i]);
    const shape s = shape_of(300, 300, 128);
    if (!handle)
        return;
    run_and_check(handle, &s, NULL, 0);
    run_and_check(handle, &s, plant_some, SOME);
    run_and_check(handle, &s, NULL, 0); /* not the one before's */
    xgemm_destroy(handle);
}
END_TEST

static void plant_rows_alone(product *p)
{
    for (int64_t row = 0; row < p->shape.m; row += 3)
        plant_row(p, row, 0);
}

static void plant_columns_alone(product *p)
{
    for (int64_t column = 0; column < p->shape.n; column += 3)
        plant_column(p, column);
}

static void plant_33(product *p)
{
    plant_row(p, 20, 0);
    for (int64_t column = 0; column < 33; column++)
        plant_column(p, column);
}

/* Two columns of each 128: 32 elements of a warp's 16 rows and 128 columns. */
static void plant_rows_and_few_columns(product *p)
{
    for (int64_t row = 0; row < p->shape.m; row++)
        plant_row(p, row, 0);
    for (int64_t column = 7; column < p->shape.n; column += 64)
        plant_column(p, column);
}

static void plant_all(product *p)
{
    for (int64_t row = 0; row < p->shape.m; row++)
        plant_row(p, row, 0);
    for (int64_t column = 0; column < p->shape.n; column++)
        plant_column(p, column);
}

/* More than XG_SUSPECTS_PER_WARP in 16 rows of a tile: all of these, 64 or 128 columns. */
START_TEST(many_elements)
{
    xgemm_handle *handle = open_by_name(kernels[_i]);
    const shape s = shape_of(256, 256, 128), ragged = shape_of(150, 131, 100);
    const int64_t columns = strcmp(kernels[_i], "fp16x3-128x64") == 0 ? 64 : 128;
    if (!handle)
        return;
    run_and_check(handle, &s, plant_rows_alone, 0);
    run_and_check(handle, &s, plant_columns_alone, 0);
    run_and_check(handle, &s, plant_33, 16 * columns);
    run_and_check(handle, &s, plant_all, s.m * s.n);
    run_and_check(handle, &ragged, plant_all, ragged.m * ragged.n);
    xgemm_destroy(handle);
}
END_TEST

/* So many single elements that operands are copied where they are not K-major, in all layouts;
 * with one part there is no room for that. */
START_TEST(elements_by_way_of_copies)
{
    xgemm_handle *handle = open_by_name(kernels[_i / 4]);
    shape s = shape_of(300, 260, 132);
    s.transa = _i % 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.transb = _i / 2 % 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    if (!handle)
        return;
    s.beta = 0.5f;
    run_and_check(handle, &s, plant_rows_and_few_columns, 300 * 4);
    xgemm_destroy(handle);
}
END_TEST

/* ---- Panels ---- */

static xgemm_plan plan_of(const product *p)
{
    const shape *s = &p->shape;
    xgemm_plan plan = {.struct_size = sizeof plan};
    const xgemm_status status =
        xgemm_sgemm_plan(p->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
                         p->a.memory + p->a.first, p->a.ld, p->b.memory + p->b.first, p->b.ld,
                         s->beta, p->c.memory + p->c.first, p->c.ld, &plan);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(p->handle));
    return plan;
}

/* In a workspace of at most so many bytes it takes so many launches. */
static void check_in_panels(product *p, size_t bytes, int64_t launches, int64_t wanted)
{
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(p->handle, bytes, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(p->handle, workspace, bytes), XGEMM_OK);
    ck_assert_int_eq(plan_of(p).launches, launches);
    check_count(p, wanted);
    ck_assert_int_eq(xgemm_set_workspace(p->handle, NULL, 0), XGEMM_OK);
    xgemm_free(p->handle, workspace);
}

/*
 * Panels of C and of k, the last ones smaller. The columns' signs alternate in each panel of k, but
 * the rows are small in the first; and then once more in the last.
 */
START_TEST(panels)
{
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(700, 300, 1100);
    const int64_t wanted = SOME + COUNT(some_columns);
    if (!handle)
        return;
    product *p = new_product(handle, &s);
    plant_some(p);
    plant_row(p, 600, 0); /* in the second of two panels of C, which is smaller */
    check_in_panels(p, 8 << 20, 2, wanted);
    check_in_panels(p, 5 << 20, 4, wanted);
    check_in_panels(p, 4 << 20, 6, wanted);
    check_in_panels(p, 5 << 19, 12, wanted);
    check_in_panels(p, 5 << 18, 36, wanted);
    for (int i = 0; i < COUNT(some_rows); i++)
        plant_row(p, some_rows[i], s.k - 1);
    check_in_panels(p, 8 << 20, 2, wanted);
    check_in_panels(p, 5 << 18, 36, 2 * wanted - COUNT(some_columns));
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

/* All of C in each of two panels of k. */
START_TEST(at_most_all)
{
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(256, 256, 1024);
    if (!handle)
        return;
    product *p = new_product(handle, &s);
    plant_all(p);
    for (int64_t row = 0; row < s.m; row++)
        plant_row(p, row, s.k - 1);
    check_in_panels(p, 5 << 18, 4, s.m * s.n);
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

/* ---- Batches ---- */

enum { PRODUCTS = 3 };

static const int64_t matrix_floats = (int64_t)300 * 300;

/* Three products in which some elements are planted but for the second. */
static float *batch_memory(xgemm_handle *handle, const shape *s)
{
    float *memory = NULL;
    ck_assert_int_eq(xgemm_malloc(handle, (size_t)(3 * PRODUCTS * matrix_floats) * sizeof(float),
                                  (void **)(void *)&memory),
                     XGEMM_OK);
    for (int i = 0; i < PRODUCTS; i++) {
        product *p = new_product(handle, s);
        if (i != 1)
            plant_some(p);
        ck_assert_int_eq(xgemm_upload(handle, memory + i * matrix_floats, p->a.before + p->a.first,
                                      (size_t)(s->m * s->k) * sizeof(float)),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_upload(handle, memory + (PRODUCTS + i) * matrix_floats,
                                      p->b.before + p->b.first,
                                      (size_t)(s->k * s->n) * sizeof(float)),
                         XGEMM_OK);
        product_free(p);
    }
    return memory;
}

static xgemm_status run_batch(xgemm_handle *handle, const shape *s, float *memory)
{
    return xgemm_sgemm_strided_batched(
        handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha, memory, s->k,
        matrix_floats, memory + PRODUCTS * matrix_floats, s->n, matrix_floats, s->beta,
        memory + 2 * PRODUCTS * matrix_floats, s->n, matrix_floats, PRODUCTS);
}

/* Its products one after the other; also each in panels. */
START_TEST(strided_batch)
{
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(300, 300, 300);
    void *workspace;
    if (!handle)
        return;
    float *memory = batch_memory(handle, &s);
    ck_assert_int_eq(run_batch(handle, &s, memory), XGEMM_OK);
    ck_assert_int_eq(recomputed(handle), (PRODUCTS - 1) * SOME);
    ck_assert_int_eq(xgemm_malloc(handle, 5 << 18, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 5 << 18), XGEMM_OK);
    ck_assert_int_eq(run_batch(handle, &s, memory), XGEMM_OK);
    ck_assert_int_eq(recomputed(handle), (PRODUCTS - 1) * SOME);
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    xgemm_free(handle, workspace);
    xgemm_free(handle, memory);
    xgemm_destroy(handle);
}
END_TEST

/* On the simulator, where the arrays are the host's. */
START_TEST(pointer_array_batch)
{
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(300, 300, 128);
    if (!handle)
        return;
    if (test_device() == XGEMM_DEVICE_SIM) {
        float *memory = batch_memory(handle, &s), *c[PRODUCTS];
        const float *a[PRODUCTS], *b[PRODUCTS];
        for (int i = 0; i < PRODUCTS; i++) {
            a[i] = memory + i * matrix_floats;
            b[i] = a[i] + PRODUCTS * matrix_floats;
            c[i] = memory + (2 * PRODUCTS + i) * matrix_floats;
        }
        ck_assert_int_eq(xgemm_sgemm_batched(handle, s.order, s.transa, s.transb, s.m, s.n, s.k,
                                             1.0f, a, s.k, b, s.n, 0.0f, c, s.n, PRODUCTS),
                         XGEMM_OK);
        ck_assert_int_eq(recomputed(handle), (PRODUCTS - 1) * SOME);
        xgemm_free(handle, memory);
    }
    xgemm_destroy(handle);
}
END_TEST

/* ---- Nothing to count, and what is refused ---- */

/* After a product that has recomputed some. */
static void check_none_after(product *p, const shape *s)
{
    check_count(p, SOME);
    product *other = product_new(p->handle, s);
    generator from = {2};
    product_fill(other, random_dyadic, &from);
    ck_assert_msg(product_run(other), "%s", other->why);
    ck_assert_int_eq(recomputed(p->handle), 0);
    product_free(other);
}

START_TEST(none)
{
    static const shape nothing[] = {
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 6, 0, .alpha = 1.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 6, 7, .alpha = 0.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 0, 6, 7, .alpha = 1.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 0, 7, .alpha = 1.0f}};
    const char *const fp16 = "fp16x3-128x128";
    xgemm_handle *handle = open_by_name(fp16);
    const shape s = shape_of(300, 300, 128);
    if (!handle)
        return;
    ck_assert_int_eq(recomputed(handle), 0); /* before the first product */
    product *p = new_product(handle, &s);
    plant_some(p);
    for (int i = 0; i < COUNT(nothing); i++)
        check_none_after(p, &nothing[i]);
    check_count(p, SOME);
    ck_assert_int_eq(xgemm_set_kernel(handle, "naive"), XGEMM_OK);
    check_count(p, 0);
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(none_on_the_cpu)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    const shape s = shape_of(20, 30, 70);
    ck_assert_int_eq(recomputed(handle), 0);
    run_and_check(handle, &s, plant_all, 0);
    xgemm_destroy(handle);
}
END_TEST

/* A call that is refused is no product. */
START_TEST(after_a_refusal)
{
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(300, 300, 128);
    if (!handle)
        return;
    product *p = new_product(handle, &s);
    plant_some(p);
    check_count(p, SOME);
    const float *a = p->a.memory;
    ck_assert_int_eq(xgemm_sgemm(handle, s.order, s.transa, s.transb, 4, 4, 4, 1.0f, a, 1, a, 4,
                                 0.0f, p->c.memory, 4),
                     XGEMM_ERROR_INVALID_VALUE);
    ck_assert_int_eq(recomputed(handle), SOME);
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(null_pointers)
{
    xgemm_handle *handle = open_handle(test_device());
    int64_t elements = 7;
    assert_refused(NULL, xgemm_last_recomputed(NULL, &elements), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_last_recomputed", "handle is NULL");
    assert_refused(handle, xgemm_last_recomputed(handle, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_last_recomputed", "elements is NULL");
    ck_assert_int_eq(elements, 7);
    xgemm_destroy(handle);
}
END_TEST

/* A caller's may be gone once it is the handle's no more; the library's own stays. */
START_TEST(other_workspaces)
{
    enum { BYTES = 8 << 20 };
    xgemm_handle *handle = open_by_name("fp16x3-128x128");
    const shape s = shape_of(300, 300, 128);
    int64_t elements = 7;
    void *workspace;
    if (!handle)
        return;
    product *p = new_product(handle, &s);
    plant_some(p);
    ck_assert_int_eq(xgemm_malloc(handle, BYTES, &workspace), XGEMM_OK);
    check_count(p, SOME);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, BYTES), XGEMM_OK);
    ck_assert_int_eq(recomputed(handle), SOME);
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    ck_assert_int_eq(recomputed(handle), SOME);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, BYTES), XGEMM_OK);
    check_count(p, SOME);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(xgemm_set_workspace(handle, i ? workspace : NULL, i ? BYTES : 0),
                         XGEMM_OK);
        assert_refused(handle, xgemm_last_recomputed(handle, &elements), XGEMM_ERROR_INVALID_VALUE,
                       "xgemm_last_recomputed", "xgemm_set_workspace()");
        ck_assert_int_eq(elements, 7);
    }
    check_count(p, SOME);
    product_free(p);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

static Suite *all(void)
{
    Suite *suite = suite_create("recomputed");
    TCase *counts = add_case(suite, "counts");
    tcase_add_loop_test(counts, some_elements, 0, COUNT(kernels));
    tcase_add_loop_test(counts, many_elements, 0, COUNT(kernels));
    tcase_add_loop_test(counts, elements_by_way_of_copies, 0, 4 * 3);
    tcase_add_test(counts, panels);
    tcase_add_test(counts, at_most_all);
    tcase_add_test(counts, strided_batch);
    tcase_add_test(counts, pointer_array_batch);
    TCase *others = add_case(suite, "nothing to count, and refused");
    tcase_add_test(others, none);
    tcase_add_test(others, none_on_the_cpu);
    tcase_add_test(others, after_a_refusal);
    tcase_add_test(others, null_pointers);
    tcase_add_test(others, other_workspaces);
    return suite;
}

int main(void)
{
    return run_suite(all());
}
