/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm multiply: C = alpha op(A) op(B) + beta C on .npy files. */
#include "commands.h"
#include "host_clock.h"
#include "npy.h"
#include "problem_options.h"
#include "report.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME (&command_multiply)

enum { KEY_KERNEL = 256, KEY_FORTRAN };

static const option_row rows[] = {
    {'o', "output", "FILE", "where C is written (required)"},
    {'c', "input-c", "FILE", "the C that beta multiplies; default: the output file"},
    ALPHA_ROW,
    BETA_ROW("the input C"),
    TRANSA_ROW,
    TRANSB_ROW,
    MATH_ROW,
    {KEY_KERNEL, "kernel", "NAME", "the kernel to run; default: the library chooses"},
    {KEY_FORTRAN, "fortran", NULL, "write C in Fortran order"},
};

typedef struct {
    const char *a_path, *b_path, *c_path, *out_path;
    problem_options problem; /* the order is the files' */
    const char *kernel;
    bool fortran;
    settings common;
} request;

/* The matrices, in host memory and on the device (the same where the device is the host). */
typedef struct {
    npy_matrix host;
    float *device;
} operand;

typedef struct {
    double upload_us, kernel_us, download_us;
} times;

static request parse(int argc, char **argv)
{
    request r = {.problem = problem_defaults(), .common = {.device = XGEMM_DEVICE_AUTO}};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        switch (key) {
        case 'o':
            r.out_path = value;
            break;
        case 'c':
            r.c_path = value;
            break;
        case KEY_KERNEL:
            r.kernel = value;
            break;
        case KEY_FORTRAN:
            r.fortran = true;
            break;
        default:
            problem_option(ME, &r.problem, key, value);
        }
    }
    if (argc - optind != 2)
        usage_error(ME, "two files are multiplied; %d were named", argc - optind);
    if (!r.out_path)
        usage_error(ME, "-o, --output is missing: where is C to be written?");
    r.a_path = argv[optind];
    r.b_path = argv[optind + 1];
    if (!r.c_path)
        r.c_path = r.out_path;
    return r;
}

static int64_t op_rows(const npy_header *x, xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? x->rows : x->columns;
}

static int64_t op_columns(const npy_header *x, xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? x->columns : x->rows;
}

/* m, n and k from the files' headers; false with the reason printed when they do not match. */
static bool find_sizes(const request *r, npy_header *a, npy_header *b, npy_header *c, shape *size)
{
    char message[512];
    if (npy_read_header(r->a_path, a, message, sizeof message) ||
        npy_read_header(r->b_path, b, message, sizeof message) ||
        (r->problem.beta != 0.0f && npy_read_header(r->c_path, c, message, sizeof message))) {
        failed(ME, "%s", message);
        return false;
    }
    *size = (shape){op_rows(a, r->problem.transa), op_columns(b, r->problem.transb),
                    op_columns(a, r->problem.transa)};
    if (op_rows(b, r->problem.transb) != size->k) {
        failed(ME,
               "the shapes do not match: op(A) is %" PRId64 " x %" PRId64
               " (%s) and op(B) is %" PRId64 " x %" PRId64 " (%s); A's columns must equal B's rows",
               size->m, size->k, r->a_path, op_rows(b, r->problem.transb), size->n, r->b_path);
        return false;
    }
    if (r->problem.beta != 0.0f && (c->rows != size->m || c->columns != size->n)) {
        failed(ME,
               "the shapes do not match: the product is %" PRId64 " x %" PRId64 " and C is %" PRId64
               " x %" PRId64 " (%s)",
               size->m, size->n, c->rows, c->columns, r->c_path);
        return false;
    }
    return true;
}

/* Whether a handle's device has so much memory; a device that does not say is trusted. */
static bool has_memory(xgemm_handle *handle, double need, const char *kind, const char *left)
{
    uint64_t available, total;
    char needed[32];
    if (!handle || xgemm_memory_info(handle, &available, &total) || need <= (double)available)
        return true;
    snprintf(needed, sizeof needed, "%s", bytes_text(need));
    failed(ME, "the matrices take %s of %s memory, and %s are %s", needed, kind,
           bytes_text((double)available), left);
    return false;
}

/* Whether three matrices of these sizes fit, before anything is read. */
static bool memory_suffices(xgemm_handle *handle, const shape *s)
{
    const double need = 4.0 * ((double)s->m * (double)s->k + (double)s->k * (double)s->n +
                               (double)s->m * (double)s->n);
    xgemm_handle *host = NULL;
    (void)xgemm_create(&host, XGEMM_DEVICE_CPU);
    const bool enough = has_memory(host, need, "main", "available");
    xgemm_destroy(host);
    return enough && (xgemm_get_device(handle) < 0 || has_memory(handle, need, "GPU", "free"));
}

/* The file may not be the one any more whose header was read. */
static bool read_operand(const char *path, const npy_header *header, operand *x)
{
    char message[512];
    const npy_matrix *const read = &x->host;
    if (npy_read(path, &x->host, message, sizeof message)) {
        failed(ME, "%s", message);
        return false;
    }
    if (read->rows == header->rows && read->columns == header->columns)
        return true;
    failed(ME,
           "%s was replaced: it was %" PRId64 " x %" PRId64 ", and is now %" PRId64 " x %" PRId64,
           path, header->rows, header->columns, read->rows, read->columns);
    return false;
}

/* C as it is read, or room for it. */
static bool prepare_c(const request *r, const npy_header *header, const shape *size, operand *c)
{
    if (r->problem.beta != 0.0f)
        return read_operand(r->c_path, header, c);
    const size_t count = (size_t)size->m * (size_t)size->n;
    c->host = (npy_matrix){size->m, size->n, r->fortran, calloc(count ? count : 1, sizeof(float))};
    if (!c->host.data)
        failed(ME, "the host is out of memory");
    return c->host.data != NULL;
}

static size_t bytes_of(const npy_matrix *x)
{
    return (size_t)x->rows * (size_t)x->columns * sizeof(float);
}

static bool to_device(xgemm_handle *handle, operand *x, bool with_contents)
{
    void *memory = x->host.data;
    if (xgemm_get_device(handle) >= 0 &&
        xgemm_malloc(handle, bytes_of(&x->host), &memory) != XGEMM_OK)
        return false;
    x->device = memory;
    return memory == x->host.data || !with_contents ||
           xgemm_upload(handle, memory, x->host.data, bytes_of(&x->host)) == XGEMM_OK;
}

static bool from_device(xgemm_handle *handle, operand *x)
{
    return xgemm_get_device(handle) < 0 ||
           xgemm_download(handle, x->host.data, x->device, bytes_of(&x->host)) == XGEMM_OK;
}

static void release(xgemm_handle *handle, operand *x)
{
    if (xgemm_get_device(handle) >= 0)
        xgemm_free(handle, x->device);
    npy_free(&x->host);
}

/* A matrix in the other order than C's is, to the library, its own transpose. */
static xgemm_transpose seen(xgemm_transpose trans, const npy_matrix *x, bool fortran)
{
    const bool turned = (trans != XGEMM_NO_TRANS) != (x->fortran_order != fortran);
    return turned ? XGEMM_TRANS : XGEMM_NO_TRANS;
}

static int64_t leading_dimension(const npy_matrix *x)
{
    const int64_t line = x->fortran_order ? x->rows : x->columns;
    return line > 0 ? line : 1;
}

static xgemm_status product(xgemm_handle *handle, const request *r, const shape *size,
                            const operand *a, const operand *b, operand *c)
{
    const bool fortran = c->host.fortran_order;
    return xgemm_sgemm(handle, fortran ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR,
                       seen(r->problem.transa, &a->host, fortran),
                       seen(r->problem.transb, &b->host, fortran), size->m, size->n, size->k,
                       r->problem.alpha, a->device, leading_dimension(&a->host), b->device,
                       leading_dimension(&b->host), r->problem.beta, c->device,
                       leading_dimension(&c->host));
}

static bool compute(xgemm_handle *handle, const request *r, const shape *size, operand *a,
                    operand *b, operand *c, times *t)
{
    xgemm_timer *timer;
    if (xgemm_timer_create(handle, &timer))
        return false;
    double start = now_us();
    bool done = to_device(handle, a, true) && to_device(handle, b, true) &&
                to_device(handle, c, r->problem.beta != 0.0f);
    t->upload_us = now_us() - start;
    done = done && xgemm_timer_start(timer) == XGEMM_OK &&
           product(handle, r, size, a, b, c) == XGEMM_OK && xgemm_timer_stop(timer) == XGEMM_OK &&
           xgemm_timer_elapsed(timer, &t->kernel_us) == XGEMM_OK;
    xgemm_timer_destroy(timer);
    start = now_us();
    done = done && from_device(handle, c);
    t->download_us = now_us() - start;
    return done;
}

/* C in the order that was asked for. */
static bool to_fortran(npy_matrix *c)
{
    const size_t count = (size_t)c->rows * (size_t)c->columns;
    float *turned = malloc((count ? count : 1) * sizeof *turned);
    if (!turned) {
        failed(ME, "the host is out of memory");
        return false;
    }
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++)
            turned[j * c->rows + i] = c->data[i * c->columns + j];
    free(c->data);
    c->data = turned;
    c->fortran_order = true;
    return true;
}

static void print(const request *r, const shape *size, const xgemm_handle *handle, const times *t)
{
    static const column columns[] = {
        {"m", 6},       {"n", 6},          {"k", 6},          {"kernel", -18},
        {"device", -6}, {"kernel_us", 12}, {"upload_us", 12}, {"download_us", 12},
        {"gflops", 10}, {"output", -1},
    };
    const int device = xgemm_get_device(handle);
    const char *kernel = xgemm_last_kernel(handle);
    char name[16];
    snprintf(name, sizeof name, "%d", device);
    json_t *facts = report_facts(ME);
    report_device(facts, device);
    report to = report_open(&r->common, columns, 10, "results", facts);
    const cell cells[] = {
        cell_integer(size->m),
        cell_integer(size->n),
        cell_integer(size->k),
        kernel ? cell_text(kernel) : cell_none(),
        cell_text(device == XGEMM_DEVICE_CPU   ? "cpu"
                  : device == XGEMM_DEVICE_SIM ? "sim"
                                               : name),
        cell_real(t->kernel_us, 1),
        cell_real(t->upload_us, 1),
        cell_real(t->download_us, 1),
        cell_real(t->kernel_us > 0.0
                      ? 2e-3 * (double)size->m * (double)size->n * (double)size->k / t->kernel_us
                      : 0.0,
                  1),
        cell_text(r->out_path),
    };
    report_row(&to, cells);
    report_close(&to);
}

static int finish(const request *r, const shape *size, const xgemm_handle *handle, operand *c,
                  const times *t)
{
    char message[512];
    if (r->fortran && !c->host.fortran_order && !to_fortran(&c->host))
        return STATUS_FAILED;
    if (npy_write(r->out_path, &c->host, message, sizeof message))
        return failed(ME, "%s", message);
    print(r, size, handle, t);
    return STATUS_DONE;
}

static int multiply(const request *r, xgemm_handle *handle)
{
    npy_header headers[3] = {{0}};
    operand a = {{0}, NULL}, b = {{0}, NULL}, c = {{0}, NULL};
    shape size;
    times t = {0};
    int status = STATUS_FAILED;

    char message[512];
    if (!find_sizes(r, &headers[0], &headers[1], &headers[2], &size) ||
        !memory_suffices(handle, &size))
        return STATUS_FAILED;
    if (npy_check_writable(r->out_path, message, sizeof message))
        return failed(ME, "%s", message);
    if (read_operand(r->a_path, &headers[0], &a) && read_operand(r->b_path, &headers[1], &b) &&
        prepare_c(r, &headers[2], &size, &c)) {
        if (compute(handle, r, &size, &a, &b, &c, &t))
            status = finish(r, &size, handle, &c, &t);
        else
            failed_call(ME, handle);
    }
    release(handle, &a);
    release(handle, &b);
    release(handle, &c);
    return status;
}

static int run(int argc, char **argv)
{
    const request r = parse(argc, argv);
    xgemm_handle *handle = problem_device(ME, &r.common, &r.problem);
    const xgemm_status set = r.kernel ? xgemm_set_kernel(handle, r.kernel) : XGEMM_OK;
    int status;
    if (set) {
        failed_call(ME, handle);
        status = set == XGEMM_ERROR_UNKNOWN_KERNEL ? STATUS_USAGE : STATUS_FAILED;
    } else {
        status = multiply(&r, handle);
    }
    xgemm_destroy(handle);
    return status;
}

const command command_multiply = {
    "multiply", "A.npy B.npy -o C.npy",     "C = alpha op(A) op(B) + beta C on NumPy files",
    rows,       sizeof rows / sizeof *rows, run};
