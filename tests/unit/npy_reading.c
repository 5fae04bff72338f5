/* SPDX-License-Identifier: BSD-3-Clause */
/* .npy files that are read. */
#include "npy_support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const struct raw_file {
    const char *bytes;
    size_t size;
    const char *sentence;
} RAW_FILES[] = {
    {TEXT(""), "is not a .npy file"},
    {TEXT("\x93NUMP"), "is not a .npy file"},
    {TEXT("%%MatrixM"), "is not a .npy file, nor .npz or .mtx"},
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
    {TEXT(MAGIC "\x01\x00\x00\x00"), "malformed at its byte 0"},
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
        ck_assert_float_eq(floats(&matrix)[i], (float)i);
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
    ck_assert_float_eq(floats(&matrix)[11], 11.0f);
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
    assert_refused("/dev/null", "is neither a regular file nor a pipe");
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

START_TEST(reads_in_chunks)
{
    npy_matrix matrix;
    int result;

    write_npy_file(in_folder("chunks.npy"), 1 + _i % 3, TEXT(DICT34), 48);
    set_faults((struct faults){.read_limit = (size_t)_i, .interrupt = true});
    result = npy_read(in_folder("chunks.npy"), &matrix, message, sizeof(message));
    ck_assert_uint_gt(calls, 6);
    clear_faults();
    ck_assert_msg(result == 0, "%s", message);
    for (int i = 0; i < 12; i++)
        ck_assert_float_eq(floats(&matrix)[i], (float)i);
    npy_free(&matrix);
}
END_TEST

/* Of a file of 70 bytes of header and 48 of data; 10 bytes, 60 of dict and the data are read. */
static const struct read_fault {
    struct faults faults;
    const char *sentence;
} READ_FAULTS[] = {
    {{.read_limit = 1, .read_end_after = 5}, "is not a .npy file"},
    {{.read_end_after = 10}, "the header is truncated: 70 bytes expected, 10 found"},
    {{.read_end_after = 70}, "the data is truncated: 48 bytes expected, 0 found"},
    {{.read_limit = 8, .read_end_after = 78}, "the data is truncated: 48 bytes expected, 8 found"},
    {{.read_limit = 1, .read_fail_after = 1, .error = EIO}, "cannot be read: Input/output error"},
    {{.read_fail_after = 10, .error = EIO}, "cannot be read: Input/output error"},
    {{.read_fail_after = 70, .error = EIO}, "cannot be read: Input/output error"},
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

void add_reading_cases(Suite *suite)
{
    TCase *cases = add_case(suite, "reading");
    tcase_add_test(cases, cuts_long_path);
    tcase_add_loop_test(cases, refuses_raw_file, 0, COUNT(RAW_FILES));
    tcase_add_loop_test(cases, compares_length_of_data, 0, 3 * COUNT(DATA_CASES));
    tcase_add_loop_test(cases, reads_each_version, 1, 4);
    tcase_add_test(cases, reads_header_of_one_mebibyte);
    tcase_add_loop_test(cases, refuses_every_truncation, 1, 4);
    tcase_add_test(cases, refuses_what_cannot_be_opened);
    tcase_add_test(cases, blanks_control_characters_of_path);
    tcase_add_test(cases, reads_through_link);
    tcase_add_loop_test(cases, reads_in_chunks, 1, 14);
    tcase_add_loop_test(cases, refuses_file_that_fails, 0, COUNT(READ_FAULTS));
    tcase_add_test(cases, refuses_when_memory_is_short);
}
