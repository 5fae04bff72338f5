/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_SIZE_LIMIT ((uint32_t)1 << 20)

struct input {
    int descriptor;
    int64_t size; /* of the file, in bytes */
};

static int refuse_open(const npy_report *report, int error)
{
    return npy_refuse(report, "cannot be opened: %s", strerror(error));
}

static int check_regular(const npy_report *report, mode_t mode)
{
    if (S_ISDIR(mode))
        return refuse_open(report, EISDIR);
    return S_ISREG(mode) ? 0 : npy_refuse(report, "is not a regular file");
}

static int open_input(const npy_report *report, struct input *input)
{
    struct stat status;

    /* To open a device may have effects, so look first; O_NONBLOCK: a FIFO may come in between. */
    if (stat(report->path, &status) != 0)
        return refuse_open(report, errno);
    if (check_regular(report, status.st_mode) != 0)
        return -1;
    do {
        input->descriptor = open(report->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    } while (input->descriptor < 0 && errno == EINTR);
    if (input->descriptor < 0 || fstat(input->descriptor, &status) != 0) {
        int error = errno;

        if (input->descriptor >= 0)
            close(input->descriptor);
        return refuse_open(report, error);
    }
    if (check_regular(report, status.st_mode) != 0) {
        close(input->descriptor);
        return -1;
    }
    input->size = status.st_size;
    return 0;
}

/* Reads until size bytes or the end of the file; found says how many came. */
static int read_bytes(const npy_report *report, const struct input *input, void *bytes, size_t size,
                      size_t *found)
{
    *found = 0;
    while (*found < size) {
        size_t chunk = size - *found < NPY_CHUNK_SIZE ? size - *found : NPY_CHUNK_SIZE;
        ssize_t count = read(input->descriptor, (char *)bytes + *found, chunk);

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

static int refuse_short_header(const npy_report *report, uint64_t expected, uint64_t found)
{
    return npy_refuse(report,
                      "the header is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                      expected, found);
}

/* Where the dict is and how long, from the fixed bytes before it. */
static int parse_preamble(const npy_report *report, const unsigned char *preamble, size_t found,
                          size_t *dict_offset, uint32_t *dict_length)
{
    if (found < NPY_MAGIC_SIZE || memcmp(preamble, NPY_MAGIC, NPY_MAGIC_SIZE) != 0)
        return npy_refuse(report, "is not a .npy file");
    if (found < NPY_MAGIC_SIZE + 2)
        return refuse_short_header(report, NPY_MAGIC_SIZE + 2, found);
    if (preamble[6] < 1 || preamble[6] > 3 || preamble[7] != 0)
        return npy_refuse(report,
                          "version %u.%u of the .npy format is unknown; 1.0, 2.0 and 3.0 are taken",
                          (unsigned)preamble[6], (unsigned)preamble[7]);
    *dict_offset = preamble[6] == 1 ? NPY_PREAMBLE_SIZE - 2 : NPY_PREAMBLE_SIZE;
    if (found < *dict_offset)
        return refuse_short_header(report, *dict_offset, found);
    *dict_length = preamble[8] | (uint32_t)preamble[9] << 8;
    if (preamble[6] > 1)
        *dict_length |= (uint32_t)preamble[10] << 16 | (uint32_t)preamble[11] << 24;
    if (*dict_length > HEADER_SIZE_LIMIT)
        return npy_refuse(report, "the header is absurdly long: %" PRIu32 " bytes, over 1 MiB",
                          *dict_length);
    return 0;
}

static int seek_to(const npy_report *report, const struct input *input, size_t offset)
{
    if (lseek(input->descriptor, (off_t)offset, SEEK_SET) < 0)
        return npy_refuse(report, "cannot be read: %s", strerror(errno));
    return 0;
}

static int read_dict(const npy_report *report, const struct input *input, size_t offset,
                     uint32_t length, npy_header *header)
{
    size_t found;
    char *text;
    int result;

    if ((uint64_t)input->size < (uint64_t)offset + length)
        return refuse_short_header(report, (uint64_t)offset + length, (uint64_t)input->size);
    text = malloc(length > 0 ? length : 1);
    if (text == NULL)
        return npy_refuse(report, "no memory for its header");
    result = seek_to(report, input, offset);
    if (result == 0)
        result = read_bytes(report, input, text, length, &found);
    if (result == 0 && found < length)
        result = refuse_short_header(report, (uint64_t)offset + length, offset + found);
    if (result == 0)
        result = npy_parse_header(report, text, length, header);
    free(text);
    header->data_offset = offset + length;
    return result;
}

static int refuse_short_data(const npy_report *report, uint64_t expected, uint64_t found)
{
    return npy_refuse(report,
                      "the data is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                      expected, found);
}

static int check_data_size(const npy_report *report, const struct input *input,
                           const npy_header *header)
{
    uint64_t expected = npy_data_size(header->rows, header->columns);
    uint64_t found = (uint64_t)input->size - header->data_offset;

    if (found < expected)
        return refuse_short_data(report, expected, found);
    if (found > expected)
        return npy_refuse(report, "%" PRIu64 " extra byte%s the data", found - expected,
                          found - expected == 1 ? " follows" : "s follow");
    return 0;
}

static int read_header(const npy_report *report, const struct input *input, npy_header *header)
{
    unsigned char preamble[NPY_PREAMBLE_SIZE];
    size_t found, dict_offset = 0;
    uint32_t dict_length = 0;

    if (read_bytes(report, input, preamble, sizeof(preamble), &found) != 0 ||
        parse_preamble(report, preamble, found, &dict_offset, &dict_length) != 0 ||
        read_dict(report, input, dict_offset, dict_length, header) != 0 ||
        check_data_size(report, input, header) != 0) {
        *header = (npy_header){0};
        return -1;
    }
    return 0;
}

int npy_read_header(const char *path, npy_header *header, char *message, size_t message_size)
{
    npy_report report = npy_begin_report(path, message, message_size);
    struct input input;
    int result;

    *header = (npy_header){0};
    if (open_input(&report, &input) != 0)
        return -1;
    result = read_header(&report, &input, header);
    close(input.descriptor);
    return result;
}

static float *allocate_aligned(size_t size)
{
    size_t rounded = (size + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;

    return aligned_alloc(NPY_ALIGNMENT, rounded > 0 ? rounded : NPY_ALIGNMENT);
}

static int read_data(const npy_report *report, const struct input *input, const npy_header *header,
                     npy_matrix *matrix)
{
    size_t size = (size_t)npy_data_size(header->rows, header->columns), found;
    float *data = allocate_aligned(size);
    int result;

    if (data == NULL)
        return npy_refuse(report, "no memory for its %zu bytes of data", size);
    result = read_bytes(report, input, data, size, &found);
    if (result == 0 && found < size)
        result = refuse_short_data(report, size, found);
    if (result != 0) {
        free(data);
        return -1;
    }
    *matrix = (npy_matrix){header->rows, header->columns, header->fortran_order, data};
    return 0;
}

int npy_read(const char *path, npy_matrix *matrix, char *message, size_t message_size)
{
    npy_report report = npy_begin_report(path, message, message_size);
    struct input input;
    npy_header header = {0};
    int result;

    *matrix = (npy_matrix){0};
    if (open_input(&report, &input) != 0)
        return -1;
    result = read_header(&report, &input, &header);
    if (result == 0)
        result = read_data(&report, &input, &header, matrix);
    close(input.descriptor);
    return result;
}

void npy_free(npy_matrix *matrix)
{
    free(matrix->data);
    *matrix = (npy_matrix){0};
}
