/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each file is opened once: its header and its data are of the same file, whatever its name leads
 * to by then.
 */
#include "commands.h"
#include "multiply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ME (&command_multiply)

static bool open_file(const char *path, unsigned taken, operand_file *file)
{
    char message[512];
    file->path = path;
    file->input = npy_open(path, taken, &file->header, message, sizeof message);
    if (!file->input)
        failed(ME, "%s", message);
    return file->input != NULL;
}

bool files_open(const multiply_request *r, operand_files *files)
{
    *files = (operand_files){.a = {.input = NULL}};
    return open_file(r->a_path, r->taken, &files->a) && open_file(r->b_path, r->taken, &files->b) &&
           (scalar_is_zero(r->problem.beta) || open_file(r->c_path, r->taken, &files->c)) &&
           (!r->bias_path || open_file(r->bias_path, r->taken | NPY_VECTOR, &files->bias));
}

void files_close(operand_files *files)
{
    npy_close(files->a.input);
    npy_close(files->b.input);
    npy_close(files->c.input);
    npy_close(files->bias.input);
}

/* ---- Types ---- */

/* That of the files, or of the one whose numbers have a type; text takes it, if it is not complex.
 */
static xgemm_type common_type(const npy_header *a, const npy_header *b)
{
    if (a->is_text && b->is_text)
        return type_is_complex(a->type) ? a->type : b->type;
    return a->is_text ? b->type : a->type;
}

/* Without a type that was asked for. */
static xgemm_type type_of_files(const multiply_request *r, const operand_files *files)
{
    const npy_header *a = &files->a.header, *b = &files->b.header;
    if (!(r->taken & NPY_CAST))
        return common_type(a, b);
    return type_is_complex(a->type) || type_is_complex(b->type) ? XGEMM_C32 : XGEMM_F32;
}

static bool has_type(const operand_file *file, xgemm_type type)
{
    return file->header.is_text ? type_is_complex(type) || !type_is_complex(file->header.type)
                                : file->header.type == type;
}

/* "complex numbers" of text, which has no other type. */
static const char *elements_word(const operand_file *file)
{
    return file->header.is_text ? "complex numbers" : type_word(file->header.type);
}

static bool check_operand(const multiply_request *r, const operand_file *file, xgemm_type type,
                          const char *why)
{
    if (has_type(file, type))
        return true;
    if (type_is_complex(file->header.type) && !type_is_complex(type)) /* nor does --cast help */
        failed(ME, "%s has %s, and %s %s, which has no imaginary part", file->path,
               elements_word(file), why, type_word(type));
    else if (!(r->taken & NPY_CAST))
        failed(ME, "%s has %s, and %s %s; --cast converts it", file->path, elements_word(file), why,
               type_word(type));
    else
        return true;
    return false;
}

static bool check_operands(const multiply_request *r, const operand_files *files, bool asked)
{
    const operand_file *a = &files->a, *b = &files->b;
    const xgemm_type type = r->problem.type;
    if (!asked && !(r->taken & NPY_CAST) && !(has_type(a, type) && has_type(b, type))) {
        failed(ME,
               "A has %s (%s) and B %s (%s), and operands of different types are not multiplied; "
               "--cast converts them, to %s or what --type says",
               elements_word(a), a->path, elements_word(b), b->path,
               type_is_complex(a->header.type) || type_is_complex(b->header.type) ? "c32" : "f32");
        return false;
    }
    return check_operand(r, a, type, "--type is") && check_operand(r, b, type, "--type is");
}

/* C of 16-bit operands has the type of the C that is read, where it can. */
static xgemm_type type_of_c(const multiply_request *r, const operand_files *files)
{
    const xgemm_type type = r->problem.type;
    const npy_header *c = &files->c.header;
    if (r->problem.type_c)
        return r->problem.type_c;
    if (files->c.input && !c->is_text && !(r->taken & NPY_CAST) && type_is_half(type) &&
        (type_is_half(c->type) || c->type == XGEMM_F32))
        return c->type;
    return type;
}

/* The bias of sums in float may have another type than C; else it is C's. */
static xgemm_type type_of_bias(const multiply_request *r, const npy_header *bias)
{
    const bool mixes = type_of_sums(r->problem.type) == XGEMM_F32;
    const bool is_of_float = bias->type == XGEMM_F32 || type_is_half(bias->type);
    return mixes && is_of_float && !bias->is_text && !(r->taken & NPY_CAST) ? bias->type
                                                                            : r->problem.type_c;
}

bool files_types(multiply_request *r, const operand_files *files)
{
    const bool asked = r->problem.type != 0;
    if (!asked)
        r->problem.type = type_of_files(r, files);
    if (!check_operands(r, files, asked))
        return false;
    problem_check(ME, &r->problem);
    r->problem.type_c = type_of_c(r, files);
    return (!files->c.input || check_operand(r, &files->c, r->problem.type_c, "the product is")) &&
           (!files->bias.input ||
            check_operand(r, &files->bias, type_of_bias(r, &files->bias.header),
                          "the bias of such a product is"));
}

/* ---- Sizes ---- */

static int64_t op_rows(const npy_header *x, xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? x->rows : x->columns;
}

static int64_t op_columns(const npy_header *x, xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? x->columns : x->rows;
}

/* A matrix, or a batch of one, is multiplied with each matrix of the other's batch, as in NumPy. */
static bool find_batch(const operand_files *files, product_sizes *size)
{
    const npy_header *a = &files->a.header, *b = &files->b.header;
    size->is_batch = a->is_batch || b->is_batch;
    size->batch = a->batch == 1 ? b->batch : a->batch;
    if (a->batch == b->batch || a->batch == 1 || b->batch == 1)
        return true;
    failed(ME,
           "the batches do not match: A has %" PRId64 " matrices (%s) and B has %" PRId64
           " (%s); they must be as many, or one",
           a->batch, files->a.path, b->batch, files->b.path);
    return false;
}

static bool c_matches(const operand_file *file, const product_sizes *size)
{
    const npy_header *c = &file->header;
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
               size->batch, product, c->batch, found, file->path);
    else
        failed(ME, "the shapes do not match: the product is %s and C is %s (%s)", product, found,
               file->path);
    return false;
}

/* A vector, or a matrix of one row or one column. */
static bool bias_matches(const multiply_request *r, const operand_file *file,
                         const product_sizes *size)
{
    const npy_header *bias = &file->header;
    const bool per_row = r->problem.bias_per_row;
    const int64_t wanted = per_row ? size->one.m : size->one.n;
    if (!bias->is_batch && ((bias->rows == 1 && bias->columns == wanted) ||
                            (bias->columns == 1 && bias->rows == wanted)))
        return true;
    failed(ME,
           "the shapes do not match: C has %" PRId64 " %s, and the bias (%s) is no vector of as "
           "many elements",
           wanted, per_row ? "rows" : "columns", file->path);
    return false;
}

bool files_sizes(const multiply_request *r, const operand_files *files, product_sizes *size)
{
    const npy_header *a = &files->a.header, *b = &files->b.header;
    shape *one = &size->one;
    *one = (shape){op_rows(a, r->problem.transa), op_columns(b, r->problem.transb),
                   op_columns(a, r->problem.transa)};
    if (op_rows(b, r->problem.transb) != one->k) {
        failed(ME,
               "the shapes do not match: op(A) is %" PRId64 " x %" PRId64
               " (%s) and op(B) is %" PRId64 " x %" PRId64 " (%s); A's columns must equal B's rows",
               one->m, one->k, files->a.path, op_rows(b, r->problem.transb), one->n, files->b.path);
        return false;
    }
    return find_batch(files, size) && (!files->c.input || c_matches(&files->c, size)) &&
           (!files->bias.input || bias_matches(r, &files->bias, size));
}

/* ---- Memory ---- */

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

static double bytes_of_matrices(int64_t batch, int64_t height, int64_t width, xgemm_type type)
{
    return (double)batch * (double)height * (double)width * (double)type_bytes(type);
}

bool files_fit(xgemm_handle *handle, const multiply_request *r, const operand_files *files,
               const product_sizes *size)
{
    const npy_header *a = &files->a.header, *b = &files->b.header;
    const double need = bytes_of_matrices(a->batch, a->rows, a->columns, r->problem.type) +
                        bytes_of_matrices(b->batch, b->rows, b->columns, r->problem.type) +
                        bytes_of_matrices(size->batch, size->one.m, size->one.n, r->problem.type_c);
    xgemm_handle *host = NULL;
    (void)xgemm_create(&host, XGEMM_DEVICE_CPU);
    const bool enough = has_memory(host, need, "main", "available");
    xgemm_destroy(host);
    return enough && (xgemm_get_device(handle) < 0 || has_memory(handle, need, "GPU", "free"));
}

/* ---- Contents ---- */

static bool load_file(operand_file *file, xgemm_type type, operand *x)
{
    char message[512];
    if (npy_load(file->input, type, &x->host, message, sizeof message) == 0)
        return true;
    failed(ME, "%s", message);
    return false;
}

npy_matrix files_product(const multiply_request *r, const product_sizes *size)
{
    return (npy_matrix){.rows = size->one.m,
                        .columns = size->one.n,
                        .fortran_order = r->fortran,
                        .type = r->problem.type_c,
                        .is_batch = size->is_batch,
                        .batch = size->batch};
}

/* C as it is read, or room for it. */
static bool prepare_c(const multiply_request *r, operand_file *file, const product_sizes *size,
                      operand *c)
{
    if (file->input)
        return load_file(file, r->problem.type_c, c);
    const size_t count = (size_t)size->batch * (size_t)size->one.m * (size_t)size->one.n;
    c->host = files_product(r, size);
    c->host.data = calloc(count ? count : 1, type_bytes(c->host.type));
    if (!c->host.data)
        failed(ME, "the host is out of memory");
    return c->host.data != NULL;
}

bool files_load(const multiply_request *r, operand_files *files, const product_sizes *size,
                operands *to)
{
    *to = (operands){.a = {.device = NULL}};
    return load_file(&files->a, r->problem.type, &to->a) &&
           load_file(&files->b, r->problem.type, &to->b) && prepare_c(r, &files->c, size, &to->c) &&
           (!files->bias.input ||
            load_file(&files->bias, type_of_bias(r, &files->bias.header), &to->bias));
}

static void free_operand(xgemm_handle *handle, operand *x)
{
    if (xgemm_get_device(handle) >= 0)
        xgemm_free(handle, x->device);
    npy_free(&x->host);
}

void operands_free(xgemm_handle *handle, operands *all)
{
    free_operand(handle, &all->a);
    free_operand(handle, &all->b);
    free_operand(handle, &all->c);
    free_operand(handle, &all->bias);
}
