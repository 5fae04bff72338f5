/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xgemm_gemm_ragged(): by XGEMM_REPRODUCIBLE_ELEMENT each group has the bits of a product of its
 * own, and what is in no group stays; whatever the offsets are, and in graphs with other ones.
 */
#include "typed.h"

#include "../../bin/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MOST = 70, SCALARS = 4 };

static const xgemm_type types[] = {XGEMM_F32,  XGEMM_F64, XGEMM_F16,
                                   XGEMM_BF16, XGEMM_C32, XGEMM_C64};

static unsigned below(uint64_t *state, unsigned limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*state >> 33) % limit);
}

/* Memory of the device, and what it is filled with: finite numbers of every type. */
typedef struct {
    size_t bytes;
    unsigned char *host;
    void *device;
} memory;

static memory random_memory(xgemm_handle *handle, uint64_t *state, xgemm_type type,
                            int64_t elements)
{
    const size_t bytes = typed_bytes(type), part = bytes / (typed_is_complex(type) ? 2 : 1);
    memory x = {.bytes = (size_t)(elements + 1) * bytes};
    x.host = allocate(x.bytes);
    for (size_t at = 0; at < x.bytes; at += part)
        for (size_t byte = 0; byte < part; byte++) /* exponents near the middle: 0x3c to 0x3f */
            x.host[at + byte] = byte == part - 1 ? (unsigned char)(0x3c + below(state, 2) * 0x80)
                                                 : (unsigned char)below(state, 256);
    ck_assert_int_eq(xgemm_malloc(handle, x.bytes, &x.device), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, x.device, x.host, x.bytes), XGEMM_OK);
    return x;
}

static void memory_free(xgemm_handle *handle, memory *x)
{
    xgemm_free(handle, x->device);
    free(x->host);
}

/* A problem: op(A) of m rows, and groups with a B each; first: element where A begins. */
typedef struct {
    xgemm_type type, type_c;
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k, groups, gap, first;
    bool shared_b, has_bias, bias_per_row, has_beta;
    xgemm_activation activation;
    int64_t offsets[GROUPS_MOST + 1];
} ragged_spec;

typedef struct {
    memory a, b, c, bias;
    xgemm_product call;
    double doubles[SCALARS];
    float floats[SCALARS];
} ragged_problem;

static void set_scalars(ragged_problem *p, const ragged_spec *s)
{
    static const double values[SCALARS] = {0.75, 0.0, -1.25, 0.0};
    const bool is_double = s->type == XGEMM_F64 || s->type == XGEMM_C64;
    for (int i = 0; i < SCALARS; i++)
        p->doubles[i] = values[i], p->floats[i] = (float)values[i];
    p->call.alpha = is_double ? (void *)p->doubles : (void *)p->floats;
    p->call.beta = !s->has_beta ? NULL : is_double ? (void *)&p->doubles[2] : (void *)&p->floats[2];
}

static ragged_problem *problem_new(xgemm_handle *handle, const ragged_spec *s, uint64_t seed)
{
    ragged_problem *const p = allocate(sizeof *p);
    uint64_t state = seed;
    const bool by_columns = s->order == XGEMM_COL_MAJOR;
    const bool turn_a = by_columns != (s->transa != XGEMM_NO_TRANS);
    const bool turn_b = by_columns != (s->transb != XGEMM_NO_TRANS);
    xgemm_product call = XGEMM_PRODUCT_INIT;
    call.order = s->order, call.transa = s->transa, call.transb = s->transb;
    call.m = s->m, call.n = s->n, call.k = s->k;
    call.type_a = call.type_b = s->type;
    call.type_c = s->type_c;
    call.lda = (turn_a ? s->m : s->k) + s->gap;
    call.ldb = (turn_b ? s->k : s->n) + s->gap;
    call.ldc = (by_columns ? s->m : s->n) + s->gap;
    call.stride_b = s->shared_b ? 0 : call.ldb * (turn_b ? s->n : s->k) + s->gap;
    call.activation = s->activation;
    call.bias_per_row = s->bias_per_row;
    p->call = call;
    set_scalars(p, s);
    p->a = random_memory(handle, &state, s->type, s->first + call.lda * (turn_a ? s->k : s->m));
    p->b = random_memory(handle, &state, s->type,
                         (s->shared_b ? 1 : s->groups) *
                             (call.stride_b + call.ldb * (turn_b ? s->n : s->k)));
    p->c = random_memory(handle, &state, s->type_c, call.ldc * (by_columns ? s->n : s->m));
    p->bias = random_memory(handle, &state, s->type, s->m > s->n ? s->m : s->n);
    p->call.a = (char *)p->a.device + (size_t)s->first * typed_bytes(s->type);
    p->call.b = p->b.device;
    p->call.c = p->c.device;
    if (s->has_bias) {
        p->call.bias = p->bias.device;
        p->call.type_bias = s->type;
    }
    return p;
}

static void problem_free(xgemm_handle *handle, ragged_problem *p)
{
    memory_free(handle, &p->a);
    memory_free(handle, &p->b);
    memory_free(handle, &p->c);
    memory_free(handle, &p->bias);
    free(p);
}

/* An offset as the function is said to read it. */
static int64_t line_of(int64_t offset, int64_t lines)
{
    return offset < 0 ? 0 : offset > lines ? lines : offset;
}

/* The groups by products of their own. */
static void run_each(xgemm_handle *handle, const ragged_spec *s, const ragged_problem *p)
{
    const size_t bytes = typed_bytes(s->type), c_bytes = typed_bytes(s->type_c);
    const bool by_columns = s->order == XGEMM_COL_MAJOR;
    const bool turn_a = by_columns != (s->transa != XGEMM_NO_TRANS);
    for (int g = 0; g < s->groups; g++) {
        const int64_t first = line_of(s->offsets[g], s->m), end = line_of(s->offsets[g + 1], s->m);
        xgemm_product one = p->call;
        if (end <= first)
            continue;
        one.m = end - first;
        one.a = (const char *)one.a + (size_t)(first * (turn_a ? 1 : one.lda)) * bytes;
        one.b = (const char *)one.b + (size_t)(g * one.stride_b) * bytes;
        one.c = (char *)one.c + (size_t)(first * (by_columns ? 1 : one.ldc)) * c_bytes;
        if (one.bias && one.bias_per_row)
            one.bias = (const char *)one.bias + (size_t)first * bytes;
        one.stride_b = 0;
        ck_assert_msg(xgemm_gemm(handle, &one) == XGEMM_OK, "%s", xgemm_last_error(handle));
    }
}

/* What C becomes; it is as before after it. */
static unsigned char *wanted_of(xgemm_handle *handle, const ragged_spec *s, const ragged_problem *p)
{
    unsigned char *const wanted = allocate(p->c.bytes);
    run_each(handle, s, p);
    ck_assert_int_eq(xgemm_download(handle, wanted, p->c.device, p->c.bytes), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, p->c.device, p->c.host, p->c.bytes), XGEMM_OK);
    return wanted;
}

static void *memory_of_offsets(xgemm_handle *handle, const ragged_spec *s)
{
    void *offsets;
    const size_t bytes = (size_t)(s->groups + 1) * sizeof s->offsets[0];
    ck_assert_int_eq(xgemm_malloc(handle, bytes, &offsets), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, offsets, s->offsets, bytes), XGEMM_OK);
    return offsets;
}

/* C, which is in memory, has the wanted bits. */
static void compare(xgemm_handle *handle, const ragged_spec *s, const ragged_problem *p,
                    const unsigned char *wanted, uint64_t seed)
{
    unsigned char *const got = allocate(p->c.bytes);
    ck_assert_int_eq(xgemm_download(handle, got, p->c.device, p->c.bytes), XGEMM_OK);
    for (size_t i = 0; i < p->c.bytes; i++)
        ck_assert_msg(wanted[i] == got[i],
                      "%s: byte %zu differs; %d x %d x %d, %d groups, order %d, transposes %d and "
                      "%d, gap %d, kernel %s, seed %d",
                      typed_name(s->type), i, s->m, s->n, s->k, s->groups, (int)s->order,
                      (int)s->transa, (int)s->transb, s->gap, xgemm_last_kernel(handle), (int)seed);
    free(got);
}

/* Runs the spec both ways, from the same C. */
static void check(xgemm_handle *handle, const ragged_spec *s, uint64_t seed)
{
    ragged_problem *const p = problem_new(handle, s, seed);
    unsigned char *const wanted = wanted_of(handle, s, p);
    void *const offsets = memory_of_offsets(handle, s);
    ck_assert_msg(xgemm_gemm_ragged(handle, &p->call, offsets, s->groups) == XGEMM_OK, "%s",
                  xgemm_last_error(handle));
    compare(handle, s, p, wanted, seed);
    xgemm_free(handle, offsets);
    free(wanted);
    problem_free(handle, p);
}

/* Ascending offsets, some of them equal, or all rows in one group, or ones that are out of order.
 */
static void set_offsets(ragged_spec *s, uint64_t *state)
{
    const unsigned kind = below(state, 5);
    for (int g = 0; g <= s->groups; g++)
        s->offsets[g] = below(state, (unsigned)s->m + 1);
    if (kind == 0) /* as they are, and beyond both ends */
        s->offsets[0] = -5, s->offsets[s->groups] = s->m + 7;
    for (int i = 1; kind > 0 && i <= s->groups; i++) /* sorted */
        for (int j = i; j > 0 && s->offsets[j] < s->offsets[j - 1]; j--) {
            const int64_t other = s->offsets[j];
            s->offsets[j] = s->offsets[j - 1];
            s->offsets[j - 1] = other;
        }
    if (kind == 1)
        for (int g = 0; g <= s->groups; g++)
            s->offsets[g] = g <= s->groups / 2 ? 0 : s->m;
    if (kind == 2)
        s->offsets[0] = 0, s->offsets[s->groups] = s->m;
    if (kind == 0) /* groups must not share rows: their order is not told */
        for (int g = 1; g < s->groups; g++)
            s->offsets[g] = s->offsets[g] < s->offsets[g - 1] ? s->offsets[g - 1] : s->offsets[g];
}

static ragged_spec random_spec(xgemm_type type, uint64_t *state)
{
    static const int group_counts[] = {1, 2, 3, 7, 33, GROUPS_MOST};
    const bool is_complex = typed_is_complex(type);
    ragged_spec s = {.type = type, .type_c = type};
    if ((type == XGEMM_F16 || type == XGEMM_BF16) && below(state, 3) == 0)
        s.type_c = XGEMM_F32;
    s.order = below(state, 2) ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    s.transa = below(state, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.transb = below(state, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.groups = group_counts[below(state, COUNT(group_counts))];
    s.m = 1 + (int)below(state, 300), s.n = 1 + (int)below(state, 140);
    s.k = 1 + (int)below(state, 150);
    if (below(state, 3) == 0)
        s.n = s.n / 8 * 8 + 8, s.k = s.k / 8 * 8 + 8, s.m = s.m / 8 * 8 + 8;
    else
        s.gap = (int)below(state, 4), s.first = (int)below(state, 3);
    s.shared_b = below(state, 6) == 0;
    s.has_bias = below(state, 2), s.bias_per_row = below(state, 2), s.has_beta = below(state, 2);
    s.activation = is_complex || below(state, 2) ? XGEMM_ACTIVATION_NONE : XGEMM_RELU;
    set_offsets(&s, state);
    return s;
}

static xgemm_handle *open_by_element(int device)
{
    xgemm_handle *const handle = open_handle(device);
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    return handle;
}

START_TEST(groups_have_the_bits_of_products)
{
    const bool cpu = _i >= COUNT(types);
    const int trials = test_effort() >= 100 ? 60 : test_effort() < 5 ? 1 : cpu ? 20 : 6;
    xgemm_handle *handle = open_by_element(cpu ? XGEMM_DEVICE_CPU : test_device());
    uint64_t state = (uint64_t)_i + 5;
    for (int trial = 0; trial < trials; trial++) {
        const ragged_spec s = random_spec(types[_i % COUNT(types)], &state);
        check(handle, &s, (uint64_t)trial);
    }
    xgemm_destroy(handle);
}
END_TEST

/* mma.sync, which auto does not take where there is wgmma. */
START_TEST(groups_by_mma)
{
    static const char *const kernels[] = {"pipelined-128x128", "pipelined-64x128",
                                          "pipelined-32x64"};
    const xgemm_type type = _i % 2 ? XGEMM_BF16 : XGEMM_F16;
    const int trials = test_effort() >= 100 ? 40 : test_effort() < 5 ? 1 : 6;
    xgemm_handle *handle = open_by_element(test_device());
    uint64_t state = (uint64_t)_i + 11;
    ck_assert_int_eq(xgemm_set_kernel(handle, kernels[_i / 2]), XGEMM_OK);
    for (int trial = 0; trial < trials; trial++) {
        const ragged_spec s = random_spec(type, &state);
        check(handle, &s, (uint64_t)trial);
    }
    xgemm_destroy(handle);
}
END_TEST

/* A graph that was captured once, replayed with other offsets in the same memory. */
START_TEST(replayed_with_other_offsets)
{
    enum { REPLAYS = 6 };
    char message[256];
    uint64_t state = (uint64_t)_i + 17;
    xgemm_handle *handle = open_by_element(test_device());
    recorder *const graph = recorder_open(handle, message, sizeof message);
    ck_assert_msg(graph != NULL, "%s", message);
    ragged_spec s = random_spec(types[_i], &state);
    ragged_problem *const p = problem_new(handle, &s, state);
    void *const offsets = memory_of_offsets(handle, &s);
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_msg(recorder_begin(graph), "%s", recorder_error(graph));
    const xgemm_status status = xgemm_gemm_ragged(handle, &p->call, offsets, s.groups);
    ck_assert_msg(recorder_end(graph, true), "%s", recorder_error(graph));
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    for (int i = 0; i < REPLAYS; i++) {
        set_offsets(&s, &state);
        unsigned char *const wanted = wanted_of(handle, &s, p);
        ck_assert_int_eq(
            xgemm_upload(handle, offsets, s.offsets, (size_t)(s.groups + 1) * sizeof s.offsets[0]),
            XGEMM_OK);
        ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
        ck_assert_msg(recorder_replay(graph), "%s", recorder_error(graph));
        compare(handle, &s, p, wanted, (uint64_t)i);
        ck_assert_int_eq(xgemm_upload(handle, p->c.device, p->c.host, p->c.bytes), XGEMM_OK);
        free(wanted);
    }
    xgemm_free(handle, offsets);
    problem_free(handle, p);
    recorder_close(graph);
    xgemm_destroy(handle);
}
END_TEST

/* Of k = 0 and alpha = 0 the rows of groups are beta C and the bias, and no others are written. */
START_TEST(without_a_product)
{
    const bool cpu = _i >= COUNT(types);
    xgemm_handle *handle = open_by_element(cpu ? XGEMM_DEVICE_CPU : test_device());
    ragged_spec s = {.type = types[_i % COUNT(types)],
                     .m = 40,
                     .n = 9,
                     .groups = 2,
                     .order = XGEMM_ROW_MAJOR,
                     .transa = XGEMM_NO_TRANS,
                     .transb = XGEMM_NO_TRANS,
                     .has_beta = true,
                     .has_bias = true,
                     .gap = 1,
                     .offsets = {3, 10, 35}};
    s.type_c = s.type;
    check(handle, &s, 1);
    s.has_beta = false;
    check(handle, &s, 2);
    xgemm_destroy(handle);
}
END_TEST

/* The simulator stops what leaves the launch's arrays: the offsets, and each group's B. */
START_TEST(watched)
{
    static const int64_t offsets[][5] = {{0, 0, 9, 9, 41}, {0, 0, 0, 41, 41}, {3, 17, 17, 30, 35}};
    xgemm_handle *handle;
    setenv("XGEMM_SIM", "check", 1);
    const xgemm_status status = xgemm_create(&handle, XGEMM_DEVICE_SIM);
    unsetenv("XGEMM_SIM");
    if (status == XGEMM_ERROR_NOT_SUPPORTED)
        return; /* a build that cannot trace */
    ck_assert_int_eq(status, XGEMM_OK);
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    for (int i = 0; i < 4 * COUNT(offsets); i++) {
        ragged_spec s = {.type = types[_i], .type_c = types[_i], .m = 41, .n = 19, .k = 13};
        s.order = i & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.transa = i & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS, s.transb = XGEMM_NO_TRANS;
        s.groups = 4, s.gap = i & 1, s.first = i & 1, s.has_bias = true;
        memcpy(s.offsets, offsets[i / 4], sizeof offsets[0]);
        check(handle, &s, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

/* C as beta leaves it, of k = 0 and an infinite alpha, and of alpha = 0, with A and B of NULL. */
static void check_without(int device, const char *kernel, int64_t k, float alpha, unsigned flags)
{
    xgemm_handle *handle = open_handle(device);
    const float beta = 2.0f, wanted[4] = {1.0f, 6.0f, 10.0f, 7.0f};
    float c[4] = {1.0f, 3.0f, 5.0f, 7.0f};
    const int64_t offsets[2] = {1, 3};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = 4, p.n = 1, p.k = k;
    p.lda = p.ldb = p.ldc = 1;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.c = c;
    p.alpha = &alpha, p.beta = &beta;
    p.flags = flags;
    ck_assert_int_eq(xgemm_set_kernel(handle, kernel), XGEMM_OK);
    ck_assert_int_eq(xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_OK);
    ck_assert_mem_eq(c, wanted, sizeof c);
    xgemm_destroy(handle);
}

START_TEST(nothing_is_read)
{
    static const struct {
        int device;
        const char *kernel;
    } places[] = {
        {XGEMM_DEVICE_CPU, "reference"}, {XGEMM_DEVICE_CPU, "auto"}, {XGEMM_DEVICE_SIM, "auto"}};
    check_without(places[_i].device, places[_i].kernel, 0, INFINITY, 0);
    check_without(places[_i].device, places[_i].kernel, 0, INFINITY, XGEMM_DEVICE_SCALARS);
    check_without(places[_i].device, places[_i].kernel, 1, 0.0f, 0);
}
END_TEST

START_TEST(what_is_refused)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, c[4] = {0};
    int64_t offsets[2] = {0, 2};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 2;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.a = a, p.b = b, p.c = c;
    const char *const name = "xgemm_gemm_ragged";
    ck_assert_int_eq(xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_OK);
    ck_assert_mem_eq(a, c, sizeof c);
    ck_assert_int_eq(xgemm_gemm_ragged(handle, &p, NULL, 0), XGEMM_OK);
    p.stride_a = p.stride_c = -1; /* which are not looked at */
    ck_assert_int_eq(xgemm_gemm_ragged(handle, &p, NULL, 0), XGEMM_OK);
    p.stride_a = p.stride_c = 0;
    ck_assert_int_eq(xgemm_gemm_ragged(NULL, &p, offsets, 1), XGEMM_ERROR_NULL_POINTER);
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, NULL, 1), XGEMM_ERROR_NULL_POINTER, name,
                   "offsets is NULL, and 2 offsets");
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, (int64_t *)((char *)offsets + 4), 1),
                   XGEMM_ERROR_INVALID_VALUE, name, "not aligned to the 8 bytes");
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, -1), XGEMM_ERROR_INVALID_VALUE,
                   name, "groups is -1");
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, INT64_C(1) << 31),
                   XGEMM_ERROR_NOT_SUPPORTED, name, "2^30 - 1 are the most");
    p.batch_count = 2;
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_ERROR_INVALID_VALUE,
                   name, "batch_count is 2");
    p.batch_count = 1;
    p.flags = XGEMM_POINTER_ARRAYS;
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_ERROR_NOT_SUPPORTED,
                   name, "XGEMM_POINTER_ARRAYS");
    p.flags = 0;
    p.stride_b = INT64_MAX / 8;
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, 100), XGEMM_ERROR_OVERFLOW, name,
                   "b has 100 matrices");
    p.stride_b = -1;
    assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_ERROR_INVALID_VALUE,
                   name, "stride_b is -1");
    xgemm_destroy(handle);
    handle = open_handle(test_device());
    p.stride_b = 0;
    ck_assert_int_eq(xgemm_set_kernel(handle, "naive"),
                     test_device() == XGEMM_DEVICE_CPU ? XGEMM_ERROR_NOT_SUPPORTED : XGEMM_OK);
    if (test_device() == XGEMM_DEVICE_SIM)
        assert_refused(handle, xgemm_gemm_ragged(handle, &p, offsets, 1), XGEMM_ERROR_NOT_SUPPORTED,
                       name, "kernel naive does not compute ragged groups of float");
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ragged");
    TCase *groups = new_case(suite, "groups", 60), *without = add_case(suite, "without");
    tcase_add_loop_test(groups, groups_have_the_bits_of_products, 0, 2 * COUNT(types));
    if (test_device() != XGEMM_DEVICE_CPU)
        tcase_add_loop_test(groups, groups_by_mma, 0, 6);
    if (test_device() >= 0)
        tcase_add_loop_test(new_case(suite, "graphs", 60), replayed_with_other_offsets, 0,
                            COUNT(types));
    tcase_add_loop_test(without, without_a_product, 0, 2 * COUNT(types));
    tcase_add_loop_test(without, nothing_is_read, 0, 3);
    tcase_add_loop_test(add_case(suite, "watched"), watched, 0, COUNT(types));
    tcase_add_test(add_case(suite, "refused"), what_is_refused);
    return run_suite(suite);
}
