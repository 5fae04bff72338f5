/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole file, or its header alone, in one call. */
#ifndef XGEMM_TESTS_NPY_WHOLE_H
#define XGEMM_TESTS_NPY_WHOLE_H

#include "npy.h"

static inline int npy_read_header(const char *path, npy_header *header, char *message,
                                  size_t message_size)
{
    npy_input *input = npy_open(path, NPY_FLOAT32_ONLY, header, message, message_size);
    const int result = input ? 0 : -1;

    npy_close(input);
    return result;
}

static inline int npy_read_as(const char *path, npy_types types, npy_matrix *matrix, char *message,
                              size_t message_size)
{
    npy_header header;
    npy_input *input = npy_open(path, types, &header, message, message_size);
    int result = -1;

    *matrix = (npy_matrix){0};
    if (input)
        result = npy_load(input, matrix, message, message_size);
    npy_close(input);
    return result;
}

static inline int npy_read(const char *path, npy_matrix *matrix, char *message, size_t message_size)
{
    return npy_read_as(path, NPY_FLOAT32_ONLY, matrix, message, message_size);
}

#endif
