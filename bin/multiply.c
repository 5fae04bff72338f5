/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm multiply: C = alpha op(A) op(B) + beta C on .npy files. */
#include "commands.h"
#include "device_fields.h"
#include "host_clock.h"
#include "npy.h"
#include "problem_options.h"
#include "replacement.h"
#include "report.h"
#include "stdout_file.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME (&command_multiply)

enum { KEY_KERNEL = 256, KEY_FORTRAN, KEY_CAST };

static const option_row rows[] = {
    {'o', "output", "FILE", "where C is written (required); - is the standard output"},
    {'c', "input-c", "FILE", "the C that beta multiplies; default: the output file"},
    ALPHA_ROW,
    BETA_ROW("the input C"),
    TRANSA_ROW,
    TRANSB_ROW,
    MATH_ROW,
    {KEY_KERNEL, "kernel", "NAME", "the kernel to run; default: the library chooses"},
    {KEY_FORTRAN, "fortran", NULL, "write C in Fortran order"},
    {KEY_CAST, "cast", NULL, "convert float64, float16 and big-endian inputs to float32"},
};

typedef struct {
    const char *a_path, *b_path, *c_path, *out_path;
    problem_options problem; /* the order is the files' */
    const char *kernel;
    bool fortran;
    npy_types types;
    settings common;
} request;

/* A file that is open, and what its header says. */
typedef struct {
    npy_input *input; /* NULL: C, where beta is 0 */
    npy_header header;
} operand_file;

/* The matrices, in host memory and on the device (the same where the device is the host). */
typedef struct {
    npy_matrix host;
    float *device;
} operand;

/* A product, or a batch of them. */
typedef struct {
    shape one;
    bool is_batch;
    int64_t batch;
} sizes;

typedef struct {
    double upload_us, kernel_us, download_us;
} times;

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The standard streams, of which there is one each. */
static void check_streams(const request *r)
{
    const bool reads_c = r->problem.beta.re != 0.0;
    const int from_stdin =
        is_standard(r->a_path) + is_standard(r->b_path) + (reads_c && is_standard(r->c_path));
    if (reads_c && r->c_path == r->out_path && replacement_is_stdout(r->out_path))
        usage_error(ME, "C is written to the standard output: name the C that beta multiplies "
                        "with -c");
    if (from_stdin > 1)
        usage_error(ME, "one input alone can be the standard input; %d are", from_stdin);
    stdout_for_file(ME, &r->common, r->out_path, "the matrix");
}

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
        case KEY_CAST:
            r.types = NPY_CAST;
            break;
        default:
            problem_option(ME, &r.problem, key, value);
        }
    }
    problem_check(ME, &r.problem);
    if (argc - optind != 2)
        usage_error(ME, "two files are multiplied; %d %s named", argc - optind,
                    argc - optind == 1 ? "was" : "were");
    if (!r.out_path)
        usage_error(ME, "-o, --output is missing: where is C to be written?");
    r.a_path = argv[optind];
    r.b_path = argv[optind + 1];
    if (!r.c_path)
        r.c_path = r.out_path;
    check_streams(&r);
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

static bool open_operand(const request *r, const char *path, operand_file *file)
{
    char message[512];
    file->input = npy_open(path, r->types, &file->header, message, sizeof message);
    if (!file->input)
        failed(ME, "%s", message);
    return file->input != NULL;
}

/* A matrix, or a batch of one, is multiplied with each matrix of the other's batch, as in NumPy. */
static bool find_batch(const request *r, const npy_header *a, const npy_header *b, sizes *size)
{
    size->is_batch = a->is_batch || b->is_batch;
    size->batch = a->batch == 1 ? b->batch : a->batch;
    if (a->batch == b->batch || a->batch == 1 || b->batch == 1)
        return true;
    failed(ME,
           "the batches do not match: A has %" PRId64 " matrices (%s) and B has %" PRId64
           " (%s); they must be as many, or one",
           a->batch, r->a_path, b->batch, r->b_path);
    return false;
}

static bool c_matches(const request *r, const npy_header *c, const sizes *size)
{
    char product[80], found[80];
    if (c->rows == size->one.m && c->columns == size->one.n && c->batch == size->batch &&
        c->is_batch == size->is_batch)
        return true;
    snprintf(product, sizeof product, "%" PRId64 " x %" PRId64, size->one.m, size->one.n);
    snprintf(found, sizeof found, "%" PRId64 " x %" PRId64, c->rows, c->columns);
    if (c->is_batch || size->is_batch)
        failed(ME,
               "the shapes do not match: the product is %" PRId64 " of %s and C is %" PRId64
               " of %s (%s)",
               size->batch, product, c->batch, found, r->c_path);
    else
        failed(ME, "the shapes do not match: the product is %s and C is %s (%s)", product, found,
               r->c_path);
    return false;
}

/* m, n and k from the files' headers; false with the reason printed when they do not match. */
static bool find_sizes(const request *r, const npy_header *a, const npy_header *b,
                       const npy_header *c, sizes *size)
{
    shape *one = &size->one;
    *one = (shape){op_rows(a, r->problem.transa), op_columns(b, r->problem.transb),
                   op_columns(a, r->problem.transa)};
    if (op_rows(b, r->problem.transb) != one->k) {
        failed(ME,
               "the shapes do not match: op(A) is %" PRId64 " x %" PRId64
               " (%s) and op(B) is %" PRId64 " x %" PRId64 " (%s); A's columns must equal B's rows",
               one->m, one->k, r->a_path, op_rows(b, r->problem.transb), one->n, r->b_path);
        return false;
    }
    return find_batch(r, a, b, size) && (r->problem.beta.re == 0.0 || c_matches(r, c, size));
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

static double elements(int64_t batch, int64_t height, int64_t width)
{
    return (double)batch * (double)height * (double)width;
}

/* Whether the matrices fit, before anything is read. */
static bool memory_suffices(xgemm_handle *handle, const npy_header *a, const npy_header *b,
                            const sizes *size)
{
    const double need =
        4.0 * (elements(a->batch, a->rows, a->columns) + elements(b->batch, b->rows, b->columns) +
               elements(size->batch, size->one.m, size->one.n));
    xgemm_handle *host = NULL;
    (void)xgemm_create(&host, XGEMM_DEVICE_CPU);
    const bool enough = has_memory(host, need, "main", "available");
    xgemm_destroy(host);
    return enough && (xgemm_get_device(handle) < 0 || has_memory(handle, need, "GPU", "free"));
}

static bool read_operand(operand_file *file, operand *x)
{
    char message[512];
    if (npy_load(file->input, &x->host, message, sizeof message) == 0)
        return true;
    failed(ME, "%s", message);
    return false;
}

/* C as it is read, or room for it. */
static bool prepare_c(const request *r, operand_file *file, const sizes *size, operand *c)
{
    if (file->input)
        return read_operand(file, c);
    const size_t count = (size_t)size->batch * (size_t)size->one.m * (size_t)size->one.n;
    c->host = (npy_matrix){.rows = size->one.m,
                           .columns = size->one.n,
                           .fortran_order = r->fortran,
                           .data = calloc(count ? count : 1, sizeof(float)),
                           .is_batch = size->is_batch,
                           .batch = size->batch};
    if (!c->host.data)
        failed(ME, "the host is out of memory");
    return c->host.data != NULL;
}

static size_t bytes_of(const npy_matrix *x)
{
    return (size_t)npy_count(x) * (size_t)x->rows * (size_t)x->columns * sizeof(float);
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

/* From a matrix of a batch to the next one; of one matrix, all products share it. */
static int64_t batch_stride(const npy_matrix *x)
{
    return npy_count(x) == 1 ? 0 : x->rows * x->columns;
}

static xgemm_status product(xgemm_handle *handle, const request *r, const sizes *size,
                            const operand *a, const operand *b, operand *c)
{
    const bool fortran = c->host.fortran_order;
    const xgemm_order order = fortran ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    const xgemm_transpose transa = seen(r->problem.transa, &a->host, fortran);
    const xgemm_transpose transb = seen(r->problem.transb, &b->host, fortran);
    const int64_t lda = leading_dimension(&a->host), ldb = leading_dimension(&b->host);
    const int64_t ldc = leading_dimension(&c->host);
    const shape *one = &size->one;
    if (!size->is_batch)
        return xgemm_sgemm(handle, order, transa, transb, one->m, one->n, one->k,
                           (float)r->problem.alpha.re, a->device, lda, b->device, ldb,
                           (float)r->problem.beta.re, c->device, ldc);
    return xgemm_sgemm_strided_batched(
        handle, order, transa, transb, one->m, one->n, one->k, (float)r->problem.alpha.re,
        a->device, lda, batch_stride(&a->host), b->device, ldb, batch_stride(&b->host),
        (float)r->problem.beta.re, c->device, ldc, one->m * one->n, size->batch);
}

static bool compute(xgemm_handle *handle, const request *r, const sizes *size, operand *a,
                    operand *b, operand *c, times *t)
{
    xgemm_timer *timer;
    if (xgemm_timer_create(handle, &timer))
        return false;
    double start = now_us();
    bool done = to_device(handle, a, true) && to_device(handle, b, true) &&
                to_device(handle, c, r->problem.beta.re != 0.0);
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

/* C in the order that was asked for, one matrix after the other. */
static bool to_fortran(npy_matrix *c)
{
    const int64_t one = c->rows * c->columns;
    for (int64_t i = 0; i < npy_count(c); i++) {
        float *const at = c->data + i * one;
        float *transposed = npy_transpose(at, c->rows, c->columns);
        if (!transposed) {
            failed(ME, "the host is out of memory");
            return false;
        }
        memcpy(at, transposed, (size_t)one * sizeof *at);
        free(transposed);
    }
    c->fortran_order = true;
    return true;
}

static void print(const request *r, const sizes *size, const xgemm_handle *handle,
                  const npy_matrix *c, const times *t)
{
    static const column columns[] = {
        {"batch", 6},        {"m", 6},       {"n", 6},          {"k", 6},
        {"kernel", -18},     {"device", -6}, {"kernel_us", 12}, {"upload_us", 12},
        {"download_us", 12}, {"gflops", 10}, {"output", -1},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const int unbatched = size->is_batch ? 0 : 1; /* leaves out the first column */
    const shape *one = &size->one;
    const int device = xgemm_get_device(handle);
    const char *kernel = xgemm_last_kernel(handle);
    char name[16];
    snprintf(name, sizeof name, "%d", device);
    json_t *facts = report_facts(ME);
    device_add_ordinal(facts, device);
    problem_options how = r->problem;
    how.order = c->fortran_order ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    how.batch = size->batch;
    json_object_set_new(facts, "settings", problem_settings(&how));
    report to = report_open(&r->common, columns + unbatched, COLUMNS - unbatched, "results", facts);
    const double flops = 2.0 * elements(size->batch, one->m, one->n) * (double)one->k;
    const cell cells[] = {
        cell_integer(size->batch),
        cell_integer(one->m),
        cell_integer(one->n),
        cell_integer(one->k),
        kernel ? cell_text(kernel) : cell_none(),
        cell_text(device == XGEMM_DEVICE_CPU   ? "cpu"
                  : device == XGEMM_DEVICE_SIM ? "sim"
                                               : name),
        cell_real(t->kernel_us, 1),
        cell_real(t->upload_us, 1),
        cell_real(t->download_us, 1),
        t->kernel_us > 0.0 ? cell_real(1e-3 * flops / t->kernel_us, 1) : cell_none(),
        cell_text(r->out_path),
    };
    report_row(&to, cells + unbatched);
    report_close(&to);
}

static int finish(const request *r, const sizes *size, const xgemm_handle *handle, operand *c,
                  const times *t)
{
    char message[512];
    if (r->fortran && !c->host.fortran_order && !to_fortran(&c->host))
        return STATUS_FAILED;
    if (npy_write(r->out_path, &c->host, message, sizeof message))
        return failed(ME, "%s", message);
    print(r, size, handle, &c->host, t);
    return STATUS_DONE;
}

/* From the open files on, whose sizes match. */
static int multiply_files(const request *r, xgemm_handle *handle, operand_file files[3],
                          const sizes *size)
{
    operand a = {.device = NULL}, b = {.device = NULL}, c = {.device = NULL};
    times t = {0};
    int status = STATUS_FAILED;
    if (read_operand(&files[0], &a) && read_operand(&files[1], &b) &&
        prepare_c(r, &files[2], size, &c)) {
        if (compute(handle, r, size, &a, &b, &c, &t))
            status = finish(r, size, handle, &c, &t);
        else
            failed_call(ME, handle);
    }
    release(handle, &a);
    release(handle, &b);
    release(handle, &c);
    return status;
}

/* Each file is opened once: its header and its data are of the same file, whatever its name leads
 * to by then. */
static int multiply(const request *r, xgemm_handle *handle)
{
    operand_file files[3] = {{0}};
    sizes size;
    char message[512];
    int status = STATUS_FAILED;
    if (open_operand(r, r->a_path, &files[0]) && open_operand(r, r->b_path, &files[1]) &&
        (r->problem.beta.re == 0.0 || open_operand(r, r->c_path, &files[2])) &&
        find_sizes(r, &files[0].header, &files[1].header, &files[2].header, &size) &&
        memory_suffices(handle, &files[0].header, &files[1].header, &size)) {
        if (npy_check_writable(r->out_path, message, sizeof message))
            failed(ME, "%s", message);
        else
            status = multiply_files(r, handle, files, &size);
    }
    for (int i = 0; i < 3; i++)
        npy_close(files[i].input);
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
    "multiply", "A.npy B.npy -o C.npy",     "C = alpha op(A) op(B) + beta C on files",
    rows,       sizeof rows / sizeof *rows, run};
