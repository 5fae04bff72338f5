/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of every element type: results, epilogues, special values, and what is refused. */
#include "typed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const xgemm_type types[] = {XGEMM_F32,  XGEMM_F64, XGEMM_F16,
                                   XGEMM_BF16, XGEMM_C32, XGEMM_C64};
static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
static const int sizes[][3] = {{1, 1, 1},   {5, 3, 2},   {65, 33, 17},  {64, 64, 16},
                               {1, 70, 31}, {70, 1, 9},  {66, 130, 5},  {17, 15, 64},
                               {2, 2, 129}, {31, 64, 1}, {128, 65, 33}, {7, 9, 100}};

/* The devices that a test runs on: the one under test, and the CPU with each of its kernels. */
static const struct {
    bool cpu;
    const char *kernel;
} places[] = {{false, "auto"}, {false, "general"}, {true, "auto"}, {true, "reference"}};

static xgemm_handle *open_place(int place)
{
    xgemm_handle *handle = open_handle(places[place].cpu ? XGEMM_DEVICE_CPU : test_device());
    const xgemm_status status = xgemm_set_kernel(handle, places[place].kernel);
    ck_assert_msg(status == XGEMM_OK || test_device() == XGEMM_DEVICE_CPU, "%s",
                  xgemm_last_error(handle));
    return handle;
}

/* The spec number "run" of a type: a mix of layouts, sizes, factors and batches. */
static typed_spec mixed(xgemm_type type, int run)
{
    static const double factors[][2] = {{1.0, 0.0}, {0.0, 0.0}, {-0.75, 0.0}, {0.5, -1.25}};
    const int *size = sizes[run % COUNT(sizes)];
    typed_spec s = typed_spec_of(type, size[0], size[1], size[2]);
    s.order = run / 3 % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    s.transa = transposes[run % 3];
    s.transb = transposes[run / 2 % 3];
    s.gap = run % 4 * 3;
    s.count = run % 5 == 4 ? 3 : 1;
    s.pointer_arrays = run % 10 == 4;
    s.shared_b = run % 10 == 9;
    s.device_scalars = run % 7 == 2;
    memcpy(s.alpha, factors[run % 11 == 10 ? 1 : run % 3 + (run % 3 == 1)], sizeof s.alpha);
    memcpy(s.beta, factors[run / 5 % 4], sizeof s.beta);
    if (!typed_is_complex(type))
        s.alpha[1] = s.beta[1] = 0.0;
    if (type == XGEMM_F16 || type == XGEMM_BF16)
        s.type_c = run % 3 == 0 ? XGEMM_F32 : run % 3 == 1 ? XGEMM_F16 : XGEMM_BF16;
    return s;
}

/* Each type in each place; all of the mix at full effort. */
START_TEST(mixes)
{
    const xgemm_type type = types[_i % COUNT(types)];
    xgemm_handle *handle = open_place(_i / COUNT(types));
    const int step = test_effort() >= 100 ? 1 : 7;
    for (int run = _i % step; run < 132; run += step) {
        const typed_spec s = mixed(type, run);
        typed_check(handle, &s, (uint64_t)run);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Every order and pair of transposes, with and without gaps. */
START_TEST(layouts)
{
    const xgemm_type type = types[_i % COUNT(types)];
    xgemm_handle *handle = open_place(_i / COUNT(types));
    for (int layout = 0; layout < 36; layout++) {
        typed_spec s = typed_spec_of(type, 35, 18, 21);
        s.order = layout % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.transa = transposes[layout / 2 % 3];
        s.transb = transposes[layout / 6 % 3];
        s.gap = layout / 18 * 5;
        s.beta[0] = 0.5;
        typed_check(handle, &s, (uint64_t)layout);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Bias of each type, by row and column in both orders, and activations of real types. */
START_TEST(epilogues)
{
    static const xgemm_type biases[] = {XGEMM_F32, XGEMM_F16, XGEMM_BF16};
    const xgemm_type type = types[_i % COUNT(types)];
    xgemm_handle *handle = open_place(_i / COUNT(types));
    const bool mixes_types = type != XGEMM_F64 && !typed_is_complex(type);
    for (int run = 0; run < 60; run++) {
        typed_spec s = typed_spec_of(type, 33, 20, run % 7 == 6 ? 0 : 9);
        s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.activation = typed_is_complex(type) ? XGEMM_ACTIVATION_NONE : (xgemm_activation)(run % 5);
        s.type_bias = run % 4 == 3 ? (xgemm_type)0 : mixes_types ? biases[run % 3] : type;
        s.bias_per_row = run / 2 % 2;
        s.beta[0] = run % 3 == 1 ? 0.5 : 0.0;
        s.alpha[0] = run % 11 == 3 ? 0.0 : 0.25;
        s.device_scalars = run % 6 == 5;
        s.count = run % 5 == 2 ? 2 : 1;
        s.pointer_arrays = run % 10 == 7;
        typed_check(handle, &s, (uint64_t)run);
    }
    xgemm_destroy(handle);
}
END_TEST

/*
 * skinny-batched: a short side or a short k, lanes that are divided among lines and among k, warps
 * that share a long k, aligned lines and others; the sizes in every layout.
 */
START_TEST(small_batches)
{
    static const int shapes[][3] = {{1, 70, 9},   {1, 128, 520}, {67, 1, 48}, {2, 3, 580},
                                    {4, 256, 64}, {5, 21, 3},    {60, 33, 1}, {1, 1, 1000},
                                    {16, 8, 32},  {12, 190, 20}, {1, 8, 2100}};
    static const int gaps[] = {0, 1, 8};
    const xgemm_type type = types[_i % COUNT(types)];
    const int step = test_effort() >= 100 ? 1 : 5;
    xgemm_handle *handle = open_handle(test_device());
    for (int run = _i % step; run < 12 * COUNT(shapes); run += step) {
        const xgemm_status status = xgemm_set_kernel(handle, "skinny-batched");
        if (status == XGEMM_ERROR_NOT_SUPPORTED)
            break; /* the CPU */
        ck_assert_int_eq(status, XGEMM_OK);
        typed_spec s = mixed(type, run);
        const int *const size = shapes[run % COUNT(shapes)];
        s.m = size[0], s.n = size[1], s.k = size[2];
        s.gap = gaps[run / 3 % COUNT(gaps)];
        s.count = 1 + run % 3;
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, "skinny-batched") == 0);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Inf and NaN spread as IEEE has it, also where C's type ends earlier; F16 overflows to Inf. */
START_TEST(special_values)
{
    const xgemm_type type = types[_i % COUNT(types)];
    xgemm_handle *handle = open_place(_i / COUNT(types));
    const double values[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (int i = 0; !typed_is_complex(type) && i < COUNT(values); i++) {
        typed_spec s = typed_spec_of(type, 9, 17, 5);
        s.special = values[i];
        typed_check(handle, &s, (uint64_t)i);
    }
    if (type == XGEMM_F16) {
        typed_spec s = typed_spec_of(type, 20, 20, 40);
        s.alpha[0] = 16384.0;
        typed_check(handle, &s, 5);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Numbers that C may hold, in every pair; and whether they are the same, NaN or to the sign. */
static const double held[] = {0.0, -0.0, 1.0, -2.0, (double)INFINITY, (double)NAN};
enum { HELD = COUNT(held) };

static bool is_same(double x, double y)
{
    return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : x == y && signbit(x) == signbit(y);
}

/* What netlib's reference makes of an element where alpha is 0. */
static void scale(double c[2], const double beta[2], bool is_complex)
{
    const double real = c[0], imaginary = c[1];
    if (beta[0] == 0.0 && beta[1] == 0.0)
        c[0] = c[1] = 0.0;
    else if (!is_complex)
        c[0] = beta[0] * real;
    else if (beta[0] != 1.0 || beta[1] != 0.0) {
        c[0] = beta[0] * real - beta[1] * imaginary;
        c[1] = beta[0] * imaginary + beta[1] * real;
    }
}

static void check_scaling(xgemm_handle *handle, xgemm_type type, const double beta[2], int64_t k,
                          unsigned flags)
{
    const bool is_complex = typed_is_complex(type);
    const xgemm_type scalars = type == XGEMM_F16 || type == XGEMM_BF16 ? XGEMM_F32 : type;
    unsigned char alphas[16], betas[16], c[16 * HELD * HELD], zeros[16 * HELD * HELD] = {0};
    for (int part = 0; part < 1 + is_complex; part++) {
        typed_put(scalars, alphas, (size_t)part, k == 0 && part == 0 ? 0.5 : 0.0);
        typed_put(scalars, betas, (size_t)part, beta[part]);
    }
    for (int i = 0; i < (1 + is_complex) * HELD * HELD; i++)
        typed_put(type, c, (size_t)i,
                  held[!is_complex ? i % HELD
                       : i % 2     ? i / 2 % HELD
                                   : i / 2 / HELD]);
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = p.n = p.lda = p.ldb = p.ldc = HELD, p.k = k;
    p.type_a = p.type_b = p.type_c = type;
    p.a = p.b = zeros, p.c = c, p.alpha = alphas, p.beta = betas, p.flags = flags;
    ck_assert_msg(xgemm_gemm(handle, &p) == XGEMM_OK, "%s", xgemm_last_error(handle));
    for (int i = 0; i < HELD * HELD; i++) {
        double wanted[2] = {held[is_complex ? i / HELD : i % HELD], held[i % HELD]};
        scale(wanted, beta, is_complex);
        for (int part = 0; part < 1 + is_complex; part++) {
            const double got = typed_get(type, c, (size_t)(i * (1 + is_complex) + part));
            ck_assert_msg(is_same(got, wanted[part]),
                          "%s, beta %g and %g, k %d, flags %u: element %d, part %d is %g for %g",
                          typed_name(type), beta[0], beta[1], (int)k, flags, i, part, got,
                          wanted[part]);
        }
    }
}

/* Of alpha = 0 and of k = 0, C = beta C to the sign of zero, and with beta = 0 it is not read. */
START_TEST(zeros_without_a_product)
{
    static const double betas[][2] = {{0.0, 0.0}, {-0.0, 0.0}, {1.0, 0.0}, {-1.0, 0.0},
                                      {0.5, 0.0}, {0.0, 1.0},  {-0.5, 2.0}};
    const xgemm_type type = types[_i % COUNT(types)];
    const bool is_cpu = places[_i / COUNT(types)].cpu;
    xgemm_handle *handle = open_place(_i / COUNT(types));
    for (int i = 0; i < 4 * (typed_is_complex(type) ? COUNT(betas) : COUNT(betas) - 2); i++)
        if (is_cpu || test_device() < 0) /* C is the host's */
            check_scaling(handle, type, betas[i / 4], i % 2, i & 2 ? XGEMM_DEVICE_SCALARS : 0);
    xgemm_destroy(handle);
}
END_TEST

/* Bias of any type, by row or column, and activations, in turn; none in a tenth of the runs. */
static void set_epilogue(typed_spec *s, int run)
{
    static const xgemm_type biases[] = {(xgemm_type)0, XGEMM_BF16, XGEMM_F32, XGEMM_F16};
    s->type_bias = biases[run / 2 % COUNT(biases)];
    s->bias_per_row = run % 3 == 2;
    s->activation = (xgemm_activation)(run % 5);
}

/* The kernels of tensor cores with 16-bit operands: sizes around their tiles, every layout. */
START_TEST(tensor_cores)
{
    static const char *const kernels[] = {"fp16x1-128x128", "fp16x1-128x256"};
    static const char *const orders[] = {"early", "late", "shuffle=3,multiprocessors=4"};
    static const int shapes[][3] = {{130, 70, 65},   {64, 260, 200}, {257, 129, 33}, {1, 1, 1},
                                    {40, 300, 1000}, {128, 128, 64}, {520, 70, 520}, {8, 40, 9000}};
    const xgemm_type type = _i % 2 ? XGEMM_BF16 : XGEMM_F16;
    const int step = test_effort() >= 100 ? 1 : 11;
    if (test_device() == XGEMM_DEVICE_SIM)
        setenv("XGEMM_SIM", orders[_i / 2 % COUNT(orders)], 1);
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_TF32), XGEMM_OK);
    for (int run = _i % step; run < 48; run += step) {
        const xgemm_status status = xgemm_set_kernel(handle, kernels[run % COUNT(kernels)]);
        const int *size = shapes[run / 2 % COUNT(shapes)];
        if (status == XGEMM_ERROR_NOT_SUPPORTED)
            break; /* a GPU without these kernels */
        ck_assert_int_eq(status, XGEMM_OK);
        typed_spec s = mixed(type, run);
        s.m = size[0], s.n = size[1], s.k = size[2];
        s.pointer_arrays = false;
        s.count = run % 7 >= 5 ? 5 : 1; /* with four multiprocessors more tiles than CTAs */
        set_epilogue(&s, run);
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, kernels[run % COUNT(kernels)]) == 0);
    }
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}
END_TEST

/*
 * mma.sync with 16-bit operands: sizes around the tiles, with and without splits of k, which of
 * skinny are within clusters, every layout, lines that are aligned to 16 bytes though their length
 * is none of a chunk, and others.
 */
START_TEST(mma_sync)
{
    enum { LITTLE = 16 /* bytes of workspace */ };
    static const char *const kernels[] = {"pipelined-128x128", "pipelined-64x128",
                                          "pipelined-32x64", "thin-64x128", "skinny"};
    static const char *const orders[] = {"late", "shuffle=3,multiprocessors=4", "reverse"};
    static const int shapes[][3] = {{130, 70, 65}, {64, 260, 200},  {257, 129, 33},
                                    {1, 1, 1},     {40, 300, 1000}, {128, 128, 64},
                                    {31, 77, 520}, {3, 150, 7},     {2, 50, 2200}};
    static const int gaps[] = {0, 3, 8, 5};
    const xgemm_type type = _i % 2 ? XGEMM_BF16 : XGEMM_F16;
    const int step = test_effort() >= 100 ? 1 : 25;
    if (test_device() == XGEMM_DEVICE_SIM)
        setenv("XGEMM_SIM", orders[_i / 2 % COUNT(orders)], 1);
    xgemm_handle *handle = open_handle(test_device());
    void *little;
    ck_assert_int_eq(xgemm_malloc(handle, LITTLE, &little), XGEMM_OK);
    for (int run = _i % step; run < 180; run += step) {
        const bool has_room = run % COUNT(kernels) == 0 || run / COUNT(kernels) % 2;
        const int *size = shapes[run / COUNT(kernels) % COUNT(shapes)];
        typed_spec s = mixed(type, run);
        s.m = size[0], s.n = size[1], s.k = size[2];
        s.gap = gaps[run / 5 % COUNT(gaps)];
        if (run % 3 == 1) /* lines of multiples of 8, but for that gap */
            s.m = (s.m + 7) / 8 * 8, s.n = (s.n + 7) / 8 * 8, s.k = (s.k + 7) / 8 * 8;
        set_epilogue(&s, run);
        ck_assert_int_eq(xgemm_set_kernel(handle, kernels[run % COUNT(kernels)]), XGEMM_OK);
        ck_assert_int_eq(
            xgemm_set_workspace(handle, has_room ? NULL : little, has_room ? 0 : LITTLE), XGEMM_OK);
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, kernels[run % COUNT(kernels)]) == 0);
    }
    xgemm_set_workspace(handle, NULL, 0);
    xgemm_free(handle, little);
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}
END_TEST

/*
 * The whole k in shared memory, with 16-bit operands: batches of small products, tiles of 32, of 64
 * and of all of C, contiguous matrices and others, aligned and not.
 */
START_TEST(single_stage)
{
    static const int shapes[][3] = {{12, 79, 20}, {100, 100, 100}, {1, 1, 1},     {33, 65, 300},
                                    {64, 64, 64}, {128, 72, 33},   {3, 150, 7},   {17, 16, 1},
                                    {5, 5, 5},    {200, 40, 64},   {1, 300, 600}, {257, 8, 16}};
    static const int gaps[] = {0, 0, 8, 3};
    const xgemm_type type = _i % 2 ? XGEMM_BF16 : XGEMM_F16;
    const int step = test_effort() >= 100 ? 1 : 13;
    if (test_device() == XGEMM_DEVICE_SIM)
        setenv("XGEMM_SIM", _i / 2 % 2 ? "late" CHECKED : "shuffle=5,multiprocessors=3", 1);
    xgemm_handle *handle = open_handle(test_device());
    for (int run = _i % step; run < 192; run += step) {
        const int *size = shapes[run % COUNT(shapes)];
        typed_spec s = mixed(type, run / 3);
        s.m = size[0], s.n = size[1], s.k = size[2];
        s.gap = gaps[run / COUNT(shapes) % COUNT(gaps)];
        s.count = run % 5 == 0 && !s.pointer_arrays ? 1 : 3;
        set_epilogue(&s, run % 4 ? run : 0);
        ck_assert_int_eq(xgemm_set_kernel(handle, "thin-32x32"), XGEMM_OK);
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, "thin-32x32") == 0);
    }
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}
END_TEST

/* Floats in panels of C and k: bias and activation come once, after the last panel of a product. */
START_TEST(panels)
{
    xgemm_handle *handle = open_handle(test_device());
    typed_spec s = typed_spec_of(XGEMM_F32, 300, 270, 700);
    void *workspace;
    const size_t bytes = 5 << 18;
    if (xgemm_set_kernel(handle, "fp16x3-128x128") != XGEMM_OK) {
        xgemm_destroy(handle);
        return; /* a GPU without this kernel */
    }
    ck_assert_int_eq(xgemm_malloc(handle, bytes, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, bytes), XGEMM_OK);
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = s.m, p.n = s.n, p.k = s.k, p.lda = s.k, p.ldb = p.ldc = s.n;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    const int64_t plain = plan.launches;
    p.activation = XGEMM_GELU;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, plain + 1);
    ck_assert_int_gt(plain, 4);
    s.count = 2;
    s.activation = XGEMM_GELU;
    s.type_bias = XGEMM_F16;
    s.beta[0] = 0.5;
    typed_check(handle, &s, 3);
    xgemm_set_workspace(handle, NULL, 0);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* The typed functions are xgemm_gemm() with one type. */
START_TEST(functions)
{
    enum { N = 6, COUNT_ = 2 };
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    double a[2 * N * N * COUNT_], b[2 * N * N * COUNT_], c[2 * N * N * COUNT_];
    double expected[2 * N * N * COUNT_];
    const double alpha[2] = {0.5, 1.0}, beta[2] = {0.0, 0.0};
    const void *as[COUNT_] = {a, a + 2 * N * N}, *bs[COUNT_] = {b, b + 2 * N * N};
    void *cs[COUNT_] = {c, c + 2 * N * N};
    generator from = {7};
    for (int i = 0; i < COUNT(a); i++)
        a[i] = (double)random_dyadic(&from), b[i] = (double)random_dyadic(&from);
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.transa = XGEMM_CONJ_TRANS;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = N;
    p.stride_a = p.stride_b = p.stride_c = N * N;
    p.batch_count = COUNT_;
    p.type_a = p.type_b = p.type_c = XGEMM_C64;
    p.alpha = alpha, p.a = a, p.b = b, p.c = expected;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    ck_assert_int_eq(xgemm_zgemm_strided_batched(handle, p.order, p.transa, p.transb, N, N, N,
                                                 alpha, a, N, N * N, b, N, N * N, beta, c, N, N * N,
                                                 COUNT_),
                     XGEMM_OK);
    ck_assert_mem_eq(c, expected, sizeof c);
    memset(c, 0xff, sizeof c);
    ck_assert_int_eq(xgemm_zgemm_batched(handle, p.order, p.transa, p.transb, N, N, N, alpha, as, N,
                                         bs, N, NULL, cs, N, COUNT_),
                     XGEMM_OK);
    ck_assert_mem_eq(c, expected, sizeof c);
    memset(c, 0xff, sizeof c);
    for (int i = 0; i < COUNT_; i++)
        ck_assert_int_eq(xgemm_zgemm(handle, p.order, p.transa, p.transb, N, N, N, alpha, as[i], N,
                                     bs[i], N, beta, cs[i], N),
                         XGEMM_OK);
    ck_assert_mem_eq(c, expected, sizeof c);
    p.type_a = p.type_b = p.type_c = XGEMM_F64;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    ck_assert_int_eq(
        xgemm_dgemm(handle, p.order, p.transa, p.transb, N, N, N, alpha[0], a, N, b, N, 0.0, c, N),
        XGEMM_OK);
    ck_assert_mem_eq(c, expected, N * N * sizeof *c);
    p.type_a = p.type_b = p.type_c = XGEMM_C32;
    ck_assert_int_eq(xgemm_gemm(handle, &p), XGEMM_OK);
    ck_assert_int_eq(
        xgemm_cgemm(handle, p.order, p.transa, p.transb, N, N, N, alpha, a, N, b, N, beta, c, N),
        XGEMM_OK);
    ck_assert_mem_eq(c, expected, N * N * 2 * sizeof(float));
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("types");
    TCase *numbers = add_case(suite, "numbers");
    const int runs = COUNT(types) * (test_device() == XGEMM_DEVICE_CPU ? 4 : COUNT(places));
    const int first = test_device() == XGEMM_DEVICE_CPU ? 2 * COUNT(types) : 0;
    tcase_add_loop_test(numbers, mixes, first, runs);
    tcase_add_loop_test(numbers, layouts, first, runs);
    tcase_add_loop_test(numbers, epilogues, first, runs);
    tcase_add_loop_test(numbers, zeros_without_a_product, first, runs);
    tcase_add_loop_test(numbers, special_values, first, runs);
    tcase_add_loop_test(numbers, small_batches, 0, COUNT(types));
    if (test_device() != XGEMM_DEVICE_CPU) {
        tcase_add_loop_test(numbers, tensor_cores, 0, 6);
        tcase_add_loop_test(numbers, mma_sync, 0, 6);
        tcase_add_loop_test(numbers, single_stage, 0, 4);
    }
    tcase_add_test(numbers, panels);
    tcase_add_test(add_case(suite, "functions"), functions);
    return run_suite(suite);
}
