/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads inputs as .npy, .npz and .mtx files (tests/fuzz.h says how it is called), and those that
 * are none of these as the text of a header too, alone and in a file with the data that it asks
 * for. What is taken is within bounds, and the same when it was written and is read again; what is
 * not, a sentence refuses.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element.h"
#include "fuzz.h"
#include "npy_whole.h"

enum { TEXT_LIMIT = 1024, DATA_LIMIT = 256 };

static const char *const words[] = {
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "'",
    "\"",
    ",",
    ":",
    "\\",
    " ",
    "\n",
    "\r\n",
    "'descr': ",
    "'fortran_order': ",
    "'shape': ",
    "True",
    "False",
    "'<f4'",
    "'>f2'",
    "'<f8'",
    "'<c8'",
    "'>c16'",
    "'|V2'",
    "'bfloat16'",
    "(3, 4)",
    "(2, 3, 4)",
    "(5,)",
    "\x93NUMPY\x01",
    "\x93NUMPY\x02",
    "PK\x01\x02",
    "PK\x03\x04",
    "PK\x05\x06",
    "PK\x06\x06",
    ".npy",
    "%%MatrixMarket matrix ",
    "%",
    "array ",
    "coordinate ",
    "real ",
    "complex ",
    "integer ",
    "pattern ",
    "general",
    "symmetric",
    "skew-symmetric",
    "hermitian",
    NULL,
};

const fuzz_program fuzz_this = {"tests/unit/corpus", words, 9000, 1};

static unsigned long headers, files, wholes; /* that were taken */

static void require_sentence(const char *message, size_t size)
{
    size_t length = strnlen(message, size);

    REQUIRE(length < size);
    REQUIRE(length > 0 || size == 1);
    for (size_t i = 0; i < length; i++)
        REQUIRE(message[i] >= ' ' && message[i] < 0x7f);
}

static void require_bounds(const npy_header *header)
{
    /* A header that is refused is zero, and has no type. */
    const int64_t limit = PTRDIFF_MAX / (int64_t)(header->type ? type_bytes(header->type) : 1);
    const int64_t batch = header->batch > 0 ? header->batch : 1;
    const int64_t rows = header->rows > 0 ? header->rows : 1;

    REQUIRE(header->batch >= 0 && header->rows >= 0 && header->columns >= 0);
    REQUIRE(batch <= limit && rows <= limit / batch && header->columns <= limit / batch / rows);
}

/* The text and the message are of the exact size, so that a sanitizer sees a step beyond. */
static void read_text(const unsigned char *bytes, size_t size, size_t message_size)
{
    char *text = malloc(size > 0 ? size : 1), *message = malloc(message_size);
    npy_header header;
    int result;

    REQUIRE(text != NULL && message != NULL);
    memcpy(text, bytes, size);
    memset(message, 0x7f, message_size);
    memset(&header, 0x7f, sizeof(header));
    result = npy_parse_dict(text, size, (unsigned)size % 4, &header, message, message_size);
    REQUIRE(result == 0 || result == -1);
    require_bounds(&header);
    if (result == 0)
        REQUIRE(message[0] == '\0' && header.data_offset == 0);
    else
        require_sentence(message, message_size);
    free(text);
    free(message);
    headers += result == 0;
}

/* ---- Files ---- */

/* The size that the header asks for, if it is valid and small, else any. */
static size_t data_size(const unsigned char *text, size_t size, fuzz_random *random)
{
    npy_header header;
    size_t room = DATA_LIMIT;

    if (npy_parse_dict((const char *)text, size, NPY_CAST, &header, NULL, 0) != 0)
        return fuzz_pick(random, DATA_LIMIT + 1);
    room /= type_bytes(header.type);
    const size_t count = (size_t)(header.batch * header.rows * header.columns);
    return count <= room ? count * (DATA_LIMIT / room) : fuzz_pick(random, DATA_LIMIT + 1);
}

/* A file with this header, and perhaps a mistake. */
static void write_with_header(const unsigned char *text, size_t text_size, fuzz_random *random)
{
    unsigned char bytes[12 + TEXT_LIMIT + DATA_LIMIT] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    size_t offset = fuzz_pick(random, 2) == 0 ? 10 : 12, size;
    size_t claimed = fuzz_pick(random, 8) == 0 ? fuzz_pick(random, (size_t)1 << 22) : text_size;

    bytes[6] = (unsigned char)(offset == 10 ? 1 : 2 + fuzz_pick(random, 2));
    for (size_t i = 8; i < offset; i++)
        bytes[i] = (unsigned char)(claimed >> 8 * (i - 8));
    memcpy(bytes + offset, text, text_size);
    size = offset + text_size + data_size(text, text_size, random);
    if (fuzz_pick(random, 8) == 0)
        bytes[fuzz_pick(random, size)] ^= (unsigned char)(1 << fuzz_pick(random, 8));
    if (fuzz_pick(random, 8) == 0)
        size = fuzz_pick(random, size + 1);
    fuzz_write("in.npy", bytes, size);
}

/* libc's, which would wait for the disk each time. */
int fsync(int descriptor)
{
    return descriptor >= 0 ? 0 : -1;
}

/* What was read is written, read again and the same. */
static void repeat_matrix(const npy_matrix *matrix)
{
    size_t size =
        (size_t)(npy_count(matrix) * matrix->rows * matrix->columns) * type_bytes(matrix->type);
    char message[256];
    npy_matrix again;

    remove("out.npy"); /* see fuzz_write() */
    REQUIRE(npy_write("out.npy", matrix, message, sizeof(message)) == 0);
    REQUIRE(npy_read("out.npy", &again, message, sizeof(message)) == 0);
    REQUIRE(again.rows == matrix->rows && again.columns == matrix->columns);
    REQUIRE(again.is_batch == matrix->is_batch && again.batch == matrix->batch);
    REQUIRE(again.fortran_order == matrix->fortran_order && again.type == matrix->type);
    REQUIRE(memcmp(again.data, matrix->data, size) == 0);
    npy_free(&again);
}

/* Whether NPY_CAST can read it: complex numbers are no floats, and of halves there may be more. */
static bool fits_floats(const npy_header *header)
{
    const int64_t most = PTRDIFF_MAX / (int64_t)sizeof(float);
    const int64_t batch = header->batch > 0 ? header->batch : 1;
    const int64_t rows = header->rows > 0 ? header->rows : 1;
    const int64_t columns = header->columns > 0 ? header->columns : 1;

    return !type_is_complex(header->type) && columns <= most / batch / rows;
}

static void read_with_header(const unsigned char *text, size_t size, fuzz_random *random)
{
    char message[256], header_message[256];
    npy_matrix matrix;
    npy_header header;
    int result;

    write_with_header(text, size, random);
    const unsigned taken = (unsigned)fuzz_pick(random, 4);
    result = npy_read_as("in.npy", taken, &matrix, message, sizeof(message));
    npy_input *input = npy_open("in.npy", taken, &header, header_message, sizeof(header_message));
    const bool no_floats = input && (taken & NPY_CAST) && !fits_floats(&header);
    REQUIRE((input && !no_floats ? 0 : -1) == result);
    npy_close(input);
    REQUIRE(no_floats || strcmp(message, header_message) == 0);
    require_bounds(&header);
    REQUIRE(no_floats || (matrix.rows == header.rows && matrix.columns == header.columns));
    if (result == 0) {
        REQUIRE(matrix.data != NULL);
        repeat_matrix(&matrix);
    } else {
        REQUIRE(matrix.data == NULL);
        require_sentence(message, sizeof(message));
    }
    npy_free(&matrix);
    files += result == 0;
}

/* What a caller does: it looks at the sizes before it lets the data be read. */
static void read_file(const unsigned char *bytes, size_t size, fuzz_random *random)
{
    const int64_t most = 1 << 16;
    char message[256];
    npy_matrix matrix = {0};
    npy_header header;

    fuzz_write("in.npy", bytes, size);
    npy_input *input = npy_open("in.npy", NPY_CAST | NPY_VECTOR, &header, message, sizeof(message));
    require_bounds(&header);
    int result = input != NULL ? 0 : -1;
    if (input != NULL && header.batch <= most && header.rows <= most && header.columns <= most &&
        header.batch * header.rows * header.columns <= most)
        result = npy_load(input, (xgemm_type)(1 + fuzz_pick(random, XGEMM_C64)), &matrix, message,
                          sizeof(message));
    if (result != 0)
        require_sentence(message, sizeof(message));
    else if (matrix.data != NULL)
        repeat_matrix(&matrix);
    npy_close(input);
    npy_free(&matrix);
    wholes += result == 0;
}

static bool begins_with(const unsigned char *bytes, size_t size, const char *word)
{
    return size >= strlen(word) && memcmp(bytes, word, strlen(word)) == 0;
}

void fuzz_judge(const unsigned char *bytes, size_t size)
{
    fuzz_random random = fuzz_random_of(bytes, size);
    const bool is_file = begins_with(bytes, size, "\x93NUMPY") || begins_with(bytes, size, "PK") ||
                         begins_with(bytes, size, "%%M");

    if (size <= TEXT_LIMIT)
        read_text(bytes, size, fuzz_pick(&random, 8) == 0 ? 1 + fuzz_pick(&random, 64) : 512);
    if (is_file)
        read_file(bytes, size, &random);
    else if (size <= TEXT_LIMIT)
        read_with_header(bytes, size, &random);
}

void fuzz_begin(void)
{
    fuzz_enter_folder();
}

void fuzz_end(unsigned long inputs)
{
    fuzz_leave_folder();
    printf("%lu inputs; %lu headers were taken, %lu files with such, and %lu whole files\n", inputs,
           headers, files, wholes);
}
