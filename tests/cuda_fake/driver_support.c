/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver_support.h"

#include <dlfcn.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GAP = 3 }; /* elements that the leading dimension of C has beyond C */

char fakes[PATH_BYTES / 2];
char libcuda[PATH_BYTES / 2];
xg_cu cu;
xg_cu_context expected_context;
int expected_depth, expected_leaks;
fake_driver fake;

const shape odd = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 37, 45, 51};
const float alpha = 1.5f, beta = -0.5f;

/* ---- Which driver there is ---- */

void no_driver(void)
{
    unlink(libcuda);
}

void install(const char *name)
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
    resolve(library, "fake_cuda_refused", &fake.refused);
    resolve(library, "fake_cuda_last_arguments", &fake.last_arguments);
    resolve(library, "fake_cuda_last_stream", &fake.last_stream);
    resolve(library, "cuStreamCreate", &fake.stream_create);
    resolve(library, "cuStreamDestroy_v2", &fake.stream_destroy);
    resolve(library, "cuStreamBeginCapture_v2", &fake.capture_begin);
    resolve(library, "cuStreamEndCapture", &fake.capture_end);
    resolve(library, "cuGraphDestroy", &fake.graph_destroy);
    ck_assert_uint_eq(cu.init(0), 0);
}

void set(const char *variable, long long value)
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
        "FAKE_CUDA_FAIL", "FAKE_CUDA_CAPTURE", "FAKE_CUDA_LEAKS",   "FAKE_CUDA_RANGES",
        "FAKE_CUDA_IDLE",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    if (XGEMM_CUDA_OLDEST > 90) /* the fake's own would be too old */
        set("FAKE_CUDA_CC", XGEMM_CUDA_OLDEST);
}

void setup_load(void)
{
    clean_environment();
    install("fake_cuda.so");
}

void setup(void)
{
    setup_load();
    open_fake();
}

void setup_two(void)
{
    setup();
    set("FAKE_CUDA_DEVICES", 2);
}

unsigned capture_mode(void)
{
    unsigned mode = 0, ours = 0;
    cu.capture_mode(&mode);
    ours = mode;
    cu.capture_mode(&mode);
    return ours;
}

void teardown(void)
{
    clean_environment();
    ck_assert_int_eq(fake.leaks(), expected_leaks);
    ck_assert_uint_eq(capture_mode(), 0);
}

/* The function fails from its nth next call on, so many times. */
enum { PAIR = 2 };
static const struct {
    const char *name, *symbols[PAIR];
} pairs[] = {{LOADING, {"cuModuleLoadData", "cuLibraryLoadData"}},
             {UNLOADING, {"cuModuleUnload", "cuLibraryUnload"}}};

/* The functions that a name stands for: of others it is one, and the second is NULL. */
static void symbols_of(const char *name, const char *symbols[PAIR])
{
    symbols[0] = name;
    symbols[1] = NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i].name, name) == 0)
            memcpy(symbols, pairs[i].symbols, sizeof pairs[i].symbols);
}

int call_count(const char *symbol)
{
    const char *symbols[PAIR];
    int sum = 0;
    symbols_of(symbol, symbols);
    for (int i = 0; i < PAIR && symbols[i]; i++) {
        const int calls = fake.calls(symbols[i]);
        REQUIRE(calls >= 0, "the fake has no %s", symbols[i]);
        sum += calls;
    }
    return sum;
}

void fail_nth(const char *symbol, unsigned result, int nth, int times)
{
    const char *symbols[PAIR];
    char text[256] = "";
    symbols_of(symbol, symbols);
    for (int i = 0; i < PAIR && symbols[i]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%u:%d:%d", i ? "," : "",
                 symbols[i], result, call_count(symbols[i]) + nth, times);
    setenv("FAKE_CUDA_FAIL", text, 1);
}

bool is_ptx(const char *kernel)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    const int before = call_count("cuLibraryLoadData");
    OK(handle, xgemm_set_kernel(handle, kernel));
    OK(handle, run(handle, &p));
    const bool is = call_count("cuLibraryLoadData") > before;
    finish(handle, &p);
    destroy(handle);
    return is;
}

void fail_next(const char *symbol, unsigned result)
{
    fail_nth(symbol, result, 1, INT_MAX);
}

void fail_no_more(void)
{
    unsetenv("FAKE_CUDA_FAIL");
}

/* ---- Calls ---- */

void same_context(const char *call)
{
    xg_cu_context context = NULL;
    if (!fake.depth)
        return;
    cu.context_current(&context);
    REQUIRE(context == expected_context, "%s: another context is current", call);
    REQUIRE(fake.depth() == expected_depth, "%s: the stack of contexts is %d deep, not %d", call,
            fake.depth(), expected_depth);
}

void says(const xgemm_handle *handle, const char *part)
{
    ck_assert_msg(strstr(xgemm_last_error(handle), part) != NULL, "\"%s\" is not in \"%s\"", part,
                  xgemm_last_error(handle));
}

xgemm_handle *create(int device)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, device));
    ck_assert_int_eq(xgemm_get_device(handle), device);
    return handle;
}

void destroy(xgemm_handle *handle)
{
    xgemm_destroy(handle);
    same_context("xgemm_destroy");
}

void cannot_create(xgemm_status status, int device, const char *sentence)
{
    int not_null;
    xgemm_handle *handle = (xgemm_handle *)(void *)&not_null;
    GIVES(status, NULL, xgemm_create(&handle, device));
    ck_assert_ptr_null(handle);
    ck_assert_int_eq(strncmp(xgemm_last_error(NULL), "xgemm_create: ", 14), 0);
    says(NULL, sentence);
}

void cannot_get(xgemm_status status, int device)
{
    xgemm_device description = {.struct_size = sizeof description};
    GIVES(status, NULL, xgemm_device_get(device, &description));
}

bool with_cuda(void)
{
    xgemm_kernel_info info = {.struct_size = sizeof info};
    xgemm_kernel_get(0, &info);
    return (info.devices & XGEMM_RUNS_ON_CUDA) != 0;
}

/* ---- Products ---- */

float *matrix(size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
    }
    return values;
}

void *upload(xgemm_handle *handle, const float *values, size_t count)
{
    void *memory;
    OK(handle, xgemm_malloc(handle, count * sizeof *values, &memory));
    ck_assert_uint_eq((uintptr_t)memory % 256, 0);
    OK(handle, xgemm_upload(handle, memory, values, count * sizeof *values));
    return memory;
}

static bool transposed(const shape *s, xgemm_transpose trans)
{
    return (s->order == XGEMM_COL_MAJOR) != (trans != XGEMM_NO_TRANS);
}

problem prepare(xgemm_handle *handle, const shape *s)
{
    problem p = {.shape = *s};
    const bool rows = s->order == XGEMM_ROW_MAJOR;
    p.lda = transposed(s, s->transa) ? s->m : s->k;
    p.ldb = transposed(s, s->transb) ? s->k : s->n;
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

void finish(xgemm_handle *handle, problem *p)
{
    OK(handle, xgemm_free(handle, p->device_a));
    OK(handle, xgemm_free(handle, p->device_b));
    OK(handle, xgemm_free(handle, p->device_c));
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->result);
}

xgemm_status run(xgemm_handle *handle, const problem *p)
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
        const double product = (double)at(p->a, p->lda, transposed(s, s->transa), row, l) *
                               (double)at(p->b, p->ldb, transposed(s, s->transb), l, column);
        sum += product;
        size += fabs(product);
    }
    const double old = (double)at(p->c, p->ldc, turn_c, row, column);
    const double right = (double)alpha * sum + (double)beta * old;
    const double bound = ((s->k + 4) * FLT_EPSILON + p->rounding) *
                         (fabs((double)alpha) * size + fabs((double)beta * old));
    const double given = (double)at(p->result, p->ldc, turn_c, row, column);
    REQUIRE(fabs(given - right) <= bound, "C(%d, %d) is %g; it should be %g +- %g", row, column,
            given, right, bound);
}

/* Every element, and what a leading dimension leaves between. */
void check_result(const problem *p)
{
    for (int row = 0; row < p->shape.m; row++)
        for (int column = 0; column < p->shape.n; column++)
            check_element(p, row, column);
    for (size_t i = 0; i < p->c_count; i++)
        if (i % (size_t)p->ldc >= (size_t)(p->ldc - GAP))
            REQUIRE(p->result[i] == p->c[i], "a gap of C was written");
}

void download_and_check(xgemm_handle *handle, const problem *p)
{
    OK(handle, xgemm_download(handle, p->result, p->device_c, p->c_count * sizeof(float)));
    check_result(p);
}

void multiply_rounded(xgemm_handle *handle, const shape *s, double rounding)
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

void multiply(xgemm_handle *handle)
{
    multiply_shape(handle, &odd);
}

/* XGEMM_DEVICE_AUTO must have taken the CPU, and that works. */
void auto_is_cpu(void)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), XGEMM_DEVICE_CPU);
    multiply(handle);
    destroy(handle);
}

/* ---- The suite ---- */

TCase *add_case(Suite *suite, const char *name, void (*before)(void), void (*after)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, before, after);
    tcase_set_timeout(tcase, 1800); /* only one that hangs reaches it */
    suite_add_tcase(suite, tcase);
    return tcase;
}
