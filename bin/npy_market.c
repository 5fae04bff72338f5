/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market's text: a banner, comments, the sizes, and a number or an entry a line. */
#include "npy_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_MAX_SIZE = 1024, BUFFER_SIZE = 1 << 16 };

typedef enum { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } symmetry;

struct npy_market {
    npy_source *source;
    bool coordinates; /* false: every element, in column order */
    bool pattern;     /* entries without a number, which are 1 */
    bool is_complex;  /* two numbers each */
    bool is_integer;  /* whole numbers of 64 bits, */
    bool is_unsigned; /* not below 0 */
    symmetry kind;
    int64_t rows, columns;
    uint64_t entries;
    uint64_t line_number;
    char line[LINE_MAX_SIZE + 1]; /* the current one, without its end */
    char buffer[BUFFER_SIZE];
    size_t at, filled;
};

/* ---- Lines ---- */

static int wrong_line(const npy_report *report, const npy_market *m, const char *what)
{
    const npy_shown shown = npy_show(m->line, strlen(m->line));
    return npy_refuse(report, "line %" PRIu64 " is \"%s\": %s", m->line_number, shown.text, what);
}

/* The next byte, or -1 at the end; *result is -1 where reading failed. */
static int next_byte(const npy_report *report, npy_market *m, int *result)
{
    if (m->at == m->filled) {
        m->at = m->filled = 0;
        *result = npy_source_read(report, m->source, m->buffer, BUFFER_SIZE, &m->filled);
        if (*result != 0 || m->filled == 0)
            return -1;
    }
    return (unsigned char)m->buffer[m->at++];
}

/* 1, 0 at the end of the file, or -1. */
static int next_line(const npy_report *report, npy_market *m)
{
    size_t length = 0;
    int result = 0, byte;
    m->line_number++;
    while ((byte = next_byte(report, m, &result)) >= 0 && byte != '\n') {
        m->line[length++] = (char)byte;
        if (byte != '\0' && length < LINE_MAX_SIZE)
            continue;
        m->line[length] = '\0';
        return wrong_line(report, m, byte ? "it is too long" : "a byte 0 follows");
    }
    m->line[length] = '\0';
    if (result != 0)
        return -1;
    return byte >= 0 || length > 0;
}

/* The next line that is neither empty nor a comment. */
static int next_content(const npy_report *report, npy_market *m)
{
    int more;
    do {
        more = next_line(report, m);
    } while (more > 0 && (m->line[0] == '%' || m->line[strspn(m->line, " \t\r")] == '\0'));
    return more;
}

/* ---- Numbers ---- */

/* Moves *text behind a whole number from least to most; false when there is none. */
static bool take_integer(const char **text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(*text, &end, 10);
    if (end == *text || errno || number < least || number > most)
        return false;
    *text = end;
    *value = number;
    return true;
}

/* The same of a whole number of 64 bits, rounded once: to float where the type is made of these. */
static bool take_whole(bool is_unsigned, const char **text, bool to_float, double *value)
{
    int64_t number;
    char *end;
    if (!is_unsigned && take_integer(text, INT64_MIN, INT64_MAX, &number)) {
        *value = to_float ? (double)(float)number : (double)number;
        return true;
    }
    const char *const digits = *text + strspn(*text, " \t");
    errno = 0;
    const unsigned long long natural = strtoull(digits, &end, 10);
    if (!is_unsigned || *digits == '-' || end == digits || errno || natural > UINT64_MAX)
        return false;
    *text = end;
    *value = to_float ? (double)(float)natural : (double)natural;
    return true;
}

/* Whether a number is written in hexadecimal digits, which the format does not have. */
static bool is_hexadecimal(const char *text)
{
    text += strspn(text, " \t");
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

/* Rounded once, too; Inf and NaN are "inf" and "nan". */
static bool take_real(const char **text, bool to_float, double *value)
{
    char *end;
    *value = to_float ? (double)strtof(*text, &end) : strtod(*text, &end);
    if (end == *text || is_hexadecimal(*text))
        return false;
    *text = end;
    return true;
}

static bool take_number(const npy_market *m, const char **text, xgemm_type type, scalar *value)
{
    const bool to_float = type_part(type) == XGEMM_F32;
    value->im = 0.0;
    if (m->is_integer)
        return take_whole(m->is_unsigned, text, to_float, &value->re);
    return take_real(text, to_float, &value->re) &&
           (!m->is_complex || take_real(text, to_float, &value->im));
}

/* What is expected in place of a wrong one. */
static const char *number_of(const npy_market *m)
{
    return m->is_complex    ? "two numbers"
           : m->is_unsigned ? "a whole number from 0 to 2^64 - 1"
           : m->is_integer  ? "a whole number of 64 bits"
                            : "a number";
}

static bool at_end(const char *text)
{
    return text[strspn(text, " \t\r")] == '\0';
}

/* ---- The header ---- */

static const char *take_word(char **text)
{
    *text += strspn(*text, " \t\r");
    char *word = *text;
    *text += strcspn(word, " \t\r");
    if (**text)
        *(*text)++ = '\0';
    return word;
}

/* "%%MatrixMarket matrix array real general", in letters of any case. */
static int read_banner(const npy_report *report, npy_market *m)
{
    char copy[LINE_MAX_SIZE + 1], *rest = copy;
    if (next_line(report, m) < 0)
        return -1;
    strcpy(copy, m->line);
    take_word(&rest);
    const char *object = take_word(&rest), *format = take_word(&rest), *field = take_word(&rest);
    const char *kind = take_word(&rest);
    m->coordinates = strcasecmp(format, "coordinate") == 0;
    m->pattern = strcasecmp(field, "pattern") == 0;
    m->is_complex = strcasecmp(field, "complex") == 0;
    m->is_unsigned = strcasecmp(field, "unsigned-integer") == 0;
    m->is_integer = m->is_unsigned || strcasecmp(field, "integer") == 0;
    m->kind = strcasecmp(kind, "symmetric") == 0        ? SYMMETRIC
              : strcasecmp(kind, "skew-symmetric") == 0 ? SKEW_SYMMETRIC
              : strcasecmp(kind, "hermitian") == 0      ? HERMITIAN
                                                        : GENERAL;
    if (strcasecmp(object, "matrix") != 0 ||
        (!m->coordinates && strcasecmp(format, "array") != 0) ||
        (m->kind == GENERAL && strcasecmp(kind, "general") != 0) || !at_end(rest))
        return wrong_line(report, m,
                          "what is taken is a \"matrix\", \"array\" or \"coordinate\", and "
                          "\"general\", \"symmetric\", \"skew-symmetric\" or \"hermitian\"");
    if (strcasecmp(field, "real") != 0 && strcasecmp(field, "double") != 0 && !m->is_integer &&
        !m->is_complex && !(m->pattern && m->coordinates))
        return wrong_line(report, m,
                          "the numbers taken are \"real\", \"complex\", \"integer\", "
                          "\"unsigned-integer\" and, with coordinates, \"pattern\"");
    if (m->kind == SKEW_SYMMETRIC && m->is_unsigned)
        return wrong_line(report, m, "a skew-symmetric matrix has numbers below 0");
    if (m->kind == HERMITIAN && !m->is_complex)
        return wrong_line(report, m, "a hermitian matrix is \"complex\"");
    return 0;
}

/* Of the numbers where nothing else says it. */
static xgemm_type type_of(const npy_market *m)
{
    return m->is_complex ? XGEMM_C32 : XGEMM_F32;
}

static int read_sizes(const npy_report *report, npy_market *m)
{
    int64_t entries = 0;
    const int more = next_content(report, m);
    const char *text = m->line;
    if (more < 0)
        return -1;
    if (more == 0)
        return npy_refuse(report, "it ends before its sizes");
    if (!take_integer(&text, 0, INT64_MAX, &m->rows) ||
        !take_integer(&text, 0, INT64_MAX, &m->columns) ||
        (m->coordinates && !take_integer(&text, 0, INT64_MAX, &entries)) || !at_end(text))
        return wrong_line(report, m,
                          m->coordinates ? "rows, columns and entries are expected"
                                         : "rows and columns are expected");
    if (!npy_shape_fits(1, (uint64_t)m->rows, (uint64_t)m->columns, type_of(m)))
        return wrong_line(report, m, "the matrix is too large");
    if (m->kind != GENERAL && m->rows != m->columns)
        return wrong_line(report, m, "a symmetric matrix has as many rows as columns");
    m->entries = (uint64_t)entries;
    return 0;
}

npy_market *npy_market_open(const npy_report *report, npy_source *source, npy_header *header)
{
    npy_market *m = calloc(1, sizeof *m);
    if (!m) {
        npy_refuse(report, "no memory for its header");
        return NULL;
    }
    m->source = source;
    if (read_banner(report, m) != 0 || read_sizes(report, m) != 0) {
        free(m);
        return NULL;
    }
    *header = (npy_header){.rows = m->rows,
                           .columns = m->columns,
                           .batch = 1,
                           .fortran_order = true,
                           .type = type_of(m),
                           .is_text = true};
    return m;
}

/* ---- The elements ---- */

static int ended_early(const npy_report *report, const npy_market *m, int more)
{
    return more < 0 ? -1
                    : npy_refuse(report, "the data is truncated: line %" PRIu64 " is missing",
                                 m->line_number);
}

static void add_at(xgemm_type type, void *data, int64_t at, double re, double im)
{
    const scalar before = element_load(type, data, at);
    element_store(type, data, at, (scalar){before.re + re, before.im + im});
}

static void add(const npy_market *m, xgemm_type type, void *data, int64_t i, int64_t j,
                scalar value)
{
    add_at(type, data, j * m->rows + i, value.re, value.im);
    if (m->kind != GENERAL && i != j)
        add_at(type, data, i * m->rows + j, m->kind == SKEW_SYMMETRIC ? -value.re : value.re,
               m->kind == SYMMETRIC ? value.im : -value.im);
}

/* Whether an element of the diagonal may have that value. */
static bool has_diagonal(const npy_market *m, scalar value)
{
    return m->kind == SKEW_SYMMETRIC ? value.re == 0.0 && value.im == 0.0
                                     : m->kind != HERMITIAN || value.im == 0.0;
}

static const char *diagonal_of(const npy_market *m)
{
    return m->kind == HERMITIAN ? "the diagonal of a hermitian matrix is real"
                                : "the diagonal of a skew-symmetric matrix is zero";
}

static int wrong_number(const npy_report *report, const npy_market *m, const char *before)
{
    char what[128];
    snprintf(what, sizeof what, "%s%s %s expected", before, number_of(m),
             *before || m->is_complex ? "are" : "is");
    return wrong_line(report, m, what);
}

static int wrong_entry(const npy_report *report, const npy_market *m)
{
    if (m->pattern)
        return wrong_line(report, m, "a row and a column are expected, counted from 1");
    return wrong_number(report, m, "a row, a column, both counted from 1, and ");
}

static int beyond(const npy_report *report, const npy_market *m, const char *what, int64_t index,
                  int64_t count)
{
    char text[96];
    snprintf(text, sizeof text, "%s %" PRId64 " is beyond %" PRId64 " %s%s", what, index, count,
             what, count == 1 ? "" : "s");
    return wrong_line(report, m, text);
}

static int load_entries(const npy_report *report, npy_market *m, xgemm_type type, void *data)
{
    for (uint64_t entry = 0; entry < m->entries; entry++) {
        const int more = next_content(report, m);
        const char *text = m->line;
        int64_t i, j;
        scalar value = {1.0, 0.0};
        if (more <= 0)
            return ended_early(report, m, more);
        if (!take_integer(&text, 1, INT64_MAX, &i) || !take_integer(&text, 1, INT64_MAX, &j) ||
            (!m->pattern && !take_number(m, &text, type, &value)) || !at_end(text))
            return wrong_entry(report, m);
        if (i > m->rows)
            return beyond(report, m, "row", i, m->rows);
        if (j > m->columns)
            return beyond(report, m, "column", j, m->columns);
        if (i == j && !has_diagonal(m, value))
            return wrong_line(report, m, diagonal_of(m));
        add(m, type, data, i - 1, j - 1, value);
    }
    return 0;
}

static int load_array(const npy_report *report, npy_market *m, xgemm_type type, void *data)
{
    for (int64_t j = 0; m->rows > 0 && j < m->columns; j++) {
        /* Of a symmetric matrix, what is below the diagonal, and of a skew one that alone. */
        const int64_t first = m->kind == GENERAL ? 0 : m->kind == SKEW_SYMMETRIC ? j + 1 : j;
        for (int64_t i = first; i < m->rows; i++) {
            const int more = next_content(report, m);
            const char *text = m->line;
            scalar value;
            if (more <= 0)
                return ended_early(report, m, more);
            if (!take_number(m, &text, type, &value) || !at_end(text))
                return wrong_number(report, m, "");
            if (i == j && !has_diagonal(m, value))
                return wrong_line(report, m, diagonal_of(m));
            add(m, type, data, i, j, value);
        }
    }
    return 0;
}

int npy_market_load(const npy_report *report, npy_market *m, xgemm_type type, void *data)
{
    if ((m->coordinates ? load_entries(report, m, type, data)
                        : load_array(report, m, type, data)) != 0)
        return -1;
    const int more = next_content(report, m);
    return more > 0 ? wrong_line(report, m, "it follows the last element") : more;
}
