/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA backend on fake_cuda.c's drivers: drivers that cannot be used,
 * failures of every function, and the whole of it without a GPU.
 *
 * The dynamic linker reads LD_LIBRARY_PATH when a program starts, so this one
 * starts itself again with a folder of its own in it. Each test, in a process
 * of its own, puts the driver there that it wants.
 */
#include <xgemm.h>

#include "cuda/driver.h"
#include "kernels/args.h"

#include <check.h>
#include <dlfcn.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_VARIABLE "XGEMM_TEST_DRIVER_FOLDER"

enum { SKIPPED = 77, CANNOT_RUN = 99, PATH_BYTES = 4096 };

static char fakes[PATH_BYTES / 2];     /* the folder of the fakes */
static char libcuda[PATH_BYTES / 2];   /* what dlopen("libcuda.so.1") finds */
static xg_cu cu;                       /* the fake, as the library calls it */
static xg_cu_context expected_context; /* what stays current in every call */
static int expected_depth, expected_leaks;
static struct {
    int (*leaks)(void);
    int (*calls)(const char *symbol);
    int (*retains)(int device);
    int (*depth)(void);
    const xg_args *(*last_arguments)(void);
    void *(*last_stream)(void);
} fake;

/* --- which driver there is --- */

static void no_driver(void)
{
    unlink(libcuda);
}

static void install(const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", fakes, name);
    no_driver();
    ck_assert_msg(symlink(path, libcuda) == 0, "no link %s", libcuda);
}

static void resolve(void *library, const char *symbol, void *function)
{
    void *address = dlsym(library, symbol);
    ck_assert_msg(address != NULL, "%s", dlerror());
    memcpy(function, &address, sizeof address);
}

/* The same object as the library opens. */
static void open_fake(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
#define RESOLVE(member, symbol, parameters) resolve(library, #symbol, &cu.member);
    XG_CU_FUNCTIONS(RESOLVE)
#undef RESOLVE
    resolve(library, "fake_cuda_leaks", &fake.leaks);
    resolve(library, "fake_cuda_calls", &fake.calls);
    resolve(library, "fake_cuda_retains", &fake.retains);
    resolve(library, "fake_cuda_depth", &fake.depth);
    resolve(library, "fake_cuda_last_arguments", &fake.last_arguments);
    resolve(library, "fake_cuda_last_stream", &fake.last_stream);
    ck_assert_uint_eq(cu.init(0), 0);
}

static void set(const char *variable, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    setenv(variable, text, 1);
}

static void clean_environment(void)
{
    static const char *const variables[] = {
        "XGEMM_DEVICE",   "XGEMM_KERNEL",      "FAKE_CUDA_VERSION", "FAKE_CUDA_INIT",
        "FAKE_CUDA_NAME", "FAKE_CUDA_CC",      "FAKE_CUDA_DEVICES", "FAKE_CUDA_MEMORY",
        "FAKE_CUDA_FAIL", "FAKE_CUDA_CAPTURE", "FAKE_CUDA_LEAKS",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    if (XGEMM_CUDA_OLDEST > 90) /* the fake's own would be too old */
        set("FAKE_CUDA_CC", XGEMM_CUDA_OLDEST);
}

static void setup_load(void)
{
    clean_environment();
    install("fake_cuda.so");
}

static void setup(void)
{
    setup_load();
    open_fake();
}

static void setup_two(void)
{
    setup();
    set("FAKE_CUDA_DEVICES", 2);
}

static unsigned capture_mode(void)
{
    unsigned mode = 0, ours = 0;
    cu.capture_mode(&mode);
    ours = mode;
    cu.capture_mode(&mode);
    return ours;
}

static void teardown(void)
{
    clean_environment();
    ck_assert_int_eq(fake.leaks(), expected_leaks);
    ck_assert_uint_eq(capture_mode(), 0);
}

/* The function fails from its nth next call on, so many times. */
static void fail_nth(const char *symbol, unsigned result, int nth, int times)
{
    char text[128];
    const int calls = fake.calls(symbol);
    ck_assert_msg(calls >= 0, "the fake has no %s", symbol);
    snprintf(text, sizeof text, "%s:%u:%d:%d", symbol, result, calls + nth, times);
    setenv("FAKE_CUDA_FAIL", text, 1);
}

static void fail_next(const char *symbol, unsigned result)
{
    fail_nth(symbol, result, 1, INT_MAX);
}

static void fail_no_more(void)
{
    unsetenv("FAKE_CUDA_FAIL");
}

/* --- calls --- */

static void same_context(const char *call)
{
    xg_cu_context context = NULL;
    if (!fake.depth)
        return;
    cu.context_current(&context);
    ck_assert_msg(context == expected_context, "%s: another context is current", call);
    ck_assert_msg(fake.depth() == expected_depth, "%s: the stack of contexts is %d deep, not %d",
                  call, fake.depth(), expected_depth);
}

/* Every call leaves the caller's context as it is. */
#define GIVES(status, handle, call)                                                                \
    do {                                                                                           \
        const xgemm_status given_ = (call);                                                        \
        ck_assert_msg(given_ == (status), "%s gives %s: %s", #call, xgemm_status_name(given_),     \
                      xgemm_last_error(handle));                                                   \
        same_context(#call);                                                                       \
    } while (0)
#define OK(handle, call) GIVES(XGEMM_OK, handle, call)

static void says(const xgemm_handle *handle, const char *part)
{
    ck_assert_msg(strstr(xgemm_last_error(handle), part) != NULL, "\"%s\" is not in \"%s\"", part,
                  xgemm_last_error(handle));
}

static xgemm_handle *create(int device)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, device));
    ck_assert_int_eq(xgemm_get_device(handle), device);
    return handle;
}

static void destroy(xgemm_handle *handle)
{
    xgemm_destroy(handle);
    same_context("xgemm_destroy");
}

static void cannot_create(xgemm_status status, int device, const char *sentence)
{
    int not_null;
    xgemm_handle *handle = (xgemm_handle *)(void *)&not_null;
    GIVES(status, NULL, xgemm_create(&handle, device));
    ck_assert_ptr_null(handle);
    ck_assert_int_eq(strncmp(xgemm_last_error(NULL), "xgemm_create: ", 14), 0);
    says(NULL, sentence);
}

static void cannot_get(xgemm_status status, int device)
{
    xgemm_device description = {.struct_size = sizeof description};
    GIVES(status, NULL, xgemm_device_get(device, &description));
}

static bool with_cuda(void)
{
    xgemm_kernel_info info = {.struct_size = sizeof info};
    xgemm_kernel_get(0, &info);
    return (info.devices & XGEMM_RUNS_ON_CUDA) != 0;
}

/* --- products --- */

enum { GAP = 3 }; /* elements between the lines of C */

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k;
} shape;

static const shape odd = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 37, 45, 51};
static const shape deep = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 33, 40, 4000};
static const float alpha = 1.5f, beta = -0.5f;

typedef struct {
    shape shape;
    int lda, ldb, ldc;
    size_t a_count, b_count, c_count;
    float *a, *b, *c, *result; /* the host's */
    void *device_a, *device_b, *device_c;
    double rounding; /* of the inputs, in terms of |A||B| */
} problem;

static float *matrix(size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
    }
    return values;
}

static void *upload(xgemm_handle *handle, const float *values, size_t count)
{
    void *memory;
    OK(handle, xgemm_malloc(handle, count * sizeof *values, &memory));
    ck_assert_uint_eq((uintptr_t)memory % 256, 0);
    OK(handle, xgemm_upload(handle, memory, values, count * sizeof *values));
    return memory;
}

static bool turned(const shape *s, xgemm_transpose trans)
{
    return (s->order == XGEMM_COL_MAJOR) != (trans != XGEMM_NO_TRANS);
}

static problem prepare(xgemm_handle *handle, const shape *s)
{
    problem p = {.shape = *s};
    const bool rows = s->order == XGEMM_ROW_MAJOR;
    p.lda = turned(s, s->transa) ? s->m : s->k;
    p.ldb = turned(s, s->transb) ? s->k : s->n;
    p.ldc = (rows ? s->n : s->m) + GAP;
    p.a_count = (size_t)s->m * (size_t)s->k;
    p.b_count = (size_t)s->k * (size_t)s->n;
    p.c_count = (size_t)p.ldc * (size_t)(rows ? s->m : s->n);
    p.a = matrix(p.a_count, 1);
    p.b = matrix(p.b_count, 2);
    p.c = matrix(p.c_count, 3);
    p.result = matrix(p.c_count, 4);
    p.device_a = upload(handle, p.a, p.a_count);
    p.device_b = upload(handle, p.b, p.b_count);
    p.device_c = upload(handle, p.c, p.c_count);
    return p;
}

static void finish(xgemm_handle *handle, problem *p)
{
    OK(handle, xgemm_free(handle, p->device_a));
    OK(handle, xgemm_free(handle, p->device_b));
    OK(handle, xgemm_free(handle, p->device_c));
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->result);
}

static xgemm_status run(xgemm_handle *handle, const problem *p)
{
    const shape *s = &p->shape;
    return xgemm_sgemm(handle, s->order, s->transa, s->transb, s->m, s->n, s->k, alpha, p->device_a,
                       p->lda, p->device_b, p->ldb, beta, p->device_c, p->ldc);
}

static float at(const float *values, int ld, bool turn, int row, int column)
{
    return turn ? values[(size_t)column * (size_t)ld + (size_t)row]
                : values[(size_t)row * (size_t)ld + (size_t)column];
}

static void check_element(const problem *p, int row, int column)
{
    const shape *s = &p->shape;
    const bool turn_c = s->order == XGEMM_COL_MAJOR;
    double sum = 0.0, size = 0.0;
    for (int l = 0; l < s->k; l++) {
        const double product = (double)at(p->a, p->lda, turned(s, s->transa), row, l) *
                               (double)at(p->b, p->ldb, turned(s, s->transb), l, column);
        sum += product;
        size += fabs(product);
    }
    const double old = (double)at(p->c, p->ldc, turn_c, row, column);
    const double right = (double)alpha * sum + (double)beta * old;
    const double bound = ((s->k + 4) * FLT_EPSILON + p->rounding) *
                         (fabs((double)alpha) * size + fabs((double)beta * old));
    const double given = (double)at(p->result, p->ldc, turn_c, row, column);
    ck_assert_msg(fabs(given - right) <= bound, "C(%d, %d) is %g; it should be %g +- %g", row,
                  column, given, right, bound);
}

/* Every element, and what lies between the lines. */
static void check_result(const problem *p)
{
    for (int row = 0; row < p->shape.m; row++)
        for (int column = 0; column < p->shape.n; column++)
            check_element(p, row, column);
    for (size_t i = 0; i < p->c_count; i++)
        if (i % (size_t)p->ldc >= (size_t)(p->ldc - GAP))
            ck_assert_msg(p->result[i] == p->c[i], "a gap of C was written");
}

static void download_and_check(xgemm_handle *handle, const problem *p)
{
    OK(handle, xgemm_download(handle, p->result, p->device_c, p->c_count * sizeof(float)));
    check_result(p);
}

static void multiply_rounded(xgemm_handle *handle, const shape *s, double rounding)
{
    problem p = prepare(handle, s);
    p.rounding = rounding;
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    OK(handle, xgemm_synchronize(handle));
    finish(handle, &p);
}

static void multiply_shape(xgemm_handle *handle, const shape *s)
{
    multiply_rounded(handle, s, 0.0);
}

static void multiply(xgemm_handle *handle)
{
    multiply_shape(handle, &odd);
}

/* XGEMM_DEVICE_AUTO must have taken the CPU, and that works. */
static void auto_is_cpu(void)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), XGEMM_DEVICE_CPU);
    multiply(handle);
    destroy(handle);
}

/* --- drivers that cannot be used --- */

/* All that can be asked gives the status; GPU 0 does, too, if this build has kernels for it. */
static void unusable(xgemm_status status, const char *sentence)
{
    ck_assert_int_eq(xgemm_device_count(), 0);
    cannot_get(status, 0);
    says(NULL, sentence);
    if (with_cuda())
        cannot_create(status, 0, sentence);
    else
        cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, "without CUDA");
}

START_TEST(test_no_driver)
{
    no_driver();
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        printf("SKIP: no driver: this system has one\n");
        return;
    }
    unusable(XGEMM_ERROR_NO_DRIVER, "no CUDA driver can be loaded: ");
    cannot_get(XGEMM_ERROR_NO_DRIVER, 0);
    says(NULL, "libcuda.so.1");
    auto_is_cpu();
}
END_TEST

START_TEST(test_no_library)
{
    no_driver();
    FILE *file = fopen(libcuda, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 100; i++)
        fputs("This is no shared library.\n", file);
    fclose(file);
    unusable(XGEMM_ERROR_NO_DRIVER, "no CUDA driver can be loaded: ");
    auto_is_cpu();
}
END_TEST

START_TEST(test_empty_library)
{
    no_driver();
    FILE *file = fopen(libcuda, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    unusable(XGEMM_ERROR_NO_DRIVER, "no CUDA driver can be loaded: ");
    auto_is_cpu();
}
END_TEST

START_TEST(test_old_driver)
{
    set("FAKE_CUDA_VERSION", 10020);
    unusable(XGEMM_ERROR_DRIVER_TOO_OLD, "version 10.2; libxgemm needs 11.0");
    auto_is_cpu();
}
END_TEST

START_TEST(test_oldest_driver)
{
    set("FAKE_CUDA_VERSION", XG_CU_OLDEST);
    ck_assert_int_eq(xgemm_device_count(), 1);
}
END_TEST

START_TEST(test_missing_symbol)
{
    install("fake_cuda_old.so");
    unusable(XGEMM_ERROR_DRIVER_TOO_OLD, "cuMemAlloc_v2");
    auto_is_cpu();
}
END_TEST

START_TEST(test_version_fails)
{
    setenv("FAKE_CUDA_FAIL", "cuDriverGetVersion:999", 1);
    unusable(XGEMM_ERROR_DRIVER, "cuDriverGetVersion failed: CUDA_ERROR_UNKNOWN (unknown error)");
}
END_TEST

START_TEST(test_init_no_device)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_NO_DEVICE);
    unusable(XGEMM_ERROR_NO_DEVICE, "the CUDA driver finds no GPU");
    auto_is_cpu();
}
END_TEST

START_TEST(test_init_fails)
{
    set("FAKE_CUDA_INIT", 999);
    unusable(XGEMM_ERROR_DRIVER, "cuInit failed: CUDA_ERROR_UNKNOWN (unknown error)");
}
END_TEST

/* A result that the driver itself cannot name. */
START_TEST(test_init_fails_oddly)
{
    set("FAKE_CUDA_INIT", 4711);
    unusable(XGEMM_ERROR_DRIVER, "cuInit failed: ");
}
END_TEST

START_TEST(test_no_devices)
{
    set("FAKE_CUDA_DEVICES", 0);
    unusable(XGEMM_ERROR_NO_DEVICE,
             with_cuda() ? "there is no GPU 0; the CUDA driver has 0" : "there is no GPU 0");
    auto_is_cpu();
}
END_TEST

/* The next call tries again. */
START_TEST(test_driver_comes_later)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_NO_DEVICE);
    unusable(XGEMM_ERROR_NO_DEVICE, "finds no GPU");
    unsetenv("FAKE_CUDA_INIT");
    ck_assert_int_eq(xgemm_device_count(), 1);
    no_driver(); /* and what was opened stays open */
    ck_assert_int_eq(xgemm_device_count(), 1);
    xgemm_device description = {.struct_size = sizeof description};
    OK(NULL, xgemm_device_get(0, &description));
}
END_TEST

START_TEST(test_without_kernels)
{
    if (with_cuda())
        return;
    cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, "without CUDA");
    auto_is_cpu();
}
END_TEST

/* --- devices --- */

START_TEST(test_device_of_too_few)
{
    ck_assert_int_eq(xgemm_device_count(), 1);
    cannot_create(XGEMM_ERROR_NO_DEVICE, 5, "there is no GPU 5; the CUDA driver has 1");
    cannot_get(XGEMM_ERROR_NO_DEVICE, 5);
    says(NULL, "xgemm_device_get: there is no GPU 5; the CUDA driver has 1");
    setenv("XGEMM_DEVICE", "5", 1);
    cannot_create(XGEMM_ERROR_NO_DEVICE, XGEMM_DEVICE_AUTO, "there is no GPU 5");
}
END_TEST

START_TEST(test_old_device)
{
    const int capability = XGEMM_CUDA_OLDEST > 75 ? 75 : 30;
    char needs[64], has[64];
    snprintf(has, sizeof has, "compute capability %d.%d", capability / 10, capability % 10);
    snprintf(needs, sizeof needs, "need %d.%d", XGEMM_CUDA_OLDEST / 10, XGEMM_CUDA_OLDEST % 10);
    set("FAKE_CUDA_CC", capability);
    cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, has);
    says(NULL, needs);
    auto_is_cpu();
    xgemm_device description = {.struct_size = sizeof description};
    OK(NULL, xgemm_device_get(0, &description));
    ck_assert_int_eq(description.compute_capability, capability);
}
END_TEST

START_TEST(test_oldest_device)
{
    set("FAKE_CUDA_CC", XGEMM_CUDA_OLDEST);
    destroy(create(0));
}
END_TEST

START_TEST(test_auto_is_gpu)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), 0);
    multiply(handle);
    destroy(handle);
    setenv("XGEMM_DEVICE", "cpu", 1);
    auto_is_cpu();
}
END_TEST

START_TEST(test_environment_names_gpu)
{
    xgemm_handle *handle;
    setenv("XGEMM_DEVICE", "1", 1);
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), 1);
    destroy(handle);
}
END_TEST

/* A handle that fails after its device was opened closes it. */
START_TEST(test_environment_names_no_kernel)
{
    setenv("XGEMM_KERNEL", "nonesuch", 1);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "nonesuch");
    ck_assert_int_eq(fake.calls("cuDevicePrimaryCtxRetain"), 1);
    ck_assert_int_eq(fake.retains(0), 0);
    setenv("XGEMM_KERNEL", "reference", 1);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "naive");
}
END_TEST

START_TEST(test_create_fails)
{
    fail_next("cuDeviceGetAttribute", 999);
    cannot_create(XGEMM_ERROR_DRIVER, 0, "cuDeviceGetAttribute failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuDevicePrimaryCtxRetain", 999);
    cannot_create(XGEMM_ERROR_DRIVER, 0, "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuDevicePrimaryCtxRetain", XG_CUDA_ERROR_OUT_OF_MEMORY);
    cannot_create(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, 0, "CUDA_ERROR_OUT_OF_MEMORY");
    fail_no_more();
    destroy(create(0));
}
END_TEST

static bool close_to(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(y);
}

START_TEST(test_device_fields)
{
    xgemm_device d = {.struct_size = sizeof d};
    set("FAKE_CUDA_CC", 89);
    set("FAKE_CUDA_VERSION", 12040);
    set("FAKE_CUDA_MEMORY", 123456789012);
    OK(NULL, xgemm_device_get(1, &d));
    ck_assert_int_eq(d.ordinal, 1);
    ck_assert_int_eq(d.compute_capability, 89);
    ck_assert_str_eq(d.name, "Fake CUDA device 1");
    ck_assert_str_eq(d.detail, "CUDA driver 12.4");
    ck_assert_int_eq(d.multiprocessors, 132);
    ck_assert_int_eq(d.fp32_lanes, 128);
    ck_assert_int_eq(d.threads_per_sm, 2048);
    ck_assert_int_eq(d.blocks_per_sm, 32);
    ck_assert_int_eq(d.threads_per_block, 1024);
    ck_assert_int_eq(d.registers_per_sm, 65536);
    ck_assert_int_eq(d.shared_per_sm, 233472);
    ck_assert_int_eq(d.shared_per_block, 232448);
    ck_assert_int_eq(d.l2_bytes, 62914560);
    ck_assert_int_eq(d.memory_bytes, 123456789012);
    ck_assert_int_eq(d.memory_bus_bits, 6144);
    ck_assert(close_to(d.core_clock_mhz, 1980.0));
    ck_assert(close_to(d.memory_clock_mhz, 3201.0));
    ck_assert(close_to(d.peak_fp32_gflops, 132 * 128 * 2 * 1.98));
    ck_assert(close_to(d.peak_bandwidth_gbs, 2 * 3.201 * 6144 / 8));
    ck_assert(close_to(d.balance_flop_per_byte, d.peak_fp32_gflops / d.peak_bandwidth_gbs));
    ck_assert_int_eq(d.warps_per_sm, 64);
    ck_assert_int_eq(d.registers_per_block, 65536);
    ck_assert_int_eq(d.registers_per_thread, 255);
    ck_assert_int_eq(d.shared_per_block_static, 49152);
    ck_assert_int_eq(d.shared_reserved, 1024);
    ck_assert_int_eq(d.cluster_blocks, 0);
    ck_assert_int_eq(d.limits_from, 89);
    ck_assert(d.peak_fp16_gflops == 0.0);
    ck_assert_str_eq(d.source, "");
    ck_assert_int_eq(fake.retains(1), 0);
}
END_TEST

static void same_granules(const xgemm_device *d, const char *capability)
{
    xgemm_device known = {.struct_size = sizeof known};
    OK(NULL, xgemm_device_find(capability, &known));
    ck_assert_int_eq(d->limits_from, known.compute_capability);
    ck_assert_int_eq(d->fp32_lanes, known.fp32_lanes);
    ck_assert_int_eq(d->registers_per_thread, known.registers_per_thread);
    ck_assert_int_eq(d->register_granule, known.register_granule);
    ck_assert_int_eq(d->warp_granule, known.warp_granule);
    ck_assert_int_eq(d->shared_granule, known.shared_granule);
}

/* Limits are the driver's, granules those of the nearest older compute capability. */
START_TEST(test_device_newer)
{
    static const struct {
        int capability;
        const char *granules;
    } cases[] = {{130, "12.1"}, {91, "9.0"}, {101, "10.0"}, {255, "12.1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xgemm_device d = {.struct_size = sizeof d};
        set("FAKE_CUDA_CC", cases[i].capability);
        OK(NULL, xgemm_device_get(0, &d));
        ck_assert_int_eq(d.compute_capability, cases[i].capability);
        ck_assert_int_eq(d.threads_per_sm, 2048);
        ck_assert_int_eq(d.shared_per_sm, 233472);
        ck_assert_int_eq(d.cluster_blocks, 8);
        same_granules(&d, cases[i].granules);
        ck_assert(close_to(d.peak_fp32_gflops, 132 * d.fp32_lanes * 2 * 1.98));
    }
}
END_TEST

/* Older than every table: no lanes, hence no peak; the rest goes on. */
START_TEST(test_device_older)
{
    xgemm_device d = {.struct_size = sizeof d};
    set("FAKE_CUDA_CC", 61);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_int_eq(d.fp32_lanes, 0);
    ck_assert(d.peak_fp32_gflops == 0.0 && d.balance_flop_per_byte == 0.0);
    ck_assert_int_eq(d.limits_from, 70);
    ck_assert_int_gt(d.register_granule, 0);
}
END_TEST

static double fp16_of(const char *name, int capability)
{
    xgemm_device d = {.struct_size = sizeof d};
    setenv("FAKE_CUDA_NAME", name, 1);
    set("FAKE_CUDA_CC", capability);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_str_eq(d.name, name);
    return d.peak_fp16_gflops;
}

/* The fake has 132 multiprocessors: a product of that name with fewer is another one. */
START_TEST(test_device_of_catalog)
{
    xgemm_device known = {.struct_size = sizeof known};
    OK(NULL, xgemm_device_find("H200 SXM", &known));
    ck_assert(known.peak_fp16_gflops > 0.0);
    ck_assert(close_to(fp16_of("NVIDIA H200", 90), known.peak_fp16_gflops));
    ck_assert(fp16_of("NVIDIA H200", 100) == 0.0);
    ck_assert(fp16_of("NVIDIA H200 MIG 1g.18gb", 90) == 0.0);
    ck_assert(fp16_of("NVIDIA H100 PCIe", 90) == 0.0);
    ck_assert(fp16_of("NVIDIA", 90) == 0.0);
    ck_assert(fp16_of("", 90) == 0.0);
}
END_TEST

/* What the driver does not know is 0. */
START_TEST(test_device_fields_unknown)
{
    xgemm_device d = {.struct_size = sizeof d};
    fail_next("cuDeviceGetAttribute", 999);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_int_eq(d.multiprocessors, 0);
    ck_assert_int_eq(d.compute_capability, 0);
    ck_assert_int_eq(d.fp32_lanes, 0);
    ck_assert_int_eq(d.limits_from, 0);
    ck_assert(d.peak_fp32_gflops == 0.0);
    ck_assert_str_eq(d.name, "Fake CUDA device 0");
}
END_TEST

START_TEST(test_count)
{
    set("FAKE_CUDA_DEVICES", 7);
    ck_assert_int_eq(xgemm_device_count(), 7);
    fail_next("cuDeviceGetCount", 999);
    ck_assert_int_eq(xgemm_device_count(), 0);
}
END_TEST

/* --- memory --- */

START_TEST(test_out_of_memory)
{
    xgemm_handle *handle = create(0);
    int not_null;
    void *memory = &not_null;
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, 1u << 31, &memory));
    ck_assert_ptr_null(memory);
    ck_assert_str_eq(xgemm_last_error(handle), "xgemm_malloc: GPU 0 has no 2147483648 bytes of "
                                               "memory left: 1073741824 of 1073741824 are free");
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, SIZE_MAX, &memory));
    multiply(handle);
    destroy(handle);
}
END_TEST

enum { PADDED_BYTES = 3 * 64 * 64 * (int)sizeof(float) }; /* for odd */

START_TEST(test_out_of_memory_workspace)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes, total;
    char sentence[64];
    OK(handle, xgemm_set_kernel(handle, "padded"));
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes) + PADDED_BYTES - 1);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, run(handle, &p));
    snprintf(sentence, sizeof sentence, "xgemm_sgemm: GPU 0 has no %d bytes", PADDED_BYTES);
    says(handle, sentence);
    snprintf(sentence, sizeof sentence, "left: %d of", PADDED_BYTES - 1);
    says(handle, sentence);

    OK(handle, xgemm_set_kernel(handle, "tiled32")); /* the handle goes on */
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    OK(handle, xgemm_upload(handle, p.device_c, p.c, p.c_count * sizeof(float)));
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes) + PADDED_BYTES);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_memory_fails)
{
    xgemm_handle *handle = create(0);
    void *memory, *more;
    char byte = 0;
    uint64_t x, y;
    OK(handle, xgemm_malloc(handle, 1, &memory));
    fail_next("cuMemAlloc_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_malloc(handle, 1, &more));
    ck_assert_ptr_null(more);
    says(handle, "xgemm_malloc: cuMemAlloc failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyHtoDAsync_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_upload(handle, memory, &byte, 1));
    says(handle, "xgemm_upload: cuMemcpyHtoDAsync failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyDtoHAsync_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_download(handle, &byte, memory, 1));
    says(handle, "xgemm_download: cuMemcpyDtoHAsync failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyDtoHAsync_v2", XG_CUDA_ERROR_ILLEGAL_ADDRESS); /* of a kernel before it */
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_download(handle, &byte, memory, 1));
    fail_next("cuMemGetInfo_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_memory_info(handle, &x, &y));
    says(handle, "xgemm_memory_info: cuMemGetInfo failed");
    fail_next("cuMemFree_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_free(handle, memory));
    says(handle, "xgemm_free: cuMemFree failed");
    fail_no_more();
    OK(handle, xgemm_free(handle, memory));
    destroy(handle);
}
END_TEST

/* A copy is done when the call returns, however late the driver does it. */
START_TEST(test_copies)
{
    xgemm_handle *handle = create(0);
    int token;
    void *memory;
    char text[16] = "fifteen letters";
    OK(handle, xgemm_malloc(handle, sizeof text, &memory));
    for (int i = 0; i < 2; i++) {
        OK(handle, xgemm_set_stream(handle, i ? &token : NULL));
        snprintf(text, sizeof text, "fifteen letters");
        OK(handle, xgemm_upload(handle, memory, text, sizeof text));
        memset(text, 0, sizeof text);
        OK(handle, xgemm_download(handle, text, memory, sizeof text));
        ck_assert_str_eq(text, "fifteen letters");
    }
    OK(handle, xgemm_free(handle, memory));
    destroy(handle);
}
END_TEST

START_TEST(test_memory_info)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes = 1, total = 1;
    void *memory;
    set("FAKE_CUDA_MEMORY", 1000000);
    OK(handle, xgemm_malloc(handle, 12345, &memory));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, 1000000 - 12345);
    ck_assert_uint_eq(total, 1000000);
    OK(handle, xgemm_free(handle, memory));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, 1000000);
    destroy(handle);
}
END_TEST

START_TEST(test_free_of_a_stranger)
{
    xgemm_handle *handle = create(0);
    int ours;
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_free(handle, &ours));
    says(handle, "xgemm_free: cuMemFree failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
    destroy(handle);
    expected_leaks = 1; /* it counts as one */
}
END_TEST

START_TEST(test_host_memory_in_a_product)
{
    xgemm_handle *handle = create(0);
    float x = 1.0f;
    GIVES(XGEMM_ERROR_LAUNCH, handle,
          xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1, 1.0f, &x, 1,
                      &x, 1, 0.0f, &x, 1));
    destroy(handle);
    expected_leaks = 1;
}
END_TEST

/* --- kernels --- */

static bool on_gpu(int index, xgemm_kernel_info *info)
{
    info->struct_size = sizeof *info;
    OK(NULL, xgemm_kernel_get(index, info));
    return (info->devices & XGEMM_RUNS_ON_CUDA) != 0;
}

START_TEST(test_products)
{
    xgemm_handle *handle = create(0);
    xgemm_kernel_info info;
    if (!on_gpu(_i / 8, &info)) {
        GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, xgemm_set_kernel(handle, info.name));
    } else {
        shape s = odd;
        s.order = _i & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        s.transa = _i & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
        s.transb = _i & 4 ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
        OK(handle, xgemm_set_math(handle, info.math));
        OK(handle, xgemm_set_kernel(handle, info.name));
        multiply_rounded(handle, &s, info.math == XGEMM_MATH_TF32 ? 0x1p-10 : 0.0);
        ck_assert_str_eq(xgemm_last_kernel(handle), info.name);
    }
    destroy(handle);
}
END_TEST

/* Kernels that wait for the launch before them are told that they may begin earlier. */
START_TEST(test_launches_overlap)
{
    setenv("FAKE_CUDA_PTX", "90", 1);
    xgemm_handle *handle = create(0);
    multiply(handle);
    ck_assert_int_gt(fake.calls("cuLaunchKernelEx"), 0);
    destroy(handle);
}
END_TEST

/* With alpha = 0, C becomes beta * C; A and B are never read. */
START_TEST(test_scale)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, odd.m, odd.n,
                           odd.k, 0.0f, NULL, odd.k, NULL, odd.n, -2.0f, p.device_c, p.ldc));
    ck_assert_ptr_null(xgemm_last_kernel(handle));
    OK(handle, xgemm_download(handle, p.result, p.device_c, p.c_count * sizeof(float)));
    for (size_t i = 0; i < p.c_count; i++) {
        const bool gap = i % (size_t)p.ldc >= (size_t)odd.n;
        ck_assert(p.result[i] == (gap ? p.c[i] : -2.0f * p.c[i]));
    }
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* A batch of the same product on the device: A for all, B and C one after another. */
enum { PRODUCTS = 3 };

typedef struct {
    problem one;
    float *b, *c; /* the host's, of all products */
    void *device_b, *device_c, *list[3];
} many;

static void *upload_list(xgemm_handle *handle, const void *first, size_t apart)
{
    const void *pointers[PRODUCTS];
    void *list;
    for (size_t i = 0; i < PRODUCTS; i++)
        pointers[i] = (const float *)first + i * apart;
    OK(handle, xgemm_malloc(handle, sizeof pointers, &list));
    OK(handle, xgemm_upload(handle, list, pointers, sizeof pointers));
    return list;
}

static many prepare_many(xgemm_handle *handle)
{
    many all = {.one = prepare(handle, &odd)};
    const problem *p = &all.one;
    all.b = matrix(PRODUCTS * p->b_count, 5);
    all.c = matrix(PRODUCTS * p->c_count, 6);
    all.device_b = upload(handle, all.b, PRODUCTS * p->b_count);
    all.device_c = upload(handle, all.c, PRODUCTS * p->c_count);
    all.list[0] = upload_list(handle, p->device_a, 0);
    all.list[1] = upload_list(handle, all.device_b, p->b_count);
    all.list[2] = upload_list(handle, all.device_c, p->c_count);
    return all;
}

static void finish_many(xgemm_handle *handle, many *all)
{
    for (int i = 0; i < 3; i++)
        OK(handle, xgemm_free(handle, all->list[i]));
    OK(handle, xgemm_free(handle, all->device_b));
    OK(handle, xgemm_free(handle, all->device_c));
    free(all->b);
    free(all->c);
    finish(handle, &all->one);
}

static xgemm_status run_many(xgemm_handle *handle, const many *all, bool lists)
{
    const problem *p = &all->one;
    const shape *s = &p->shape;
    if (lists)
        return xgemm_sgemm_batched(handle, s->order, s->transa, s->transb, s->m, s->n, s->k, alpha,
                                   all->list[0], p->lda, all->list[1], p->ldb, beta, all->list[2],
                                   p->ldc, PRODUCTS);
    return xgemm_sgemm_strided_batched(handle, s->order, s->transa, s->transb, s->m, s->n, s->k,
                                       alpha, p->device_a, p->lda, 0, all->device_b, p->ldb,
                                       (int64_t)p->b_count, beta, all->device_c, p->ldc,
                                       (int64_t)p->c_count, PRODUCTS);
}

/* Each product as one problem; then C again as it was. */
static void check_many(xgemm_handle *handle, const many *all)
{
    for (size_t i = 0; i < PRODUCTS; i++) {
        problem p = all->one;
        p.b = all->b + i * p.b_count;
        p.c = all->c + i * p.c_count;
        OK(handle, xgemm_download(handle, p.result, (float *)all->device_c + i * p.c_count,
                                  p.c_count * sizeof(float)));
        check_result(&p);
    }
    OK(handle,
       xgemm_upload(handle, all->device_c, all->c, PRODUCTS * all->one.c_count * sizeof(float)));
}

/* Both forms, again without allocating; in a capture too. */
START_TEST(test_batches)
{
    xgemm_handle *handle = create(0);
    many all = prepare_many(handle);
    for (int lists = 0; lists < 2; lists++) {
        OK(handle, run_many(handle, &all, lists));
        check_many(handle, &all);
        const int allocated = fake.calls("cuMemAlloc_v2"), launched = fake.calls("cuLaunchKernel");
        setenv("FAKE_CUDA_CAPTURE", "1", 1);
        OK(handle, run_many(handle, &all, lists));
        unsetenv("FAKE_CUDA_CAPTURE");
        ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), allocated);
        ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 1);
        check_many(handle, &all);
    }
    finish_many(handle, &all);
    destroy(handle);
}
END_TEST

START_TEST(test_batches_by_name)
{
    xgemm_handle *handle = create(0);
    many all = prepare_many(handle);
    OK(handle, xgemm_set_kernel(handle, "tiled16"));
    const int launched = fake.calls("cuLaunchKernel");
    OK(handle, run_many(handle, &all, false));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + PRODUCTS);
    check_many(handle, &all);
    GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, run_many(handle, &all, true));
    says(handle, "xgemm_sgemm_batched: kernel tiled16 cannot compute a batch from lists of "
                 "pointers on the CUDA device");
    OK(handle, xgemm_set_kernel(handle, "pipelined-words-32x64"));
    OK(handle, run_many(handle, &all, true));
    check_many(handle, &all);
    finish_many(handle, &all);
    destroy(handle);
}
END_TEST

/* A grid's z ends at 65 535. */
START_TEST(test_batch_past_the_grid)
{
    enum { MANY = 65536 + 10 };
    xgemm_handle *handle = create(0);
    float *values = matrix(MANY, 9), *result = matrix(MANY, 0);
    void *c = upload(handle, values, MANY), *list;
    float **pointers = malloc(MANY * sizeof *pointers);
    ck_assert_ptr_nonnull(pointers);
    for (int i = 0; i < MANY; i++)
        pointers[i] = (float *)c + (MANY - 1 - i);
    OK(handle, xgemm_malloc(handle, MANY * sizeof *pointers, &list));
    OK(handle, xgemm_upload(handle, list, pointers, MANY * sizeof *pointers));
    const int launched = fake.calls("cuLaunchKernel");
    OK(handle,
       xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                   0.0f, NULL, 1, 0, NULL, 1, 0, 3.0f, c, 1, 1, MANY));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 2);
    OK(handle, xgemm_sgemm_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                   0.0f, NULL, 1, NULL, 1, 2.0f, list, 1, MANY));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launched + 4);
    OK(handle, xgemm_download(handle, result, c, MANY * sizeof *result));
    for (int i = 0; i < MANY; i++)
        ck_assert(result[i] == 2.0f * (3.0f * values[i]));
    free(pointers);
    free(values);
    free(result);
    OK(handle, xgemm_free(handle, list));
    OK(handle, xgemm_free(handle, c));
    destroy(handle);
}
END_TEST

static const struct {
    unsigned result;
    xgemm_status status;
    const char *name;
} load_failures[] = {
    {209, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {218, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_INVALID_PTX"},
    {222, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {200, XGEMM_ERROR_DRIVER, "CUDA_ERROR_INVALID_IMAGE"},
    {2, XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
};

START_TEST(test_load_fails)
{
    xgemm_handle *handle = create(0);
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "tiled32"));
    fail_next("cuModuleLoadData", load_failures[_i].result);
    GIVES(load_failures[_i].status, handle, run(handle, &p));
    says(handle, "xgemm_sgemm: kernel ");
    says(handle, "tiled32");
    says(handle, load_failures[_i].name);
    ck_assert_ptr_null(xgemm_last_kernel(handle));
    GIVES(load_failures[_i].status, handle,
          xgemm_kernel_resources_get(handle, "tiled32", &resources));
    says(handle, "xgemm_kernel_resources_get: kernel ");
    fail_no_more(); /* the next call tries again */
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* The module is unloaded when the function is not in it. */
START_TEST(test_function_fails)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "naive"));
    fail_next("cuModuleGetFunction", 500);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    says(handle, "cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND");
    ck_assert_int_eq(fake.calls("cuModuleUnload"), 1);
    finish(handle, &p);
    destroy(handle);
    ck_assert_int_eq(fake.calls("cuModuleUnload"), 1);
}
END_TEST

START_TEST(test_launch_fails)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    fail_next("cuLaunchKernel", XG_CUDA_ERROR_ILLEGAL_ADDRESS);
    GIVES(XGEMM_ERROR_LAUNCH, handle, run(handle, &p));
    says(handle, "xgemm_sgemm: cuLaunchKernel failed: CUDA_ERROR_ILLEGAL_ADDRESS");
    fail_next("cuLaunchKernel", 1);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    fail_next("cuStreamSynchronize", XG_CUDA_ERROR_LAUNCH_FAILED);
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_synchronize(handle));
    says(handle, "xgemm_synchronize: cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED");
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_download(handle, p.result, p.device_c, 4));
    fail_next("cuStreamSynchronize", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_synchronize(handle));
    fail_no_more();
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_resources)
{
    xgemm_handle *handle = create(0);
    xgemm_kernel_info info;
    const bool runs = on_gpu(_i, &info);
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    GIVES(runs ? XGEMM_OK : XGEMM_ERROR_NOT_SUPPORTED, handle,
          xgemm_kernel_resources_get(handle, info.name, &r));
    ck_assert_int_eq(r.registers, runs ? 40 : 0);
    ck_assert_int_eq(r.shared_bytes, runs ? 8192 : 0);
    ck_assert_int_eq(r.local_bytes, runs ? 16 : 0);
    ck_assert_int_eq(r.constant_bytes, runs ? 24 : 0);
    ck_assert_int_eq(r.max_threads, runs ? 768 : 0);
    ck_assert_int_eq(r.binary_version, !runs ? 0 : XGEMM_CUDA_OLDEST > 90 ? XGEMM_CUDA_OLDEST : 90);
    if (runs) {
        fail_next("cuFuncGetAttribute", 999);
        r.registers = 4711;
        GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_kernel_resources_get(handle, info.name, &r));
        says(handle, "xgemm_kernel_resources_get: cuFuncGetAttribute failed");
        ck_assert_int_eq(r.registers, 4711);
    }
    destroy(handle);
}
END_TEST

/* --- streams, workspaces, captured graphs --- */

START_TEST(test_streams)
{
    xgemm_handle *handle = create(0);
    int tokens[3];
    const void *workspace[3];
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    const int before = fake.calls("cuMemAlloc_v2");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3; i++) {
            void *stream = i ? &tokens[i] : NULL;
            OK(handle, xgemm_set_stream(handle, stream));
            OK(handle, xgemm_upload(handle, p.device_c, p.c, p.c_count * sizeof(float)));
            OK(handle, run(handle, &p));
            ck_assert_ptr_eq(fake.last_stream(), stream);
            const void *used = fake.last_arguments()->a; /* unpad reads the workspace */
            ck_assert(round == 0 || used == workspace[i]);
            workspace[i] = used;
            download_and_check(handle, &p);
        }
    ck_assert_ptr_ne(workspace[0], workspace[1]);
    ck_assert_ptr_ne(workspace[0], workspace[2]);
    ck_assert_ptr_ne(workspace[1], workspace[2]);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before + 3);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* So deep that the library's choice splits k, and needs a workspace for the parts. */
static void run_deep(xgemm_handle *handle, problem *p)
{
    OK(handle, xgemm_upload(handle, p->device_c, p->c, p->c_count * sizeof(float)));
    OK(handle, run(handle, p));
    download_and_check(handle, p);
}

START_TEST(test_choice_without_memory)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes, total;
    problem p = prepare(handle, &deep);
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    const int before = fake.calls("cuMemAlloc_v2");
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes));
    run_deep(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before + 1); /* tried */
    unsetenv("FAKE_CUDA_MEMORY");
    run_deep(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_choice_with_small_workspace)
{
    xgemm_handle *handle = create(0);
    void *workspace;
    problem p = prepare(handle, &deep);
    OK(handle, xgemm_malloc(handle, 256, &workspace));
    OK(handle, xgemm_set_workspace(handle, workspace, 256));
    const int before = fake.calls("cuMemAlloc_v2");
    run_deep(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before);
    finish(handle, &p);
    OK(handle, xgemm_free(handle, workspace));
    destroy(handle);
}
END_TEST

START_TEST(test_given_workspace)
{
    xgemm_handle *handle = create(0);
    char sentence[64];
    void *workspace;
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_malloc(handle, PADDED_BYTES, &workspace));
    OK(handle, xgemm_set_kernel(handle, "padded"));
    const int before = fake.calls("cuMemAlloc_v2");
    OK(handle, xgemm_set_workspace(handle, workspace, PADDED_BYTES - 1));
    GIVES(XGEMM_ERROR_WORKSPACE, handle, run(handle, &p));
    snprintf(sentence, sizeof sentence, "needs a workspace of %d bytes", PADDED_BYTES);
    says(handle, sentence);
    OK(handle, xgemm_set_workspace(handle, workspace, PADDED_BYTES));
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    ck_assert_int_eq(fake.calls("cuMemAlloc_v2"), before);
    finish(handle, &p);
    OK(handle, xgemm_free(handle, workspace));
    destroy(handle);
}
END_TEST

/* A first call inside a capture loads and allocates, and leaves the mode of the caller. */
START_TEST(test_capture)
{
    const unsigned thread_local_mode = 1;
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    unsigned mode = thread_local_mode;
    cu.capture_mode(&mode);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    setenv("FAKE_CUDA_CAPTURE", "1", 1);
    OK(handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_next("cuModuleLoadData", 999);
    OK(handle, xgemm_set_kernel(handle, "naive"));
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_next("cuModuleGetFunction", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    unsetenv("FAKE_CUDA_CAPTURE");
    set("FAKE_CUDA_MEMORY", 1);
    void *memory;
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, 2, &memory));
    ck_assert_uint_eq(capture_mode(), thread_local_mode);
    fail_no_more();
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
    mode = 0;
    cu.capture_mode(&mode);
}
END_TEST

/* --- timers --- */

static double microseconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) * 1e6 + (double)(to->tv_nsec - from->tv_nsec) * 1e-3;
}

START_TEST(test_timer)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    xgemm_handle *handle = create(0);
    struct timespec from, to;
    xgemm_timer *timer;
    double us = -1.0;
    int token;
    OK(handle, xgemm_set_stream(handle, &token));
    OK(handle, xgemm_timer_create(handle, &timer));
    GIVES(XGEMM_ERROR_INVALID_VALUE, handle, xgemm_timer_elapsed(timer, &us));
    clock_gettime(CLOCK_MONOTONIC, &from);
    OK(handle, xgemm_timer_start(timer));
    ck_assert_ptr_eq(fake.last_stream(), &token);
    GIVES(XGEMM_ERROR_INVALID_VALUE, handle, xgemm_timer_elapsed(timer, &us));
    nanosleep(&pause, NULL);
    OK(handle, xgemm_timer_stop(timer));
    clock_gettime(CLOCK_MONOTONIC, &to);
    OK(handle, xgemm_timer_elapsed(timer, &us));
    ck_assert_msg(us >= 19999.0 && us <= microseconds(&from, &to) + 1.0, "%f us", us);
    xgemm_timer_destroy(timer);
    destroy(handle);
}
END_TEST

START_TEST(test_timer_fails)
{
    xgemm_handle *handle = create(0);
    xgemm_timer *timer;
    double us;
    for (int nth = 1; nth <= 2; nth++) {
        fail_nth("cuEventCreate", 999, nth, 1);
        GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_create(handle, &timer));
        ck_assert_ptr_null(timer);
        says(handle, "xgemm_timer_create: cuEventCreate failed");
    }
    fail_no_more();
    OK(handle, xgemm_timer_create(handle, &timer));
    fail_next("cuEventRecord", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_start(timer));
    says(handle, "xgemm_timer_start: cuEventRecord failed");
    fail_no_more();
    OK(handle, xgemm_timer_start(timer));
    OK(handle, xgemm_timer_stop(timer));
    fail_next("cuEventSynchronize", XG_CUDA_ERROR_LAUNCH_FAILED);
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_timer_elapsed(timer, &us));
    says(handle, "xgemm_timer_elapsed: cuEventSynchronize failed");
    fail_next("cuEventElapsedTime", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_timer_elapsed(timer, &us));
    fail_no_more();
    OK(handle, xgemm_timer_elapsed(timer, &us));
    xgemm_timer_destroy(timer);
    destroy(handle);
}
END_TEST

/* --- contexts and handles --- */

/* Every public function, with whatever context is current. */
static void use(xgemm_handle *handle)
{
    xgemm_timer *timer;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    uint64_t free_bytes, total;
    double us;
    OK(handle, xgemm_timer_create(handle, &timer));
    OK(handle, xgemm_timer_start(timer));
    OK(handle, xgemm_set_kernel(handle, "padded"));
    multiply(handle);
    OK(handle, xgemm_timer_stop(timer));
    OK(handle, xgemm_timer_elapsed(timer, &us));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    OK(handle, xgemm_kernel_resources_get(handle, "naive", &resources));
    OK(handle, xgemm_synchronize(handle));
    xgemm_timer_destroy(timer);
    same_context("xgemm_timer_destroy");
}

START_TEST(test_context_none)
{
    xgemm_handle *handle = create(0);
    use(handle);
    destroy(handle);
}
END_TEST

/* The caller has the context of a device (0 is also the handle's) on its stack, below another. */
START_TEST(test_context_of_caller)
{
    xg_cu_context below, top;
    ck_assert_uint_eq(cu.context_retain(&below, 1 - _i), 0);
    ck_assert_uint_eq(cu.context_retain(&top, _i), 0);
    ck_assert_uint_eq(cu.context_push(below), 0);
    ck_assert_uint_eq(cu.context_push(top), 0);
    expected_context = top;
    expected_depth = 2;
    xgemm_handle *handle = create(0);
    use(handle);
    destroy(handle);
    ck_assert_int_eq(fake.retains(0), 1);
    xg_cu_context popped;
    ck_assert_uint_eq(cu.context_pop(&popped), 0);
    ck_assert_ptr_eq(popped, top);
    ck_assert_uint_eq(cu.context_pop(&popped), 0);
    ck_assert_ptr_eq(popped, below);
    ck_assert_uint_eq(cu.context_release(0), 0);
    ck_assert_uint_eq(cu.context_release(1), 0);
}
END_TEST

START_TEST(test_context_fails)
{
    xgemm_handle *handle = create(0);
    void *memory;
    fail_next("cuCtxPushCurrent_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_malloc(handle, 1, &memory));
    says(handle, "xgemm_malloc: cuCtxPushCurrent failed: CUDA_ERROR_UNKNOWN");
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_synchronize(handle));
    fail_next("cuCtxSetCurrent", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_make_current(handle));
    says(handle, "xgemm_make_current: cuCtxSetCurrent failed: CUDA_ERROR_UNKNOWN");
    fail_no_more();
    use(handle);
    destroy(handle);
}
END_TEST

START_TEST(test_make_current)
{
    xgemm_handle *handle = create(0);
    xg_cu_context context = NULL;
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_uint_eq(cu.context_current(&context), 0);
    ck_assert_ptr_nonnull(context);
    ck_assert_int_eq(fake.depth(), 1);
    expected_context = context;
    expected_depth = 1;
    const int before = fake.calls("cuCtxPushCurrent_v2");
    use(handle);
    OK(handle, xgemm_make_current(handle)); /* replaces, does not push */
    ck_assert_int_eq(fake.calls("cuCtxPushCurrent_v2"), before);
    ck_assert_uint_eq(cu.context_set(NULL), 0);
    expected_context = NULL;
    expected_depth = 0;
    destroy(handle);
}
END_TEST

START_TEST(test_two_handles)
{
    xgemm_handle *first = create(0), *second = create(0);
    ck_assert_int_eq(fake.retains(0), 1);
    use(first);
    const int loads = fake.calls("cuModuleLoadData");
    use(second);
    ck_assert_int_eq(fake.calls("cuModuleLoadData"), loads);
    destroy(first);
    ck_assert_int_eq(fake.retains(0), 1);
    ck_assert_int_eq(fake.calls("cuModuleUnload"), 0);
    use(second);
    destroy(second);
    ck_assert_int_eq(fake.retains(0), 0);
    ck_assert_int_eq(fake.calls("cuModuleUnload"), loads);
    second = create(0); /* and from the beginning */
    ck_assert_int_eq(fake.retains(0), 1);
    use(second);
    ck_assert_int_eq(fake.calls("cuModuleLoadData"), 2 * loads);
    destroy(second);
    ck_assert_int_eq(fake.retains(0), 0);
}
END_TEST

START_TEST(test_two_devices)
{
    xgemm_handle *first = create(0), *second = create(1);
    uint64_t free_bytes, total;
    void *memory;
    ck_assert_int_eq(fake.retains(0), 1);
    ck_assert_int_eq(fake.retains(1), 1);
    OK(second, xgemm_malloc(second, 1000, &memory));
    OK(first, xgemm_memory_info(first, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total);
    OK(second, xgemm_memory_info(second, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total - 1000);
    use(first);
    use(second);
    use(first);
    destroy(first);
    ck_assert_int_eq(fake.retains(0), 0);
    use(second);
    OK(second, xgemm_free(second, memory));
    destroy(second);
    ck_assert_int_eq(fake.retains(1), 0);
}
END_TEST

/* Threads, each with its handles; assertions are made by the thread that waits for them. */
static void *work(void *result)
{
    enum { SIZE = 33 };
    static const float ones[SIZE * SIZE];
    *(xgemm_status *)result = XGEMM_OK;
    for (int i = 0; i < 10; i++) {
        float c[SIZE * SIZE];
        void *memory = NULL;
        xgemm_handle *handle;
        xgemm_status status = xgemm_create(&handle, i % 2);
        if (!status && fake.retains(i % 2) != 1)
            status = XGEMM_ERROR_INTERNAL;
        if (!status)
            status = xgemm_set_kernel(handle, i % 3 ? "padded" : "tiled16");
        if (!status)
            status = xgemm_malloc(handle, sizeof ones, &memory);
        if (!status)
            status = xgemm_upload(handle, memory, ones, sizeof ones);
        if (!status)
            status = xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIZE,
                                 SIZE, SIZE, 1.0f, memory, SIZE, memory, SIZE, 0.0f, memory, SIZE);
        if (!status)
            status = xgemm_download(handle, c, memory, sizeof c);
        if (!status)
            status = xgemm_free(handle, memory);
        xgemm_destroy(handle);
        if (!status && (fake.depth() || c[SIZE] != 0.0f))
            status = XGEMM_ERROR_INTERNAL;
        if (status)
            *(xgemm_status *)result = status;
    }
    return NULL;
}

START_TEST(test_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    xgemm_status results[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &results[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_msg(results[i] == XGEMM_OK, "%s", xgemm_status_name(results[i]));
    }
}
END_TEST

/* --- probes, timed on what the driver pretends to be --- */

enum { PROBE_BYTES = 16384 };

static xgemm_status probe(xgemm_handle *handle, const char *name, xgemm_probe_report **found)
{
    const xgemm_status status = xgemm_probe(handle, name, PROBE_BYTES, found);
    ck_assert_msg(!status == (*found != NULL), "%s: %s", name, xgemm_last_error(handle));
    return status;
}

static void check_point(const xgemm_probe_point *p, double peak)
{
    ck_assert_msg(p->microseconds > 0.0, "%s, %g takes no time", p->series, p->parameter);
    ck_assert_int_eq(p->requests + p->sectors + p->wavefronts, 0);
    ck_assert_int_eq(p->ideal_sectors + p->ideal_wavefronts, 0);
    ck_assert_msg(fabs(p->gbs - p->bytes / p->microseconds * 1e-3) <= 1e-9 * p->gbs,
                  "%s, %g: %g GB/s", p->series, p->parameter, p->gbs);
    if (p->percent_of_peak > 0.0)
        ck_assert_msg(fabs(p->percent_of_peak * peak - 100.0 * p->gbs) <= 1e-6 * p->gbs,
                      "%s, %g: %g %%", p->series, p->parameter, p->percent_of_peak);
}

/* Of the shared memory of the fake's 132 multiprocessors at 1980 MHz, or of its device memory. */
static double peak_of(const xgemm_probe_report *found, const xgemm_probe_point *p)
{
    const bool shared = strcmp(found->name, "banks") == 0 || strncmp(p->series, "shared", 6) == 0;
    return shared ? 132 * 128 * 1.98 : 2.0 * 3201e-3 * 6144 / 8;
}

START_TEST(test_probes)
{
    xgemm_probe_info info = {.struct_size = sizeof info};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    ck_assert_int_eq(xgemm_probe_get(_i, &info), XGEMM_OK);
    ck_assert_uint_eq(info.devices & XGEMM_RUNS_ON_CUDA, XGEMM_RUNS_ON_CUDA);
    OK(handle, probe(handle, info.name, &found));
    ck_assert_int_gt(found->point_count, 0);
    for (int i = 0; i < found->point_count; i++) {
        const xgemm_probe_point *p = &found->points[i];
        check_point(p, peak_of(found, p));
        const bool transfers = strcmp(info.name, "host-device") == 0;
        const bool launches = strcmp(info.name, "launch") == 0;
        ck_assert_int_eq(p->bytes > 0.0, !launches);
        ck_assert_int_eq(p->percent_of_peak > 0.0, !transfers && !launches);
    }
    xgemm_probe_free(found);
    destroy(handle);
}
END_TEST

/* Sizes of 4 and 16 KiB, each up and down, from pageable memory and from pinned. */
START_TEST(test_probe_of_transfers)
{
    static const char *const series[] = {"upload", "download", "pinned-upload", "pinned-download"};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    const int pinned = fake.calls("cuMemAllocHost_v2");
    OK(handle, probe(handle, "host-device", &found));
    ck_assert_int_eq(fake.calls("cuMemAllocHost_v2") - pinned, 1);
    ck_assert_int_eq(found->point_count, 8);
    for (int i = 0; i < 8; i++) {
        ck_assert_str_eq(found->points[i].series, series[i / 2]);
        ck_assert_int_eq((int)found->points[i].parameter, i % 2 ? 16384 : 4096);
        ck_assert_int_eq((int)found->points[i].bytes, i % 2 ? 16384 : 4096);
    }
    xgemm_probe_free(found);
    destroy(handle);
}
END_TEST

/* Of the memory that is free; half of it would leave nothing for the second array. */
START_TEST(test_probe_of_own_size)
{
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    set("FAKE_CUDA_MEMORY", 100000);
    OK(handle, xgemm_probe(handle, "rows-columns", 0, &found));
    ck_assert_int_eq((int)found->points[found->point_count - 1].parameter, 64);
    xgemm_probe_free(found);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle,
          xgemm_probe(handle, "copy-offset", 65536, &found));
    ck_assert_ptr_null(found);
    says(handle, "xgemm_probe: GPU 0 has no 65536 bytes of memory left");
    destroy(handle);
}
END_TEST

static const struct {
    const char *probe, *symbol;
    bool keeps; /* what could not be freed stays */
} probe_failures[] = {
    {"copy-offset", "cuMemAlloc_v2", false},      {"copy-offset", "cuMemcpyHtoDAsync_v2", false},
    {"copy-offset", "cuModuleLoadData", false},   {"copy-offset", "cuEventCreate", false},
    {"copy-offset", "cuEventRecord", false},      {"copy-offset", "cuLaunchKernel", false},
    {"copy-offset", "cuEventSynchronize", false}, {"copy-offset", "cuEventElapsedTime", false},
    {"copy-offset", "cuMemFree_v2", true},        {"host-device", "cuMemcpyDtoHAsync_v2", false},
    {"host-device", "cuMemAllocHost_v2", false},  {"host-device", "cuMemFreeHost", true},
    {"launch", "cuLaunchKernel", false},          {"launch", "cuStreamSynchronize", false},
    {"launch", "cuEventCreate", false},           {"launch", "cuEventRecord", false},
    {"launch", "cuEventElapsedTime", false},
};

/* At the first call, at the second, and far into the measurement. */
START_TEST(test_probe_fails)
{
    static const int calls[] = {1, 2, 40};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    const char *symbol = probe_failures[_i].symbol;
    for (int i = 0; i < (probe_failures[_i].keeps ? 1 : 3); i++) {
        const int before = fake.calls(symbol);
        fail_nth(symbol, 999, calls[i], 1);
        const xgemm_status status = probe(handle, probe_failures[_i].probe, &found);
        fail_no_more();
        const bool reached = fake.calls(symbol) - before >= calls[i];
        ck_assert_msg(status == (reached ? XGEMM_ERROR_DRIVER : XGEMM_OK), "%s, call %d: %s",
                      symbol, calls[i], xgemm_status_name(status));
        ck_assert_msg(reached || i > 0, "%s was not called", symbol);
        same_context(symbol);
        xgemm_probe_free(found);
    }
    destroy(handle);
    expected_leaks = probe_failures[_i].keeps; /* the driver takes it back with the context */
}
END_TEST

/* --- every function of the driver fails at every one of its calls --- */

typedef struct {
    xgemm_handle *handle;
    xgemm_timer *timer;
    void *memory;
} session;

enum { SIDE = 3 };

static xgemm_status product_of(session *s)
{
    float *x = s->memory;
    xgemm_status status = xgemm_set_kernel(s->handle, "padded");
    if (!status)
        status = xgemm_sgemm(s->handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIDE, SIDE,
                             SIDE, 1.0f, x, SIDE, x + SIDE * SIDE, SIDE, 0.0f, x + 2 * SIDE * SIDE,
                             SIDE);
    return status;
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
    static float values[3 * SIDE * SIDE];
    xgemm_status status = xgemm_create(&s->handle, 0);
    if (!status)
        status = xgemm_malloc(s->handle, sizeof values, &s->memory);
    if (!status)
        status = xgemm_upload(s->handle, s->memory, values, sizeof values);
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
    XG_CU_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

enum { SYMBOLS = (int)(sizeof symbols / sizeof *symbols) };

/* After such a failure the driver itself is not as it was. */
static bool unbalances(const char *symbol)
{
    return strcmp(symbol, "cuCtxPopCurrent_v2") == 0 ||
           strcmp(symbol, "cuThreadExchangeStreamCaptureMode") == 0;
}

static xgemm_status status_after(const char *symbol)
{
    if (strcmp(symbol, "cuCtxGetCurrent") == 0) /* pushes its own, to be sure */
        return XGEMM_OK;
    return strcmp(symbol, "cuDeviceGet") == 0 ? XGEMM_ERROR_NO_DEVICE : XGEMM_ERROR_DRIVER;
}

/* Whether the nth call was reached. */
static bool session_with_failure(const char *symbol, int nth)
{
    session s = {NULL, NULL, NULL};
    const int before = fake.calls(symbol);
    fail_nth(symbol, 999, nth, 1);
    const xgemm_status status = run_session(&s);
    fail_no_more();
    const bool reached = fake.calls(symbol) - before >= nth;
    same_context(symbol);
    ck_assert_msg(status == (reached ? status_after(symbol) : XGEMM_OK), "%s, call %d: %s", symbol,
                  nth, xgemm_status_name(status));
    ck_assert_uint_eq(capture_mode(), 0);
    end_session(&s);
    same_context(symbol);
    ck_assert_msg(fake.leaks() == 0, "%s, call %d: something leaked", symbol, nth);
    return reached;
}

START_TEST(test_every_failure)
{
    int nth = 1;
    if (unbalances(symbols[_i]))
        return;
    ck_assert_int_eq(xgemm_device_count(), 1); /* what is called once in a process was */
    while (session_with_failure(symbols[_i], nth))
        nth++;
}
END_TEST

/* --- the suite --- */

static TCase *add_case(Suite *suite, const char *name, void (*before)(void), void (*after)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, before, after);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static void add_load_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "load", setup_load, NULL);
    tcase_add_test(tcase, test_no_driver);
    tcase_add_test(tcase, test_no_library);
    tcase_add_test(tcase, test_empty_library);
    tcase_add_test(tcase, test_old_driver);
    tcase_add_test(tcase, test_oldest_driver);
    tcase_add_test(tcase, test_missing_symbol);
    tcase_add_test(tcase, test_version_fails);
    tcase_add_test(tcase, test_init_no_device);
    tcase_add_test(tcase, test_init_fails);
    tcase_add_test(tcase, test_init_fails_oddly);
    tcase_add_test(tcase, test_no_devices);
    tcase_add_test(tcase, test_driver_comes_later);
    tcase_add_test(tcase, test_without_kernels);
}

static void add_query_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "queries", setup_two, teardown);
    tcase_add_test(tcase, test_device_fields);
    tcase_add_test(tcase, test_device_fields_unknown);
    tcase_add_test(tcase, test_device_newer);
    tcase_add_test(tcase, test_device_older);
    tcase_add_test(tcase, test_device_of_catalog);
    tcase_add_test(tcase, test_count);
}

static void add_device_cases(Suite *suite)
{
    TCase *one = add_case(suite, "one device", setup, teardown);
    tcase_add_test(one, test_device_of_too_few);
    tcase_add_test(one, test_old_device);
    tcase_add_test(one, test_oldest_device);
    tcase_add_test(one, test_auto_is_gpu);
    tcase_add_test(one, test_environment_names_no_kernel);
    tcase_add_test(one, test_create_fails);
    TCase *two = add_case(suite, "two devices", setup_two, teardown);
    tcase_add_test(two, test_environment_names_gpu);
    tcase_add_test(two, test_two_devices);
    tcase_add_test(two, test_threads);
    tcase_add_loop_test(two, test_context_of_caller, 0, 2);
}

static void add_memory_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "memory", setup, teardown);
    tcase_add_test(tcase, test_out_of_memory);
    tcase_add_test(tcase, test_out_of_memory_workspace);
    tcase_add_test(tcase, test_memory_fails);
    tcase_add_test(tcase, test_copies);
    tcase_add_test(tcase, test_memory_info);
    tcase_add_test(tcase, test_free_of_a_stranger);
    tcase_add_test(tcase, test_host_memory_in_a_product);
}

static void add_kernel_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "kernels", setup, teardown);
    tcase_add_loop_test(tcase, test_products, 0, 8 * xgemm_kernel_count());
    tcase_add_test(tcase, test_launches_overlap);
    tcase_add_test(tcase, test_scale);
    tcase_add_test(tcase, test_batches);
    tcase_add_test(tcase, test_batches_by_name);
    tcase_add_test(tcase, test_batch_past_the_grid);
    tcase_add_loop_test(tcase, test_load_fails, 0,
                        (int)(sizeof load_failures / sizeof *load_failures));
    tcase_add_test(tcase, test_function_fails);
    tcase_add_test(tcase, test_launch_fails);
    tcase_add_loop_test(tcase, test_resources, 0, xgemm_kernel_count());
    tcase_add_test(tcase, test_streams);
    tcase_add_test(tcase, test_given_workspace);
    tcase_add_test(tcase, test_choice_without_memory);
    tcase_add_test(tcase, test_choice_with_small_workspace);
    tcase_add_test(tcase, test_capture);
    tcase_add_test(tcase, test_timer);
    tcase_add_test(tcase, test_timer_fails);
}

static void add_probe_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "probes", setup, teardown);
    tcase_add_loop_test(tcase, test_probes, 0, xgemm_probe_count());
    tcase_add_test(tcase, test_probe_of_transfers);
    tcase_add_test(tcase, test_probe_of_own_size);
    tcase_add_loop_test(tcase, test_probe_fails, 0,
                        (int)(sizeof probe_failures / sizeof *probe_failures));
}

static void add_context_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "contexts", setup, teardown);
    tcase_add_test(tcase, test_context_none);
    tcase_add_test(tcase, test_context_fails);
    tcase_add_test(tcase, test_make_current);
    tcase_add_test(tcase, test_two_handles);
    tcase_add_loop_test(tcase, test_every_failure, 0, SYMBOLS);
}

static int run_suite(void)
{
    Suite *suite = suite_create("driver");
    add_load_cases(suite);
    add_query_cases(suite);
    if (with_cuda()) {
        add_device_cases(suite);
        add_memory_cases(suite);
        add_kernel_cases(suite);
        add_probe_cases(suite);
        add_context_cases(suite);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed)
        return EXIT_FAILURE;
    if (!with_cuda())
        printf("SKIP: most of it: there are no GPU kernels in this build\n");
    return with_cuda() ? EXIT_SUCCESS : SKIPPED;
}

/* --- the folder --- */

static int cannot(const char *what)
{
    fprintf(stderr, "test_driver: %s\n", what);
    return CANNOT_RUN;
}

/* Libtool puts modules and, with a shared library, also programs into .libs. */
static bool find_fakes(const char *program)
{
    static const char *const folders[] = {"", "/.libs"};
    const int length = (int)(strrchr(program, '/') - program);
    for (int i = 0; i < 2; i++) {
        char path[PATH_BYTES];
        snprintf(fakes, sizeof fakes, "%.*s%s", length, program, folders[i]);
        snprintf(path, sizeof path, "%s/fake_cuda.so", fakes);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static int start_again(const char *program, char **arguments)
{
    char folder[PATH_BYTES / 4], path[PATH_BYTES * 4];
    const char *temporary = getenv("TMPDIR"), *libraries = getenv("LD_LIBRARY_PATH");
    snprintf(folder, sizeof folder, "%s/xgemm-driver-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return cannot("no temporary folder");
    snprintf(path, sizeof path, "%s%s%s", folder, libraries && *libraries ? ":" : "",
             libraries && *libraries ? libraries : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv(FOLDER_VARIABLE, folder, 1);
    execv(program, arguments);
    rmdir(folder);
    return cannot("the test cannot start itself");
}

int main(int argc, char **argv)
{
    char program[PATH_BYTES / 4] = "";
    const char *folder = getenv(FOLDER_VARIABLE);
    (void)argc;
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0 || *program != '/')
        return cannot("no /proc/self/exe");
    if (!find_fakes(program)) {
        printf("SKIP: there is no fake_cuda.so: shared libraries are not built\n");
        return SKIPPED;
    }
    if (!folder)
        return start_again(program, argv);
    snprintf(libcuda, sizeof libcuda, "%s/libcuda.so.1", folder);
    const int status = run_suite();
    unlink(libcuda);
    rmdir(folder);
    return status;
}
