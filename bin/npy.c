/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");
_Static_assert(sizeof(float) == 4, "float is not IEEE 754 binary32");

#define MAGIC             "\x93NUMPY"
#define MAGIC_SIZE        6
#define PREAMBLE_SIZE     12 /* magic, version (2 bytes), length of the dict (2 or 4 bytes) */
#define HEADER_SIZE_LIMIT ((uint32_t)1 << 20)
#define ALIGNMENT         64
#define CHUNK_SIZE        ((size_t)1 << 30) /* Linux moves less than 2 GiB in one call. */
#define SHOWN_SIZE        80

/* ---- Sentences ---- */

/* Where a failure is told; path is NULL where none is known. */
struct report {
    const char *path;
    char *message;
    size_t size;
};

static struct report begin_report(const char *path, char *message, size_t message_size)
{
    if (message_size > 0)
        message[0] = '\0';
    return (struct report){path, message, message_size};
}

/* A path may hold control characters; bytes of a file are escaped before they come here. */
static void blank_control_characters(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void mark_cut(char *text, size_t size)
{
    if (size > 3)
        memcpy(text + size - 4, "...", 4);
}

__attribute__((format(printf, 2, 3))) static int refuse(const struct report *report,
                                                        const char *format, ...)
{
    va_list arguments;
    int used = 0, more = 0;

    if (report->size == 0)
        return -1;
    if (report->path != NULL)
        used = snprintf(report->message, report->size, "%s: ", report->path);
    if (used >= 0 && (size_t)used < report->size) {
        va_start(arguments, format);
        more = vsnprintf(report->message + used, report->size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    if (used < 0 || more < 0)
        snprintf(report->message, report->size, "the sentence cannot be formatted");
    else if ((size_t)used + (size_t)more >= report->size)
        mark_cut(report->message, report->size);
    blank_control_characters(report->message);
    return -1;
}

/* Bytes of a file as text for a sentence. */
struct shown {
    char text[SHOWN_SIZE];
};

static struct shown show(const char *bytes, size_t length)
{
    struct shown shown;
    size_t used = 0, next;

    for (next = 0; next < length; next++) {
        unsigned char byte = (unsigned char)bytes[next];

        /* Leave room for "\xNN", "..." and the NUL. */
        if (used + 4 + 3 + 1 > sizeof(shown.text))
            break;
        if (byte >= ' ' && byte < 0x7f)
            shown.text[used++] = (char)byte;
        else
            used += (size_t)snprintf(shown.text + used, 5, "\\x%02x", (unsigned)byte);
    }
    strcpy(shown.text + used, next < length ? "..." : "");
    return shown;
}

/* ---- The dict of the header ---- */

struct span {
    const char *begin, *end;
};

struct cursor {
    const char *begin, *at, *end;
    const struct report *report;
};

enum { KEY_DESCR, KEY_ORDER, KEY_SHAPE, KEY_COUNT };

static const char *const KEY_NAMES[KEY_COUNT] = {"descr", "fortran_order", "shape"};

struct whole_number {
    uint64_t magnitude;
    bool negative, huge;
};

struct dict {
    bool seen[KEY_COUNT];
    struct span descr; /* Without quotes where it is a string. */
    bool descr_is_string;
    bool fortran_order;
    struct span shape; /* With parentheses. */
    size_t dimension_count;
    struct whole_number dimensions[2];
};

static struct shown show_span(struct span span)
{
    return show(span.begin, (size_t)(span.end - span.begin));
}

static bool span_equals(struct span span, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(span.end - span.begin) == length && memcmp(span.begin, text, length) == 0;
}

static int malformed(const struct cursor *cursor, const char *what)
{
    return refuse(cursor->report, "the header is malformed at its byte %zu: %s",
                  (size_t)(cursor->at - cursor->begin), what);
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_word_byte(char byte)
{
    return is_digit(byte) || byte == '_' || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

/* The next byte that is no space, or NUL at the end (as NUL itself is never expected). */
static char peek(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at))
        cursor->at++;
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static bool take(struct cursor *cursor, char expected)
{
    if (peek(cursor) != expected)
        return false;
    cursor->at++;
    return true;
}

static int parse_string(struct cursor *cursor, struct span *string)
{
    char quote = peek(cursor);

    if (quote != '\'' && quote != '"')
        return malformed(cursor, "a string is expected");
    string->begin = ++cursor->at;
    while (cursor->at < cursor->end && *cursor->at != quote && *cursor->at != '\n' &&
           *cursor->at != '\\')
        cursor->at++;
    if (cursor->at == cursor->end || *cursor->at != quote)
        return malformed(cursor, "a string is not closed, or has a backslash");
    string->end = cursor->at++;
    return 0;
}

/* Skips a list or a tuple, without recursion: how deep it is, is the file's choice. */
static int skip_brackets(struct cursor *cursor, struct span *skipped)
{
    size_t depth = 0;

    skipped->begin = cursor->at;
    do {
        struct span string;
        char byte = peek(cursor);

        if (cursor->at == cursor->end)
            return malformed(cursor, "a bracket that is not closed");
        if (byte == '\'' || byte == '"') {
            if (parse_string(cursor, &string) != 0)
                return -1;
            continue;
        }
        if (byte == '(' || byte == '[')
            depth++;
        else if (byte == ')' || byte == ']')
            depth--;
        cursor->at++;
    } while (depth > 0);
    skipped->end = cursor->at;
    return 0;
}

static int parse_descr(struct cursor *cursor, struct dict *dict)
{
    char first = peek(cursor);

    dict->descr_is_string = first != '[' && first != '(';
    return dict->descr_is_string ? parse_string(cursor, &dict->descr)
                                 : skip_brackets(cursor, &dict->descr);
}

static int parse_order(struct cursor *cursor, struct dict *dict)
{
    struct span word;

    peek(cursor);
    word.begin = word.end = cursor->at;
    while (word.end < cursor->end && is_word_byte(*word.end))
        word.end++;
    dict->fortran_order = span_equals(word, "True");
    if (!dict->fortran_order && !span_equals(word, "False"))
        return malformed(cursor, "fortran_order is neither True nor False");
    cursor->at = word.end;
    return 0;
}

static int parse_whole_number(struct cursor *cursor, struct whole_number *number)
{
    const char *first;

    *number = (struct whole_number){0};
    number->negative = take(cursor, '-');
    peek(cursor);
    first = cursor->at;
    for (; cursor->at < cursor->end && is_digit(*cursor->at); cursor->at++) {
        uint64_t digit = (uint64_t)(*cursor->at - '0');

        number->huge = number->huge || number->magnitude > (INT64_MAX - digit) / 10;
        if (!number->huge)
            number->magnitude = number->magnitude * 10 + digit;
    }
    if (cursor->at == first)
        return malformed(cursor, "shape is not a tuple of whole numbers");
    if (*first == '0' && cursor->at - first > 1)
        return malformed(cursor, "a number with a leading zero");
    /* Python 2 writes its long integers so. */
    if (cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    return 0;
}

static int parse_shape(struct cursor *cursor, struct dict *dict)
{
    struct whole_number number;
    bool comma = true;

    if (peek(cursor) != '(')
        return malformed(cursor, "shape is not a tuple");
    dict->shape.begin = cursor->at++;
    while (peek(cursor) != ')') {
        if (!comma)
            return malformed(cursor, "',' or ')' is expected in shape");
        if (parse_whole_number(cursor, &number) != 0)
            return -1;
        if (dict->dimension_count < 2)
            dict->dimensions[dict->dimension_count] = number;
        dict->dimension_count++;
        comma = take(cursor, ',');
    }
    if (dict->dimension_count == 1 && !comma)
        return malformed(cursor, "shape is not a tuple");
    dict->shape.end = ++cursor->at;
    return 0;
}

static int parse_key(struct cursor *cursor, struct dict *dict, int *key)
{
    struct span name;

    if (parse_string(cursor, &name) != 0)
        return -1;
    for (*key = 0; *key < KEY_COUNT && !span_equals(name, KEY_NAMES[*key]); ++*key)
        ;
    if (*key == KEY_COUNT)
        return refuse(cursor->report, "the header has an unknown key, '%s'", show_span(name).text);
    if (dict->seen[*key])
        return refuse(cursor->report, "the header repeats the key '%s'", KEY_NAMES[*key]);
    dict->seen[*key] = true;
    return take(cursor, ':') ? 0 : malformed(cursor, "':' is expected after a key");
}

static int parse_entry(struct cursor *cursor, struct dict *dict)
{
    int key;

    if (parse_key(cursor, dict, &key) != 0)
        return -1;
    if (key == KEY_DESCR)
        return parse_descr(cursor, dict);
    if (key == KEY_ORDER)
        return parse_order(cursor, dict);
    return parse_shape(cursor, dict);
}

static int parse_dict(struct cursor *cursor, struct dict *dict)
{
    bool comma = true;

    if (!take(cursor, '{'))
        return malformed(cursor, "'{' is expected");
    while (!take(cursor, '}')) {
        if (!comma)
            return malformed(cursor, "',' or '}' is expected");
        if (parse_entry(cursor, dict) != 0)
            return -1;
        comma = take(cursor, ',');
    }
    peek(cursor);
    if (cursor->at != cursor->end)
        return malformed(cursor, "text follows the dict");
    for (int key = 0; key < KEY_COUNT; key++) {
        if (!dict->seen[key])
            return refuse(cursor->report, "the header lacks the key '%s'", KEY_NAMES[key]);
    }
    return 0;
}

/* ---- What the dict says ---- */

static const struct {
    const char *code, *name;
} DTYPE_NAMES[] = {
    {"f2", "float16"},   {"f4", "float32"},   {"f8", "float64"},     {"f12", "long double"},
    {"f16", "float128"}, {"c8", "complex64"}, {"c16", "complex128"}, {"c32", "complex256"},
    {"i1", "int8"},      {"i2", "int16"},     {"i4", "int32"},       {"i8", "int64"},
    {"u1", "uint8"},     {"u2", "uint16"},    {"u4", "uint32"},      {"u8", "uint64"},
    {"b1", "bool"},
};

/* dtypes whose code goes on with a size or a unit. */
static const struct {
    char first;
    const char *name;
} DTYPE_FAMILIES[] = {
    {'S', "byte strings"}, {'U', "text"},       {'V', "raw bytes"},
    {'M', "dates"},        {'m', "time spans"}, {'O', "Python objects"},
};

/* The name of a dtype from its code without the byte order, or NULL. */
static const char *name_dtype(struct span code)
{
    for (size_t i = 0; i < sizeof(DTYPE_NAMES) / sizeof(DTYPE_NAMES[0]); i++) {
        if (span_equals(code, DTYPE_NAMES[i].code))
            return DTYPE_NAMES[i].name;
    }
    for (size_t i = 0; i < sizeof(DTYPE_FAMILIES) / sizeof(DTYPE_FAMILIES[0]); i++) {
        if (code.begin < code.end && *code.begin == DTYPE_FAMILIES[i].first)
            return DTYPE_FAMILIES[i].name;
    }
    return NULL;
}

static int refuse_dtype(const struct report *report, struct span descr)
{
    struct span code = descr;
    const char *before = "", *name, *after = "";

    if (code.begin < code.end && strchr("<>=|", *code.begin) != NULL && *code.begin != '\0')
        code.begin++;
    name = name_dtype(code);
    if (name == NULL)
        return refuse(report, "dtype is '%s'; only float32 ('<f4') is taken",
                      show_span(descr).text);
    if (*descr.begin == '>')
        before = "big-endian ";
    else if (span_equals(code, "f4"))
        after = " without a byte order";
    return refuse(report, "dtype is '%s' (%s%s%s); only float32 ('<f4') is taken",
                  show_span(descr).text, before, name, after);
}

static int check_dtype(const struct report *report, const struct dict *dict)
{
    if (!dict->descr_is_string)
        return refuse(report, "dtype is a structured one, %s; only float32 ('<f4') is taken",
                      show_span(dict->descr).text);
    if (span_equals(dict->descr, "<f4") || span_equals(dict->descr, "=f4"))
        return 0;
    return refuse_dtype(report, dict->descr);
}

/* A dimension of 0 counts as 1, so that leading dimensions stay in bounds too. */
static bool shape_fits(uint64_t rows, uint64_t columns)
{
    const uint64_t limit = (uint64_t)PTRDIFF_MAX / sizeof(float);

    rows = rows > 0 ? rows : 1;
    columns = columns > 0 ? columns : 1;
    return rows <= limit && columns <= limit / rows;
}

static int check_shape(const struct report *report, const struct dict *dict)
{
    const struct whole_number *rows = &dict->dimensions[0], *columns = &dict->dimensions[1];

    if (dict->dimension_count != 2)
        return refuse(report, "shape %s has %zu dimension%s; only matrices, of 2, are taken",
                      show_span(dict->shape).text, dict->dimension_count,
                      dict->dimension_count == 1 ? "" : "s");
    if (rows->negative || columns->negative)
        return refuse(report, "shape %s has a negative dimension", show_span(dict->shape).text);
    if (rows->huge || columns->huge || !shape_fits(rows->magnitude, columns->magnitude))
        return refuse(report, "shape %s is too large", show_span(dict->shape).text);
    return 0;
}

static int parse_header_text(const struct report *report, const char *text, size_t length,
                             npy_header *header)
{
    struct cursor cursor = {text, text, text + length, report};
    struct dict dict = {0};

    if (length == 0 || text[length - 1] != '\n')
        return refuse(report, "the header does not end with a newline");
    if (parse_dict(&cursor, &dict) != 0 || check_dtype(report, &dict) != 0 ||
        check_shape(report, &dict) != 0)
        return -1;
    header->rows = (int64_t)dict.dimensions[0].magnitude;
    header->columns = (int64_t)dict.dimensions[1].magnitude;
    header->fortran_order = dict.fortran_order;
    return 0;
}

int npy_parse_dict(const char *text, size_t length, npy_header *header, char *message,
                   size_t message_size)
{
    struct report report = begin_report(NULL, message, message_size);

    *header = (npy_header){0};
    return parse_header_text(&report, text, length, header);
}

/* ---- Reading ---- */

struct input {
    int descriptor;
    int64_t size; /* of the file, in bytes */
};

static int refuse_open(const struct report *report, int error)
{
    return refuse(report, "cannot be opened: %s", strerror(error));
}

static int check_regular(const struct report *report, mode_t mode)
{
    if (S_ISDIR(mode))
        return refuse_open(report, EISDIR);
    return S_ISREG(mode) ? 0 : refuse(report, "is not a regular file");
}

static int open_input(const struct report *report, struct input *input)
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
static int read_bytes(const struct report *report, const struct input *input, void *bytes,
                      size_t size, size_t *found)
{
    *found = 0;
    while (*found < size) {
        size_t chunk = size - *found < CHUNK_SIZE ? size - *found : CHUNK_SIZE;
        ssize_t count = read(input->descriptor, (char *)bytes + *found, chunk);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refuse(report, "cannot be read: %s", strerror(errno));
        if (count == 0)
            break;
        *found += (size_t)count;
    }
    return 0;
}

static int refuse_short_header(const struct report *report, uint64_t expected, uint64_t found)
{
    return refuse(report, "the header is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                  expected, found);
}

/* Where the dict is and how long, from the fixed bytes before it. */
static int parse_preamble(const struct report *report, const unsigned char *preamble, size_t found,
                          size_t *dict_offset, uint32_t *dict_length)
{
    if (found < MAGIC_SIZE || memcmp(preamble, MAGIC, MAGIC_SIZE) != 0)
        return refuse(report, "is not a .npy file");
    if (found < MAGIC_SIZE + 2)
        return refuse_short_header(report, MAGIC_SIZE + 2, found);
    if (preamble[6] < 1 || preamble[6] > 3 || preamble[7] != 0)
        return refuse(report,
                      "version %u.%u of the .npy format is unknown; 1.0, 2.0 and 3.0 are taken",
                      (unsigned)preamble[6], (unsigned)preamble[7]);
    *dict_offset = preamble[6] == 1 ? PREAMBLE_SIZE - 2 : PREAMBLE_SIZE;
    if (found < *dict_offset)
        return refuse_short_header(report, *dict_offset, found);
    *dict_length = preamble[8] | (uint32_t)preamble[9] << 8;
    if (preamble[6] > 1)
        *dict_length |= (uint32_t)preamble[10] << 16 | (uint32_t)preamble[11] << 24;
    if (*dict_length > HEADER_SIZE_LIMIT)
        return refuse(report, "the header is absurdly long: %" PRIu32 " bytes, over 1 MiB",
                      *dict_length);
    return 0;
}

static int seek_to(const struct report *report, const struct input *input, size_t offset)
{
    if (lseek(input->descriptor, (off_t)offset, SEEK_SET) < 0)
        return refuse(report, "cannot be read: %s", strerror(errno));
    return 0;
}

static int read_dict(const struct report *report, const struct input *input, size_t offset,
                     uint32_t length, npy_header *header)
{
    size_t found;
    char *text;
    int result;

    if ((uint64_t)input->size < (uint64_t)offset + length)
        return refuse_short_header(report, (uint64_t)offset + length, (uint64_t)input->size);
    text = malloc(length > 0 ? length : 1);
    if (text == NULL)
        return refuse(report, "no memory for its header");
    result = seek_to(report, input, offset);
    if (result == 0)
        result = read_bytes(report, input, text, length, &found);
    if (result == 0 && found < length)
        result = refuse_short_header(report, (uint64_t)offset + length, offset + found);
    if (result == 0)
        result = parse_header_text(report, text, length, header);
    free(text);
    header->data_offset = offset + length;
    return result;
}

static uint64_t data_size(int64_t rows, int64_t columns)
{
    return (uint64_t)rows * (uint64_t)columns * sizeof(float);
}

static int refuse_short_data(const struct report *report, uint64_t expected, uint64_t found)
{
    return refuse(report, "the data is truncated: %" PRIu64 " bytes expected, %" PRIu64 " found",
                  expected, found);
}

static int check_data_size(const struct report *report, const struct input *input,
                           const npy_header *header)
{
    uint64_t expected = data_size(header->rows, header->columns);
    uint64_t found = (uint64_t)input->size - header->data_offset;

    if (found < expected)
        return refuse_short_data(report, expected, found);
    if (found > expected)
        return refuse(report, "%" PRIu64 " extra byte%s the data", found - expected,
                      found - expected == 1 ? " follows" : "s follow");
    return 0;
}

static int read_header(const struct report *report, const struct input *input, npy_header *header)
{
    unsigned char preamble[PREAMBLE_SIZE];
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
    struct report report = begin_report(path, message, message_size);
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
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    return aligned_alloc(ALIGNMENT, rounded > 0 ? rounded : ALIGNMENT);
}

static int read_data(const struct report *report, const struct input *input,
                     const npy_header *header, npy_matrix *matrix)
{
    size_t size = (size_t)data_size(header->rows, header->columns), found;
    float *data = allocate_aligned(size);
    int result;

    if (data == NULL)
        return refuse(report, "no memory for its %zu bytes of data", size);
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
    struct report report = begin_report(path, message, message_size);
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

/* ---- Writing ---- */

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

static int refuse_write(const struct report *report, int error)
{
    return refuse(report, "cannot be written: %s", strerror(error));
}

/* A symbolic link is resolved, so that rename() replaces what it leads to and not the link. */
static int resolve_target(const struct report *report, struct output *output)
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
        return refuse(report, "cannot be written: it is not a regular file");
    output->mode = status.st_mode & 0777;
    return 0;
}

static int create_temporary(const struct report *report, struct output *output)
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
        return refuse(report, "cannot be written: no temporary file beside it: %s",
                      strerror(error));
    }
    output->temporary = temporary;
    return 0;
}

static int write_bytes(const struct report *report, int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size > 0) {
        ssize_t count = write(descriptor, next, size < CHUNK_SIZE ? size : CHUNK_SIZE);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refuse_write(report, errno);
        next += count;
        size -= (size_t)count;
    }
    return 0;
}

static int write_header(const struct report *report, int descriptor, const npy_matrix *matrix)
{
    enum { DICT_OFFSET = PREAMBLE_SIZE - 2, SIZE_LIMIT = 256 };
    char header[SIZE_LIMIT];
    size_t used, size;

    memcpy(header, MAGIC "\x01\x00", MAGIC_SIZE + 2);
    used = DICT_OFFSET + (size_t)snprintf(header + DICT_OFFSET, sizeof(header) - DICT_OFFSET,
                                          "{'descr': '<f4', 'fortran_order': %s, "
                                          "'shape': (%" PRId64 ", %" PRId64 "), }",
                                          matrix->fortran_order ? "True" : "False", matrix->rows,
                                          matrix->columns);
    size = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + used, ' ', size - used);
    header[size - 1] = '\n';
    header[8] = (char)(size - DICT_OFFSET);
    header[9] = 0;
    return write_bytes(report, descriptor, header, size);
}

static int flush_to_disk(const struct report *report, int descriptor)
{
    int result;

    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : refuse_write(report, errno);
}

static int fill_temporary(const struct report *report, const struct output *output,
                          const npy_matrix *matrix)
{
    size_t size = (size_t)data_size(matrix->rows, matrix->columns);
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

static int write_output(const struct report *report, struct output *output,
                        const npy_matrix *matrix)
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

static int check_matrix(const struct report *report, const npy_matrix *matrix)
{
    if (matrix->rows < 0 || matrix->columns < 0 ||
        !shape_fits((uint64_t)matrix->rows, (uint64_t)matrix->columns))
        return refuse(report, "cannot be written: no matrix has shape (%" PRId64 ", %" PRId64 ")",
                      matrix->rows, matrix->columns);
    if (matrix->data == NULL && matrix->rows > 0 && matrix->columns > 0)
        return refuse(report, "cannot be written: the matrix has no data");
    return 0;
}

int npy_write(const char *path, const npy_matrix *matrix, char *message, size_t message_size)
{
    struct report report = begin_report(path, message, message_size);
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
