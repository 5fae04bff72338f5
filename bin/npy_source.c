/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of an input, in their order: of a file, a pipe, or a member of an archive. */
#include "npy_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_open(const npy_report *report, int error)
{
    return npy_refuse(report, "cannot be opened: %s", strerror(error));
}

/* A device might never end, or have been opened for nothing; a pipe is somebody's output. */
static int check_kind(const npy_report *report, mode_t mode)
{
    if (S_ISDIR(mode))
        return refuse_open(report, EISDIR);
    if (S_ISREG(mode) || S_ISFIFO(mode))
        return 0;
    return npy_refuse(report, "is neither a regular file nor a pipe");
}

static int open_path(const npy_report *report, const char *path, npy_source *source)
{
    struct stat status;

    /* To open a device may have effects, so look first. */
    if (stat(path, &status) != 0)
        return refuse_open(report, errno);
    if (check_kind(report, status.st_mode) != 0)
        return -1;
    do {
        source->descriptor = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    } while (source->descriptor < 0 && errno == EINTR);
    return source->descriptor < 0 ? refuse_open(report, errno) : 0;
}

int npy_source_open(const npy_report *report, const char *path, npy_source *source)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    struct stat status;

    *source = (npy_source){.descriptor = -1, .size = -1};
    if (is_stdin)
        source->descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else if (open_path(report, path, source) != 0)
        return -1;
    if (source->descriptor < 0 || fstat(source->descriptor, &status) != 0) {
        const int error = errno;

        npy_source_close(source);
        return refuse_open(report, error);
    }
    /* The standard input may be what it likes: a terminal, a socket. */
    if (S_ISDIR(status.st_mode) || (!is_stdin && check_kind(report, status.st_mode) != 0)) {
        npy_source_close(source);
        return S_ISDIR(status.st_mode) ? refuse_open(report, EISDIR) : -1;
    }
    /* Of a standard input, another program may have read a part. */
    if (S_ISREG(status.st_mode)) {
        const off_t begin = lseek(source->descriptor, 0, SEEK_CUR);

        source->size = status.st_size > begin ? status.st_size - begin : 0;
    }
    return 0;
}

void npy_source_close(npy_source *source)
{
    if (source->descriptor >= 0)
        close(source->descriptor);
    npy_member_close(source->member);
    *source = (npy_source){.descriptor = -1, .size = -1};
}

int npy_read_descriptor(const npy_report *report, int descriptor, void *bytes, size_t size,
                        size_t *found)
{
    *found = 0;
    while (*found < size) {
        size_t chunk = size - *found < NPY_CHUNK_SIZE ? size - *found : NPY_CHUNK_SIZE;
        ssize_t count = read(descriptor, (char *)bytes + *found, chunk);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return npy_refuse(report, "cannot be read: %s", strerror(errno));
        if (count == 0)
            break;
        *found += (size_t)count;
    }
    return 0;
}

/* What comes after the bytes that were looked at. */
static int read_on(const npy_report *report, npy_source *source, void *bytes, size_t size,
                   size_t *found)
{
    return source->member ? npy_member_read(report, source, bytes, size, found)
                          : npy_read_descriptor(report, source->descriptor, bytes, size, found);
}

int npy_source_look(const npy_report *report, npy_source *source)
{
    return read_on(report, source, source->ahead, sizeof source->ahead, &source->ahead_size);
}

int npy_source_read(const npy_report *report, npy_source *source, void *bytes, size_t size,
                    size_t *found)
{
    const size_t taken = size < source->ahead_size ? size : source->ahead_size;
    size_t more = 0;
    int result = 0;

    memcpy(bytes, source->ahead, taken);
    source->ahead_size -= taken;
    memmove(source->ahead, source->ahead + taken, source->ahead_size);
    if (taken < size)
        result = read_on(report, source, (char *)bytes + taken, size - taken, &more);
    *found = taken + more;
    return result;
}
