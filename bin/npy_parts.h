/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of npy.h's implementation share: the header's dict (npy_dict.c), reading, writing,
 * and the sentences in which they tell of failures (npy_report.c).
 */
#ifndef XGEMM_BIN_NPY_PARTS_H
#define XGEMM_BIN_NPY_PARTS_H

#include "npy.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");
_Static_assert(sizeof(float) == 4, "float is not IEEE 754 binary32");

#define NPY_MAGIC         "\x93NUMPY"
#define NPY_MAGIC_SIZE    6
#define NPY_PREAMBLE_SIZE 12 /* magic, version (2 bytes), length of the dict (2 or 4 bytes) */
#define NPY_ALIGNMENT     64
#define NPY_CHUNK_SIZE    ((size_t)1 << 30) /* Linux moves less than 2 GiB in one call. */
#define NPY_SHOWN_SIZE    80

/* Where a failure is told; path is NULL where none is known. */
typedef struct {
    const char *path;
    char *message;
    size_t size;
} npy_report;

/* Bytes of a file as text for a sentence. */
typedef struct {
    char text[NPY_SHOWN_SIZE];
} npy_shown;

npy_report npy_begin_report(const char *path, char *message, size_t message_size);

/* Tells the sentence, after the path; -1, for the caller to return. */
__attribute__((format(printf, 2, 3))) int npy_refuse(const npy_report *report, const char *format,
                                                     ...);

npy_shown npy_show(const char *bytes, size_t length);

/* As npy_parse_dict(), but a header that is refused leaves *header as it was. */
int npy_parse_header(const npy_report *report, const char *text, size_t length, npy_header *header);

/* A dimension of 0 counts as 1, so that leading dimensions stay in bounds too. */
bool npy_shape_fits(uint64_t rows, uint64_t columns);

/* In bytes. */
uint64_t npy_data_size(int64_t rows, int64_t columns);

#endif
