/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an input by its first bytes, and reading its data. */
#include "npy_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE_LIMIT ((uint32_t)1 << 20)

struct npy_input {
    char *path;
    npy_source source;
    npy_market *market; /* NULL: the data is NumPy's */
    npy_header header;
};

/* ---- The header ---- */

static int refuse_short_header(const npy_report *report, uint64_t expected, uint64_t found)
{
    return npy_refuse(report,
                      "the header is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                      expected, found);
}

/* The fixed bytes before the dict; how many there are, and how long the dict is. */
static int read_preamble(const npy_report *report, npy_source *source, size_t *size,
                         uint32_t *dict_length)
{
    unsigned char bytes[NPY_PREAMBLE_SIZE];
    size_t found, more = 0;

    if (npy_source_read(report, source, bytes, NPY_PREAMBLE_SIZE - 2, &found) != 0)
        return -1;
    if (found < NPY_MAGIC_SIZE + 2)
        return refuse_short_header(report, NPY_MAGIC_SIZE + 2, found);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return npy_refuse(report,
                          "version %u.%u of the .npy format is unknown; 1.0, 2.0 and 3.0 are taken",
                          (unsigned)bytes[6], (unsigned)bytes[7]);
    *size = bytes[6] == 1 ? NPY_PREAMBLE_SIZE - 2 : NPY_PREAMBLE_SIZE;
    if (found < *size && npy_source_read(report, source, bytes + found, *size - found, &more) != 0)
        return -1;
    if (found + more < *size)
        return refuse_short_header(report, *size, found + more);
    *dict_length = bytes[8] | (uint32_t)bytes[9] << 8;
    if (bytes[6] > 1)
        *dict_length |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    if (*dict_length > HEADER_SIZE_LIMIT)
        return npy_refuse(report, "the header is absurdly long: %" PRIu32 " bytes, over 1 MiB",
                          *dict_length);
    return 0;
}

static int refuse_short_data(const npy_report *report, uint64_t expected, uint64_t found)
{
    return npy_refuse(report,
                      "the data is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                      expected, found);
}

static uint64_t data_size(const npy_header *header)
{
    return (uint64_t)npy_elements(header) * type_bytes(header->type);
}

/* Where it is known how long the file is. */
static int check_data_size(const npy_report *report, const npy_source *source,
                           const npy_header *header)
{
    const uint64_t expected = data_size(header);
    const uint64_t length = source->size > 0 ? (uint64_t)source->size : 0;
    const uint64_t found = length > header->data_offset ? length - header->data_offset : 0;

    if (source->size < 0)
        return 0;
    if (found < expected)
        return refuse_short_data(report, expected, found);
    if (found > expected)
        return npy_refuse(report, "%" PRIu64 " extra byte%s the data", found - expected,
                          found - expected == 1 ? " follows" : "s follow");
    return 0;
}

static int read_header(const npy_report *report, npy_source *source, unsigned taken,
                       npy_header *header)
{
    size_t size = 0, found;
    uint32_t length = 0;

    if (read_preamble(report, source, &size, &length) != 0)
        return -1;
    char *text = malloc(length > 0 ? length : 1);
    if (text == NULL)
        return npy_refuse(report, "no memory for its header");
    int result = npy_source_read(report, source, text, length, &found);
    if (result == 0 && found < length)
        result = refuse_short_header(report, size + length, size + found);
    if (result == 0)
        result = npy_parse_header(report, text, length, taken, header);
    free(text);
    header->data_offset = size + length;
    return result != 0 ? -1 : check_data_size(report, source, header);
}

/* ---- The file ---- */

static bool begins_with(const npy_source *source, const char *bytes)
{
    const size_t length = strlen(bytes);

    return source->ahead_size >= length && memcmp(source->ahead, bytes, length) == 0;
}

/* By its first bytes. */
static int open_format(const npy_report *report, unsigned taken, npy_input *input,
                       const char *member)
{
    npy_source *source = &input->source;

    if (npy_source_look(report, source) != 0)
        return -1;
    if (begins_with(source, "PK\x03\x04") || begins_with(source, "PK\x05\x06")) {
        if (npy_member_open(report, source, member) != 0 || npy_source_look(report, source) != 0)
            return -1;
    } else if (member) {
        return npy_refuse(report, "is no archive (.npz), of which a member could be read");
    }
    if (begins_with(source, NPY_MAGIC))
        return read_header(report, source, taken, &input->header);
    if (!begins_with(source, "%%MatrixMa"))
        return npy_refuse(report, "is not a .npy file, nor .npz or .mtx");
    input->market = npy_market_open(report, source, &input->header);
    return input->market ? 0 : -1;
}

/* The path of the file itself, for free(); NULL when memory is short. */
static char *file_of(const char *path, const char *member)
{
    return member ? strndup(path, (size_t)(member - path) - 1) : strdup(path);
}

npy_input *npy_open(const char *path, unsigned taken, npy_header *header, char *message,
                    size_t message_size)
{
    const npy_report report = npy_begin_report(path, message, message_size);
    const char *member = npy_member_name(path);
    npy_input *input = calloc(1, sizeof *input);
    char *file = file_of(path, member);

    *header = (npy_header){0};
    if (input)
        *input = (npy_input){.path = strdup(path), .source = {.descriptor = -1}};
    int result;
    if (!input || !file || !input->path)
        result = npy_refuse(&report, "no memory to open it");
    else
        result = npy_source_open(&report, file, &input->source);
    if (result == 0)
        result = open_format(&report, taken, input, member);
    free(file);
    if (result != 0) {
        npy_close(input);
        return NULL;
    }
    *header = input->header;
    return input;
}

void npy_close(npy_input *input)
{
    if (!input)
        return;
    npy_source_close(&input->source);
    free(input->market);
    free(input->path);
    free(input);
}

/* ---- The data ---- */

/* Elements of the header's type, in the host's byte order, to another type. */
static void convert(const npy_header *header, const unsigned char *bytes, size_t count,
                    xgemm_type type, void *data, size_t first)
{
    const size_t size = type_bytes(header->type), part = type_bytes(type_part(header->type));
    _Alignas(16) unsigned char ordered[16];

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < size; j++)
            ordered[j] =
                bytes[i * size + (header->big_endian ? j / part * part + part - 1 - j % part : j)];
        element_store(type, data, (int64_t)(first + i), element_load(header->type, ordered, 0));
    }
}

static int read_converted(const npy_report *report, npy_input *input, xgemm_type type, void *data)
{
    enum { AT_ONCE = 4096 };
    unsigned char bytes[16 * AT_ONCE];
    const size_t size = type_bytes(input->header.type), count = npy_elements(&input->header);
    size_t found;

    for (size_t done = 0; done < count; done += AT_ONCE) {
        const size_t now = count - done < AT_ONCE ? count - done : AT_ONCE;

        if (npy_source_read(report, &input->source, bytes, now * size, &found) != 0)
            return -1;
        if (found < now * size)
            return refuse_short_data(report, count * size, done * size + found);
        convert(&input->header, bytes, now, type, data, done);
    }
    return 0;
}

static int read_elements(const npy_report *report, npy_input *input, xgemm_type type, void *data)
{
    const size_t size = (size_t)data_size(&input->header);
    size_t found;

    if (input->header.type != type || input->header.big_endian)
        return read_converted(report, input, type, data);
    if (npy_source_read(report, &input->source, data, size, &found) != 0)
        return -1;
    return found < size ? refuse_short_data(report, size, found) : 0;
}

/* That nothing follows, which is not known of a pipe before, and that nothing was damaged. */
static int check_end(const npy_report *report, npy_input *input)
{
    unsigned char more;
    size_t found;

    if (npy_source_read(report, &input->source, &more, 1, &found) != 0)
        return -1;
    if (found > 0)
        return npy_refuse(report, "extra bytes follow the data");
    return npy_member_check(report, &input->source);
}

static void *allocate_aligned(size_t size)
{
    size_t rounded = (size + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;

    return aligned_alloc(NPY_ALIGNMENT, rounded > 0 ? rounded : NPY_ALIGNMENT);
}

/* A batch in Fortran order, whose matrices are interleaved: one after another. */
static void *separated(const void *data, const npy_header *header, size_t bytes)
{
    char *const apart = allocate_aligned(npy_elements(header) * bytes);
    const char *const from = data;
    const size_t elements = (size_t)header->rows * (size_t)header->columns;
    const size_t count = elements > 0 ? (size_t)header->batch : 0; /* a batch may be any without */

    for (size_t i = 0; apart && i < count; i++)
        for (size_t j = 0; j < elements; j++)
            memcpy(apart + (i * elements + j) * bytes, from + (j * count + i) * bytes, bytes);
    return apart;
}

static int check_type(const npy_report *report, const npy_header *header, xgemm_type type)
{
    if (type_is_complex(header->type) && !type_is_complex(type))
        return npy_refuse(report, "its elements are complex, and %s has no imaginary part",
                          npy_type_name(type));
    if (!npy_shape_fits((uint64_t)header->batch, (uint64_t)header->rows, (uint64_t)header->columns,
                        type))
        return npy_refuse(report, "it is too large as %s", npy_type_name(type));
    return 0;
}

static int load(const npy_report *report, npy_input *input, xgemm_type type, void **data)
{
    const npy_header *header = &input->header;
    const size_t bytes = type_bytes(type);
    int result;

    *data = NULL;
    if (check_type(report, header, type) != 0)
        return -1;
    const size_t size = npy_elements(header) * bytes;
    *data = allocate_aligned(size);
    if (*data == NULL)
        return npy_refuse(report, "no memory for its %zu bytes of data", size);
    if (input->market) {
        memset(*data, 0, size);
        result = npy_market_load(report, input->market, type, *data);
    } else {
        result = read_elements(report, input, type, *data);
    }
    if (result != 0 || check_end(report, input) != 0)
        return -1;
    if (header->is_batch && header->fortran_order) {
        void *apart = separated(*data, header, bytes);
        free(*data);
        *data = apart;
    }
    return *data ? 0 : npy_refuse(report, "no memory for its %zu bytes of data", size);
}

int npy_load(npy_input *input, xgemm_type type, npy_matrix *matrix, char *message,
             size_t message_size)
{
    const npy_report report = npy_begin_report(input->path, message, message_size);
    const npy_header *header = &input->header;
    void *data;

    *matrix = (npy_matrix){0};
    if (load(&report, input, type, &data) != 0) {
        free(data);
        return -1;
    }
    *matrix = (npy_matrix){.rows = header->rows,
                           .columns = header->columns,
                           .fortran_order = header->fortran_order,
                           .type = type,
                           .data = data,
                           .is_batch = header->is_batch,
                           .batch = header->batch};
    return 0;
}

void npy_free(npy_matrix *matrix)
{
    free(matrix->data);
    *matrix = (npy_matrix){0};
}
