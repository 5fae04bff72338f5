/* SPDX-License-Identifier: BSD-3-Clause */
/* .npy files that are written. */
#include "npy_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
    npy_matrix matrix = {
        .rows = 2, .columns = 1, .fortran_order = true, .type = XGEMM_F32, .data = values};
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
    npy_matrix matrix = {.columns = PTRDIFF_MAX / 4, .type = XGEMM_F32}, again;

    ck_assert_int_eq(npy_write(in_folder("wide.npy"), &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(npy_read(in_folder("wide.npy"), &again, message, sizeof(message)), 0);
    ck_assert_int_eq(again.columns, PTRDIFF_MAX / 4);
    ck_assert_ptr_nonnull(again.data);
    npy_free(&again);
}
END_TEST

START_TEST(writes_in_chunks)
{
    npy_matrix matrix = make_matrix(5, 7, false), again;
    int result;

    set_faults((struct faults){.write_limit = (size_t)_i, .interrupt = true});
    result = npy_write(in_folder("chunks.npy"), &matrix, message, sizeof(message));
    ck_assert_uint_gt(calls, 6);
    clear_faults();
    ck_assert_msg(result == 0, "%s", message);
    ck_assert_int_eq(npy_read(in_folder("chunks.npy"), &again, message, sizeof(message)), 0);
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

/* What is there, and what is not there yet. */
START_TEST(writes_where_link_leads_to)
{
    npy_matrix matrix = make_matrix(2, 3, false), again;
    struct stat status;

    if (_i == 0)
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

    ck_assert_int_eq(mkdir(in_folder("folder.npy"), 0700), 0);
    ck_assert_int_eq(symlink("loop.npy", in_folder("loop.npy")), 0);
    assert_not_written(in_folder("folder.npy"), &matrix, "cannot be written: Is a directory");
    assert_not_written(in_folder("loop.npy"), &matrix,
                       "cannot be written: Too many levels of symbolic links");
    ck_assert_int_eq(empty_folder(), 2);
    npy_free(&matrix);
}
END_TEST

/* As they are, also through a link; to look whether one can be written does not open it. */
START_TEST(writes_to_pipe)
{
    npy_matrix matrix = make_matrix(3, 5, _i % 2 != 0);
    unsigned char bytes[256], expected[256];
    const char *path = in_folder(_i < 2 ? "pipe" : "link");
    struct stat status;

    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
    ck_assert_int_eq(symlink("pipe", in_folder("link")), 0);
    ck_assert_int_eq(npy_check_writable(path, &matrix, message, sizeof(message)), 0);
    const int reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(reader, 0);
    ck_assert_int_eq(npy_write(path, &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(npy_write(in_folder("file.npy"), &matrix, message, sizeof(message)), 0);
    const size_t size = read_file(in_folder("file.npy"), expected, sizeof(expected));
    ck_assert_int_eq(read(reader, bytes, sizeof(bytes)), (ssize_t)size);
    ck_assert_mem_eq(bytes, expected, size);
    close(reader);
    ck_assert_int_eq(lstat(in_folder("pipe"), &status), 0);
    ck_assert(S_ISFIFO(status.st_mode));
    ck_assert_int_eq(empty_folder(), 3);
    npy_free(&matrix);
}
END_TEST

/* What nothing may take the place of: by its folder, by its attributes, and as another user's. */
static const struct faults STAYING[] = {
    {.fail_faccessat = true, .error = EACCES},
#ifdef STATX_ATTR_MOUNT_ROOT
    {.attributes = STATX_ATTR_MOUNT_ROOT},
#endif
    {.attributes = STATX_ATTR_IMMUTABLE},
    {.attributes = STATX_ATTR_APPEND},
    {.user = 12345},
};

START_TEST(writes_to_file_that_stays)
{
    npy_matrix matrix = make_matrix(3, 5, false), again;
    const char *path = in_folder("C.npy"), *link = in_folder("link.npy");
    const char old[4096] = "longer than the new one";
    struct stat before, after;

    write_file(path, old, sizeof(old));
    ck_assert_int_eq(symlink("C.npy", link), 0);
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert_int_eq(chmod(folder, 01777), 0); /* as /tmp */
    set_faults(STAYING[_i]);
    const int checked = npy_check_writable(link, &matrix, message, sizeof(message));
    const int written = npy_write(link, &matrix, message, sizeof(message));
    clear_faults();
    ck_assert_msg(checked == 0 && written == 0, "%s", message);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    ck_assert_int_eq(npy_read(path, &again, message, sizeof(message)), 0);
    assert_equal_matrices(&matrix, &again);
    ck_assert_int_eq(empty_folder(), 2);
    npy_free(&matrix);
    npy_free(&again);
}
END_TEST

static const struct {
    int error;
    const char *sentence; /* NULL: the file system cannot tell */
} NO_ROOM[] = {
    {ENOSPC, "No space left on device"},
    {EDQUOT, "quota exceeded"},
    {EFBIG, "File too large"},
    {EOPNOTSUPP, NULL},
};

START_TEST(looks_for_room)
{
    npy_matrix matrix = make_matrix(30, 50, false);
    const char *path = in_folder("C.npy");
    struct stat status;

    ck_assert_int_eq(npy_check_writable(path, &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(empty_folder(), 0);
    const off_t reserved = bytes_reserved;
    set_faults((struct faults){.fail_fallocate = true, .error = NO_ROOM[_i].error});
    const int result = npy_check_writable(path, &matrix, message, sizeof(message));
    clear_faults();
    ck_assert_int_eq(result, NO_ROOM[_i].sentence ? -1 : 0);
    if (NO_ROOM[_i].sentence)
        assert_sentence(message + strlen(path), NO_ROOM[_i].sentence);
    ck_assert_int_eq(empty_folder(), 0);
    ck_assert_int_eq(npy_write(path, &matrix, message, sizeof(message)), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, reserved);
    npy_free(&matrix);
}
END_TEST

START_TEST(says_that_device_is_full)
{
    npy_matrix matrix = make_matrix(3, 5, false);

    if (access("/dev/full", W_OK) == 0) {
        assert_not_written("/dev/full", &matrix, "cannot be written: No space left on device");
        ck_assert_int_eq(npy_check_writable("/dev/full", &matrix, message, sizeof(message)), -1);
        ck_assert_str_eq(message, "/dev/full: cannot be written: No space left on device");
    }
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
    static const struct {
        int64_t batch, rows, columns;
    } invalid[] = {
        {1, -1, 1},        {1, 1, -1},
        {1, -1, -1},       {1, INT64_MIN, 0},
        {1, INT64_MAX, 1}, {1, (int64_t)1 << 32, (int64_t)1 << 32},
        {-1, 1, 1},        {(int64_t)1 << 40, 1 << 20, 1 << 20},
    };
    const npy_matrix without_data = {.rows = 1, .columns = 1, .type = XGEMM_F32};

    for (int i = 0; i < COUNT(invalid); i++) {
        const npy_matrix matrix = {.rows = invalid[i].rows,
                                   .columns = invalid[i].columns,
                                   .type = XGEMM_F32,
                                   .data = &value,
                                   .is_batch = invalid[i].batch != 1,
                                   .batch = invalid[i].batch};
        assert_not_written(in_folder("C.npy"), &matrix, "no matrix has shape (");
    }
    const npy_matrix large = {
        .rows = 1, .columns = PTRDIFF_MAX / 8, .type = XGEMM_C64, .data = &value};
    assert_not_written(in_folder("C.npy"), &large, "no matrix has shape (");
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
    {{.fail_fsync = true, .error = EIO}, "Input/output error"},
    {{.fail_fsync = true, .error = EDQUOT}, "quota exceeded"},
    {{.fail_close = true, .error = EIO}, "Input/output error"},
    {{.fail_rename = true, .error = EXDEV}, "cross-device link"},
};

/* File systems without modes, as FAT and CIFS, and those that cannot flush. */
static const struct faults REFUSALS[] = {
    {.fail_fchmod = true, .error = EPERM},  {.fail_fchmod = true, .error = ENOTSUP},
    {.fail_fchmod = true, .error = EINVAL}, {.fail_fchmod = true, .error = EACCES},
    {.fail_fsync = true, .error = EINVAL},  {.fail_fsync = true, .error = ENOTSUP},
    {.fail_fsync = true, .error = ENOSYS},
};

START_TEST(writes_without_mode_or_flush)
{
    npy_matrix matrix = make_matrix(5, 4, false), again;
    const char *path = in_folder("C.npy");

    write_file(path, TEXT("old"));
    set_faults(REFUSALS[_i]);
    const int result = npy_write(path, &matrix, message, sizeof(message));
    clear_faults();
    ck_assert_int_eq(result, 0);
    ck_assert(folder_is_flushed);
    ck_assert_int_eq(npy_read(path, &again, message, sizeof(message)), 0);
    assert_equal_matrices(&matrix, &again);
    npy_free(&matrix);
    npy_free(&again);
}
END_TEST

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

void add_writing_cases(Suite *suite)
{
    TCase *cases = add_case(suite, "writing");
    tcase_add_loop_test(cases, reads_what_it_wrote, 0, 2 * COUNT(SHAPES));
    tcase_add_test(cases, writes_these_bytes);
    tcase_add_test(cases, writes_longest_header);
    tcase_add_loop_test(cases, writes_in_chunks, 1, 14);
    tcase_add_test(cases, writes_though_close_is_interrupted);
    tcase_add_test(cases, writes_to_current_folder);
    tcase_add_test(cases, gives_permissions);
    tcase_add_loop_test(cases, writes_where_link_leads_to, 0, 2);
    tcase_add_test(cases, refuses_to_replace);
    tcase_add_loop_test(cases, writes_to_pipe, 0, 4);
    tcase_add_loop_test(cases, writes_to_file_that_stays, 0, COUNT(STAYING));
    tcase_add_loop_test(cases, looks_for_room, 0, COUNT(NO_ROOM));
    tcase_add_test(cases, says_that_device_is_full);
    tcase_add_test(cases, refuses_folder_that_cannot_be_written);
    tcase_add_test(cases, refuses_matrix);
    tcase_add_loop_test(cases, writes_without_mode_or_flush, 0, COUNT(REFUSALS));
    tcase_add_loop_test(cases, leaves_old_file, 0, COUNT(WRITE_FAULTS));
    tcase_add_loop_test(cases, leaves_no_new_file, 0, COUNT(WRITE_FAULTS));
    tcase_add_test(cases, leaves_old_file_at_limit_of_size);
    tcase_add_test(cases, frees_twice);
}
