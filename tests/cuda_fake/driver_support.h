/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the CUDA backend share: which of fake_cuda.c's drivers is
 * there, how it fails, calls that keep the caller's context, and products.
 */
#ifndef XGEMM_TESTS_DRIVER_SUPPORT_H
#define XGEMM_TESTS_DRIVER_SUPPORT_H

#include <xgemm.h>

#include "backend/cuda/driver.h"

#include <check.h>
#include <stdbool.h>

enum { PATH_BYTES = 4096 };

extern char fakes[PATH_BYTES / 2];     /* the folder of the fakes */
extern char libcuda[PATH_BYTES / 2];   /* what dlopen("libcuda.so.1") finds */
extern xg_cu cu;                       /* the fake, as the library calls it */
extern xg_cu_context expected_context; /* what stays current in every call */
extern int expected_depth, expected_leaks;

/* What the fake tells of itself. */
typedef struct {
    int (*leaks)(void);
    int (*calls)(const char *symbol);
    int (*retains)(int device);
    int (*depth)(void);
    const char *(*refused)(void); /* the function, last */
    const void *(*last_arguments)(void);
    void *(*last_stream)(void);
    /* What a program calls that captures. */
    xg_cu_result (*stream_create)(void **stream, unsigned flags);
    xg_cu_result (*stream_destroy)(void *stream);
    xg_cu_result (*capture_begin)(void *stream, unsigned mode);
    xg_cu_result (*capture_end)(void *stream, void **graph);
    xg_cu_result (*graph_destroy)(void *graph);
} fake_driver;
extern fake_driver fake;

/* ---- Which driver there is ---- */

void no_driver(void);
void install(const char *name);

/* Sets an environment variable, such as FAKE_CUDA_CC. */
void set(const char *variable, long long value);

/* Fixtures: the driver alone; opened by the test too; with two devices. */
void setup_load(void);
void setup(void);
void setup_two(void);
void teardown(void);

/*
 * A kernel is loaded by cuModuleLoadData or, where its image is PTX (as all are by clang, some by
 * tests/cuda_fake/nvcc.sh, none by nvcc), by cuLibraryLoadData: LOADING stands for both, UNLOADING
 * for what undoes them.
 */
#define LOADING   "loading"
#define UNLOADING "unloading"

/* The calls of a function up to now. */
int call_count(const char *symbol);

/* Whether the build has a kernel as PTX. */
bool is_ptx(const char *kernel);

/* The function fails from its nth next call on, so many times. */
void fail_nth(const char *symbol, unsigned result, int nth, int times);
void fail_next(const char *symbol, unsigned result);
void fail_no_more(void);

/* The thread's mode of stream capture. */
unsigned capture_mode(void);

/* ---- Calls ---- */

/* As ck_assert_msg(), of which Check records every one that holds; for what is asked often. */
#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)

void same_context(const char *call);

/* Every call leaves the caller's context as it is. */
#define GIVES(status, handle, call)                                                                \
    do {                                                                                           \
        const xgemm_status given_ = (call);                                                        \
        REQUIRE(given_ == (status), "%s gives %s: %s", #call, xgemm_status_name(given_),           \
                xgemm_last_error(handle));                                                         \
        same_context(#call);                                                                       \
    } while (0)
#define OK(handle, call) GIVES(XGEMM_OK, handle, call)

/* The last error has this part. */
void says(const xgemm_handle *handle, const char *part);

xgemm_handle *create(int device);
void destroy(xgemm_handle *handle);
void cannot_create(xgemm_status status, int device, const char *sentence);
void cannot_get(xgemm_status status, int device);

/* Whether this build has kernels for GPUs. */
bool with_cuda(void);

/* ---- Products ---- */

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k;
} shape;

extern const shape odd;
extern const float alpha, beta;

/* What kernel "padded" wants for it as its workspace. */
enum { ODD_PADDED_BYTES = 3 * 64 * 64 * (int)sizeof(float) };

typedef struct {
    shape shape;
    int lda, ldb, ldc;
    size_t a_count, b_count, c_count;
    float *a, *b, *c, *result; /* the host's */
    void *device_a, *device_b, *device_c;
    double rounding; /* of the inputs, in terms of |A||B| */
} problem;

/* Random numbers; the caller's, for free(). */
float *matrix(size_t count, unsigned seed);

/* A copy on the device; the caller's, for xgemm_free(). */
void *upload(xgemm_handle *handle, const float *values, size_t count);

/* A product's matrices, on the host and the device, until finish(). */
problem prepare(xgemm_handle *handle, const shape *s);
void finish(xgemm_handle *handle, problem *p);

xgemm_status run(xgemm_handle *handle, const problem *p);

/* Every element of the result, and what a leading dimension leaves between. */
void check_result(const problem *p);
void download_and_check(xgemm_handle *handle, const problem *p);

/* All of the above; inputs may be rounded by so much of |A||B|. */
void multiply_rounded(xgemm_handle *handle, const shape *s, double rounding);
void multiply(xgemm_handle *handle);

/* XGEMM_DEVICE_AUTO must have taken the CPU, and that works. */
void auto_is_cpu(void);

/* ---- The suite, a file a topic ---- */

TCase *add_case(Suite *suite, const char *name, void (*before)(void), void (*after)(void));

void add_load_cases(Suite *suite);
void add_query_cases(Suite *suite);
void add_device_cases(Suite *suite);
void add_memory_cases(Suite *suite);
void add_kernel_cases(Suite *suite);
void add_batch_cases(Suite *suite);
void add_stream_cases(Suite *suite);
void add_translation_cases(Suite *suite);
void add_timer_cases(Suite *suite);
void add_probe_cases(Suite *suite);
void add_context_cases(Suite *suite);
void add_failure_cases(Suite *suite);
void add_workspace_cases(Suite *suite);

#endif
