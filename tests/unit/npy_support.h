/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of .npy files share: system calls that fail on demand, a folder
 * that is empty when a test begins, and files and matrices.
 */
#ifndef XGEMM_TESTS_NPY_SUPPORT_H
#define XGEMM_TESTS_NPY_SUPPORT_H

#include "npy.h"
#include "npy_whole.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define TEXT(bytes)  bytes, sizeof(bytes) - 1

#define MAGIC             "\x93NUMPY"
#define DICT34            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n"
#define WITH_SHAPE(shape) TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n")

/* ---- System calls that fail on demand ---- */

/* npy_support.c has functions that stand before those of libc. A limit of 0 is none. */
struct faults {
    size_t read_limit, write_limit;         /* bytes in one call */
    bool interrupt;                         /* EINTR on every other call */
    size_t read_end_after, read_fail_after; /* bytes */
    size_t write_fail_after;                /* bytes */
    int error;                              /* of the call that fails */
    bool fail_fsync, fail_rename, fail_fchmod, fail_close, fail_allocation;
    bool fail_faccessat, fail_fallocate;
    unsigned long long attributes; /* more, that statx() gives */
    unsigned user;                 /* that the process seems to be of; 0: its own */
};

/* Also sets what is counted to 0. */
void set_faults(struct faults wanted);
void clear_faults(void);

extern size_t bytes_allocated, calls; /* calls: of those that may be interrupted */
extern off_t bytes_reserved;          /* by the last call */
extern bool folder_is_flushed;        /* after the last file that was renamed */

/* ---- The folder of the test ---- */

extern char folder[512];

/* The path of a file in it; static text, until the fourth call after this one. */
const char *in_folder(const char *name);

/* Removes the files of the folder, which has no folders in it with files in them; how many. */
int empty_folder(void);

/* ---- Files ---- */

extern char message[2048]; /* for the functions under test */

void write_file(const char *path, const void *bytes, size_t size);
size_t read_file(const char *path, unsigned char *bytes, size_t size);

/* A file of the given version, whose data are the floats 0, 1, 2, ... and the bytes left over. */
void write_npy_file(const char *path, int version, const char *dict, size_t dict_size,
                    size_t data_size);

/* The first bytes of a small file through a pipe with that name, by a process of its own. */
pid_t feed(const char *pipe, const char *file, size_t limit);

/* All sorts of bits; the caller's, for npy_free(). */
npy_matrix make_matrix(int64_t rows, int64_t columns, bool fortran_order);
void assert_equal_matrices(const npy_matrix *left, const npy_matrix *right);

/* The text has that part, and no control characters. */
void assert_sentence(const char *text, const char *expected);

/* Both readers refuse, before memory for data is asked for, with one sentence on the path. */
void assert_refused(const char *path, const char *expected);

/* ---- The suite ---- */

/* A case whose tests begin with the empty folder. */
TCase *add_case(Suite *suite, const char *name);

void add_archive_cases(Suite *suite);
void add_dict_cases(Suite *suite);
void add_format_cases(Suite *suite);
void add_reading_cases(Suite *suite);
void add_writing_cases(Suite *suite);

#endif
