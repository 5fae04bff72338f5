/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "npy.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define TEXT(bytes)  bytes, sizeof(bytes) - 1

/* ---- System calls that fail on demand ---- */

/* The functions below stand before those of libc. A limit of 0 is none. */
struct faults {
    size_t read_limit, write_limit;         /* bytes in one call */
    bool interrupt;                         /* EINTR on every other call */
    size_t read_end_after, read_fail_after; /* bytes */
    size_t write_fail_after;                /* bytes */
    int error;                              /* of the call that fails */
    bool fail_fsync, fail_rename, fail_fchmod, fail_close, fail_allocation;
};

static struct faults faults;
static size_t bytes_read, bytes_written, bytes_allocated, calls;

static void set_faults(struct faults wanted)
{
    bytes_read = bytes_written = bytes_allocated = calls = 0;
    faults = wanted;
}

static void clear_faults(void)
{
    set_faults((struct faults){0});
}

static bool interrupted(void)
{
    errno = EINTR;
    return faults.interrupt && calls++ % 2 == 0;
}

static size_t limited(size_t size, size_t limit)
{
    return limit > 0 && size > limit ? limit : size;
}

ssize_t read(int descriptor, void *bytes, size_t size)
{
    ssize_t count;

    if (interrupted())
        return -1;
    if (faults.read_end_after > 0 && bytes_read >= faults.read_end_after)
        return 0;
    if (faults.read_fail_after > 0 && bytes_read >= faults.read_fail_after) {
        errno = faults.error;
        return -1;
    }
    count = syscall(SYS_read, descriptor, bytes, limited(size, faults.read_limit));
    bytes_read += count > 0 ? (size_t)count : 0;
    return count;
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    ssize_t count;

    if (interrupted())
        return -1;
    if (faults.write_fail_after > 0 && bytes_written >= faults.write_fail_after) {
        errno = faults.error;
        return -1;
    }
    count = syscall(SYS_write, descriptor, bytes, limited(size, faults.write_limit));
    bytes_written += count > 0 ? (size_t)count : 0;
    return count;
}

int fsync(int descriptor)
{
    if (interrupted())
        return -1;
    errno = faults.error;
    return faults.fail_fsync ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int rename(const char *from, const char *to)
{
    errno = faults.error;
    return faults.fail_rename ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int fchmod(int descriptor, mode_t mode)
{
    errno = faults.error;
    return faults.fail_fchmod ? -1 : (int)syscall(SYS_fchmod, descriptor, mode);
}

int close(int descriptor)
{
    int result = (int)syscall(SYS_close, descriptor);

    if (!faults.fail_close)
        return result;
    errno = faults.error;
    return -1;
}

/* Valgrind puts its own in the place of this one. */
void *aligned_alloc(size_t alignment, size_t size)
{
    void *bytes;

    bytes_allocated += size;
    if (faults.fail_allocation || size == 0 || posix_memalign(&bytes, alignment, size) != 0)
        return NULL;
    return bytes;
}

/* ---- The folder of the test ---- */

static char folder[512];
static char message[2048];

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    snprintf(folder, sizeof(folder), "%s/xgemm-test-npy-XXXXXX", parent);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % COUNT(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

/* Removes the files of the folder, which has no folders in it with files in them. */
static int empty_folder(void)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int removed = 0;

    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            ck_assert_int_eq(remove(in_folder(entry->d_name)), 0);
            removed++;
        }
    }
    closedir(directory);
    return removed;
}

static void begin_test(void)
{
    clear_faults();
    empty_folder();
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

/* ---- Files ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static size_t read_file(const char *path, unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t found;

    ck_assert_ptr_nonnull(file);
    found = fread(bytes, 1, size, file);
    fclose(file);
    return found;
}

/* A file of the given version, whose data are the floats 0, 1, 2, ... and the bytes left over. */
static void write_npy_file(const char *path, int version, const char *dict, size_t dict_size,
                           size_t data_size)
{
    const unsigned char preamble[12] = {0x93,
                                        'N',
                                        'U',
                                        'M',
                                        'P',
                                        'Y',
                                        (unsigned char)version,
                                        0,
                                        (unsigned char)dict_size,
                                        (unsigned char)(dict_size >> 8),
                                        (unsigned char)(dict_size >> 16),
                                        (unsigned char)(dict_size >> 24)};
    size_t preamble_size = version == 1 ? 10 : 12;
    unsigned char *bytes = calloc(1, preamble_size + dict_size + data_size + sizeof(float));

    memcpy(bytes, preamble, preamble_size);
    memcpy(bytes + preamble_size, dict, dict_size);
    for (size_t i = 0; i < (data_size + 3) / 4; i++) {
        float value = (float)i;

        memcpy(bytes + preamble_size + dict_size + 4 * i, &value, sizeof(value));
    }
    write_file(path, bytes, preamble_size + dict_size + data_size);
    free(bytes);
}

static npy_matrix make_matrix(int64_t rows, int64_t columns, bool fortran_order)
{
    size_t count = (size_t)(rows * columns);
    npy_matrix matrix = {rows, columns, fortran_order, malloc(count * sizeof(float) + 1)};

    for (size_t i = 0; i < count; i++) {
        /* All sorts of bits: NaNs, infinities and subnormal numbers too. */
        uint32_t bits = (uint32_t)i * 2654435761u + (i % 5 == 0 ? 0x7f800000u : 0);

        memcpy(&matrix.data[i], &bits, sizeof(bits));
    }
    return matrix;
}

static void assert_equal_matrices(const npy_matrix *left, const npy_matrix *right)
{
    ck_assert_int_eq(left->rows, right->rows);
    ck_assert_int_eq(left->columns, right->columns);
    ck_assert_int_eq(left->fortran_order, right->fortran_order);
    if (left->rows * left->columns > 0)
        ck_assert_mem_eq(left->data, right->data,
                         (size_t)(left->rows * left->columns) * sizeof(float));
}

static void assert_sentence(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "\"%s\" lacks \"%s\"", text, expected);
    for (; *text != '\0'; text++)
        ck_assert_msg(*text >= ' ' && *text < 0x7f, "a byte that is not printable");
}

/* Both readers refuse, before memory for data is asked for, with one sentence on the path. */
static void assert_refused(const char *path, const char *expected)
{
    char other_message[sizeof(message)];
    npy_matrix matrix = {1, 2, true, (float *)message};
    npy_header header = {1, 2, true, 3};

    bytes_allocated = 0;
    ck_assert_msg(npy_read_header(path, &header, other_message, sizeof(other_message)) == -1,
                  "taken, instead of \"%s\"", expected);
    ck_assert_int_eq(npy_read(path, &matrix, message, sizeof(message)), -1);
    ck_assert_uint_eq(bytes_allocated, 0);
    ck_assert_str_eq(message, other_message);
    ck_assert_int_eq(strncmp(message, path, strlen(path)), 0);
    ck_assert_int_eq(strncmp(message + strlen(path), ": ", 2), 0);
    assert_sentence(message + strlen(path), expected);
    ck_assert_ptr_null(matrix.data);
    ck_assert(matrix.rows == 0 && matrix.columns == 0 && !matrix.fortran_order);
    ck_assert(header.rows == 0 && header.columns == 0 && header.data_offset == 0);
}

/* ---- The dict ---- */

static const struct accepted_dict {
    const char *text;
    int64_t rows, columns;
    bool fortran_order;
} ACCEPTED_DICTS[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }\n", 3, 4, true},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': (3, 4)}\n", 3, 4, false},
    {"{\"shape\": (2, 5), \"descr\": \"<f4\", \"fortran_order\": True}\n", 2, 5, true},
    {"{'fortran_order':False,'shape':(6,1),'descr':\"<f4\"}\n", 6, 1, false},
    {"{'shape':(2,3,),'fortran_order':True,'descr':'<f4',}\n", 2, 3, true},
    {" \t{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 3 , 4 ) , } \t\r\f\n", 3, 4,
     false},
    {"{\n'descr':\n'<f4',\n'fortran_order':\nFalse,\n'shape':\n(3,\n4\n),\n}\n\n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }\n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }\n", 0, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }\n", 3, 0, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (0, 0), }\n", 0, 0, true},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n", 1, 1, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 5000), }\n", 100000, 5000, false},
};

START_TEST(accepts_dict)
{
    const struct accepted_dict *wanted = &ACCEPTED_DICTS[_i];
    npy_header header = {7, 7, !wanted->fortran_order, 7};

    ck_assert_msg(
        npy_parse_dict(wanted->text, strlen(wanted->text), &header, message, sizeof(message)) == 0,
        "%s: %s", wanted->text, message);
    ck_assert_str_eq(message, "");
    ck_assert_int_eq(header.rows, wanted->rows);
    ck_assert_int_eq(header.columns, wanted->columns);
    ck_assert_int_eq(header.fortran_order, wanted->fortran_order);
    ck_assert_uint_eq(header.data_offset, 0);
}
END_TEST

/* Dicts that are valid but for one value. */
#define WITH_DESCR(descr) TEXT("{'descr': " descr ", 'fortran_order': False, 'shape': (3, 4), }\n")
#define WITH_ORDER(order) TEXT("{'descr': '<f4', 'fortran_order': " order ", 'shape': (3, 4), }\n")
#define WITH_SHAPE(shape) TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n")

#define ONLY_FLOAT32 "; only float32 ('<f4') is taken"
#define HUNDRED                                                                                    \
    "ffffffffffffffffffffffffffffffffffffffffffffffffff"                                           \
    "ffffffffffffffffffffffffffffffffffffffffffffffffff"

static const struct refused_dict {
    const char *text;
    size_t size;
    const char *sentence;
} REFUSED_DICTS[] = {
    /* The newline. */
    {TEXT(""), "does not end with a newline"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"),
     "does not end with a newline"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n "),
     "does not end with a newline"},
    /* The form of the dict. */
    {TEXT("\n"), "malformed at its byte 1: '{' is expected"},
    {TEXT("'descr'\n"), "malformed at its byte 0: '{' is expected"},
    {TEXT("[]\n"), "'{' is expected"},
    {TEXT("{\n"), "malformed at its byte 2: a string is expected"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), \n"), "a string is expected"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)\n"), "',' or '}' is expected"},
    {TEXT("{'descr': '<f4' 'fortran_order': False, 'shape': (3, 4)}\n"), "',' or '}' is expected"},
    {TEXT("{,}\n"), "a string is expected"},
    {TEXT("{'descr': '<f4',, 'fortran_order': False, 'shape': (3, 4)}\n"), "a string is expected"},
    {TEXT("{descr: '<f4'}\n"), "a string is expected"},
    {TEXT("{'descr' '<f4'}\n"), "':' is expected after a key"},
    {TEXT("{'descr\n"), "a string is not closed"},
    {TEXT("{'de\\x73cr': '<f4'}\n"), "a string is not closed, or has a backslash"},
    {TEXT("{'descr\": 1}\n"), "a string is not closed"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\0\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }}\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', \0'fortran_order': False, 'shape': (3, 4), }\n"),
     "a string is expected"},
    /* Keys. */
    {TEXT("{}\n"), "lacks the key 'descr'"},
    {TEXT("{'fortran_order': False, 'shape': (3, 4), }\n"), "lacks the key 'descr'"},
    {TEXT("{'descr': '<f4', 'shape': (3, 4), }\n"), "lacks the key 'fortran_order'"},
    {TEXT("{'descr': '<f4', 'fortran_order': False}\n"), "lacks the key 'shape'"},
    {TEXT("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\n"),
     "repeats the key 'descr'"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'shape': (3, 4)}\n"),
     "repeats the key 'shape'"},
    {TEXT("{'fortran_order': False, 'fortran_order': False}\n"), "repeats the key 'fortran_order'"},
    {TEXT("{'descr': '<f4', 'order': 1}\n"), "unknown key, 'order'"},
    {TEXT("{'': 1}\n"), "unknown key, ''"},
    {TEXT("{'descr ': 1}\n"), "unknown key, 'descr '"},
    {TEXT("{'a\x1b[31m\x00\xff': 1}\n"), "unknown key, 'a\\x1b[31m\\x00\\xff'"},
    {TEXT("{'" HUNDRED "': 1}\n"), "ffff...'"},
    /* dtypes. */
    {WITH_DESCR("'<f8'"), "dtype is '<f8' (float64)" ONLY_FLOAT32},
    {WITH_DESCR("'<f2'"), "dtype is '<f2' (float16)" ONLY_FLOAT32},
    {WITH_DESCR("'<f16'"), "dtype is '<f16' (float128)" ONLY_FLOAT32},
    {WITH_DESCR("'>f4'"), "dtype is '>f4' (big-endian float32)" ONLY_FLOAT32},
    {WITH_DESCR("'>f8'"), "dtype is '>f8' (big-endian float64)" ONLY_FLOAT32},
    {WITH_DESCR("'|f4'"), "dtype is '|f4' (float32 without a byte order)" ONLY_FLOAT32},
    {WITH_DESCR("'f4'"), "dtype is 'f4' (float32 without a byte order)" ONLY_FLOAT32},
    {WITH_DESCR("'<i4'"), "dtype is '<i4' (int32)" ONLY_FLOAT32},
    {WITH_DESCR("'|u1'"), "dtype is '|u1' (uint8)" ONLY_FLOAT32},
    {WITH_DESCR("'|b1'"), "dtype is '|b1' (bool)" ONLY_FLOAT32},
    {WITH_DESCR("'<c8'"), "dtype is '<c8' (complex64)" ONLY_FLOAT32},
    {WITH_DESCR("'|O'"), "dtype is '|O' (Python objects)" ONLY_FLOAT32},
    {WITH_DESCR("'<U12'"), "dtype is '<U12' (text)" ONLY_FLOAT32},
    {WITH_DESCR("'|S3'"), "dtype is '|S3' (byte strings)" ONLY_FLOAT32},
    {WITH_DESCR("'|V2'"), "dtype is '|V2' (raw bytes)" ONLY_FLOAT32},
    {WITH_DESCR("'<M8[ns]'"), "dtype is '<M8[ns]' (dates)" ONLY_FLOAT32},
    {WITH_DESCR("'<m8[s]'"), "dtype is '<m8[s]' (time spans)" ONLY_FLOAT32},
    {WITH_DESCR("'float32'"), "dtype is 'float32'" ONLY_FLOAT32},
    {WITH_DESCR("'<f4 '"), "dtype is '<f4 '" ONLY_FLOAT32},
    {WITH_DESCR("' <f4'"), "dtype is ' <f4'" ONLY_FLOAT32},
    {WITH_DESCR("''"), "dtype is ''" ONLY_FLOAT32},
    {WITH_DESCR("'<'"), "dtype is '<'" ONLY_FLOAT32},
    {WITH_DESCR("'\0'"), "dtype is '\\x00'" ONLY_FLOAT32},
    {WITH_DESCR("'<f\xc2\xb2\x07'"), "dtype is '<f\\xc2\\xb2\\x07'" ONLY_FLOAT32},
    {WITH_DESCR("[('x', '<f4'), (\"y]\", '<f4', (2,))]"),
     "dtype is a structured one, [('x', '<f4'), (\"y]\", '<f4', (2,))]" ONLY_FLOAT32},
    {WITH_DESCR("[('" HUNDRED "', '<f4')]"), "ffff..." ONLY_FLOAT32},
    {WITH_DESCR("[('\xe9', '<f4')]"), "[('\\xe9', '<f4')]"},
    {WITH_DESCR("('<f4', (2,))"), "dtype is a structured one, ('<f4', (2,))"},
    {TEXT("{'descr': [[[[((((\n"), "a bracket that is not closed"},
    {TEXT("{'descr': [('x\n"), "a string is not closed"},
    {WITH_DESCR("4"), "a string is expected"},
    {WITH_DESCR("None"), "a string is expected"},
    {WITH_DESCR("'<f4"), "',' or '}' is expected"},
    /* fortran_order. */
    {WITH_ORDER("true"), "fortran_order is neither True nor False"},
    {WITH_ORDER("0"), "fortran_order is neither True nor False"},
    {WITH_ORDER("'True'"), "fortran_order is neither True nor False"},
    {WITH_ORDER("Truest"), "fortran_order is neither True nor False"},
    {WITH_ORDER("Tru"), "fortran_order is neither True nor False"},
    {WITH_ORDER(""), "fortran_order is neither True nor False"},
    {TEXT("{'fortran_order':\n"), "fortran_order is neither True nor False"},
    /* Shapes. */
    {WITH_SHAPE("()"), "shape () has 0 dimensions; only matrices"},
    {WITH_SHAPE("(5,)"), "shape (5,) has 1 dimension; only matrices"},
    {WITH_SHAPE("(2, 3, 4)"), "shape (2, 3, 4) has 3 dimensions; only matrices"},
    {WITH_SHAPE("(1,1,1,1,1)"), "shape (1,1,1,1,1) has 5 dimensions; only matrices"},
    {WITH_SHAPE("(-3, 4)"), "shape (-3, 4) has a negative dimension"},
    {WITH_SHAPE("(3, -4)"), "shape (3, -4) has a negative dimension"},
    {WITH_SHAPE("(-99999999999999999999, 0)"), "has a negative dimension"},
    {WITH_SHAPE("(9223372036854775807, 1)"), "shape (9223372036854775807, 1) is too large"},
    {WITH_SHAPE("(1, 9223372036854775808)"), "shape (1, 9223372036854775808) is too large"},
    {WITH_SHAPE("(18446744073709551617, 1)"), "is too large"},
    {WITH_SHAPE("(1, 99999999999999999999999999)"), "is too large"},
    {WITH_SHAPE("(0, 9223372036854775807)"), "is too large"},
    {WITH_SHAPE("(2305843009213693952, 1)"), "is too large"},
    {WITH_SHAPE("(4294967296, 4294967296)"), "is too large"},
    {WITH_SHAPE("(2147483648, 1073741824)"), "is too large"},
    {WITH_SHAPE("5"), "shape is not a tuple"},
    {WITH_SHAPE("(5)"), "shape is not a tuple"},
    {WITH_SHAPE("[3, 4]"), "shape is not a tuple"},
    {WITH_SHAPE("(,)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3,,4)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3 4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3.0, 4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 0x4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 4LL)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 04)"), "a number with a leading zero"},
    {WITH_SHAPE("(3, '4')"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, True)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, --4)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, (4))"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, 4"), "not a tuple of whole numbers"},
    {TEXT("{'shape': (3, 4\n"), "',' or ')' is expected in shape"},
    {TEXT("{'shape': (3,\n"), "not a tuple of whole numbers"},
    {TEXT("{'shape':\n"), "shape is not a tuple"},
};

START_TEST(refuses_dict)
{
    const struct refused_dict *refused = &REFUSED_DICTS[_i];
    npy_header header = {7, 7, true, 7};
    /* A copy of the exact size, so that a sanitizer sees a read beyond it. */
    char *text = malloc(refused->size > 0 ? refused->size : 1);

    memcpy(text, refused->text, refused->size);
    ck_assert_msg(npy_parse_dict(text, refused->size, &header, message, sizeof(message)) == -1,
                  "taken: %s", refused->text);
    assert_sentence(message, refused->sentence);
    ck_assert(header.rows == 0 && header.columns == 0 && !header.fortran_order);
    free(text);
}
END_TEST

START_TEST(refuses_dict_in_file)
{
    const struct refused_dict *refused = &REFUSED_DICTS[_i];

    write_npy_file(in_folder("dict.npy"), 1 + _i % 3, refused->text, refused->size, 48);
    assert_refused(in_folder("dict.npy"), refused->sentence);
}
END_TEST

START_TEST(keeps_to_size_of_message)
{
    static const char text[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n";
    npy_header header;

    ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, &header, NULL, 0), -1);
    ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, &header, message, sizeof(message)), -1);
    for (size_t size = 1; size <= strlen(message) + 2; size++) {
        char *small = malloc(size);

        memset(small, 'x', size);
        ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, &header, small, size), -1);
        ck_assert_uint_eq(strlen(small), size <= strlen(message) ? size - 1 : strlen(message));
        if (size > strlen(message))
            ck_assert_str_eq(small, message);
        else if (size > 3)
            ck_assert_str_eq(small + size - 4, "...");
        free(small);
    }
}
END_TEST

START_TEST(cuts_long_path)
{
    char path[600], small[64];
    npy_header header;

    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_eq(npy_read_header(path, &header, small, sizeof(small)), -1);
    ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
    ck_assert_str_eq(small + sizeof(small) - 5, "p...");
}
END_TEST

/* ---- Files that are read ---- */

#define MAGIC  "\x93NUMPY"
#define DICT34 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n"

static const struct raw_file {
    const char *bytes;
    size_t size;
    const char *sentence;
} RAW_FILES[] = {
    {TEXT(""), "is not a .npy file"},
    {TEXT("\x93NUMP"), "is not a .npy file"},
    {TEXT("PK\x03\x04 an archive of several arrays"), "is not a .npy file"},
    {TEXT("1.0, 2.0\n3.0, 4.0\n"), "is not a .npy file"},
    {TEXT("\x92NUMPY\x01\x00\x10\x00"), "is not a .npy file"},
    {TEXT(MAGIC), "the header is truncated: 8 bytes expected, 6 found"},
    {TEXT(MAGIC "\x01"), "the header is truncated: 8 bytes expected, 7 found"},
    {TEXT(MAGIC "\x01\x00"), "the header is truncated: 10 bytes expected, 8 found"},
    {TEXT(MAGIC "\x01\x00\x10"), "the header is truncated: 10 bytes expected, 9 found"},
    {TEXT(MAGIC "\x02\x00\x10\x00\x00"), "the header is truncated: 12 bytes expected, 11 found"},
    {TEXT(MAGIC "\x01\x00\x10\x00"), "the header is truncated: 26 bytes expected, 10 found"},
    {TEXT(MAGIC "\x01\x00\x10\x00{'descr': '<f4"),
     "the header is truncated: 26 bytes expected, 24 found"},
    {TEXT(MAGIC "\x02\x00\x00\x00\x10\x00{}\n"),
     "the header is truncated: 1048588 bytes expected, 15 found"},
    {TEXT(MAGIC "\x02\x00\x01\x00\x10\x00{}\n"), "absurdly long: 1048577 bytes"},
    {TEXT(MAGIC "\x03\x00\xff\xff\xff\xff{}\n"), "absurdly long: 4294967295 bytes"},
    {TEXT(MAGIC "\x01\x00\x00\x00"), "does not end with a newline"},
    {TEXT(MAGIC "\x00\x00\x03\x00{}\n"), "version 0.0 of the .npy format is unknown"},
    {TEXT(MAGIC "\x01\x01\x03\x00{}\n"), "version 1.1 of the .npy format is unknown"},
    {TEXT(MAGIC "\x04\x00\x03\x00\x00\x00{}\n"), "version 4.0 of the .npy format is unknown"},
    {TEXT(MAGIC "\xff\xfe\x03\x00\x00\x00{}\n"), "version 255.254 of the .npy format is unknown"},
};

START_TEST(refuses_raw_file)
{
    write_file(in_folder("raw.npy"), RAW_FILES[_i].bytes, RAW_FILES[_i].size);
    assert_refused(in_folder("raw.npy"), RAW_FILES[_i].sentence);
}
END_TEST

static const struct data_case {
    const char *dict;
    size_t dict_size, data_size;
    const char *sentence; /* NULL: taken. */
} DATA_CASES[] = {
    {WITH_SHAPE("(3, 4)"), 48, NULL},
    {WITH_SHAPE("(3, 4)"), 47, "the data is truncated: 48 bytes expected, 47 found"},
    {WITH_SHAPE("(3, 4)"), 0, "the data is truncated: 48 bytes expected, 0 found"},
    {WITH_SHAPE("(3, 4)"), 49, ": 1 extra byte follows the data"},
    {WITH_SHAPE("(3, 4)"), 96, ": 48 extra bytes follow the data"},
    {WITH_SHAPE("(0, 4)"), 0, NULL},
    {WITH_SHAPE("(3, 0)"), 0, NULL},
    {WITH_SHAPE("(0, 4)"), 4, ": 4 extra bytes follow the data"},
    /* No memory is asked for before the length of the file is compared. */
    {WITH_SHAPE("(1073741824, 1073741824)"), 8,
     "truncated: 4611686018427387904 bytes expected, 8 found"},
    {WITH_SHAPE("(1, 2305843009213693951)"), 8,
     "truncated: 9223372036854775804 bytes expected, 8 found"},
};

START_TEST(compares_length_of_data)
{
    const struct data_case *wanted = &DATA_CASES[_i / 3];
    const char *path = in_folder("data.npy");
    npy_matrix matrix;

    write_npy_file(path, 1 + _i % 3, wanted->dict, wanted->dict_size, wanted->data_size);
    if (wanted->sentence != NULL) {
        assert_refused(path, wanted->sentence);
        return;
    }
    ck_assert_msg(npy_read(path, &matrix, message, sizeof(message)) == 0, "%s", message);
    ck_assert_ptr_nonnull(matrix.data);
    ck_assert_uint_eq((uintptr_t)matrix.data % 64, 0);
    for (size_t i = 0; i < wanted->data_size / 4; i++)
        ck_assert_float_eq(matrix.data[i], (float)i);
    npy_free(&matrix);
}
END_TEST

START_TEST(reads_each_version)
{
    const char *path = in_folder("version.npy");
    npy_matrix matrix;
    npy_header header;

    write_npy_file(path, _i, TEXT(DICT34), 48);
    strcpy(message, "from before");
    ck_assert_int_eq(npy_read_header(path, &header, message, sizeof(message)), 0);
    ck_assert_str_eq(message, "");
    ck_assert_uint_eq(header.data_offset, (_i == 1 ? 10 : 12) + sizeof(DICT34) - 1);
    ck_assert(header.rows == 3 && header.columns == 4 && !header.fortran_order);
    ck_assert_int_eq(npy_read(path, &matrix, message, sizeof(message)), 0);
    ck_assert(matrix.rows == 3 && matrix.columns == 4 && !matrix.fortran_order);
    ck_assert_float_eq(matrix.data[11], 11.0f);
    npy_free(&matrix);
}
END_TEST

START_TEST(reads_header_of_one_mebibyte)
{
    const size_t size = (size_t)1 << 20;
    char *dict = malloc(size);
    npy_header header;

    memset(dict, ' ', size);
    memcpy(dict, DICT34, sizeof(DICT34) - 2);
    dict[size - 1] = '\n';
    write_npy_file(in_folder("long.npy"), 2, dict, size, 48);
    ck_assert_int_eq(npy_read_header(in_folder("long.npy"), &header, message, sizeof(message)), 0);
    ck_assert_uint_eq(header.data_offset, size + 12);
    free(dict);
}
END_TEST

START_TEST(refuses_every_truncation)
{
    unsigned char bytes[256];
    size_t size;

    write_npy_file(in_folder("whole.npy"), _i, TEXT(DICT34), 48);
    size = read_file(in_folder("whole.npy"), bytes, sizeof(bytes));
    for (size_t cut = 0; cut < size; cut++) {
        write_file(in_folder("cut.npy"), bytes, cut);
        assert_refused(in_folder("cut.npy"), cut < 6 ? "is not a .npy file" : "truncated");
    }
}
END_TEST

START_TEST(refuses_what_cannot_be_opened)
{
    assert_refused(in_folder("none.npy"), "cannot be opened: No such file or directory");
    assert_refused(in_folder("none/none.npy"), "cannot be opened: No such file or directory");
    assert_refused(folder, "cannot be opened: Is a directory");
    assert_refused("/dev/null", "is not a regular file");
    ck_assert_int_eq(mkfifo(in_folder("fifo.npy"), 0600), 0);
    assert_refused(in_folder("fifo.npy"), "is not a regular file");
    ck_assert_int_eq(symlink("loop.npy", in_folder("loop.npy")), 0);
    assert_refused(in_folder("loop.npy"), "cannot be opened: ");
    if (geteuid() != 0) {
        write_npy_file(in_folder("secret.npy"), 1, TEXT(DICT34), 48);
        ck_assert_int_eq(chmod(in_folder("secret.npy"), 0), 0);
        assert_refused(in_folder("secret.npy"), "cannot be opened: Permission denied");
    }
}
END_TEST

START_TEST(blanks_control_characters_of_path)
{
    npy_header header;

    ck_assert_int_eq(npy_read_header("no\nsuch\x1b/\xc3\xa9", &header, message, sizeof(message)),
                     -1);
    ck_assert_str_eq(message, "no?such?/\xc3\xa9: cannot be opened: No such file or directory");
}
END_TEST

START_TEST(reads_through_link)
{
    npy_matrix matrix;

    write_npy_file(in_folder("target.npy"), 1, TEXT(DICT34), 48);
    ck_assert_int_eq(symlink("target.npy", in_folder("link.npy")), 0);
    ck_assert_int_eq(npy_read(in_folder("link.npy"), &matrix, message, sizeof(message)), 0);
    npy_free(&matrix);
}
END_TEST

START_TEST(reads_in_pieces)
{
    npy_matrix matrix;
    int result;

    write_npy_file(in_folder("pieces.npy"), 1 + _i % 3, TEXT(DICT34), 48);
    set_faults((struct faults){.read_limit = (size_t)_i, .interrupt = true});
    result = npy_read(in_folder("pieces.npy"), &matrix, message, sizeof(message));
    ck_assert_uint_gt(calls, 6);
    clear_faults();
    ck_assert_msg(result == 0, "%s", message);
    for (int i = 0; i < 12; i++)
        ck_assert_float_eq(matrix.data[i], (float)i);
    npy_free(&matrix);
}
END_TEST

/* Of a file of 70 bytes of header and 48 of data; 12 bytes, 60 of dict and the data are read. */
static const struct read_fault {
    struct faults faults;
    const char *sentence;
} READ_FAULTS[] = {
    {{.read_limit = 1, .read_end_after = 5}, "is not a .npy file"},
    {{.read_end_after = 12}, "the header is truncated: 70 bytes expected, 10 found"},
    {{.read_end_after = 72}, "the data is truncated: 48 bytes expected, 0 found"},
    {{.read_limit = 8, .read_end_after = 80}, "the data is truncated: 48 bytes expected, 8 found"},
    {{.read_limit = 1, .read_fail_after = 1, .error = EIO}, "cannot be read: Input/output error"},
    {{.read_fail_after = 12, .error = EIO}, "cannot be read: Input/output error"},
    {{.read_fail_after = 72, .error = EIO}, "cannot be read: Input/output error"},
};

START_TEST(refuses_file_that_fails)
{
    npy_matrix matrix;
    int result;

    ck_assert_uint_eq(sizeof(DICT34) - 1, 60);
    write_npy_file(in_folder("changes.npy"), 1, TEXT(DICT34), 48);
    set_faults(READ_FAULTS[_i].faults);
    result = npy_read(in_folder("changes.npy"), &matrix, message, sizeof(message));
    clear_faults();
    ck_assert_int_eq(result, -1);
    assert_sentence(message, READ_FAULTS[_i].sentence);
    ck_assert_ptr_null(matrix.data);
}
END_TEST

START_TEST(refuses_when_memory_is_short)
{
    npy_matrix matrix;
    int result;

    write_npy_file(in_folder("memory.npy"), 1, TEXT(DICT34), 48);
    set_faults((struct faults){.fail_allocation = true});
    result = npy_read(in_folder("memory.npy"), &matrix, message, sizeof(message));
    if (bytes_allocated > 0) {
        ck_assert_int_eq(result, -1);
        assert_sentence(message, "no memory for its 48 bytes of data");
    }
    npy_free(&matrix);
}
END_TEST

/* ---- Files that are written ---- */

static const struct {
    int64_t rows, columns;
} SHAPES[] = {
    {1, 1}, {1, 7}, {7, 1}, {3, 5}, {0, 0}, {0, 5}, {5, 0}, {17, 129}, {1000, 33}, {12345, 1},
};

START_TEST(reads_what_it_wrote)
{
    npy_matrix matrix = make_matrix(SHAPES[_i / 2].rows, SHAPES[_i / 2].columns, _i % 2 != 0);
    npy_matrix again;
    npy_header header;
    const char *path = in_folder("round.npy");

    strcpy(message, "from before");
    ck_assert_int_eq(npy_write(path, &matrix, message, sizeof(message)), 0);
    ck_assert_str_eq(message, "");
    ck_assert_int_eq(npy_read_header(path, &header, message, sizeof(message)), 0);
    ck_assert_uint_eq(header.data_offset % 64, 0);
    ck_assert_int_eq(npy_read(path, &again, message, sizeof(message)), 0);
    ck_assert_ptr_nonnull(again.data);
    ck_assert_uint_eq((uintptr_t)again.data % 64, 0);
    assert_equal_matrices(&matrix, &again);
    npy_free(&matrix);
    npy_free(&again);
    ck_assert_int_eq(empty_folder(), 1);
}
END_TEST

START_TEST(writes_these_bytes)
{
    static const unsigned char data[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0};
    static const char start[] =
        MAGIC "\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }";
    float values[] = {1.0f, -2.0f};
    npy_matrix matrix = {2, 1, true, values};
    unsigned char bytes[256];

    ck_assert_int_eq(npy_write(in_folder("bytes.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_uint_eq(read_file(in_folder("bytes.npy"), bytes, sizeof(bytes)), 128 + sizeof(data));
    ck_assert_mem_eq(bytes, start, sizeof(start) - 1);
    for (size_t i = sizeof(start) - 1; i < 127; i++)
        ck_assert_int_eq(bytes[i], ' ');
    ck_assert_int_eq(bytes[127], '\n');
    ck_assert_mem_eq(bytes + 128, data, sizeof(data));
}
END_TEST

START_TEST(writes_longest_header)
{
    npy_matrix matrix = {0, PTRDIFF_MAX / 4, false, NULL}, again;

    ck_assert_int_eq(npy_write(in_folder("wide.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(npy_read(in_folder("wide.npy"), &again, message, sizeof(message)), 0);
    ck_assert_int_eq(again.columns, PTRDIFF_MAX / 4);
    ck_assert_ptr_nonnull(again.data);
    npy_free(&again);
}
END_TEST

START_TEST(writes_in_pieces)
{
    npy_matrix matrix = make_matrix(5, 7, false), again;
    int result;

    set_faults((struct faults){.write_limit = (size_t)_i, .interrupt = true});
    result = npy_write(in_folder("pieces.npy"), &matrix, message, sizeof(message));
    ck_assert_uint_gt(calls, 6);
    clear_faults();
    ck_assert_msg(result == 0, "%s", message);
    ck_assert_int_eq(npy_read(in_folder("pieces.npy"), &again, message, sizeof(message)), 0);
    assert_equal_matrices(&matrix, &again);
    npy_free(&matrix);
    npy_free(&again);
}
END_TEST

START_TEST(writes_though_close_is_interrupted)
{
    npy_matrix matrix = make_matrix(5, 7, false);
    int result;

    set_faults((struct faults){.fail_close = true, .error = EINTR});
    result = npy_write(in_folder("C.npy"), &matrix, message, sizeof(message));
    clear_faults();
    ck_assert_msg(result == 0, "%s", message);
    npy_free(&matrix);
}
END_TEST

START_TEST(writes_to_current_folder)
{
    npy_matrix matrix = make_matrix(2, 3, false);
    int before = open(".", O_RDONLY | O_DIRECTORY);

    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(npy_write("plain.npy", &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(fchdir(before), 0);
    close(before);
    ck_assert_int_eq(access(in_folder("plain.npy"), R_OK), 0);
    ck_assert_int_eq(empty_folder(), 1);
    npy_free(&matrix);
}
END_TEST

static unsigned mode_of(const char *path)
{
    struct stat status;

    ck_assert_int_eq(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

START_TEST(gives_permissions)
{
    npy_matrix matrix = make_matrix(2, 3, false);
    mode_t before = umask(027);

    ck_assert_int_eq(npy_write(in_folder("new.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_uint_eq(mode_of(in_folder("new.npy")), 0640);
    ck_assert_int_eq(chmod(in_folder("new.npy"), 0604), 0);
    ck_assert_int_eq(npy_write(in_folder("new.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_uint_eq(mode_of(in_folder("new.npy")), 0604);
    ck_assert_uint_eq(umask(0), 027);
    ck_assert_int_eq(npy_write(in_folder("open.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_uint_eq(mode_of(in_folder("open.npy")), 0666);
    umask(before);
    npy_free(&matrix);
}
END_TEST

START_TEST(replaces_what_link_leads_to)
{
    npy_matrix matrix = make_matrix(2, 3, false), again;
    struct stat status;

    write_file(in_folder("target.npy"), TEXT("old"));
    ck_assert_int_eq(symlink("target.npy", in_folder("link.npy")), 0);
    ck_assert_int_eq(npy_write(in_folder("link.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(lstat(in_folder("link.npy"), &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert_int_eq(npy_read(in_folder("target.npy"), &again, message, sizeof(message)), 0);
    assert_equal_matrices(&matrix, &again);
    ck_assert_int_eq(empty_folder(), 2);
    npy_free(&matrix);
    npy_free(&again);
}
END_TEST

static void assert_not_written(const char *path, const npy_matrix *matrix, const char *expected)
{
    ck_assert_msg(npy_write(path, matrix, message, sizeof(message)) == -1,
                  "written, instead of \"%s\"", expected);
    ck_assert_int_eq(strncmp(message, path, strlen(path)), 0);
    assert_sentence(message + strlen(path), expected);
}

START_TEST(refuses_to_replace)
{
    npy_matrix matrix = make_matrix(2, 3, false);
    struct stat status;

    ck_assert_int_eq(mkdir(in_folder("folder.npy"), 0700), 0);
    ck_assert_int_eq(mkfifo(in_folder("fifo.npy"), 0600), 0);
    ck_assert_int_eq(symlink("fifo.npy", in_folder("link.npy")), 0);
    ck_assert_int_eq(symlink("none.npy", in_folder("dangling.npy")), 0);
    assert_not_written(in_folder("folder.npy"), &matrix, "cannot be written: Is a directory");
    assert_not_written(in_folder("fifo.npy"), &matrix, "is not a regular file");
    assert_not_written(in_folder("link.npy"), &matrix, "is not a regular file");
    assert_not_written(in_folder("dangling.npy"), &matrix,
                       "cannot be written: No such file or directory");
    ck_assert_int_eq(lstat(in_folder("fifo.npy"), &status), 0);
    ck_assert(S_ISFIFO(status.st_mode));
    ck_assert_int_eq(empty_folder(), 4);
    npy_free(&matrix);
}
END_TEST

START_TEST(refuses_folder_that_cannot_be_written)
{
    npy_matrix matrix = make_matrix(2, 3, false);

    assert_not_written(in_folder("none/C.npy"), &matrix,
                       "no temporary file beside it: No such file or directory");
    assert_not_written("", &matrix, "cannot be written: ");
    write_file(in_folder("file"), TEXT("old"));
    assert_not_written(in_folder("file/C.npy"), &matrix, "cannot be written: Not a directory");
    if (access("/proc/self", X_OK) == 0)
        assert_not_written("/proc/self/C.npy", &matrix, "no temporary file beside it: ");
    if (geteuid() != 0) {
        ck_assert_int_eq(chmod(folder, 0500), 0);
        assert_not_written(in_folder("C.npy"), &matrix,
                           "no temporary file beside it: Permission denied");
        ck_assert_int_eq(chmod(folder, 0700), 0);
    }
    npy_free(&matrix);
}
END_TEST

START_TEST(refuses_matrix)
{
    float value = 0.0f;
    const npy_matrix invalid[] = {
        {-1, 1, false, &value},        {1, -1, false, &value},
        {-1, -1, false, &value},       {INT64_MIN, 0, false, &value},
        {INT64_MAX, 1, false, &value}, {(int64_t)1 << 32, (int64_t)1 << 32, false, &value},
    };
    const npy_matrix without_data = {1, 1, false, NULL};

    for (int i = 0; i < COUNT(invalid); i++)
        assert_not_written(in_folder("C.npy"), &invalid[i], "no matrix has shape (");
    assert_not_written(in_folder("C.npy"), &without_data, "the matrix has no data");
    ck_assert_int_eq(empty_folder(), 0);
}
END_TEST

/* A failure leaves one file in the folder: the old one, as it was. */
static void assert_old_file(const char *path)
{
    unsigned char bytes[16];

    ck_assert_uint_eq(read_file(path, bytes, sizeof(bytes)), 3);
    ck_assert_mem_eq(bytes, "old", 3);
    ck_assert_uint_eq(mode_of(path), 0604);
    ck_assert_int_eq(empty_folder(), 1);
}

static const struct write_fault {
    struct faults faults;
    const char *sentence;
} WRITE_FAULTS[] = {
    {{.write_limit = 8, .write_fail_after = 8, .error = ENOSPC}, "No space left on device"},
    {{.write_fail_after = 128, .error = ENOSPC}, "No space left on device"},
    {{.write_limit = 64, .write_fail_after = 192, .error = EDQUOT}, "quota exceeded"},
    {{.fail_fchmod = true, .error = EPERM}, "Operation not permitted"},
    {{.fail_fsync = true, .error = EIO}, "Input/output error"},
    {{.fail_close = true, .error = EIO}, "Input/output error"},
    {{.fail_rename = true, .error = EXDEV}, "cross-device link"},
};

START_TEST(leaves_old_file)
{
    npy_matrix matrix = make_matrix(9, 9, false);
    const char *path = in_folder("C.npy");

    write_file(path, TEXT("old"));
    ck_assert_int_eq(chmod(path, 0604), 0);
    set_faults(WRITE_FAULTS[_i].faults);
    assert_not_written(path, &matrix, WRITE_FAULTS[_i].sentence);
    clear_faults();
    assert_old_file(path);
    npy_free(&matrix);
}
END_TEST

START_TEST(leaves_no_new_file)
{
    npy_matrix matrix = make_matrix(9, 9, false);

    set_faults(WRITE_FAULTS[_i].faults);
    assert_not_written(in_folder("C.npy"), &matrix, WRITE_FAULTS[_i].sentence);
    clear_faults();
    ck_assert_int_eq(empty_folder(), 0);
    npy_free(&matrix);
}
END_TEST

START_TEST(leaves_old_file_at_limit_of_size)
{
    npy_matrix matrix = make_matrix(9, 9, false);
    const char *path = in_folder("C.npy");
    struct rlimit before, limit;
    int limited, result;

    write_file(path, TEXT("old"));
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 200;
    signal(SIGXFSZ, SIG_IGN);
    /* Check writes a file at each assertion, so none is made under the limit. */
    limited = setrlimit(RLIMIT_FSIZE, &limit);
    result = npy_write(path, &matrix, message, sizeof(message));
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(limited, 0);
    ck_assert_int_eq(result, -1);
    assert_sentence(message, "cannot be written: File too large");
    assert_old_file(path);
    npy_free(&matrix);
}
END_TEST

START_TEST(frees_twice)
{
    npy_matrix matrix = {0};

    npy_free(&matrix);
    matrix = make_matrix(2, 2, true);
    npy_free(&matrix);
    ck_assert_ptr_null(matrix.data);
    ck_assert(matrix.rows == 0 && matrix.columns == 0 && !matrix.fortran_order);
    npy_free(&matrix);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *test_case = tcase_create(name);

    tcase_set_timeout(test_case, 60);
    /* Unchecked: a checked teardown is not run after a failure. */
    tcase_add_unchecked_fixture(test_case, make_folder, remove_folder);
    tcase_add_checked_fixture(test_case, begin_test, NULL);
    suite_add_tcase(suite, test_case);
    return test_case;
}

static void add_dict_tests(TCase *dict)
{
    tcase_add_loop_test(dict, accepts_dict, 0, COUNT(ACCEPTED_DICTS));
    tcase_add_loop_test(dict, refuses_dict, 0, COUNT(REFUSED_DICTS));
    tcase_add_loop_test(dict, refuses_dict_in_file, 0, COUNT(REFUSED_DICTS));
    tcase_add_test(dict, keeps_to_size_of_message);
}

static void add_read_tests(TCase *reading)
{
    tcase_add_test(reading, cuts_long_path);
    tcase_add_loop_test(reading, refuses_raw_file, 0, COUNT(RAW_FILES));
    tcase_add_loop_test(reading, compares_length_of_data, 0, 3 * COUNT(DATA_CASES));
    tcase_add_loop_test(reading, reads_each_version, 1, 4);
    tcase_add_test(reading, reads_header_of_one_mebibyte);
    tcase_add_loop_test(reading, refuses_every_truncation, 1, 4);
    tcase_add_test(reading, refuses_what_cannot_be_opened);
    tcase_add_test(reading, blanks_control_characters_of_path);
    tcase_add_test(reading, reads_through_link);
    tcase_add_loop_test(reading, reads_in_pieces, 1, 14);
    tcase_add_loop_test(reading, refuses_file_that_fails, 0, COUNT(READ_FAULTS));
    tcase_add_test(reading, refuses_when_memory_is_short);
}

static void add_write_tests(TCase *writing)
{
    tcase_add_loop_test(writing, reads_what_it_wrote, 0, 2 * COUNT(SHAPES));
    tcase_add_test(writing, writes_these_bytes);
    tcase_add_test(writing, writes_longest_header);
    tcase_add_loop_test(writing, writes_in_pieces, 1, 14);
    tcase_add_test(writing, writes_though_close_is_interrupted);
    tcase_add_test(writing, writes_to_current_folder);
    tcase_add_test(writing, gives_permissions);
    tcase_add_test(writing, replaces_what_link_leads_to);
    tcase_add_test(writing, refuses_to_replace);
    tcase_add_test(writing, refuses_folder_that_cannot_be_written);
    tcase_add_test(writing, refuses_matrix);
    tcase_add_loop_test(writing, leaves_old_file, 0, COUNT(WRITE_FAULTS));
    tcase_add_loop_test(writing, leaves_no_new_file, 0, COUNT(WRITE_FAULTS));
    tcase_add_test(writing, leaves_old_file_at_limit_of_size);
    tcase_add_test(writing, frees_twice);
}

int main(void)
{
    Suite *suite = suite_create("npy");
    SRunner *runner;
    int failures;

    add_dict_tests(add_case(suite, "dict"));
    add_read_tests(add_case(suite, "reading"));
    add_write_tests(add_case(suite, "writing"));
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
