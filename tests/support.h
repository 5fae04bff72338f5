/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test programs share: the device under test, products whose memory
 * is guarded, and a reference in double precision.
 */
#ifndef XGEMM_TESTS_SUPPORT_H
#define XGEMM_TESTS_SUPPORT_H

#include <xgemm.h>

#include <check.h>
#include <stdbool.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { LAYOUTS = 8 };

/* ---- The programs ---- */

/* $XGEMM_TEST_DEVICE: cpu, sim (also when unset) or a GPU's number. */
int test_device(void);

/* $XGEMM_TEST_EFFORT, in percent; 100 when unset. */
int test_effort(void);

/* What main returns: 0, 1 when a test failed, 77 when the device under test is not there. */
int run_suite(Suite *suite);

/* The same for tests that need no device. */
int run_anywhere(Suite *suite);

/* A case of the suite. Its tests have a time limit that only one that hangs reaches. */
TCase *add_case(Suite *suite, const char *name);

/* The same; the seconds say no more than that. */
TCase *new_case(Suite *suite, const char *name, double seconds);

/* Fails the test, with the sentence. Threads and main may call it while all is well. */
void require(bool holds, const char *sentence);

/* Memory of the host; fails the test when there is none. */
void *allocate(size_t bytes);

/* ---- What is refused ---- */

void assert_says(const char *sentence, const char *part);

/* The status, and the handle's sentence: it begins with "function: " and has the part. */
void assert_refused(const xgemm_handle *handle, xgemm_status status, xgemm_status wanted,
                    const char *function, const char *part);

/* ---- Handles and kernels ---- */

/* Fails the test when it cannot be had. */
xgemm_handle *open_handle(int device);

/* The kernels that a device runs with FP32's accuracy, as indices for xgemm_kernel_get(); the
 * number of them. */
int kernels_of(int device, int indices[], int most);

/* How many kernels the device under test runs; "auto" counts as one more, the last. */
int test_kernels(void);
const char *test_kernel(int number);
xgemm_kernel_info test_kernel_info(int number);

/* A handle on the device under test, with that kernel set. */
xgemm_handle *open_with_kernel(int number);

/* The same by the name, in the math mode of all kernels; NULL: the device does not run it. */
xgemm_handle *open_by_name(const char *kernel);

/* ---- Random numbers, the same in every run ---- */

typedef struct {
    uint64_t state;
} generator;

uint32_t random_bits(generator *from);

/* At least 0 and less than limit. */
int random_below(generator *from, int limit);

/* Multiples of 2^-7 in [-1, 1]. */
float random_dyadic(generator *from);

/* 24 bits in (-1, 1). */
float random_real(generator *from);

/* ---- Matrices ---- */

/*
 * A matrix with guard zones before and after it. Guards, and the gaps that a leading
 * dimension leaves, hold a NaN of a known pattern: a read of them spoils the result, a
 * write is found; AddressSanitizer, where the library is built with it, stops any
 * access to them.
 */
typedef struct {
    xgemm_handle *handle;
    xgemm_order order;
    int64_t rows, columns; /* as it lies in memory, before op */
    int64_t ld;
    size_t floats; /* of everything, guards included */
    size_t first;  /* where the first element is */
    float *before; /* what the test wrote */
    float *after;  /* what came back */
    float *memory; /* the device's */
} matrix;

/* On the handle's device, shift floats past an alignment of 256 bytes; all of it a guard yet. */
matrix matrix_new(xgemm_handle *handle, xgemm_order order, int64_t rows, int64_t columns,
                  int64_t gap, int shift);
void matrix_free(matrix *x);

/* The index of an element in before, after and memory. */
size_t matrix_at(const matrix *x, int64_t row, int64_t column);

void matrix_fill(matrix *x, float (*draw)(generator *), generator *from);
void matrix_set(matrix *x, float value);

/* Uploads before, and has AddressSanitizer stop accesses to guards and gaps until unpoisoned. */
xgemm_status matrix_send(const matrix *x);
void matrix_unpoison(const matrix *x);

/* Downloads to after; whether that is what was sent, all of it or its guards and gaps. */
xgemm_status matrix_receive(const matrix *x);
bool matrix_is_unchanged(const matrix *x);
bool matrix_gaps_are_unchanged(const matrix *x);

/* ---- Products ---- */

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    int64_t gap_a, gap_b, gap_c;   /* leading dimensions beyond what is needed */
    int shift_a, shift_b, shift_c; /* floats past an address aligned to 256 bytes */
} shape;

typedef struct {
    shape shape;
    xgemm_handle *handle;
    matrix a, b, c;
    char why[640]; /* what was wrong with it */
} product;

/* Equal to the reference rounded once; or within the worst case of FP32 arithmetic. */
typedef enum { EXACT, BOUND } accuracy;

/* Sets order and transposes to one of LAYOUTS. */
void set_layout(shape *of, int layout);

/* Memory of the handle's device; fails the test when there is none. */
product *product_new(xgemm_handle *handle, const shape *of);
void product_free(product *p);

/* Fills A, B and C; those that must not be read, as alpha and beta are, with NaN. */
void product_fill(product *p, float (*draw)(generator *), generator *from);

/* Uploads, multiplies, downloads; false, and why, if a call fails or a guard, A or B changed. */
bool product_run(product *p);

/* Whether what came back is right; else false, and why. */
bool product_agrees(product *p, accuracy how);

/* Both of the above; the test fails when one does not hold. */
void product_check(product *p, accuracy how);

/* A product of that shape, filled, checked and freed. */
void check_shape(xgemm_handle *handle, const shape *of, float (*draw)(generator *), accuracy how,
                 uint64_t seed);

/* Whether C came back the same bit for bit. */
bool product_left_c(const product *p);

/*
 * For XGEMM_SIM: where this build has traced kernels, they run, and what a kernel may not do is
 * found.
 */
#if XGEMM_WITH_TRACE
#define CHECKED ",check"
#else
#define CHECKED ""
#endif

#endif
