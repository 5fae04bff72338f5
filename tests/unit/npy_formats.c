/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that are no .npy files of float32 matrices: other types, batches, pipes, text. */
#include "npy_support.h"

#include "element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Types ---- */

#define TYPED(descr) TEXT("{'descr': " descr ", 'fortran_order': False, 'shape': (1, 4), }\n")

/* 1, -2.5, 65504 and the least subnormal number of float16, or what is next to it. */
static const struct typed {
    const char *dict;
    size_t dict_size;
    const unsigned char *bytes;
    size_t size;
    float last;
} TYPES[] = {
    {TYPED("'<f2'"), (const unsigned char *)"\x00\x3c\x00\xc1\xff\x7b\x01\x00", 8, 0x1p-24f},
    {TYPED("'>f2'"), (const unsigned char *)"\x3c\x00\xc1\x00\x7b\xff\x00\x01", 8, 0x1p-24f},
    {TYPED("'>f4'"),
     (const unsigned char *)"\x3f\x80\x00\x00\xc0\x20\x00\x00\x47\x7f\xe0\x00\x33\x80\x00\x00", 16,
     0x1p-24f},
    {TYPED("'<f8'"),
     (const unsigned char *)"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x04\xc0"
                            "\x00\x00\x00\x00\x00\xfc\xef\x40\x00\x00\x00\x10\x00\x00\x70\x3e",
     32, 0x1p-24f},
    {TYPED("'>f8'"),
     (const unsigned char *)"\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x04\x00\x00\x00\x00\x00\x00"
                            "\x40\xef\xfc\x00\x00\x00\x00\x00\x3e\x70\x00\x00\x30\x00\x00\x00",
     32, 0x1.000004p-24f},
};

static void write_typed(const char *path, const struct typed *of)
{
    unsigned char bytes[256] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)of->dict_size};

    memcpy(bytes + 10, of->dict, of->dict_size);
    memcpy(bytes + 10 + of->dict_size, of->bytes, of->size);
    write_file(path, bytes, 10 + of->dict_size + of->size);
}

START_TEST(casts_types)
{
    npy_matrix matrix;

    write_typed(in_folder("typed.npy"), &TYPES[_i]);
    if (strchr(TYPES[_i].dict, '>'))
        assert_refused(in_folder("typed.npy"), "--cast converts it");
    ck_assert_msg(
        npy_read_as(in_folder("typed.npy"), NPY_CAST, &matrix, message, sizeof(message)) == 0, "%s",
        message);
    ck_assert_float_eq(floats(&matrix)[0], 1.0f);
    ck_assert_float_eq(floats(&matrix)[1], -2.5f);
    ck_assert_float_eq(floats(&matrix)[2], 65504.0f);
    ck_assert_float_eq(floats(&matrix)[3], TYPES[_i].last);
    npy_free(&matrix);
}
END_TEST

/* One element each, of every type, as a file has it and as each type takes it. */
static const struct {
    struct typed file;
    xgemm_type type;
    scalar value;
} ONES[] = {
#define ONE(descr) TEXT("{'descr': " descr ", 'fortran_order': False, 'shape': (1, 1), }\n")
    {{ONE("'<f2'"), (const unsigned char *)"\x00\xc1", 2, 0}, XGEMM_F16, {-2.5, 0.0}},
    {{ONE("'<V2'"), (const unsigned char *)"\x20\xc0", 2, 0}, XGEMM_BF16, {-2.5, 0.0}},
    {{ONE("'|V2'"), (const unsigned char *)"\x20\xc0", 2, 0}, XGEMM_BF16, {-2.5, 0.0}},
    {{ONE("'>V2'"), (const unsigned char *)"\xc0\x20", 2, 0}, XGEMM_BF16, {-2.5, 0.0}},
    {{ONE("'<f4'"), (const unsigned char *)"\x00\x00\x20\xc0", 4, 0}, XGEMM_F32, {-2.5, 0.0}},
    {{ONE("'<f8'"), (const unsigned char *)"\x00\x00\x00\x00\x00\x00\x04\xc0", 8, 0},
     XGEMM_F64,
     {-2.5, 0.0}},
    {{ONE("'<c8'"), (const unsigned char *)"\x00\x00\x20\xc0\x00\x00\x80\x3f", 8, 0},
     XGEMM_C32,
     {-2.5, 1.0}},
    {{ONE("'>c8'"), (const unsigned char *)"\xc0\x20\x00\x00\x3f\x80\x00\x00", 8, 0},
     XGEMM_C32,
     {-2.5, 1.0}},
    {{ONE("'<c16'"),
      (const unsigned char *)"\x00\x00\x00\x00\x00\x00\x04\xc0\x00\x00\x00\x00\x00\x00\xf0\x3f", 16,
      0},
     XGEMM_C64,
     {-2.5, 1.0}},
};

static void check_element(const char *path, xgemm_type type, scalar wanted)
{
    npy_header header;
    npy_matrix matrix;
    npy_input *input = npy_open(path, NPY_CAST, &header, message, sizeof(message));

    ck_assert_msg(input != NULL, "%s", message);
    const int result = npy_load(input, type, &matrix, message, sizeof(message));
    npy_close(input);
    if (type_is_complex(header.type) && !type_is_complex(type)) {
        ck_assert_int_eq(result, -1);
        assert_sentence(message, "no imaginary part");
        return;
    }
    ck_assert_msg(result == 0, "%s", message);
    const scalar got = element_load(type, matrix.data, 0);
    ck_assert(got.re == wanted.re && got.im == wanted.im);
    ck_assert_int_eq(matrix.type, type);
    ck_assert_int_eq(npy_write(in_folder("again.npy"), &matrix, message, sizeof(message)), 0);
    npy_free(&matrix);
    ck_assert_int_eq(npy_read(in_folder("again.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(matrix.type, type);
    const scalar again = element_load(type, matrix.data, 0);
    ck_assert(again.re == wanted.re && again.im == wanted.im);
    npy_free(&matrix);
}

START_TEST(converts_types)
{
    npy_header header;

    write_typed(in_folder("one.npy"), &ONES[_i].file);
    npy_close(npy_open(in_folder("one.npy"), NPY_CAST, &header, message, sizeof(message)));
    ck_assert_int_eq(header.type, ONES[_i].type);
    for (int type = XGEMM_F32; type <= XGEMM_C64; type++)
        check_element(in_folder("one.npy"), (xgemm_type)type, ONES[_i].value);
}
END_TEST

START_TEST(casts_what_is_not_finite)
{
    static const struct typed half = {TYPED("'<f2'"),
                                      (const unsigned char *)"\0\x7c\0\xfc\1\x7e\0\x80", 8, 0.0f};
    npy_matrix matrix;

    write_typed(in_folder("half.npy"), &half);
    ck_assert_int_eq(
        npy_read_as(in_folder("half.npy"), NPY_CAST, &matrix, message, sizeof(message)), 0);
    ck_assert(isinf(floats(&matrix)[0]) && floats(&matrix)[0] > 0.0f);
    ck_assert(isinf(floats(&matrix)[1]) && floats(&matrix)[1] < 0.0f);
    ck_assert(isnan(floats(&matrix)[2]));
    ck_assert(floats(&matrix)[3] == 0.0f && signbit(floats(&matrix)[3]));
    npy_free(&matrix);
}
END_TEST

/* The data's length counts elements as the file has them. */
START_TEST(compares_length_of_cast_data)
{
    const struct typed *of = &TYPES[_i];
    struct typed cut = *of;
    npy_matrix matrix;
    char sentence[80];

    cut.size--;
    snprintf(sentence, sizeof(sentence), "truncated: %zu bytes expected, %zu found", of->size,
             cut.size);
    write_typed(in_folder("cut.npy"), &cut);
    ck_assert_int_eq(npy_read_as(in_folder("cut.npy"), NPY_CAST, &matrix, message, sizeof(message)),
                     -1);
    assert_sentence(message, sentence);
    ck_assert_ptr_null(matrix.data);
}
END_TEST

/* ---- Batches ---- */

START_TEST(reads_batches)
{
    const bool fortran = _i != 0;
    npy_matrix matrix, again;

    write_npy_file(in_folder("batch.npy"), 1,
                   fortran ? "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), } \n"
                           : "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }\n",
                   strlen("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }\n"), 96);
    ck_assert_int_eq(npy_read(in_folder("batch.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert(matrix.is_batch && matrix.batch == 2 && matrix.rows == 3 && matrix.columns == 4);
    ck_assert_int_eq(matrix.fortran_order, fortran);
    /* NumPy's Fortran order counts through the batch first: data[i] is element (i % 2, ...). */
    for (int i = 0; i < 24; i++)
        ck_assert_float_eq(floats(&matrix)[i], fortran ? (float)(i % 12 * 2 + i / 12) : (float)i);
    ck_assert_int_eq(npy_write(in_folder("again.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(npy_read(in_folder("again.npy"), &again, message, sizeof(message)), 0);
    ck_assert(again.is_batch && again.batch == 2 && again.fortran_order == fortran);
    ck_assert_mem_eq(again.data, matrix.data, 96);
    npy_free(&matrix);
    npy_free(&again);
}
END_TEST

START_TEST(reads_empty_batches)
{
    static const char *const shapes[] = {"(0, 3, 4)", "(2, 0, 4)", "(2, 3, 0)", "(0, 0, 0)"};
    char dict[80];
    npy_matrix matrix;

    snprintf(dict, sizeof(dict), "{'descr': '<f4', 'fortran_order': %s, 'shape': %s, }\n",
             _i % 2 ? "True" : "False", shapes[_i / 2]);
    write_npy_file(in_folder("empty.npy"), 1, dict, strlen(dict), 0);
    ck_assert_int_eq(npy_read(in_folder("empty.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_ptr_nonnull(matrix.data);
    ck_assert_int_eq(npy_write(in_folder("again.npy"), &matrix, message, sizeof(message)), 0);
    npy_free(&matrix);
}
END_TEST

/* ---- Pipes ---- */

pid_t feed(const char *pipe, const char *file, size_t limit)
{
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        unsigned char bytes[4096];
        const size_t size = read_file(file, bytes, sizeof(bytes));
        write_file(pipe, bytes, size < limit ? size : limit);
        _exit(0);
    }
    return child;
}

static const struct {
    size_t data_size, limit;
    const char *sentence; /* NULL: taken */
} PIPES[] = {
    {48, 4096, NULL},
    {49, 4096, "extra bytes follow the data"},
    {48, 117, "the data is truncated: 48 bytes expected, 47 found"},
    {48, 70, "the data is truncated: 48 bytes expected, 0 found"},
    {48, 69, "the header is truncated: 70 bytes expected, 69 found"},
    {48, 5, "is not a .npy file"},
};

START_TEST(reads_pipes)
{
    npy_matrix matrix;

    write_npy_file(in_folder("file.npy"), 1, TEXT(DICT34), PIPES[_i].data_size);
    const pid_t child = feed(in_folder("pipe"), in_folder("file.npy"), PIPES[_i].limit);
    const int result = npy_read(in_folder("pipe"), &matrix, message, sizeof(message));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    if (PIPES[_i].sentence == NULL) {
        ck_assert_msg(result == 0, "%s", message);
        ck_assert_float_eq(floats(&matrix)[11], 11.0f);
    } else {
        ck_assert_int_eq(result, -1);
        assert_sentence(message, PIPES[_i].sentence);
    }
    npy_free(&matrix);
}
END_TEST

/* ---- Matrix Market ---- */

static const struct {
    const char *text;
    int64_t rows, columns;
    float data[9]; /* in column order */
} MARKETS[] = {
    {"%%MatrixMarket matrix array real general\n% a comment\n\n2 3\n1\n2.5\n-3e1\n4\n5\n6",
     2,
     3,
     {1, 2.5f, -30, 4, 5, 6}},
    {"%%MatrixMarket MATRIX Array Integer General\r\n2 1\r\n1\r\n2\r\n", 2, 1, {1, 2}},
    {"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
     3,
     3,
     {1, 2, 3, 2, 4, 5, 3, 5, 6}},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
     3,
     3,
     {0, 1, 2, -1, 0, 3, -2, -3, 0}},
    {"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 7\n2 3 0.5\n1 1 1\n",
     2,
     3,
     {8, 0, 0, 0, 0, 0.5f}},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", 2, 2, {1, 1, 1, 0}},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", 2, 2, {0, 3, -3, 0}},
    {"%%MatrixMarket matrix coordinate real general\n0 5 0\n", 0, 5, {0}},
};

static const struct {
    const char *text;
    scalar data[4]; /* 2 x 2, in column order */
} COMPLEX_MARKETS[] = {
    {"%%MatrixMarket matrix array complex general\n2 2\n1 2\n3 -4\n0 1e1\n.5 0\n",
     {{1, 2}, {3, -4}, {0, 10}, {0.5, 0}}},
    {"%%MatrixMarket matrix array complex symmetric\n2 2\n1 2\n3 -4\n5 6\n",
     {{1, 2}, {3, -4}, {3, -4}, {5, 6}}},
    {"%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n3 -4\n5 0\n",
     {{1, 0}, {3, -4}, {3, 4}, {5, 0}}},
    {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 3 4\n1 1 7 0\n",
     {{7, 0}, {3, 4}, {3, -4}, {0, 0}}},
    {"%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 3 4\n",
     {{0, 0}, {3, 4}, {-3, -4}, {0, 0}}},
    {"%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 3 4\n1 2 1 1\n",
     {{0, 0}, {0, 0}, {4, 5}, {0, 0}}},
};

START_TEST(reads_complex_matrix_market)
{
    npy_matrix matrix;

    write_file(in_folder("a.mtx"), COMPLEX_MARKETS[_i].text, strlen(COMPLEX_MARKETS[_i].text));
    ck_assert_msg(npy_read(in_folder("a.mtx"), &matrix, message, sizeof(message)) == 0, "%s",
                  message);
    ck_assert_int_eq(matrix.type, XGEMM_C32);
    for (int i = 0; i < 4; i++) {
        const scalar z = element_load(XGEMM_C32, matrix.data, i);
        ck_assert(z.re == COMPLEX_MARKETS[_i].data[i].re && z.im == COMPLEX_MARKETS[_i].data[i].im);
    }
    npy_free(&matrix);
}
END_TEST

/* Decimal numbers are rounded once, to the type that is asked for. */
START_TEST(reads_matrix_market_as_doubles)
{
    static const char text[] = "%%MatrixMarket matrix array real general\n1 1\n0.1\n";
    npy_header header;
    npy_matrix matrix;

    write_file(in_folder("a.mtx"), text, sizeof(text) - 1);
    npy_input *input = npy_open(in_folder("a.mtx"), 0, &header, message, sizeof(message));
    ck_assert_ptr_nonnull(input);
    ck_assert(header.is_text);
    ck_assert_int_eq(npy_load(input, XGEMM_F64, &matrix, message, sizeof(message)), 0);
    ck_assert_double_eq(*(const double *)matrix.data, 0.1);
    npy_close(input);
    npy_free(&matrix);
}
END_TEST

START_TEST(reads_matrix_market)
{
    npy_matrix matrix;

    write_file(in_folder("a.mtx"), MARKETS[_i].text, strlen(MARKETS[_i].text));
    ck_assert_msg(npy_read(in_folder("a.mtx"), &matrix, message, sizeof(message)) == 0, "%s",
                  message);
    ck_assert_int_eq(matrix.rows, MARKETS[_i].rows);
    ck_assert_int_eq(matrix.columns, MARKETS[_i].columns);
    ck_assert(matrix.fortran_order && !matrix.is_batch);
    for (int64_t i = 0; i < matrix.rows * matrix.columns; i++)
        ck_assert_float_eq(floats(&matrix)[i], MARKETS[_i].data[i]);
    npy_free(&matrix);
}
END_TEST

#define ARRAY      "%%MatrixMarket matrix array real general\n"
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"

static const struct {
    const char *text, *sentence;
} BAD_MARKETS[] = {
    {"%%MatrixMarket matrix array complex general\n1 1\n1\n", "two numbers are expected"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n",
     "two numbers are expected"},
    {"%%MatrixMarket matrix array real hermitian\n1 1\n1\n", "a hermitian matrix is"},
    {"%%MatrixMarket matrix array complex hermitian\n1 1\n1 2\n", "a hermitian matrix is real"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 2 1 1\n",
     "a hermitian matrix is real"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n", "diagonal"},
    {"%%MatrixMarket matrix array complex hermitian\n2 1\n1 0\n1 0\n", "as many rows as columns"},
    {"%%MatrixMarket matrix array real diagonal\n1 1\n1\n", "what is taken is"},
    {"%%MatrixMarket vector array real general\n1 1\n1\n", "what is taken is"},
    {"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "the numbers taken are"},
    {"%%MatrixMarket matrix array real general more\n1 1\n1\n", "what is taken is"},
    {"%%MatrixMarket matrix array real symmetric\n1 2\n1\n2\n", "as many rows as columns"},
    {ARRAY, "ends before its sizes"},
    {ARRAY "2\n1\n2\n", "line 2 is \"2\": rows and columns are expected"},
    {ARRAY "-1 2\n", "rows and columns are expected"},
    {ARRAY "2 2 2\n", "rows and columns are expected"},
    {ARRAY "9223372036854775807 2\n", "too large"},
    {ARRAY "2 1\n1\n", "the data is truncated: line 4 is missing"},
    {ARRAY "1 1\n1\n2\n", "line 4 is \"2\": it follows the last element"},
    {ARRAY "1 1\n1 2\n", "line 3 is \"1 2\": a number is expected"},
    {ARRAY "1 1\nx\x1b\n", "line 3 is \"x\\x1b\": a number is expected"},
    {COORDINATE "2 3 1\n3 1 1\n", "line 3 is \"3 1 1\": row 3 is beyond 2 rows"},
    {COORDINATE "2 1 1\n2 2 1\n", "column 2 is beyond 1 column"},
    {COORDINATE "2 2 1\n0 1 1\n", "counted from 1"},
    {COORDINATE "2 2 1\n1 1\n", "counted from 1"},
    {COORDINATE "2 2\n", "rows, columns and entries"},
};

START_TEST(refuses_matrix_market)
{
    npy_matrix matrix;

    write_file(in_folder("a.mtx"), BAD_MARKETS[_i].text, strlen(BAD_MARKETS[_i].text));
    ck_assert_int_eq(npy_read(in_folder("a.mtx"), &matrix, message, sizeof(message)), -1);
    assert_sentence(message, BAD_MARKETS[_i].sentence);
    ck_assert_ptr_null(matrix.data);
}
END_TEST

START_TEST(refuses_long_line)
{
    char text[4096] = ARRAY;
    npy_matrix matrix;

    memset(text + strlen(text), '1', 3000);
    write_file(in_folder("a.mtx"), text, strlen(text));
    ck_assert_int_eq(npy_read(in_folder("a.mtx"), &matrix, message, sizeof(message)), -1);
    assert_sentence(message, "it is too long");
}
END_TEST

void add_format_cases(Suite *suite)
{
    TCase *cases = add_case(suite, "formats");

    tcase_add_loop_test(cases, casts_types, 0, COUNT(TYPES));
    tcase_add_loop_test(cases, converts_types, 0, COUNT(ONES));
    tcase_add_test(cases, casts_what_is_not_finite);
    tcase_add_loop_test(cases, compares_length_of_cast_data, 0, COUNT(TYPES));
    tcase_add_loop_test(cases, reads_batches, 0, 2);
    tcase_add_loop_test(cases, reads_empty_batches, 0, 8);
    tcase_add_loop_test(cases, reads_pipes, 0, COUNT(PIPES));
    tcase_add_loop_test(cases, reads_matrix_market, 0, COUNT(MARKETS));
    tcase_add_loop_test(cases, reads_complex_matrix_market, 0, COUNT(COMPLEX_MARKETS));
    tcase_add_test(cases, reads_matrix_market_as_doubles);
    tcase_add_loop_test(cases, refuses_matrix_market, 0, COUNT(BAD_MARKETS));
    tcase_add_test(cases, refuses_long_line);
}
