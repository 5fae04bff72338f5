/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy_parts.h"

#include "replacement.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse_write(const npy_report *report, int error)
{
    return npy_refuse(report, "cannot be written: %s", strerror(error));
}

static int write_bytes(const npy_report *report, int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        ssize_t count = write(descriptor, next, size < NPY_CHUNK_SIZE ? size : NPY_CHUNK_SIZE);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refuse_write(report, errno);
        next += count;
        size -= (size_t)count;
    }
    return 0;
}

enum { HEADER_LIMIT = 256 };

/* Its size. */
static size_t make_header(const npy_matrix *matrix, char header[HEADER_LIMIT])
{
    enum { DICT_OFFSET = NPY_PREAMBLE_SIZE - 2 };
    char batch[32] = "";
    size_t used, size;

    if (matrix->is_batch)
        snprintf(batch, sizeof(batch), "%" PRId64 ", ", matrix->batch);
    memcpy(header, NPY_MAGIC "\x01\x00", NPY_MAGIC_SIZE + 2);
    used = DICT_OFFSET + (size_t)snprintf(header + DICT_OFFSET, HEADER_LIMIT - DICT_OFFSET,
                                          "{'descr': '%s', 'fortran_order': %s, "
                                          "'shape': (%s%" PRId64 ", %" PRId64 "), }",
                                          npy_type_descr(matrix->type),
                                          matrix->fortran_order ? "True" : "False", batch,
                                          matrix->rows, matrix->columns);
    size = (used + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(header + used, ' ', size - used);
    header[size - 1] = '\n';
    header[8] = (char)(size - DICT_OFFSET);
    header[9] = 0;
    return size;
}

int64_t npy_count(const npy_matrix *matrix)
{
    return matrix->is_batch ? matrix->batch : 1;
}

void *npy_transpose(const void *data, size_t bytes, int64_t rows, int64_t columns)
{
    const size_t count = (size_t)rows * (size_t)columns;
    const char *const from = data;
    char *const transposed = malloc(count ? count * bytes : 1);

    for (size_t i = 0; transposed && count > 0 && i < (size_t)rows; i++)
        for (size_t j = 0; j < (size_t)columns; j++)
            memcpy(transposed + (j * (size_t)rows + i) * bytes,
                   from + (i * (size_t)columns + j) * bytes, bytes);
    return transposed;
}

static size_t data_size(const npy_matrix *matrix)
{
    return (size_t)npy_count(matrix) * (size_t)matrix->rows * (size_t)matrix->columns *
           type_bytes(matrix->type);
}

/* In NumPy's Fortran order the matrices of a batch are interleaved. */
static int write_data(const npy_report *report, int descriptor, const npy_matrix *matrix)
{
    const int64_t elements = matrix->rows * matrix->columns, count = npy_count(matrix);
    const size_t size = data_size(matrix);

    if (!matrix->is_batch || !matrix->fortran_order)
        return write_bytes(report, descriptor, matrix->data, size);
    void *interleaved = npy_transpose(matrix->data, type_bytes(matrix->type), count, elements);
    if (!interleaved)
        return npy_refuse(report, "cannot be written: no memory for its %zu bytes", size);
    const int result = write_bytes(report, descriptor, interleaved, size);
    free(interleaved);
    return result;
}

static int write_output(const npy_report *report, replacement *output, const npy_matrix *matrix)
{
    char header[HEADER_LIMIT];
    if (write_bytes(report, output->descriptor, header, make_header(matrix, header)) != 0 ||
        write_data(report, output->descriptor, matrix) != 0)
        return -1;
    if (!replacement_commit(output))
        return npy_refuse(report, "cannot be written: %s", output->why);
    return 0;
}

static int check_matrix(const npy_report *report, const npy_matrix *matrix)
{
    const int64_t count = npy_count(matrix);

    if (count < 0 || matrix->rows < 0 || matrix->columns < 0 ||
        !npy_shape_fits((uint64_t)count, (uint64_t)matrix->rows, (uint64_t)matrix->columns,
                        matrix->type))
        return npy_refuse(report,
                          "cannot be written: no matrix has shape (%" PRId64 ", %" PRId64 ")",
                          matrix->rows, matrix->columns);
    if (matrix->data == NULL && count > 0 && matrix->rows > 0 && matrix->columns > 0)
        return npy_refuse(report, "cannot be written: the matrix has no data");
    return 0;
}

int npy_write(const char *path, const npy_matrix *matrix, char *message, size_t message_size)
{
    npy_report report = npy_begin_report(path, message, message_size);
    replacement output;

    if (check_matrix(&report, matrix) != 0)
        return -1;
    if (!replacement_open(&output, path))
        return npy_refuse(&report, "cannot be written: %s", output.why);
    const int result = write_output(&report, &output, matrix);
    replacement_abandon(&output);
    return result;
}

int npy_check_writable(const char *path, const npy_matrix *matrix, char *message,
                       size_t message_size)
{
    const npy_report report = npy_begin_report(path, message, message_size);
    char header[HEADER_LIMIT];
    replacement output;
    if (!replacement_check(&output, path, make_header(matrix, header) + data_size(matrix)))
        return npy_refuse(&report, "cannot be written: %s", output.why);
    return 0;
}
