/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of doubles by residues (lib/families/residue/): errors on hard data against sums of two
 * doubles, at most 2^-51 of |alpha||A||B| + |beta||C|, and how many moduli they took; 0: they were
 * computed in FP64.
 */
#include "doubles.h"
#include "typed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char kernel_name[] = "fp16x3-128x256";

/* What the kernel leaves at the begin of its workspace: bits of floats, and a count. */
typedef struct {
    uint32_t ratio, ratio_most, others, others_most;
    uint64_t recomputed;
} ratios;

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k;
    int gap; /* of leading dimensions */
    double alpha, beta;
    double *a, *b, *c; /* op(A) and op(B), in row order; C */
} problem;

/* ---- Problems ---- */

static problem problem_new(const problem *like, doubles_fill *draw, uint64_t seed)
{
    generator from = {seed};
    problem p = *like;
    const size_t m = (size_t)p.m, n = (size_t)p.n, k = (size_t)p.k;
    p.a = allocate(m * k * sizeof(double));
    p.b = allocate(k * n * sizeof(double));
    p.c = allocate(m * n * sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++)
            p.a[i * k + l] = draw(&from, 0, (int)i, (int)l);
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < n; j++)
            p.b[l * n + j] = draw(&from, 1, (int)j, (int)l);
    for (size_t i = 0; i < m * n; i++)
        p.c[i] = p.beta == 0.0 ? (double)NAN : doubles_normal(&from);
    return p;
}

static void problem_free(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

/* A matrix, which is given by rows, as a call wants it, on the device; the gaps are NaN. */
typedef struct {
    double *device;
    int64_t ld;
    size_t elements;
} stored;

static bool by_rows(xgemm_order order, xgemm_transpose trans)
{
    return (order == XGEMM_ROW_MAJOR) == (trans == XGEMM_NO_TRANS);
}

static stored store(xgemm_handle *handle, const double *from, int rows, int columns, bool rowwise,
                    int gap)
{
    stored to = {.ld = (rowwise ? columns : rows) + gap};
    void *memory;
    to.elements = (size_t)to.ld * (size_t)(rowwise ? rows : columns);
    double *const host = allocate(to.elements * sizeof(double));
    for (size_t i = 0; i < to.elements; i++)
        host[i] = (double)NAN;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            host[rowwise ? i * to.ld + j : j * to.ld + i] = from[(int64_t)i * columns + j];
    require(xgemm_malloc(handle, to.elements * sizeof(double), &memory) == XGEMM_OK,
            xgemm_last_error(handle));
    require(xgemm_upload(handle, memory, host, to.elements * sizeof(double)) == XGEMM_OK,
            xgemm_last_error(handle));
    free(host);
    to.device = memory;
    return to;
}

static void fetch(xgemm_handle *handle, const stored *from, double *to, int rows, int columns,
                  bool rowwise)
{
    double *const host = allocate(from->elements * sizeof(double));
    require(xgemm_download(handle, host, from->device, from->elements * sizeof(double)) == XGEMM_OK,
            xgemm_last_error(handle));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            to[(int64_t)i * columns + j] = host[rowwise ? i * from->ld + j : j * from->ld + i];
    free(host);
}

/* C as the handle computes it, for the caller to free; and what its workspace says. */
static double *multiply(xgemm_handle *handle, const problem *p, ratios *found)
{
    const stored a = store(handle, p->a, p->m, p->k, by_rows(p->order, p->transa), p->gap);
    const stored b = store(handle, p->b, p->k, p->n, by_rows(p->order, p->transb), p->gap);
    const stored c = store(handle, p->c, p->m, p->n, p->order == XGEMM_ROW_MAJOR, p->gap);
    double *const result = allocate((size_t)p->m * (size_t)p->n * sizeof(double));
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product call = XGEMM_PRODUCT_INIT;
    void *workspace;
    call.order = p->order, call.transa = p->transa, call.transb = p->transb;
    call.m = p->m, call.n = p->n, call.k = p->k;
    call.type_a = call.type_b = call.type_c = XGEMM_F64;
    call.alpha = &p->alpha, call.beta = &p->beta;
    call.a = a.device, call.lda = a.ld;
    call.b = b.device, call.ldb = b.ld;
    call.c = c.device, call.ldc = c.ld;
    require(xgemm_gemm_plan(handle, &call, &plan) == XGEMM_OK, xgemm_last_error(handle));
    require(xgemm_malloc(handle, plan.workspace_bytes, &workspace) == XGEMM_OK,
            xgemm_last_error(handle));
    require(xgemm_set_workspace(handle, workspace, plan.workspace_bytes) == XGEMM_OK,
            xgemm_last_error(handle));
    require(xgemm_gemm(handle, &call) == XGEMM_OK, xgemm_last_error(handle));
    fetch(handle, &c, result, p->m, p->n, p->order == XGEMM_ROW_MAJOR);
    require(xgemm_download(handle, found, workspace, sizeof *found) == XGEMM_OK,
            xgemm_last_error(handle));
    ck_assert_str_eq(xgemm_last_kernel(handle), kernel_name);
    xgemm_set_workspace(handle, NULL, 0);
    xgemm_free(handle, workspace);
    xgemm_free(handle, a.device);
    xgemm_free(handle, b.device);
    xgemm_free(handle, c.device);
    return result;
}

/* How many moduli the ratios say; 0: none. */
static int moduli_of(const ratios *found)
{
    float ratio, most;
    memcpy(&ratio, &found->ratio, sizeof ratio);
    memcpy(&most, &found->ratio_most, sizeof most);
    if (found->others > found->others_most)
        return 0;
    return ratio <= 1.0f ? 15 : most <= 8.0f ? 16 : most <= 128.0f ? 17 : 0;
}

/* ---- The reference ---- */

/* A sum of two doubles, and one of magnitudes. */
typedef struct {
    double high, low, mass;
} exact;

static void add(exact *to, double x)
{
    const double sum = to->high + x, other = sum - to->high;
    to->low += (to->high - (sum - other)) + (x - other);
    to->high = sum;
}

static void add_product(exact *to, double x, double y)
{
    const double term = x * y;
    add(to, term);
    to->low += fma(x, y, -term);
    to->mass += fabs(term);
}

/* The largest error as a part of the mass, in units of 2^-51; Inf where special values differ. */
static double worst_error(const problem *p, const double *c)
{
    double worst = 0.0;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            const double got = c[i * p->n + j];
            exact sum = {0.0, 0.0, 0.0}, all = {0.0, 0.0, 0.0};
            for (int l = 0; l < p->k; l++)
                add_product(&sum, p->a[i * p->k + l], p->b[l * p->n + j]);
            add_product(&all, p->alpha, sum.high);
            all.low += p->alpha * sum.low;
            all.mass = fabs(p->alpha) * sum.mass;
            if (p->beta != 0.0)
                add_product(&all, p->beta, p->c[i * p->n + j]);
            if (!isfinite(all.high)) {
                const bool same = isnan(all.high) ? isnan(got) : got == all.high;
                worst = same ? worst : (double)INFINITY;
                continue;
            }
            const double error = fabs((got - all.high) - all.low);
            if (!(error <= 0.0))
                worst = fmax(worst, isnan(error) ? (double)INFINITY : error / all.mass * 0x1p51);
        }
    return worst;
}

/* ---- Tests ---- */

/* NULL: the device does not run the kernel. */
static xgemm_handle *open_residues(void)
{
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_DEFAULT), XGEMM_OK);
    if (xgemm_set_kernel(handle, kernel_name) == XGEMM_OK)
        return handle;
    xgemm_destroy(handle);
    return NULL;
}

/* Multiplies and compares; the moduli that it took. In FP64 the bound is that of its sums. */
static int check(xgemm_handle *handle, const problem *p, const char *what, uint32_t *others)
{
    ratios found = {0, 0, 0, 0, 0};
    int64_t recomputed = 0;
    double *const c = multiply(handle, p, &found);
    const int moduli = moduli_of(&found);
    const double worst = worst_error(p, c), most = moduli > 0 ? 1.0 : p->k;
    ck_assert_msg(worst <= most, "%s, %d x %d x %d, %d moduli: an error of %g * 2^-51", what, p->m,
                  p->n, p->k, moduli, worst);
    recomputed = (int64_t)found.recomputed;
    ck_assert_int_eq(recomputed, moduli > 0 ? found.others : (int64_t)p->m * p->n);
    *others = found.others;
    free(c);
    return moduli;
}

static problem plain(int m, int n, int k)
{
    return (problem){.order = XGEMM_ROW_MAJOR,
                     .transa = XGEMM_NO_TRANS,
                     .transb = XGEMM_NO_TRANS,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = 1.0};
}

START_TEST(data)
{
    xgemm_handle *handle = open_residues();
    if (!handle)
        return;
    const problem like = plain(70, 90, 150);
    const doubles_kind *const kind = doubles_kind_at(_i);
    problem p = problem_new(&like, kind->draw, (uint64_t)_i + 1);
    uint32_t others;
    const int moduli = check(handle, &p, kind->name, &others);
    ck_assert_msg(moduli >= kind->least && moduli <= kind->most, "%s: %d moduli", kind->name,
                  moduli);
    problem_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/* Tiles and clusters, all layouts, gaps that leave entries unaligned, alpha and beta. */
START_TEST(shapes)
{
    static const int sizes[][3] = {{1, 1, 1},    {128, 256, 128}, {129, 257, 129}, {260, 300, 70},
                                   {5, 700, 33}, {385, 3, 257},   {16, 16, 1100},  {200, 130, 64}};
    static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS};
    static const double factors[][2] = {{1.0, 0.0}, {-0.5, 1.0}, {1.7, -0.3}, {3.0, 0.0}};
    const int *const size = sizes[_i % COUNT(sizes)];
    xgemm_handle *handle = open_residues();
    if (!handle)
        return;
    problem like = plain(size[0], size[1], size[2]);
    like.order = _i % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    like.transa = transposes[_i / 2 % 2];
    like.transb = transposes[_i / 4 % 2];
    like.gap = _i % 3;
    like.alpha = factors[_i % 4][0];
    like.beta = factors[_i % 4][1];
    problem p = problem_new(&like, doubles_normal_entry, (uint64_t)_i + 100);
    uint32_t others;
    ck_assert_int_eq(check(handle, &p, "normal", &others), 15);
    ck_assert_int_eq(others, 0);
    problem_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/*
 * A row has its largest entry where a column has a small one, and the reverse; both have a middling
 * one at the same k, whose product is nearly all of |A||B|. As these become smaller, more moduli
 * are needed for the small ones' sake, until the magnitudes no longer show them.
 */
static double middling;

static double fill_planted(generator *from, int is_b, int line, int l)
{
    const double some = 1.0 + doubles_uniform(from);
    (void)line;
    if (l == is_b)
        return 64.0 * some;
    if (l == 1 - is_b)
        return 0x1p-30 * some;
    return l == 2 ? 64.0 * middling * some : 0.0;
}

START_TEST(planted)
{
    int seen[18] = {0};
    xgemm_handle *handle = open_residues();
    if (!handle)
        return;
    for (int i = 0; i < 40; i++) {
        middling = exp2(-i / 5.0);
        const problem like = plain(9, 11, 3 + i % 2);
        problem p = problem_new(&like, fill_planted, (uint64_t)i + 1);
        uint32_t others;
        seen[check(handle, &p, "planted", &others)]++;
        problem_free(&p);
    }
    ck_assert_msg(seen[15] > 0 && seen[16] > 0 && seen[17] > 0 && seen[0] > 0,
                  "15: %d, 16: %d, 17: %d, none: %d", seen[15], seen[16], seen[17], seen[0]);
    xgemm_destroy(handle);
}
END_TEST

/* A row with Inf, and one with an entry that hides all others: elements of theirs are few. */
static double fill_few(generator *from, int is_b, int line, int l)
{
    if (!is_b && line == 700)
        return l == 2 ? (double)INFINITY : doubles_normal(from);
    if (!is_b && line == 1099)
        return (l == 1 ? 0x1p40 : 1.0) * doubles_normal(from);
    return is_b && line == 3 && l == 1 ? 0x1p-40 : doubles_normal(from);
}

START_TEST(few)
{
    static const double factors[][2] = {{1.0, 0.0}, {1.5, -1.0}};
    xgemm_handle *handle = open_residues();
    if (!handle)
        return;
    problem like = plain(1300, 17, 30);
    like.order = _i == 0 ? XGEMM_ROW_MAJOR : XGEMM_COL_MAJOR;
    like.alpha = factors[_i][0], like.beta = factors[_i][1];
    problem p = problem_new(&like, fill_few, 5);
    uint32_t others;
    ck_assert_int_ge(check(handle, &p, "few", &others), 15);
    ck_assert_int_ge(others, like.n + 1);
    problem_free(&p);
    xgemm_destroy(handle);
}
END_TEST

/* The kernel by name is for products by no more than alpha and beta, and not for STRICT. */
START_TEST(refused)
{
    xgemm_handle *handle = open_residues();
    xgemm_plan plan = {.struct_size = sizeof plan};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    if (!handle)
        return;
    p.m = p.n = p.k = 1000;
    p.lda = p.ldb = p.ldc = 1000;
    p.type_a = p.type_b = p.type_c = XGEMM_F64;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(plan.launches, 6);
    p.activation = XGEMM_RELU;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    p.activation = XGEMM_ACTIVATION_NONE;
    p.k = 1 << 17, p.lda = p.k;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    p.k = (1 << 17) - 1;
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    xgemm_destroy(handle);
}
END_TEST

/* Batches, whose products share the workspace; scalars on the device; bytes beside C. */
START_TEST(calls)
{
    xgemm_handle *handle = open_residues();
    if (!handle)
        return;
    for (int run = 0; run < 8; run++) {
        typed_spec s = typed_spec_of(XGEMM_F64, 130 + run, 70, 65);
        s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.gap = run % 3;
        s.count = run % 4 == 3 ? 3 : 1;
        s.shared_b = run == 7;
        s.device_scalars = run % 4 > 1;
        s.alpha[0] = run == 2 ? 0.0 : 0.5;
        s.beta[0] = run % 3 - 1.0;
        s.special = run == 5 ? (double)INFINITY : 0.0;
        typed_check(handle, &s, (uint64_t)run);
        ck_assert_str_eq(xgemm_last_kernel(handle), kernel_name);
    }
    xgemm_destroy(handle);
}
END_TEST

/* One product of a batch has a NaN, and is recomputed; the count is of all. */
START_TEST(batch)
{
    enum { SIZE = 40, COUNT_OF_PRODUCTS = 3, ELEMENTS = SIZE * SIZE * COUNT_OF_PRODUCTS };
    static double x[ELEMENTS];
    xgemm_handle *handle = open_residues();
    xgemm_product call = XGEMM_PRODUCT_INIT;
    void *memory[3];
    int64_t recomputed = -1;
    generator from = {7};
    if (!handle)
        return;
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = doubles_normal(&from);
    x[SIZE * SIZE + 5] = (double)NAN;
    for (int i = 0; i < 3; i++) {
        require(xgemm_malloc(handle, sizeof x, &memory[i]) == XGEMM_OK, xgemm_last_error(handle));
        require(xgemm_upload(handle, memory[i], x, sizeof x) == XGEMM_OK, xgemm_last_error(handle));
    }
    call.m = call.n = call.k = SIZE;
    call.lda = call.ldb = call.ldc = SIZE;
    call.stride_a = call.stride_b = call.stride_c = SIZE * SIZE;
    call.batch_count = COUNT_OF_PRODUCTS;
    call.type_a = call.type_b = call.type_c = XGEMM_F64;
    call.a = memory[0], call.b = memory[1], call.c = memory[2];
    ck_assert_int_eq(xgemm_gemm(handle, &call), XGEMM_OK);
    ck_assert_int_eq(xgemm_last_recomputed(handle, &recomputed), XGEMM_OK);
    ck_assert_int_eq(recomputed, SIZE * SIZE);
    for (int i = 0; i < 3; i++)
        xgemm_free(handle, memory[i]);
    xgemm_destroy(handle);
}
END_TEST

/* Large products are computed by residues, small ones in FP64; in STRICT all are. */
START_TEST(choices)
{
    static const struct {
        int64_t m, n, k;
        bool residues;
    } wanted[] = {{16384, 16384, 16384, true},
                  {8192, 8192, 8192, true},
                  {256, 256, 256, false},
                  {4096, 4096, 64, false},
                  {64, 64, 100000, false}};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int strict = 0; strict < 2; strict++)
        for (int i = 0; i < COUNT(wanted); i++) {
            xgemm_device gpu = {.struct_size = sizeof gpu};
            xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
            xgemm_product p = XGEMM_PRODUCT_INIT;
            const xgemm_math math = strict ? XGEMM_MATH_STRICT : XGEMM_MATH_DEFAULT;
            ck_assert_int_eq(xgemm_device_find("H200 SXM", &gpu), XGEMM_OK);
            ck_assert_int_eq(xgemm_set_math(handle, math), XGEMM_OK);
            p.m = wanted[i].m, p.n = wanted[i].n, p.k = wanted[i].k;
            p.lda = p.k, p.ldb = p.ldc = p.n;
            p.type_a = p.type_b = p.type_c = XGEMM_F64;
            ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_OK);
            ck_assert_int_eq(strcmp(plan.kernel, kernel_name) == 0, wanted[i].residues && !strict);
        }
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("residue");
    TCase *numbers = add_case(suite, "numbers");
    if (test_device() != XGEMM_DEVICE_CPU) {
        tcase_add_loop_test(numbers, data, 0, doubles_count());
        tcase_add_loop_test(numbers, shapes, 0, test_effort() >= 100 ? 48 : 8);
        tcase_add_test(numbers, planted);
        tcase_add_loop_test(numbers, few, 0, 2);
        tcase_add_test(numbers, calls);
        tcase_add_test(numbers, batch);
        tcase_add_test(numbers, refused);
    }
    if (test_device() == XGEMM_DEVICE_SIM)
        tcase_add_test(numbers, choices);
    return run_suite(suite);
}
