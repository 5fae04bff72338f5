/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: every function of the driver fails at every one of its calls. */
#include "driver_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One product, a batch of two by strides or by pointers, rows in two groups, ... */
typedef enum { ONE, BATCH, POINTERS, RAGGED, SCALARS, CAPTURED, HOST } form;

/* What a session multiplies: square matrices. */
typedef struct {
    const char *kernel;
    int side;
    form how;
    bool ranges;     /* workspaces in ranges of addresses */
    xgemm_type type; /* 0: floats, by the functions for these */
    float beta;      /* of a product with a type */
    int capability;  /* 0: the fake's own */
} workload;

/*
 * Kernels with and without a workspace, clusters, tensor maps, much shared memory, PDL; what other
 * types have: residues, real products of complex ones into C and by the workspace, mma, wgmma; what
 * the device reads of a product itself, a stream that is being captured, matrices on the host.
 */
static const workload workloads[] = {
    {"padded", 3, ONE, false, 0, 0, 0},
    {"padded", 3, BATCH, true, 0, 0, 0},
    {"pipelined-64x128", 8, BATCH, true, 0, 0, 0},
    {"tma-128x128", 32, ONE, false, 0, 0, 0},
    {"fp16x3-128x64", 64, ONE, true, 0, 0, 0},
    {"auto", 17, BATCH, false, 0, 0, 0},
    {"fp16x3-128x256", 64, ONE, true, XGEMM_F64, 0, 0},
    {"fp16x3-128x64", 32, BATCH, false, XGEMM_C32, 0, 0},
    {"fp16x1-128x128", 32, ONE, true, XGEMM_C32, 0.5f, 0},
    {"fp16x1-128x128", 33, BATCH, true, XGEMM_BF16, 0.5f, 0},
    {"pipelined-64x128", 33, BATCH, false, XGEMM_F16, 0.5f, 80},
    {"auto", 9, BATCH, false, XGEMM_C64, 0.5f, 0},
    {"auto", 33, POINTERS, true, XGEMM_BF16, 0, 0},
    {"auto", 40, RAGGED, false, XGEMM_F16, 0.5f, 0},
    {"auto", 33, SCALARS, true, XGEMM_F32, 0, 0},
    {"fp16x3-128x64", 48, CAPTURED, true, XGEMM_F32, 0.5f, 0},
    {"auto", 24, HOST, false, XGEMM_F32, 0.5f, 0},
};
enum {
    WORKLOADS = (int)(sizeof workloads / sizeof *workloads),
    SIDE_MAX = 64,
    CELLS = SIDE_MAX * SIDE_MAX,
    MATRICES = 6,
    ELEMENT_MAX = 16,
    MATRICES_BYTES = MATRICES * CELLS * ELEMENT_MAX,
    CALLS_BEYOND = 16 /* what a session may call when another call failed, and not else */
};

/* In device memory behind the matrices. */
typedef struct {
    int64_t offsets[3]; /* of groups of rows */
    float alpha, beta;
    const void *a[2], *b[2];
    void *c[2];
} lists;

typedef struct {
    const workload *what;
    xgemm_handle *handle;
    xgemm_timer *timer;
    void *memory;
} session;

/* Matrix number i, of two for each operand, of what begins at the memory. */
static void *matrix_at(void *memory, int i)
{
    return (char *)memory + (size_t)i * CELLS * ELEMENT_MAX;
}

static lists lists_of(const session *s)
{
    const int side = s->what->side;
    void *const at = s->memory;
    return (lists){.offsets = {0, side / 3, side},
                   .alpha = 1.0f,
                   .beta = s->what->beta,
                   .a = {matrix_at(at, 0), matrix_at(at, 1)},
                   .b = {matrix_at(at, 2), matrix_at(at, 3)},
                   .c = {matrix_at(at, 4), matrix_at(at, 5)}};
}

static xgemm_status typed_product_of(session *s)
{
    static char host[MATRICES_BYTES];
    const workload *const what = s->what;
    const lists *const device = (const lists *)((char *)s->memory + MATRICES_BYTES);
    const double doubles[2] = {(double)what->beta, 0};
    const float floats[2] = {what->beta, 0};
    const bool of_doubles = what->type == XGEMM_F64 || what->type == XGEMM_C64;
    void *const at = what->how == HOST ? host : s->memory;
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.type_a = p.type_b = p.type_c = what->type;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = what->side;
    p.a = matrix_at(at, 0), p.b = matrix_at(at, 2), p.c = matrix_at(at, 4);
    p.stride_a = p.stride_b = p.stride_c = CELLS;
    p.batch_count = what->how == BATCH || what->how == POINTERS ? 2 : 1;
    p.beta = of_doubles ? (const void *)doubles : (const void *)floats;
    if (what->how == POINTERS) {
        p.a = device->a, p.b = device->b, p.c = (void *)(uintptr_t)device->c;
        p.flags = XGEMM_POINTER_ARRAYS;
    } else if (what->how == SCALARS) {
        p.alpha = &device->alpha, p.beta = &device->beta;
        p.flags = XGEMM_DEVICE_SCALARS;
    } else if (what->how == HOST) {
        p.flags = XGEMM_HOST_MEMORY;
    }
    if (what->how == CAPTURED)
        set("FAKE_CUDA_CAPTURE", 1);
    const xgemm_status status = what->how == RAGGED
                                    ? xgemm_gemm_ragged(s->handle, &p, device->offsets, 2)
                                    : xgemm_gemm(s->handle, &p);
    if (what->how == CAPTURED)
        unsetenv("FAKE_CUDA_CAPTURE");
    return status;
}

static xgemm_status product_of(session *s)
{
    const int64_t side = s->what->side, count = side * side;
    float *const x = s->memory, *const b = x + 2 * count, *const c = x + 4 * count;
    xgemm_status status = XGEMM_OK;
    if (s->what->type)
        status = xgemm_set_math(s->handle, XGEMM_MATH_TF32);
    if (!status)
        status = xgemm_set_kernel(s->handle, s->what->kernel);
    if (status)
        return status;
    if (s->what->type)
        return typed_product_of(s);
    return s->what->how == BATCH
               ? xgemm_sgemm_strided_batched(s->handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                             XGEMM_NO_TRANS, side, side, side, 1.0f, x, side, count,
                                             b, side, count, 0.0f, c, side, count, 2)
               : xgemm_sgemm(s->handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, side, side,
                             side, 1.0f, x, side, b, side, 0.0f, c, side);
}

static xgemm_status measure(session *s)
{
    double us;
    xgemm_status status = xgemm_timer_create(s->handle, &s->timer);
    if (!status)
        status = xgemm_timer_start(s->timer);
    if (!status)
        status = product_of(s);
    if (!status)
        status = xgemm_timer_stop(s->timer);
    if (!status)
        status = xgemm_timer_elapsed(s->timer, &us);
    return status;
}

static xgemm_status ask(session *s)
{
    uint64_t free_bytes, total;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_status status = xgemm_memory_info(s->handle, &free_bytes, &total);
    if (!status)
        status = xgemm_kernel_resources_get(s->handle, "naive", &resources);
    if (!status)
        status = xgemm_synchronize(s->handle);
    return status;
}

static xgemm_status run_session(session *s)
{
    static char values[MATRICES_BYTES + sizeof(lists)];
    xgemm_status status = xgemm_create(&s->handle, 0);
    if (!status)
        status = xgemm_malloc(s->handle, sizeof values, &s->memory);
    if (!status) {
        const lists of_session = lists_of(s);
        memcpy(values + MATRICES_BYTES, &of_session, sizeof of_session);
        status = xgemm_upload(s->handle, s->memory, values, sizeof values);
    }
    if (!status)
        status = measure(s);
    if (!status)
        status = xgemm_download(s->handle, values, s->memory, sizeof values);
    if (!status)
        status = ask(s);
    if (!status) {
        status = xgemm_free(s->handle, s->memory);
        if (!status)
            s->memory = NULL;
    }
    return status;
}

static void end_session(session *s)
{
    xgemm_timer_destroy(s->timer);
    if (s->memory)
        OK(s->handle, xgemm_free(s->handle, s->memory));
    xgemm_destroy(s->handle);
}

static const char *const symbols[] = {
#define SYMBOL(member, symbol, parameters) #symbol,
    XG_CU_FUNCTIONS(SYMBOL) XG_CU_NEWER_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

enum { SYMBOLS = (int)(sizeof symbols / sizeof *symbols) };

/* Functions whose failure is nothing to a session: what they tell is not needed, or undone. */
static bool may_fail(const char *symbol)
{
    static const char *const names[] = {"cuCtxGetCurrent", "cuCtxPopCurrent_v2",
                                        "cuThreadExchangeStreamCaptureMode", "cuDeviceGetPCIBusId",
                                        "cuDeviceGetUuid_v2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(symbol, names[i]) == 0)
            return true;
    return false;
}

/* After a failure to pop a context or to set the capture mode the driver is not as it was. */
static void restore_driver(void)
{
    unsigned mode = 0;
    xg_cu_context popped;
    cu.capture_mode(&mode);
    while (fake.depth() > expected_depth)
        cu.context_pop(&popped);
}

/* A session with FAKE_CUDA_FAIL as set; nothing is left of it. */
static xgemm_status run_failing(const workload *what, const char *name)
{
    session s = {what, NULL, NULL, NULL};
    set("FAKE_CUDA_RANGES", what->ranges);
    if (what->capability)
        set("FAKE_CUDA_CC", what->capability);
    const xgemm_status status = run_session(&s);
    fail_no_more();
    restore_driver();
    same_context(name);
    end_session(&s);
    same_context(name);
    REQUIRE(fake.leaks() == 0, "%s: %s (%s): something leaked", what->kernel, name, fake.refused());
    return status;
}

/* Whether the nth call was reached. */
static bool session_with_failure(const char *symbol, int nth)
{
    const int before = fake.calls(symbol);
    int calls;
    fail_nth(symbol, 999, nth, 1);
    session s = {&workloads[0], NULL, NULL, NULL};
    const xgemm_status status = run_session(&s);
    calls = fake.calls(symbol) - before;
    fail_no_more();
    restore_driver();
    end_session(&s);
    same_context(symbol);
    REQUIRE(fake.leaks() == 0, "%s, call %d: something leaked", symbol, nth);
    ck_assert_uint_eq(capture_mode(), 0);
    const bool reached = calls >= nth;
    REQUIRE(status == (reached && !may_fail(symbol) ? XGEMM_ERROR_DRIVER : XGEMM_OK),
            "%s, call %d: %s", symbol, nth, xgemm_status_name(status));
    return reached;
}

START_TEST(test_every_failure)
{
    int nth = 1;
    ck_assert_int_eq(xgemm_device_count(), 1); /* what is called once in a process was */
    while (session_with_failure(symbols[_i], nth))
        nth++;
}
END_TEST

/* The calls of the driver in a session that does not fail. */
static int calls_of(const workload *what)
{
    const int before = fake.calls("*");
    ck_assert_int_eq(run_failing(what, "nothing"), XGEMM_OK);
    return fake.calls("*") - before;
}

/*
 * The first call fails with this result and the second, if it is not 0, as unknown; what the
 * session returns says one of them, or nothing where it found another way.
 */
static void fail_calls(const workload *what, int first, unsigned result, int second)
{
    char text[96], name[64];
    const int before = fake.calls("*");
    const bool of_memory = result == XG_CUDA_ERROR_OUT_OF_MEMORY;
    snprintf(name, sizeof name, "call %d by %u, call %d", first, result, second);
    snprintf(text, sizeof text, "*:%u:%d:1,*:999:%d:%d", result, before + first, before + second,
             second != 0);
    setenv("FAKE_CUDA_FAIL", text, 1);
    const xgemm_status status = run_failing(what, name);
    /* A mode of capture that is not changed for want of memory: then the driver refuses to
     * allocate. */
    const bool in_capture = what->how == CAPTURED && status == XGEMM_ERROR_DRIVER;
    const bool said = in_capture || (status == XGEMM_ERROR_DRIVER && (!of_memory || second != 0)) ||
                      (of_memory && (status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY ||
                                     status == XGEMM_ERROR_OUT_OF_MEMORY ||
                                     status == XGEMM_ERROR_LAUNCH /* not the first launch */));
    REQUIRE(status == XGEMM_OK || said, "%s: %s (%s): %s", what->kernel, name, fake.refused(),
            xgemm_status_name(status));
}

/* Each how many pairs of calls is tried: XGEMM_TEST_EFFORT percent; all when it is unset. */
static int stride_of_pairs(void)
{
    const char *text = getenv("XGEMM_TEST_EFFORT");
    const long effort = text && *text ? strtol(text, NULL, 10) : 100;
    return effort >= 1 && effort < 100 ? (int)(100 / effort) : 1;
}

/*
 * Every call of every kind of kernel, one after the other: as unknown, and for want of memory.
 * Unless the effort is full, by kernels that do nothing, which take most of the time.
 */
START_TEST(test_each_call)
{
    const workload *const what = &workloads[_i];
    ck_assert_int_eq(xgemm_device_count(), 1);
    const int calls = with_cuda() ? calls_of(what) : 0;
    if (stride_of_pairs() > 1)
        set("FAKE_CUDA_IDLE", 1);
    for (int call = 1; call <= calls; call++) {
        fail_calls(what, call, 999, 0);
        fail_calls(what, call, XG_CUDA_ERROR_OUT_OF_MEMORY, 0);
    }
}
END_TEST

/*
 * Two of them, each with each, or as many of these pairs as the effort says. What is out of memory
 * goes on by other calls, so that the second can lie beyond those of a session that has enough.
 */
START_TEST(test_two_calls)
{
    const workload *const what = &workloads[_i];
    const int stride = stride_of_pairs();
    ck_assert_int_eq(xgemm_device_count(), 1);
    const int calls = with_cuda() ? calls_of(what) + CALLS_BEYOND : 0;
    int pair = 0;
    if (stride > 1)
        set("FAKE_CUDA_IDLE", 1);
    for (int first = 1; first < calls; first++)
        for (int second = first + 1; second <= calls; second++)
            if (pair++ % stride == 0) {
                fail_calls(what, first, 999, second);
                fail_calls(what, first, XG_CUDA_ERROR_OUT_OF_MEMORY, second);
            }
}
END_TEST

void add_failure_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "failures", setup, teardown);
    tcase_add_loop_test(tcase, test_every_failure, 0, SYMBOLS);
    tcase_add_loop_test(tcase, test_each_call, 0, WORKLOADS);
    tcase_add_loop_test(tcase, test_two_calls, 0, WORKLOADS);
}
