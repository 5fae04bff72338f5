/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of npy.h's implementation share: the header's dict (npy_dict.c), the bytes of a
 * file (npy_source.c) or of a member of an archive (npy_zip.c), Matrix Market's text
 * (npy_market.c), reading, writing, and the sentences in which they tell of failures
 * (npy_report.c).
 */
#ifndef XGEMM_BIN_NPY_PARTS_H
#define XGEMM_BIN_NPY_PARTS_H

#include "element.h"
#include "npy.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");
_Static_assert(sizeof(float) == 4, "float is not IEEE 754 binary32");

#define NPY_MAGIC         "\x93NUMPY"
#define NPY_MAGIC_SIZE    6
#define NPY_PREAMBLE_SIZE 12 /* magic, version (2 bytes), length of the dict (2 or 4 bytes) */
#define NPY_ALIGNMENT     64
#define NPY_CHUNK_SIZE    ((size_t)1 << 30) /* Linux moves less than 2 GiB in one call. */
#define NPY_SHOWN_SIZE    80
#define NPY_AHEAD_SIZE    10 /* as many bytes say what a file is */

/* ---- Failures (npy_report.c) ---- */

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

/* ---- The header (npy_dict.c) ---- */

/* As npy_parse_dict(), but a header that is refused leaves *header as it was. */
int npy_parse_header(const npy_report *report, const char *text, size_t length, unsigned taken,
                     npy_header *header);

/* A dimension of 0 counts as 1, so that leading dimensions stay in bounds too. */
bool npy_shape_fits(uint64_t batch, uint64_t rows, uint64_t columns, xgemm_type type);

/* Of a shape that fits. */
size_t npy_elements(const npy_header *header);

/* What NumPy calls it: "float32". */
const char *npy_type_name(xgemm_type type);

/* As the dict says it: "<f4". */
const char *npy_type_descr(xgemm_type type);

/* ---- The bytes of a file (npy_source.c) ---- */

typedef struct npy_member npy_member;

typedef struct {
    int descriptor;
    int64_t size;       /* from the first byte to the last; -1: not known before it ends */
    npy_member *member; /* NULL: the bytes are the file's own */
    unsigned char ahead[NPY_AHEAD_SIZE]; /* bytes that were looked at, and are still to come */
    size_t ahead_size;
} npy_source;

/* "-" is the standard input. Only for a regular file *size is known. */
int npy_source_open(const npy_report *report, const char *path, npy_source *source);
void npy_source_close(npy_source *source);

/* The next bytes, which will come again; found may be less than NPY_AHEAD_SIZE at the end. */
int npy_source_look(const npy_report *report, npy_source *source);

/* Reads until size bytes or the end; found says how many came. */
int npy_source_read(const npy_report *report, npy_source *source, void *bytes, size_t size,
                    size_t *found);

/* Reads until size bytes or the end from the descriptor itself. */
int npy_read_descriptor(const npy_report *report, int descriptor, void *bytes, size_t size,
                        size_t *found);

/* ---- Archives (npy_zip.c) ---- */

/* Where the name of a member begins in "A.npz:name"; NULL where the path has none. */
const char *npy_member_name(const char *path);

/* Turns a source that is a .npz file into one of its members; name NULL: its only one. */
int npy_member_open(const npy_report *report, npy_source *source, const char *name);
int npy_member_read(const npy_report *report, npy_source *source, void *bytes, size_t size,
                    size_t *found);

/* Whether the bytes that were read are those that were written. */
int npy_member_check(const npy_report *report, const npy_source *source);
void npy_member_close(npy_member *member);

/* ---- Matrix Market (npy_market.c) ---- */

typedef struct npy_market npy_market;

/* The header's data_offset is 0: it means nothing for text. NULL: refused. */
npy_market *npy_market_open(const npy_report *report, npy_source *source, npy_header *header);

/* Adds the entries to data of the type, which is zeros, in column order. */
int npy_market_load(const npy_report *report, npy_market *market, xgemm_type type, void *data);

#endif
