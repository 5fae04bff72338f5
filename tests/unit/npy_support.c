/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct faults faults;
static size_t bytes_read, bytes_written;
size_t bytes_allocated, calls;
off_t bytes_reserved;
bool folder_is_flushed;

void set_faults(struct faults wanted)
{
    bytes_read = bytes_written = bytes_allocated = calls = 0;
    faults = wanted;
}

void clear_faults(void)
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
    struct stat status;
    if (interrupted())
        return -1;
    if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        folder_is_flushed = true;
    errno = faults.error;
    return faults.fail_fsync ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int rename(const char *from, const char *to)
{
    folder_is_flushed = false;
    errno = faults.error;
    return faults.fail_rename ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int fchmod(int descriptor, mode_t mode)
{
    errno = faults.error;
    return faults.fail_fchmod ? -1 : (int)syscall(SYS_fchmod, descriptor, mode);
}

int faccessat(int folder_descriptor, const char *path, int mode, int flags)
{
    (void)flags;
    errno = faults.error;
    return faults.fail_faccessat ? -1 : (int)syscall(SYS_faccessat, folder_descriptor, path, mode);
}

uid_t geteuid(void)
{
    return faults.user ? (uid_t)faults.user : (uid_t)syscall(SYS_geteuid);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size)
{
    bytes_reserved = size;
    errno = faults.error;
    return faults.fail_fallocate ? -1 : (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}

int statx(int folder_descriptor, const char *path, int flags, unsigned mask, struct statx *about)
{
    const int result = (int)syscall(SYS_statx, folder_descriptor, path, flags, mask, about);
    about->stx_attributes |= faults.attributes;
    return result;
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

char folder[512];
char message[2048];

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    snprintf(folder, sizeof(folder), "%s/xgemm-test-npy-XXXXXX", parent);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

const char *in_folder(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *path = paths[next++ % COUNT(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

int empty_folder(void)
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

void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

size_t read_file(const char *path, unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t found;

    ck_assert_ptr_nonnull(file);
    found = fread(bytes, 1, size, file);
    fclose(file);
    return found;
}

void write_npy_file(const char *path, int version, const char *dict, size_t dict_size,
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

npy_matrix make_matrix(int64_t rows, int64_t columns, bool fortran_order)
{
    size_t count = (size_t)(rows * columns);
    npy_matrix matrix = {.rows = rows,
                         .columns = columns,
                         .fortran_order = fortran_order,
                         .type = XGEMM_F32,
                         .data = malloc(count * sizeof(float) + 1)};

    for (size_t i = 0; i < count; i++) {
        /* All sorts of bits: NaNs, infinities and subnormal numbers too. */
        uint32_t bits = (uint32_t)i * 2654435761u + (i % 5 == 0 ? 0x7f800000u : 0);

        memcpy((float *)matrix.data + i, &bits, sizeof(bits));
    }
    return matrix;
}

void assert_equal_matrices(const npy_matrix *left, const npy_matrix *right)
{
    ck_assert_int_eq(left->rows, right->rows);
    ck_assert_int_eq(left->columns, right->columns);
    ck_assert_int_eq(left->fortran_order, right->fortran_order);
    if (left->rows * left->columns > 0)
        ck_assert_mem_eq(left->data, right->data,
                         (size_t)(left->rows * left->columns) * sizeof(float));
}

void assert_sentence(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "\"%s\" lacks \"%s\"", text, expected);
    for (; *text != '\0'; text++)
        ck_assert_msg(*text >= ' ' && *text < 0x7f, "a byte that is not printable");
}

void assert_refused(const char *path, const char *expected)
{
    char other_message[sizeof(message)];
    npy_matrix matrix = {.rows = 1, .columns = 2, .type = XGEMM_F32, .data = message};
    npy_header header = {.rows = 1, .columns = 2, .data_offset = 3};

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

/* ---- The suite ---- */

TCase *add_case(Suite *suite, const char *name)
{
    TCase *test_case = tcase_create(name);

    tcase_set_timeout(test_case, 1800);
    /* Unchecked: a checked teardown is not run after a failure. */
    tcase_add_unchecked_fixture(test_case, make_folder, remove_folder);
    tcase_add_checked_fixture(test_case, begin_test, NULL);
    suite_add_tcase(suite, test_case);
    return test_case;
}
