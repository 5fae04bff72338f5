/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file to replace, or to make, and the temporary file beside it. */
struct output {
    char *target;    /* The path, with a symbolic link resolved. */
    char *temporary; /* NULL while there is no such file. */
    mode_t mode;
    int descriptor;
};

static mode_t new_file_mode(void)
{
    /* There is no call that reads the umask alone. A strict one harms no other thread. */
    mode_t mask = umask(077);

    umask(mask);
    return 0666 & ~mask;
}

static int refuse_write(const npy_report *report, int error)
{
    return npy_refuse(report, "cannot be written: %s", strerror(error));
}

/* A symbolic link is resolved, so that rename() replaces what it leads to and not the link. */
static int resolve_target(const npy_report *report, struct output *output)
{
    struct stat status;
    bool is_link = lstat(report->path, &status) == 0 && S_ISLNK(status.st_mode);

    output->target = is_link ? realpath(report->path, NULL) : strdup(report->path);
    if (output->target == NULL)
        return refuse_write(report, errno);
    if (lstat(output->target, &status) != 0) {
        if (errno != ENOENT)
            return refuse_write(report, errno);
        output->mode = new_file_mode();
        return 0;
    }
    if (S_ISDIR(status.st_mode))
        return refuse_write(report, EISDIR);
    if (!S_ISREG(status.st_mode))
        return npy_refuse(report, "cannot be written: it is not a regular file");
    output->mode = status.st_mode & 0777;
    return 0;
}

static int create_temporary(const npy_report *report, struct output *output)
{
    static const char name[] = ".xgemm-XXXXXX";
    const char *slash = strrchr(output->target, '/');
    size_t folder_length = slash == NULL ? 0 : (size_t)(slash - output->target) + 1;
    char *temporary = malloc(folder_length + sizeof(name));

    if (temporary == NULL)
        return refuse_write(report, errno);
    memcpy(temporary, output->target, folder_length);
    memcpy(temporary + folder_length, name, sizeof(name));
    output->descriptor = mkostemp(temporary, O_CLOEXEC);
    if (output->descriptor < 0) {
        int error = errno;

        free(temporary);
        return npy_refuse(report, "cannot be written: no temporary file beside it: %s",
                          strerror(error));
    }
    output->temporary = temporary;
    return 0;
}

static int write_bytes(const npy_report *report, int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        ssize_t count = write(descriptor, next, size < NPY_CHUNK_SIZE ? size : NPY_CHUNK_SIZE);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refuse_write(report, errno);
        next += count;
        size -= (size_t)count;
    }
    return 0;
}

static int write_header(const npy_report *report, int descriptor, const npy_matrix *matrix)
{
    enum { DICT_OFFSET = NPY_PREAMBLE_SIZE - 2, SIZE_LIMIT = 256 };
    char header[SIZE_LIMIT];
    size_t used, size;

    memcpy(header, NPY_MAGIC "\x01\x00", NPY_MAGIC_SIZE + 2);
    used = DICT_OFFSET + (size_t)snprintf(header + DICT_OFFSET, sizeof(header) - DICT_OFFSET,
                                          "{'descr': '<f4', 'fortran_order': %s, "
                                          "'shape': (%" PRId64 ", %" PRId64 "), }",
                                          matrix->fortran_order ? "True" : "False", matrix->rows,
                                          matrix->columns);
    size = (used + 1 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(header + used, ' ', size - used);
    header[size - 1] = '\n';
    header[8] = (char)(size - DICT_OFFSET);
    header[9] = 0;
    return write_bytes(report, descriptor, header, size);
}

static int flush_to_disk(const npy_report *report, int descriptor)
{
    int result;

    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : refuse_write(report, errno);
}

static int fill_temporary(const npy_report *report, const struct output *output,
                          const npy_matrix *matrix)
{
    size_t size = (size_t)npy_data_size(matrix->rows, matrix->columns);
    int result;

    result = write_header(report, output->descriptor, matrix);
    if (result == 0)
        result = write_bytes(report, output->descriptor, matrix->data, size);
    if (result == 0 && fchmod(output->descriptor, output->mode) != 0)
        result = refuse_write(report, errno);
    if (result == 0)
        result = flush_to_disk(report, output->descriptor);
    /* After EINTR the descriptor is closed, and the data is on the disk already. */
    if (close(output->descriptor) != 0 && errno != EINTR && result == 0)
        result = refuse_write(report, errno);
    return result;
}

static int write_output(const npy_report *report, struct output *output, const npy_matrix *matrix)
{
    if (resolve_target(report, output) != 0 || create_temporary(report, output) != 0 ||
        fill_temporary(report, output, matrix) != 0)
        return -1;
    if (rename(output->temporary, output->target) != 0)
        return refuse_write(report, errno);
    free(output->temporary);
    output->temporary = NULL;
    return 0;
}

static int check_matrix(const npy_report *report, const npy_matrix *matrix)
{
    if (matrix->rows < 0 || matrix->columns < 0 ||
        !npy_shape_fits((uint64_t)matrix->rows, (uint64_t)matrix->columns))
        return npy_refuse(report,
                          "cannot be written: no matrix has shape (%" PRId64 ", %" PRId64 ")",
                          matrix->rows, matrix->columns);
    if (matrix->data == NULL && matrix->rows > 0 && matrix->columns > 0)
        return npy_refuse(report, "cannot be written: the matrix has no data");
    return 0;
}

int npy_write(const char *path, const npy_matrix *matrix, char *message, size_t message_size)
{
    npy_report report = npy_begin_report(path, message, message_size);
    struct output output = {0};
    int result;

    if (check_matrix(&report, matrix) != 0)
        return -1;
    result = write_output(&report, &output, matrix);
    if (output.temporary != NULL)
        unlink(output.temporary);
    free(output.temporary);
    free(output.target);
    return result;
}
