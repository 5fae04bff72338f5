/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches on tensor cores: all products of a pass by one split and one product launch. Four
 * multiprocessors of the simulator have several tiles each, of several products.
 *
 * Suspect elements: A and B are ones but for rows of A that begin with a small element, and columns
 * of B of which nothing but the first element is not 0. Where these meet C is as small, and to be
 * recomputed. Both are other numbers in each product.
 */
#include "batches.h"

#include <math.h>
#include <stdlib.h>

static const char *const kernels[] = {"fp16x3-128x64", "fp16x3-128x128", "fp16x3-128x256",
                                      "fp16x1-128x128", "fp16x1-128x256"};
enum { KERNELS = COUNT(kernels), WIDE = 2, FIRST_OF_TF32 = 3 };

/* NULL where the device does not run the kernel. */
static xgemm_handle *open_with(int kernel, const char *simulator)
{
    setenv("XGEMM_SIM", simulator, 1);
    return open_by_name(kernels[kernel]);
}

/* The cases that a kernel has: all, or one, another for each kernel, where effort is to be small.
 */
static int first_of(int kernel, int cases)
{
    return test_effort() >= 100 ? 0 : kernel % cases;
}

static int step_of(int cases)
{
    return test_effort() >= 100 ? 1 : cases;
}

static batch_spec spec_of(int64_t m, int64_t n, int64_t k, int64_t count)
{
    batch_spec s = {.m = m, .n = n, .k = k, .count = count, .alpha = 1.0f};
    batch_set_layout(&s, 0); /* row order, nothing transposed */
    return s;
}

/* Numbers that one FP16 term holds, so that kernels with TF32's accuracy are as exact. */
static float random_short(generator *from)
{
    return (float)(random_below(from, 255) - 127) * 0x1p-7f;
}

static xgemm_plan plan_of(const batch *b)
{
    const batch_spec *s = &b->s;
    const bool lists = s->pointer_arrays;
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.order = s->order, p.transa = s->transa, p.transb = s->transb;
    p.m = s->m, p.n = s->n, p.k = s->k, p.batch_count = s->count;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.alpha = &s->alpha, p.beta = &s->beta;
    p.flags = lists ? XGEMM_POINTER_ARRAYS : 0;
    p.a = lists ? b->a.pointers : b->a.memory + s->shift;
    p.b = lists ? b->b.pointers : b->b.memory + s->shift;
    p.c = lists ? b->c.pointers : b->c.memory + s->shift;
    p.lda = b->a.ld, p.ldb = b->b.ld, p.ldc = b->c.ld;
    p.stride_a = b->a.stride, p.stride_b = b->b.stride, p.stride_c = b->c.stride;
    ck_assert_msg(xgemm_gemm_plan(b->handle, &p, &plan) == XGEMM_OK, "%s",
                  xgemm_last_error(b->handle));
    return plan;
}

/* Two launches for all products. */
static void check_together(const batch *b)
{
    const xgemm_plan plan = plan_of(b);
    ck_assert_int_eq(plan.together, b->s.count);
    ck_assert_int_eq(plan.launches, 2);
}

static void check_spec(xgemm_handle *handle, const batch_spec *s, uint64_t seed)
{
    batch *b = batch_new(handle, s, random_short, seed);
    check_together(b);
    batch_check_results(b);
    batch_free(b);
}

/* Sizes of C beside multiples of tiles; k with a last one of its own, of each number of warps that
 * the split gives a few k-blocks, and of several slices. */
static const int64_t sizes[][3] = {{64, 64, 64},  {130, 70, 65},  {300, 129, 40},  {17, 260, 200},
                                   {70, 33, 100}, {35, 130, 321}, {256, 256, 512}, {140, 270, 577}};

static void run_mix(int kernel, const char *simulator, int step)
{
    static const float betas[] = {0.0f, 1.0f, -0.5f};
    xgemm_handle *handle = open_with(kernel, simulator);
    for (int run = 0; handle && run < 4 * COUNT(sizes) * LAYOUTS; run += step) {
        const int64_t *size = sizes[run % COUNT(sizes)];
        const int kind = run / COUNT(sizes) % 4;
        batch_spec s = spec_of(size[0], size[1], size[2], 2 + run % 4);
        batch_set_layout(&s, run / 3 % LAYOUTS);
        s.beta = betas[run / 5 % 3];
        s.shared_a = kind == 1;
        s.shared_b = kind == 2;
        s.pointer_arrays = kind == 3;
        s.gap = run % 7 % 3 * 2;
        s.between_a = run % 5, s.between_b = run % 3 * 4, s.between_c = run % 4;
        s.shift = run % 11 == 5;
        check_spec(handle, &s, (uint64_t)run);
    }
    if (handle)
        xgemm_destroy(handle);
}

START_TEST(mix)
{
    run_mix(_i, "multiprocessors=4", test_effort() >= 100 ? 7 : 41);
}
END_TEST

/* In another order of threads, and with asynchronous work done late. */
START_TEST(mix_in_reverse)
{
    run_mix(_i, "multiprocessors=6,reverse,late", test_effort() >= 100 ? 23 : 61);
}
END_TEST

/* The simulator stops what leaves the matrices of a batch, and races. */
START_TEST(watched)
{
    setenv("XGEMM_SIM", "check", 1);
    xgemm_handle *handle;
    if (xgemm_create(&handle, XGEMM_DEVICE_SIM) == XGEMM_ERROR_NOT_SUPPORTED)
        return; /* a build that cannot trace */
    xgemm_destroy(handle);
    handle = open_with(_i, "check,multiprocessors=2");
    for (int kind = 0; handle && kind < 4; kind++) {
        batch_spec s = spec_of(70, 130, 65, 3);
        batch_set_layout(&s, 2 * kind + 1);
        s.shared_a = kind == 1;
        s.pointer_arrays = kind == 3;
        s.gap = kind;
        s.between_c = 5;
        check_spec(handle, &s, (uint64_t)kind);
    }
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/* ---- Suspect elements ---- */

static float one(generator *from)
{
    (void)from;
    return 1.0f;
}

/* An element of op(A) or op(B), in row order. */
static float *of_a(batch *b, int which, int64_t row, int64_t k)
{
    const bool transposed = b->s.transa != XGEMM_NO_TRANS;
    return &b->a.before[b->s.shift + which * b->a.stride +
                        (transposed ? k * b->a.ld + row : row * b->a.ld + k)];
}

static float *of_b(batch *b, int which, int64_t k, int64_t column)
{
    const bool transposed = b->s.transb != XGEMM_NO_TRANS;
    return &b->b.before[b->s.shift + which * b->b.stride +
                        (transposed ? column * b->b.ld + k : k * b->b.ld + column)];
}

static void plant_row(batch *b, int which, int64_t row)
{
    *of_a(b, which, row, 0) = 0x1p-40f * (float)(1 + which);
}

static void plant_column(batch *b, int which, int64_t column)
{
    for (int64_t i = 1; i < b->s.k; i++)
        *of_b(b, which, i, column) = 0.0f;
    *of_b(b, which, 0, column) = 0x1p10f * (float)(1 + which);
}

static void send(batch *b)
{
    const operand *const operands[] = {&b->a, &b->b, &b->c};
    for (int i = 0; i < COUNT(operands); i++)
        ck_assert_int_eq(xgemm_upload(b->handle, operands[i]->memory, operands[i]->before,
                                      operands[i]->floats * sizeof(float)),
                         XGEMM_OK);
}

/* The results, and how many elements were recomputed. */
static void check_recomputed(batch *b, int64_t wanted)
{
    int64_t elements = -1;
    send(b);
    batch_check_results(b);
    ck_assert_int_eq(xgemm_last_recomputed(b->handle, &elements), XGEMM_OK);
    ck_assert_int_eq(elements, wanted);
}

static const int64_t some_rows[] = {3, 40, 139}, some_columns[] = {5, 249};
enum { SOME = 6, RUNS = 5 };

static void plant_some(batch *b, int which)
{
    for (int i = 0; i < COUNT(some_rows); i++)
        plant_row(b, which, some_rows[i]);
    for (int i = 0; i < COUNT(some_columns); i++)
        plant_column(b, which, some_columns[i]);
}

static void plant_all(batch *b, int which)
{
    for (int64_t row = 0; row < b->s.m; row++)
        plant_row(b, which, row);
    for (int64_t column = 0; column < b->s.n; column++)
        plant_column(b, which, column);
}

/*
 * Run 0 to RUNS - 1: in one product, then in another one as well; where A is shared, the rows are
 * in all products, the columns in one. With an even run the operands are K-major.
 */
static void check_suspects(xgemm_handle *handle, int run, bool all)
{
    batch_spec s = spec_of(140, 250, 66, 4);
    s.transb = run % 2 ? XGEMM_NO_TRANS : XGEMM_TRANS;
    s.shared_a = run == 2;
    s.pointer_arrays = run >= 3;
    s.beta = run == 1 ? 0.5f : 0.0f;
    batch *b = batch_new(handle, &s, one, 1);
    const int64_t each = all ? s.m * s.n : SOME;
    void (*const plant)(batch *, int) = all ? plant_all : plant_some;
    check_recomputed(b, 0);
    plant(b, 2);
    check_recomputed(b, each);
    plant(b, 3);
    check_recomputed(b, 2 * each);
    batch_free(b);
}

START_TEST(suspects)
{
    xgemm_handle *handle = open_with(_i, "multiprocessors=4");
    for (int run = first_of(_i, RUNS); handle && run < RUNS; run += step_of(RUNS))
        check_suspects(handle, run, false);
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/* So many that tiles are recomputed on the full-range path. */
START_TEST(tiles_of_suspects)
{
    xgemm_handle *handle = open_with(_i, "multiprocessors=4");
    for (int run = first_of(_i, RUNS); handle && run < RUNS; run += step_of(RUNS))
        check_suspects(handle, run, true);
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/* ---- Inf and NaN ---- */

/* All of C: where "row" of one product is not finite it is not, and elsewhere it is the sum. */
static void check_not_finite(batch *b, int which, int64_t rows)
{
    send(b);
    batch_run(b);
    for (int i = 0; i < (int)b->s.count; i++)
        for (int64_t row = 0; row < b->s.m; row++)
            for (int64_t column = 0; column < b->s.n; column++) {
                const float c = b->c.after[b->s.shift + i * b->c.stride + row * b->c.ld + column];
                const float wanted = i == which && row < rows ? INFINITY : (float)b->s.k;
                ck_assert_msg(c == wanted, "product %d, (%lld, %lld): %g instead of %g", i,
                              (long long)row, (long long)column, (double)c, (double)wanted);
            }
}

/* Few rows are put right after the tile's store, many on the full-range path, whole tiles by their
 * classes alone; with a long k these are not multiplied first, nor a CTA's first tile to its end.
 */
START_TEST(not_finite)
{
    static const int64_t rows[] = {2, 40, 130, 130}, depth[] = {70, 70, 70, 2100};
    xgemm_handle *handle = open_with(_i, "multiprocessors=4");
    for (int run = first_of(_i, COUNT(rows)); handle && run < COUNT(rows);
         run += step_of(COUNT(rows))) {
        batch_spec s = spec_of(130, 140, depth[run], 3);
        s.pointer_arrays = run == 1;
        batch *b = batch_new(handle, &s, one, 1);
        for (int64_t row = 0; row < rows[run]; row++)
            *of_a(b, 1, row, 5) = INFINITY;
        check_not_finite(b, 1, rows[run]);
        batch_free(b);
    }
    if (handle)
        xgemm_destroy(handle);
}
END_TEST

/* A range of exponents that three BF16 terms do not hold: single elements of a full-range tile. */
START_TEST(wide_rows)
{
    xgemm_handle *handle = open_with(_i, "multiprocessors=4");
    batch_spec s = spec_of(130, 130, 64, 3);
    if (!handle)
        return;
    batch *b = batch_new(handle, &s, one, 1);
    for (int64_t row = 0; row < s.m; row++) { /* the sum is 2^-70 in each of the last columns */
        *of_a(b, 1, row, 0) = 0x1p-100f, *of_a(b, 1, row, 1) = 0x1p90f;
        for (int64_t k = 2; k < s.k; k++)
            *of_a(b, 1, row, k) = 0.0f;
    }
    for (int64_t column = 100; column < s.n; column++) {
        *of_b(b, 1, 0, column) = 0x1p30f;
        for (int64_t k = 1; k < s.k; k++)
            *of_b(b, 1, k, column) = 0.0f;
    }
    send(b);
    batch_check_results(b);
    batch_free(b);
    xgemm_destroy(handle);
}
END_TEST

/* ---- Passes ---- */

/* A workspace for two of five products: the last pass has one. Each has some suspects. */
START_TEST(passes)
{
    xgemm_handle *handle = open_with(_i % KERNELS, "multiprocessors=4");
    batch_spec s = spec_of(140, 250, 66, 5), two = s;
    if (!handle)
        return;
    s.pointer_arrays = two.pointer_arrays = _i >= KERNELS;
    two.count = 2;
    batch *b = batch_new(handle, &two, one, 1);
    const size_t bytes = plan_of(b).workspace_bytes;
    batch_free(b);
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, bytes, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, bytes), XGEMM_OK);
    b = batch_new(handle, &s, one, 1);
    const xgemm_plan plan = plan_of(b);
    ck_assert_int_eq(plan.together, 2);
    ck_assert_int_eq(plan.launches, 6);
    ck_assert_uint_le(plan.workspace_bytes, bytes);
    for (int which = 0; which < (int)s.count; which++)
        plant_some(b, which);
    check_recomputed(b, s.count * SOME);
    batch_free(b);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* What a launch for all cannot compute is refused where an array of pointers leaves no other way.
 */
START_TEST(refused)
{
    xgemm_handle *handle = open_with(WIDE, "multiprocessors=4");
    batch_spec s = spec_of(4, 4, 50000, 2);
    if (!handle)
        return;
    s.pointer_arrays = true;
    batch *b = batch_new(handle, &s, one, 1);
    ck_assert_int_eq(batch_call(b), XGEMM_ERROR_NOT_SUPPORTED);
    assert_says(xgemm_last_error(handle), "cannot compute a batch from arrays of pointers");
    batch_free(b);
    xgemm_destroy(handle);
}
END_TEST

static Suite *batched_tensor(void)
{
    Suite *suite = suite_create("batched on tensor cores");
    TCase *cases = add_case(suite, "batches");
    tcase_add_loop_test(cases, mix, 0, KERNELS);
    tcase_add_loop_test(cases, mix_in_reverse, 0, KERNELS);
    tcase_add_loop_test(cases, watched, 0, KERNELS);
    tcase_add_loop_test(cases, suspects, 0, KERNELS);
    tcase_add_loop_test(cases, tiles_of_suspects, 0, KERNELS);
    tcase_add_loop_test(cases, not_finite, 0, KERNELS);
    tcase_add_loop_test(cases, wide_rows, 0, FIRST_OF_TF32);
    tcase_add_loop_test(cases, passes, 0, 2 * KERNELS);
    tcase_add_test(cases, refused);
    return suite;
}

int main(void)
{
    return run_suite(batched_tensor());
}
