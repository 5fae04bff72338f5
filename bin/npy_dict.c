/* SPDX-License-Identifier: BSD-3-Clause */
/* The dict in the header of a .npy file: its text, and whether what it says is taken. */
#include "npy_parts.h"

#include <string.h>

struct span {
    const char *begin, *end;
};

struct cursor {
    const char *begin, *at, *end;
    const npy_report *report;
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
    struct whole_number dimensions[3];
};

static npy_shown show_span(struct span span)
{
    return npy_show(span.begin, (size_t)(span.end - span.begin));
}

static bool span_equals(struct span span, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(span.end - span.begin) == length && memcmp(span.begin, text, length) == 0;
}

static int malformed(const struct cursor *cursor, const char *what)
{
    return npy_refuse(cursor->report, "the header is malformed at its byte %zu: %s",
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

    /* A text of Python 2. */
    if (quote == 'u' && cursor->end - cursor->at > 1 &&
        (cursor->at[1] == '\'' || cursor->at[1] == '"'))
        quote = *++cursor->at;
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
        if (dict->dimension_count < 3)
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
        return npy_refuse(cursor->report, "the header has an unknown key, '%s'",
                          show_span(name).text);
    if (dict->seen[*key])
        return npy_refuse(cursor->report, "the header repeats the key '%s'", KEY_NAMES[*key]);
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
            return npy_refuse(cursor->report, "the header lacks the key '%s'", KEY_NAMES[key]);
    }
    return 0;
}

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

/*
 * The types that are taken: how NumPy names them, and how a code without its byte order does.
 * ml_dtypes' bfloat16 is two raw bytes to the format, which has no code for it.
 */
static const struct {
    const char *code, *descr, *name;
    xgemm_type type;
    const char *character, *alias; /* of C: 'f' and 'single' */
} ELEMENTS[] = {
    {"f4", "<f4", "float32", XGEMM_F32, "f", "single"},
    {"f8", "<f8", "float64", XGEMM_F64, "d", "double"},
    {"f2", "<f2", "float16", XGEMM_F16, "e", "half"},
    {"V2", "<V2", "bfloat16", XGEMM_BF16, NULL, NULL},
    {"c8", "<c8", "complex64", XGEMM_C32, "F", "csingle"},
    {"c16", "<c16", "complex128", XGEMM_C64, "D", "cdouble"},
};
enum { ELEMENTS_COUNT = sizeof(ELEMENTS) / sizeof(ELEMENTS[0]) };

#define WHAT_IS_TAKEN "float16, bfloat16, float32, float64, complex64 and complex128 are taken"

const char *npy_type_name(xgemm_type type)
{
    size_t i = 0;

    while (ELEMENTS[i].type != type)
        i++;
    return ELEMENTS[i].name;
}

const char *npy_type_descr(xgemm_type type)
{
    size_t i = 0;

    while (ELEMENTS[i].type != type)
        i++;
    return ELEMENTS[i].descr;
}

static int refuse_dtype(const npy_report *report, struct span descr, struct span code)
{
    const char *name = name_dtype(code);

    if (name == NULL)
        return npy_refuse(report, "dtype is '%s'; " WHAT_IS_TAKEN, show_span(descr).text);
    return npy_refuse(report, "dtype is '%s' (%s%s); " WHAT_IS_TAKEN, show_span(descr).text,
                      *descr.begin == '>' ? "big-endian " : "", name);
}

static bool is_element(int i, struct span descr, struct span code)
{
    const char *const character = ELEMENTS[i].character, *const alias = ELEMENTS[i].alias;

    return span_equals(code, ELEMENTS[i].code) || span_equals(descr, ELEMENTS[i].name) ||
           (character && span_equals(code, character)) || (alias && span_equals(descr, alias));
}

/* Without a byte order it is the host's, as for NumPy. */
static int check_dtype(const npy_report *report, const struct dict *dict, unsigned taken,
                       npy_header *header)
{
    const struct span descr = dict->descr;
    struct span code = descr;

    if (!dict->descr_is_string)
        return npy_refuse(report, "dtype is a structured one, %s; " WHAT_IS_TAKEN,
                          show_span(descr).text);
    if (code.begin < code.end && strchr("<>=|", *code.begin) != NULL && *code.begin != '\0')
        code.begin++;
    for (int i = 0; i < ELEMENTS_COUNT; i++) {
        const bool big_endian = code.begin > descr.begin && *descr.begin == '>';

        if (!is_element(i, descr, code))
            continue;
        if (big_endian && !(taken & NPY_CAST))
            return npy_refuse(report, "dtype is '%s' (big-endian %s); --cast converts it",
                              show_span(descr).text, ELEMENTS[i].name);
        header->type = ELEMENTS[i].type;
        header->big_endian = big_endian;
        return 0;
    }
    return refuse_dtype(report, descr, code);
}

bool npy_shape_fits(uint64_t batch, uint64_t rows, uint64_t columns, xgemm_type type)
{
    const uint64_t limit = (uint64_t)PTRDIFF_MAX / type_bytes(type);

    batch = batch > 0 ? batch : 1;
    rows = rows > 0 ? rows : 1;
    columns = columns > 0 ? columns : 1;
    return batch <= limit && rows <= limit / batch && columns <= limit / batch / rows;
}

size_t npy_elements(const npy_header *header)
{
    return (size_t)header->batch * (size_t)header->rows * (size_t)header->columns;
}

static int check_shape(const npy_report *report, const struct dict *dict, unsigned taken,
                       npy_header *header)
{
    const bool is_batch = dict->dimension_count == 3;
    const bool is_vector = dict->dimension_count == 1 && (taken & NPY_VECTOR);
    const struct whole_number one = {.magnitude = 1};
    const struct whole_number *const matrix = &dict->dimensions[is_batch];
    const struct whole_number *const sizes[] = {is_batch ? &dict->dimensions[0] : &one,
                                                is_vector ? &one : &matrix[0],
                                                is_vector ? &matrix[0] : &matrix[1]};
    bool huge = false;

    if (!is_vector && dict->dimension_count != 2 && dict->dimension_count != 3)
        return npy_refuse(report,
                          "shape %s has %zu dimension%s; only matrices, of 2, and batches of them, "
                          "of 3, are taken",
                          show_span(dict->shape).text, dict->dimension_count,
                          dict->dimension_count == 1 ? "" : "s");
    for (int i = 0; i < 3; i++) {
        if (sizes[i]->negative)
            return npy_refuse(report, "shape %s has a negative dimension",
                              show_span(dict->shape).text);
        huge = huge || sizes[i]->huge;
    }
    if (huge || !npy_shape_fits(sizes[0]->magnitude, sizes[1]->magnitude, sizes[2]->magnitude,
                                header->type))
        return npy_refuse(report, "shape %s is too large", show_span(dict->shape).text);
    header->batch = (int64_t)sizes[0]->magnitude;
    header->rows = (int64_t)sizes[1]->magnitude;
    header->columns = (int64_t)sizes[2]->magnitude;
    header->is_batch = is_batch;
    header->is_vector = is_vector;
    return 0;
}

int npy_parse_header(const npy_report *report, const char *text, size_t length, unsigned taken,
                     npy_header *header)
{
    struct cursor cursor = {text, text, text + length, report};
    struct dict dict = {0};
    npy_header found = {0};

    if (parse_dict(&cursor, &dict) != 0 || check_dtype(report, &dict, taken, &found) != 0 ||
        check_shape(report, &dict, taken, &found) != 0)
        return -1;
    found.fortran_order = dict.fortran_order;
    *header = found;
    return 0;
}

int npy_parse_dict(const char *text, size_t length, unsigned taken, npy_header *header,
                   char *message, size_t message_size)
{
    npy_report report = npy_begin_report(NULL, message, message_size);

    *header = (npy_header){0};
    return npy_parse_header(&report, text, length, taken, header);
}
