/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { SKIPPED = 77, GUARD = 64, KERNELS_MAX = 64 };

static const uint32_t canary_bits = 0x7fc0dead; /* a NaN */

/* ---- The programs ---- */

/* A whole number at least 0; the program ends when the variable has anything else. */
static int number_of(const char *variable, const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > INT_MAX) {
        fprintf(stderr, "%s=\"%s\" is no number that it takes\n", variable, text);
        exit(EXIT_FAILURE);
    }
    return (int)value;
}

int test_device(void)
{
    const char *text = getenv("XGEMM_TEST_DEVICE");
    if (!text || !*text || strcmp(text, "sim") == 0)
        return XGEMM_DEVICE_SIM;
    if (strcmp(text, "cpu") == 0)
        return XGEMM_DEVICE_CPU;
    return number_of("XGEMM_TEST_DEVICE", text);
}

int test_effort(void)
{
    const char *text = getenv("XGEMM_TEST_EFFORT");
    return text && *text ? number_of("XGEMM_TEST_EFFORT", text) : 100;
}

static bool means_absent(xgemm_status status)
{
    return status == XGEMM_ERROR_NO_DRIVER || status == XGEMM_ERROR_DRIVER_TOO_OLD ||
           status == XGEMM_ERROR_NO_DEVICE || status == XGEMM_ERROR_NOT_SUPPORTED;
}

static int try_device(int device)
{
    xgemm_handle *handle;
    const xgemm_status status = xgemm_create(&handle, device);
    if (means_absent(status))
        fprintf(stderr, "skipped: %s\n", xgemm_last_error(NULL));
    xgemm_destroy(handle);
    return means_absent(status) ? SKIPPED : 0;
}

/* In a child: CUDA does not work in children of a process that has used it. */
static bool device_is_there(int device)
{
    int status = 0;
    if (device < 0)
        return true;
    const pid_t child = fork();
    if (child == 0)
        exit(try_device(device));
    if (child > 0)
        waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED);
}

int run_anywhere(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_suite(Suite *suite)
{
    unsetenv("XGEMM_DEVICE");
    unsetenv("XGEMM_KERNEL");
    if (device_is_there(test_device()))
        return run_anywhere(suite);
    srunner_free(srunner_create(suite)); /* frees the suite */
    return SKIPPED;
}

TCase *new_case(Suite *suite, const char *name, double timeout_s)
{
    TCase *made = tcase_create(name);
    tcase_set_timeout(made, timeout_s);
    suite_add_tcase(suite, made);
    return made;
}

/* ---- What is refused ---- */

void assert_says(const char *sentence, const char *part)
{
    ck_assert_msg(strstr(sentence, part) != NULL, "\"%s\" lacks \"%s\"", sentence, part);
}

void assert_refused(const xgemm_handle *handle, xgemm_status status, xgemm_status wanted,
                    const char *function, const char *part)
{
    ck_assert_msg(status == wanted, "%s gives %s, not %s; wanted: %s", function,
                  xgemm_status_name(status), xgemm_status_name(wanted), part);
    const char *sentence = xgemm_last_error(handle);
    ck_assert_msg(strncmp(sentence, function, strlen(function)) == 0,
                  "\"%s\" does not begin with %s", sentence, function);
    assert_says(sentence, part);
}

/* ---- Handles and kernels ---- */

/* 0 when there is no such device. Asked in a child, see device_is_there(). */
static int compute_capability_of(int device)
{
    static int asked = -1, answer;
    int status = 0;
    if (asked == device)
        return answer;
    const pid_t child = fork();
    if (child == 0) {
        xgemm_device record = {.struct_size = sizeof record};
        _exit(xgemm_device_get(device, &record) == XGEMM_OK ? record.compute_capability : 0);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    asked = device;
    answer = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return answer;
}

/* Says nothing to Check while all is well, so that it serves main and threads too. */
static void require(bool holds, const char *sentence)
{
    if (!holds)
        ck_abort_msg("%s", sentence);
}

xgemm_handle *open_handle(int device)
{
    xgemm_handle *handle;
    const xgemm_status status = xgemm_create(&handle, device);
    require(status == XGEMM_OK && handle, xgemm_last_error(NULL));
    return handle;
}

static xgemm_kernel_info info_of(int index)
{
    xgemm_kernel_info info = {.struct_size = sizeof info};
    require(xgemm_kernel_get(index, &info) == XGEMM_OK, xgemm_last_error(NULL));
    return info;
}

int kernels_of(int device, int indices[], int most)
{
    const unsigned bit = device == XGEMM_DEVICE_CPU   ? XGEMM_RUNS_ON_CPU
                         : device == XGEMM_DEVICE_SIM ? XGEMM_RUNS_ON_SIM
                                                      : XGEMM_RUNS_ON_CUDA;
    const int here = device >= 0 ? compute_capability_of(device) : 90;
    int found = 0;
    for (int i = 0; i < xgemm_kernel_count() && found < most; i++) {
        const xgemm_kernel_info info = info_of(i);
        if (info.devices & bit && info.math != XGEMM_MATH_TF32 &&
            (info.compute_capability == 0 || info.compute_capability == here))
            indices[found++] = i;
    }
    return found;
}

int test_kernels(void)
{
    int indices[KERNELS_MAX];
    return kernels_of(test_device(), indices, KERNELS_MAX) + 1;
}

xgemm_kernel_info test_kernel_info(int number)
{
    int indices[KERNELS_MAX];
    const xgemm_kernel_info automatic = {.struct_size = sizeof automatic, .name = "auto"};
    return number < kernels_of(test_device(), indices, KERNELS_MAX) ? info_of(indices[number])
                                                                    : automatic;
}

const char *test_kernel(int number)
{
    return test_kernel_info(number).name;
}

xgemm_handle *open_with_kernel(int number)
{
    xgemm_handle *handle = open_handle(test_device());
    require(xgemm_set_kernel(handle, test_kernel(number)) == XGEMM_OK, xgemm_last_error(handle));
    return handle;
}

/* ---- Random numbers ---- */

/* A Weyl sequence, its bits mixed by two multiplications. */
uint32_t random_bits(generator *from)
{
    uint64_t x = from->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

int random_below(generator *from, int limit)
{
    return (int)(random_bits(from) % (uint32_t)limit);
}

float random_dyadic(generator *from)
{
    return (float)(random_below(from, 257) - 128) / 128.0f;
}

float random_real(generator *from)
{
    const uint32_t bits = random_bits(from);
    const float size = (float)(bits >> 8) / 16777216.0f;
    return bits & 1 ? -size : size;
}

/* ---- Matrices ---- */

static int64_t lines_of(const matrix *x)
{
    return x->order == XGEMM_ROW_MAJOR ? x->rows : x->columns;
}

static int64_t width_of(const matrix *x)
{
    return x->order == XGEMM_ROW_MAJOR ? x->columns : x->rows;
}

size_t matrix_at(const matrix *x, int64_t row, int64_t column)
{
    const int64_t place = x->order == XGEMM_ROW_MAJOR ? row * x->ld + column : column * x->ld + row;
    return x->first + (size_t)place;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    require(memory != NULL, "out of memory");
    return memory;
}

static matrix matrix_new(xgemm_handle *handle, xgemm_order order, int64_t rows, int64_t columns,
                         int64_t gap, int shift)
{
    matrix x = {.handle = handle, .order = order, .rows = rows, .columns = columns};
    const int64_t lines = lines_of(&x), width = width_of(&x);
    void *memory;

    x.ld = (width > 1 ? width : 1) + gap;
    x.first = (size_t)(GUARD + shift);
    x.floats = x.first + GUARD;
    if (lines > 0)
        x.floats += (size_t)((lines - 1) * x.ld + width);
    x.before = allocate(x.floats * sizeof(float));
    x.after = allocate(x.floats * sizeof(float));
    require(xgemm_malloc(handle, x.floats * sizeof(float), &memory) == XGEMM_OK,
            xgemm_last_error(handle));
    x.memory = memory;
    for (size_t i = 0; i < x.floats; i++)
        memcpy(&x.before[i], &canary_bits, sizeof canary_bits);
    return x;
}

static void matrix_free(matrix *x)
{
    free(x->before);
    free(x->after);
    xgemm_free(x->handle, x->memory);
}

/* Calls a function for every run of floats that is no element: the guards and the gaps. */
static bool for_each_gap(const matrix *x, bool (*each)(const matrix *, size_t from, size_t to))
{
    const int64_t lines = width_of(x) > 0 ? lines_of(x) : 0;
    size_t from = 0;
    for (int64_t line = 0; line < lines; line++) {
        const size_t start = x->first + (size_t)(line * x->ld);
        if (start > from && !each(x, from, start))
            return false;
        from = start + (size_t)width_of(x);
    }
    return each(x, from, x->floats);
}

static bool gap_is_same(const matrix *x, size_t from, size_t to)
{
    return memcmp(x->before + from, x->after + from, (to - from) * sizeof(float)) == 0;
}

static bool forbid(const matrix *x, size_t from, size_t to)
{
#ifdef WITH_ASAN
    if (xgemm_get_device(x->handle) < 0)
        ASAN_POISON_MEMORY_REGION(x->memory + from, (to - from) * sizeof(float));
#endif
    (void)x, (void)from, (void)to;
    return true;
}

static void allow_all(const matrix *x)
{
#ifdef WITH_ASAN
    if (xgemm_get_device(x->handle) < 0)
        ASAN_UNPOISON_MEMORY_REGION(x->memory, x->floats * sizeof(float));
#endif
    (void)x;
}

void matrix_fill(matrix *x, float (*draw)(generator *), generator *from)
{
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t column = 0; column < x->columns; column++)
            x->before[matrix_at(x, row, column)] = draw(from);
}

void matrix_set(matrix *x, float value)
{
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t column = 0; column < x->columns; column++)
            x->before[matrix_at(x, row, column)] = value;
}

static xgemm_status matrix_send(const matrix *x)
{
    const xgemm_status status =
        xgemm_upload(x->handle, x->memory, x->before, x->floats * sizeof(float));
    for_each_gap(x, forbid);
    return status;
}

static xgemm_status matrix_receive(const matrix *x)
{
    return xgemm_download(x->handle, x->after, x->memory, x->floats * sizeof(float));
}

/* ---- Products ---- */

void set_layout(shape *of, int layout)
{
    of->order = layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    of->transa = layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    of->transb = layout & 4 ? XGEMM_TRANS : XGEMM_NO_TRANS;
}

product *product_new(xgemm_handle *handle, const shape *of)
{
    const bool turn_a = of->transa != XGEMM_NO_TRANS, turn_b = of->transb != XGEMM_NO_TRANS;
    product *p = allocate(sizeof *p);
    p->shape = *of;
    p->handle = handle;
    p->a = matrix_new(handle, of->order, turn_a ? of->k : of->m, turn_a ? of->m : of->k, of->gap_a,
                      of->shift_a);
    p->b = matrix_new(handle, of->order, turn_b ? of->n : of->k, turn_b ? of->k : of->n, of->gap_b,
                      of->shift_b);
    p->c = matrix_new(handle, of->order, of->m, of->n, of->gap_c, of->shift_c);
    p->why[0] = '\0';
    return p;
}

void product_free(product *p)
{
    matrix_free(&p->a);
    matrix_free(&p->b);
    matrix_free(&p->c);
    free(p);
}

void product_fill(product *p, float (*draw)(generator *), generator *from)
{
    matrix_fill(&p->a, draw, from);
    matrix_fill(&p->b, draw, from);
    matrix_fill(&p->c, draw, from);
    if (p->shape.alpha == 0.0f) {
        matrix_set(&p->a, NAN);
        matrix_set(&p->b, NAN);
    }
    if (p->shape.beta == 0.0f)
        matrix_set(&p->c, NAN);
}

static char letter_of(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? 'N' : trans == XGEMM_TRANS ? 'T' : 'C';
}

/* The product, with the kernel that it ran, and what was wrong. */
static bool wrong(product *p, const char *what)
{
    const shape *s = &p->shape;
    const char *kernel = xgemm_last_kernel(p->handle);
    snprintf(p->why, sizeof p->why,
             "%s: %s order, %c%c, m %" PRId64 ", n %" PRId64 ", k %" PRId64
             ", alpha %g, beta %g, lda %" PRId64 ", ldb %" PRId64 ", ldc %" PRId64
             ", shifts %d %d %d: %s",
             kernel ? kernel : "no kernel", s->order == XGEMM_ROW_MAJOR ? "row" : "column",
             letter_of(s->transa), letter_of(s->transb), s->m, s->n, s->k, (double)s->alpha,
             (double)s->beta, p->a.ld, p->b.ld, p->c.ld, s->shift_a, s->shift_b, s->shift_c, what);
    return false;
}

static bool same_everywhere(const matrix *x)
{
    return gap_is_same(x, 0, x->floats);
}

bool product_left_c(const product *p)
{
    return same_everywhere(&p->c);
}

static xgemm_status call(product *p)
{
    const shape *s = &p->shape;
    return xgemm_sgemm(p->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
                       p->a.memory + p->a.first, p->a.ld, p->b.memory + p->b.first, p->b.ld,
                       s->beta, p->c.memory + p->c.first, p->c.ld);
}

bool product_run(product *p)
{
    const matrix *matrices[] = {&p->a, &p->b, &p->c};
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < COUNT(matrices) && !status; i++)
        status = matrix_send(matrices[i]);
    if (!status)
        status = call(p);
    for (int i = 0; i < COUNT(matrices); i++)
        allow_all(matrices[i]);
    for (int i = 0; i < COUNT(matrices) && !status; i++)
        status = matrix_receive(matrices[i]);
    if (status)
        return wrong(p, xgemm_last_error(p->handle));
    if (!same_everywhere(&p->a) || !same_everywhere(&p->b))
        return wrong(p, "A or B, or what lies around them, has changed");
    if (!for_each_gap(&p->c, gap_is_same))
        return wrong(p, "a canary around C or between its lines has changed");
    return true;
}

/* op(X) as a dense matrix whose lines go along k. */
static double *gather(const matrix *x, bool k_is_rows)
{
    const int64_t k = k_is_rows ? x->rows : x->columns, lines = k_is_rows ? x->columns : x->rows;
    double *dense = allocate((size_t)(k * lines + 1) * sizeof *dense);
    for (int64_t line = 0; line < lines; line++)
        for (int64_t l = 0; l < k; l++)
            dense[line * k + l] =
                (double)x->before[k_is_rows ? matrix_at(x, l, line) : matrix_at(x, line, l)];
    return dense;
}

typedef struct {
    double value;
    double magnitude; /* |alpha| |A| |B| + |beta| |C| */
} expectation;

static expectation expect(const shape *s, const double *a, const double *b, double c)
{
    const bool multiplies = s->k > 0 && s->alpha != 0.0f;
    double sum = 0.0, magnitude = 0.0;
    for (int64_t l = 0; multiplies && l < s->k; l++) {
        sum += a[l] * b[l];
        magnitude += fabs(a[l] * b[l]);
    }
    expectation e = {0.0, 0.0};
    if (multiplies) {
        e.value = (double)s->alpha * sum;
        e.magnitude = fabs((double)s->alpha) * magnitude;
    }
    if (s->beta != 0.0f) {
        const double term = (double)s->beta * c;
        e.value = multiplies ? e.value + term : term;
        e.magnitude += fabs(term);
    }
    return e;
}

/* Any NaN is as good as another; a BLAS may add a product of -0 to a C that it set to 0 before. */
static bool is_exactly(float result, double value, bool any_zero)
{
    const float rounded = (float)value;
    if (isnan(rounded))
        return isnan(result);
    if (any_zero && rounded == 0.0f)
        return result == 0.0f;
    return memcmp(&result, &rounded, sizeof result) == 0;
}

/*
 * The worst case of FP32 arithmetic in any order: k roundings of products and
 * sums, those of alpha * sum, beta * C and their sum, and the terms of second
 * order, which are less than one more rounding for the sizes here.
 */
static bool is_within(float result, const expectation *e, int64_t k, const char *kernel)
{
    const double gamma = (double)(k + 4) * 0x1p-24;
    /* Products of two FP16 parts are as XGEMM_MATH_DEFAULT allows, also where k is short. */
    const bool by_parts = kernel && strncmp(kernel, "fp16x3", 6) == 0;
    return fabs((double)result - e->value) <= fmax(gamma, by_parts ? 0x1p-20 : 0.0) * e->magnitude;
}

static bool element_agrees(product *p, accuracy how, int64_t row, int64_t column,
                           const expectation *e)
{
    const float result = p->c.after[matrix_at(&p->c, row, column)];
    const char *kernel = xgemm_last_kernel(p->handle);
    char what[160];
    if (how == EXACT ? is_exactly(result, e->value, kernel && strcmp(kernel, "blas") == 0)
                     : is_within(result, e, p->shape.k, kernel))
        return true;
    snprintf(what, sizeof what, "C(%" PRId64 ", %" PRId64 ") is %.9g (%a), should be %.17g (%a)",
             row, column, (double)result, (double)result, e->value, e->value);
    return wrong(p, what);
}

bool product_agrees(product *p, accuracy how)
{
    const shape *s = &p->shape;
    double *a = gather(&p->a, s->transa != XGEMM_NO_TRANS);
    double *b = gather(&p->b, s->transb == XGEMM_NO_TRANS);
    bool right = true;
    for (int64_t row = 0; row < s->m && right; row++)
        for (int64_t column = 0; column < s->n && right; column++) {
            const double c = (double)p->c.before[matrix_at(&p->c, row, column)];
            const expectation e = expect(s, a + row * s->k, b + column * s->k, c);
            right = element_agrees(p, how, row, column, &e);
        }
    free(a);
    free(b);
    return right;
}

void product_check(product *p, accuracy how)
{
    require(product_run(p) && product_agrees(p, how), p->why);
}

void check_shape(xgemm_handle *handle, const shape *of, float (*draw)(generator *), accuracy how,
                 uint64_t seed)
{
    generator from = {seed};
    product *p = product_new(handle, of);
    product_fill(p, draw, &from);
    product_check(p, how);
    product_free(p);
}
