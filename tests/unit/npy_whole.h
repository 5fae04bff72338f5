/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole file, or its header alone, in one call. */
#ifndef XGEMM_TESTS_NPY_WHOLE_H
#define XGEMM_TESTS_NPY_WHOLE_H

#include "npy.h"

static inline int npy_read_header(const char *path, npy_header *header, char *message,
                                  size_t message_size)
{
    npy_input *input = npy_open(path, 0, header, message, message_size);
    const int result = input ? 0 : -1;

    npy_close(input);
    return result;
}

static inline const float *floats(const npy_matrix *matrix)
{
    return matrix->data;
}

/* With NPY_CAST as floats, else as the file has it. */
static inline int npy_read_as(const char *path, unsigned taken, npy_matrix *matrix, char *message,
                              size_t message_size)
{
    npy_header header;
    npy_input *input = npy_open(path, taken, &header, message, message_size);
    int result = -1;

    *matrix = (npy_matrix){0};
    if (input)
        result = npy_load(input, taken & NPY_CAST ? XGEMM_F32 : header.type, matrix, message,
                          message_size);
    npy_close(input);
    return result;
}

static inline int npy_read(const char *path, npy_matrix *matrix, char *message, size_t message_size)
{
    return npy_read_as(path, 0, matrix, message, message_size);
}

#endif
