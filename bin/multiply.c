/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm multiply: C = alpha op(A) op(B) + beta C on .npy files. */
#include "commands.h"
#include "device_fields.h"
#include "host_clock.h"
#include "kernel_list.h"
#include "multiply.h"
#include "replacement.h"
#include "report.h"
#include "stdout_file.h"
#include "sweep.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ME (&command_multiply)

enum { KEY_KERNEL = 256, KEY_FORTRAN, KEY_CAST, KEY_BIAS_FILE };

static const option_row rows[] = {
    {'o', "output", "FILE", "where C is written (required); - is the standard output"},
    {'c', "input-c", "FILE", "the C that beta multiplies; default: the output file"},
    ALPHA_ROW,
    BETA_ROW("the input C"),
    TRANSA_ROW,
    TRANSB_ROW,
    MATH_ROW,
    {KEY_KERNEL, "kernel", "NAME", "the kernel to run; default: the library chooses"},
    ACTIVATION_ROW,
    {KEY_BIAS_FILE, "bias", "FILE", "add a vector, an element for each column of C"},
    BIAS_PER_ROW_ROW,
    {KEY_FORTRAN, "fortran", NULL, "write C in Fortran order"},
    {KEY_TYPE, "type", "TYPE", "f32, f64, f16, bf16, c32 or c64; default the files'"},
    TYPE_C_ROW,
    {KEY_CAST, "cast", NULL, "convert inputs, to --type or float32"},
};

typedef struct {
    double upload_us, kernel_us, download_us;
    bool is_warm; /* the product ran once before */
} times;

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The standard streams, of which there is one each. */
static void check_streams(const multiply_request *r)
{
    const bool reads_c = !scalar_is_zero(r->problem.beta);
    const int from_stdin = is_standard(r->a_path) + is_standard(r->b_path) +
                           (reads_c && is_standard(r->c_path)) +
                           (r->bias_path && is_standard(r->bias_path));
    if (reads_c && r->c_path == r->out_path && replacement_is_stdout(r->out_path))
        usage_error(ME, "C is written to the standard output: name the C that beta multiplies "
                        "with -c");
    if (from_stdin > 1)
        usage_error(ME, "one input alone can be the standard input; %d are", from_stdin);
    stdout_for_file(ME, &r->common, r->out_path, "the matrix");
}

/* C is written as a .npy file, which a name of another format would hide. */
static void check_output(const char *path)
{
    const size_t length = strlen(path);
    const char *const end = length > 4 ? path + length - 4 : "";
    if (strcasecmp(end, ".mtx") == 0 || strcasecmp(end, ".npz") == 0 || strcasestr(path, ".npz:"))
        usage_error(ME, "C is written as a .npy file, and \"%s\" is not the name of one", path);
}

/* As if of floats where the files say the type, which is then checked again. */
static void check_options(const multiply_request *r)
{
    problem_options p = r->problem;
    if (p.type)
        problem_check(ME, &p);
    else if (p.bias_per_row && !p.has_bias)
        problem_check(ME, &(problem_options){.type = XGEMM_F32, .bias_per_row = true});
}

static multiply_request parse(int argc, char **argv)
{
    multiply_request r = {.problem = problem_defaults(), .common = {.device = XGEMM_DEVICE_AUTO}};
    const char *value;
    r.problem.type = (xgemm_type)0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "-:", 2) == 0)
            usage_error(ME, "archives are not read from the standard input: \"%s\" is no file",
                        argv[i]);
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
            r.taken = NPY_CAST;
            break;
        case KEY_TYPE:
            r.problem.type = option_type(ME, "type", value);
            break;
        case KEY_BIAS_FILE:
            r.bias_path = value;
            r.problem.has_bias = true;
            break;
        default:
            problem_option(ME, &r.problem, key, value);
        }
    }
    if (option_given('c') && !option_given(KEY_BETA))
        usage_error(ME, "-c is what --beta multiplies, and --beta is 0; give both");
    check_options(&r);
    sweep_check_kernel(ME, &(sweep){.type_count = 0}, &r.problem, r.kernel);
    const int named = argc - optind;
    if (named == 0)
        usage_error(ME, "two files are multiplied; none was named");
    if (named != 2)
        usage_error(ME, "two files are multiplied; %d %s named", named,
                    named == 1 ? "was" : "were");
    if (!*argv[optind] || !*argv[optind + 1])
        usage_error(ME, "two files are multiplied; the name of one is empty");
    if (!r.out_path)
        usage_error(ME, "-o, --output is missing: where is C to be written?");
    check_output(r.out_path);
    r.a_path = argv[optind];
    r.b_path = argv[optind + 1];
    if (!r.c_path)
        r.c_path = r.out_path;
    check_streams(&r);
    return r;
}

static size_t bytes_of(const npy_matrix *x)
{
    return (size_t)npy_count(x) * (size_t)x->rows * (size_t)x->columns * type_bytes(x->type);
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

static void conjugate(npy_matrix *x)
{
    const int64_t count = npy_count(x) * x->rows * x->columns;
    for (int64_t i = 0; i < count; i++) {
        const scalar z = element_load(x->type, x->data, i);
        element_store(x->type, x->data, i, (scalar){z.re, -z.im});
    }
}

/*
 * A matrix in the other order than C's is, to the library, its own transpose. Its conjugate
 * transpose is then the conjugate, for which the library has no word: it is made here.
 */
static xgemm_transpose seen(xgemm_transpose trans, npy_matrix *x, bool fortran)
{
    if (x->fortran_order == fortran)
        return trans;
    if (trans == XGEMM_CONJ_TRANS && type_is_complex(x->type))
        conjugate(x);
    return trans == XGEMM_NO_TRANS ? XGEMM_TRANS : XGEMM_NO_TRANS;
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

/* The product of the matrices as C's order has them; before they are on the device. */
static workload product(const multiply_request *r, const product_sizes *size, operands *all)
{
    const bool fortran = all->c.host.fortran_order;
    problem_options p = r->problem;
    p.order = fortran ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    p.transa = seen(p.transa, &all->a.host, fortran);
    p.transb = seen(p.transb, &all->b.host, fortran);
    p.batch = size->batch;
    workload w = problem_workload(&p, size->one);
    w.lda = leading_dimension(&all->a.host), w.stride_a = batch_stride(&all->a.host);
    w.ldb = leading_dimension(&all->b.host), w.stride_b = batch_stride(&all->b.host);
    w.ldc = leading_dimension(&all->c.host), w.stride_c = size->one.m * size->one.n;
    return w;
}

static xgemm_status call(xgemm_handle *handle, const workload *w, const operands *all)
{
    const buffers use = {all->a.device, all->b.device, all->c.device, all->bias.device};
    workload_scalars scalars;
    xgemm_product p = workload_product(w, &use, &scalars);
    p.type_bias = all->bias.host.type;
    return xgemm_gemm(handle, &p);
}

static bool all_to_device(xgemm_handle *handle, const multiply_request *r, operands *all)
{
    return to_device(handle, &all->a, true) && to_device(handle, &all->b, true) &&
           to_device(handle, &all->c, !scalar_is_zero(r->problem.beta)) &&
           (!r->problem.has_bias || to_device(handle, &all->bias, true));
}

static bool compute(xgemm_handle *handle, const multiply_request *r, const product_sizes *size,
                    operands *all, times *t)
{
    const workload w = product(r, size, all);
    xgemm_timer *timer;
    if (xgemm_timer_create(handle, &timer))
        return false;
    double start = now_us();
    bool done = all_to_device(handle, r, all);
    t->upload_us = now_us() - start;
    /* Where C is not read, and a GPU loads its kernel when that first runs. */
    t->is_warm = xgemm_get_device(handle) >= 0 && scalar_is_zero(r->problem.beta);
    done = done && (!t->is_warm || call(handle, &w, all) == XGEMM_OK);
    const int64_t before = xgemm_fallback_count(handle);
    done = done && xgemm_timer_start(timer) == XGEMM_OK && call(handle, &w, all) == XGEMM_OK &&
           xgemm_timer_stop(timer) == XGEMM_OK &&
           xgemm_timer_elapsed(timer, &t->kernel_us) == XGEMM_OK;
    /* Another program ran while the driver translates the kernel. */
    t->is_warm = t->is_warm && xgemm_fallback_count(handle) == before;
    xgemm_timer_destroy(timer);
    start = now_us();
    done = done && from_device(handle, &all->c);
    t->download_us = now_us() - start;
    return done;
}

/* C in the order that was asked for, one matrix after the other. */
static bool to_fortran(npy_matrix *c)
{
    const size_t bytes = type_bytes(c->type);
    const size_t one = (size_t)c->rows * (size_t)c->columns * bytes;
    for (int64_t i = 0; one > 0 && i < npy_count(c); i++) {
        char *const at = (char *)c->data + (size_t)i * one;
        void *transposed = npy_transpose(at, bytes, c->rows, c->columns);
        if (!transposed) {
            failed(ME, "the host is out of memory");
            return false;
        }
        memcpy(at, transposed, one);
        free(transposed);
    }
    c->fortran_order = true;
    return true;
}

static void print(const multiply_request *r, const product_sizes *size, const xgemm_handle *handle,
                  const npy_matrix *c, const times *t)
{
    static const column columns[] = {
        {"batch", 6},        {"m", 6},          {"n", 6},          {"k", 6},
        {"kernel", -18},     {"device_id", -9}, {"kernel_us", 12}, {"upload_us", 12},
        {"download_us", 12}, {"gflops", 10},    {"timing", -6},    {"output", -1},
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
    const workload all = problem_workload(&how, *one);
    const double flops = workload_flops(&all);
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
        kernel && t->kernel_us > 0.0 ? cell_real(1e-3 * flops / t->kernel_us, 1) : cell_none(),
        cell_text(t->is_warm ? "warm" : "cold"),
        cell_text(r->out_path),
    };
    report_row(&to, cells + unbatched);
    report_close(&to);
}

static int finish(const multiply_request *r, const product_sizes *size, const xgemm_handle *handle,
                  operand *c, const times *t)
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
static int multiply_files(const multiply_request *r, xgemm_handle *handle, operand_files *files,
                          const product_sizes *size)
{
    operands all;
    times t = {0};
    int status = STATUS_FAILED;
    if (files_load(r, files, size, &all)) {
        if (compute(handle, r, size, &all, &t))
            status = finish(r, size, handle, &all.c, &t);
        else
            failed_call(ME, handle);
    }
    operands_free(handle, &all);
    return status;
}

/* The math mode and the kernel, which may depend on the type, that of the files. */
static bool set_up(xgemm_handle *handle, const multiply_request *r)
{
    sweep_check(ME, &(sweep){.type_count = 0}, &r->problem);
    if (xgemm_set_math(handle, problem_math(&r->problem)) == XGEMM_OK &&
        (!r->kernel || xgemm_set_kernel(handle, r->kernel) == XGEMM_OK))
        return true;
    failed_call(ME, handle);
    return false;
}

static int multiply(multiply_request *r, xgemm_handle *handle)
{
    operand_files files;
    product_sizes size;
    char message[512];
    int status = STATUS_FAILED;
    if (files_open(r, &files) && files_types(r, &files) && files_sizes(r, &files, &size) &&
        files_fit(handle, r, &files, &size) && set_up(handle, r)) {
        const npy_matrix c = files_product(r, &size);
        if (npy_check_writable(r->out_path, &c, message, sizeof message))
            failed(ME, "%s", message);
        else
            status = multiply_files(r, handle, &files, &size);
    }
    files_close(&files);
    return status;
}

static int run(int argc, char **argv)
{
    multiply_request r = parse(argc, argv);
    if (r.kernel)
        unsetenv("XGEMM_KERNEL"); /* which may name none */
    xgemm_handle *handle = open_device(ME, &r.common);
    xgemm_kernel_info kernel;
    int status;
    if (r.kernel && strcmp(r.kernel, "auto") != 0 && !kernel_find(r.kernel, &kernel)) {
        (void)xgemm_set_kernel(handle, r.kernel);
        failed_call(ME, handle);
        status = STATUS_USAGE;
    } else {
        status = multiply(&r, handle);
    }
    xgemm_destroy(handle);
    return status;
}

const command command_multiply = {
    "multiply", "A.npy B.npy -o C.npy",     "C = alpha op(A) op(B) + beta C on files",
    rows,       sizeof rows / sizeof *rows, run,
    false};
