/* SPDX-License-Identifier: BSD-3-Clause */
/* What multiply is asked for, and its files: their types, their sizes, their contents. */
#ifndef XGEMM_BIN_MULTIPLY_H
#define XGEMM_BIN_MULTIPLY_H

#include "npy.h"
#include "problem_options.h"

typedef struct {
    const char *a_path, *b_path, *c_path, *out_path;
    const char *bias_path;   /* NULL: none */
    problem_options problem; /* the order is the files'; type 0: so is the type */
    const char *kernel;
    bool fortran;
    unsigned taken; /* of npy.h: with NPY_CAST inputs are converted */
    settings common;
} multiply_request;

/* A file that is open, and what its header says. */
typedef struct {
    const char *path;
    npy_input *input; /* NULL: none is read */
    npy_header header;
} operand_file;

typedef struct {
    operand_file a, b, c, bias; /* c: where beta is not 0 */
} operand_files;

/* A product, or a batch of them. */
typedef struct {
    shape one;
    bool is_batch;
    int64_t batch;
} product_sizes;

/* The matrices, in host memory and on the device (the same where the device is the host). */
typedef struct {
    npy_matrix host;
    void *device;
} operand;

typedef struct {
    operand a, b, c, bias;
} operands;

/* Each of these prints why where it gives back false. */

/* Opens all that are read; files_close() is called in any case. */
bool files_open(const multiply_request *request, operand_files *files);
void files_close(operand_files *files);

/* The request's type and type_c, from the files where it has none. */
bool files_types(multiply_request *request, const operand_files *files);

/* m, n and k and the batch, which must match. */
bool files_sizes(const multiply_request *request, const operand_files *files, product_sizes *sizes);

/* Whether main memory, and a GPU's, hold all of it, before anything is read. */
bool files_fit(xgemm_handle *handle, const multiply_request *request, const operand_files *files,
               const product_sizes *sizes);

/* C without its data. */
npy_matrix files_product(const multiply_request *request, const product_sizes *sizes);

/* What is read, and room for C; operands_free() is called in any case. */
bool files_load(const multiply_request *request, operand_files *files, const product_sizes *sizes,
                operands *to);
void operands_free(xgemm_handle *handle, operands *all);

#endif
