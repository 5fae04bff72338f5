/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCHEMA_VERSION = 1 };

cell cell_none(void)
{
    return (cell){.kind = CELL_NONE};
}

cell cell_text(const char *text)
{
    return (cell){.kind = CELL_TEXT, .text = text};
}

cell cell_integer(int64_t value)
{
    return (cell){.kind = CELL_INTEGER, .integer = value};
}

cell cell_real(double value, int digits)
{
    return (cell){.kind = CELL_REAL, .real = value, .digits = digits};
}

/* %g where fixed digits would show none that count. */
static void format_real(char *text, size_t size, const cell *x)
{
    const double least = 0.5 * pow(10.0, -x->digits);
    if (x->real != 0.0 && (fabs(x->real) < 10.0 * least || fabs(x->real) >= 1e12))
        snprintf(text, size, "%.3g", x->real);
    else
        snprintf(text, size, "%.*f", x->digits, x->real);
}

/* The cell's own text, or what is written into the buffer. */
static const char *format_cell(char *buffer, size_t size, const cell *x, bool exact)
{
    switch (x->kind) {
    case CELL_TEXT:
        return x->text;
    case CELL_INTEGER:
        snprintf(buffer, size, "%" PRId64, x->integer);
        return buffer;
    case CELL_REAL:
        if (exact)
            snprintf(buffer, size, "%.9g", x->real);
        else
            format_real(buffer, size, x);
        return buffer;
    case CELL_NONE:
        break;
    }
    return exact ? "" : "-";
}

/* A file's name need not be UTF-8, and JSON must be. */
static json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    char *ascii = value ? NULL : strdup(text);
    for (char *at = ascii; at && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    if (ascii)
        value = json_string(ascii);
    free(ascii);
    return value;
}

static json_t *json_of(const cell *x)
{
    switch (x->kind) {
    case CELL_TEXT:
        return json_text(x->text);
    case CELL_INTEGER:
        return json_integer(x->integer);
    case CELL_REAL:
        return isfinite(x->real) ? json_real(x->real) : json_null();
    case CELL_NONE:
        break;
    }
    return json_null();
}

/* In quotes where the value has a comma, a quote or a line break. */
static void print_csv(const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_field(const report *to, int index, const char *text)
{
    const int width = to->columns[index].width;
    const bool last = index == to->count - 1;
    if (to->format == FORMAT_CSV) {
        print_csv(text);
        putchar(last ? '\n' : ',');
    } else if (last && width < 0) {
        printf("%s\n", text); /* no blanks at the end of a line */
    } else {
        printf("%*s%s", width, text, last ? "\n" : "  ");
    }
}

report report_open(const settings *common, const column *columns, int count, const char *rows_key,
                   json_t *facts)
{
    report to = {common->format, columns, count, rows_key, facts, NULL};
    if (to.format == FORMAT_JSON) {
        if (!to.root)
            to.root = json_object();
        to.rows = json_array();
        return to;
    }
    for (int i = 0; i < count; i++)
        print_field(&to, i, columns[i].key);
    return to;
}

void report_row(report *to, const cell *cells)
{
    char buffer[64];
    if (to->format == FORMAT_JSON) {
        json_t *row = json_object();
        for (int i = 0; i < to->count; i++)
            json_object_set_new(row, to->columns[i].key, json_of(&cells[i]));
        json_array_append_new(to->rows, row);
        return;
    }
    for (int i = 0; i < to->count; i++)
        print_field(to, i, format_cell(buffer, sizeof buffer, &cells[i], to->format == FORMAT_CSV));
    fflush(stdout);
}

void report_close(report *to)
{
    if (to->format == FORMAT_JSON) {
        json_object_set_new(to->root, to->rows_key, to->rows);
        json_dumpf(to->root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
    }
    json_decref(to->root);
    to->root = NULL;
}

json_t *report_facts(const command *which)
{
    char date[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return json_pack("{s:i, s:s, s:s, s:s}", "schema_version", SCHEMA_VERSION, "xgemm_version",
                     xgemm_version(), "command", which->name, "date", date);
}

/* jansson has this in one call since 2.12. */
void report_add(json_t *facts, json_t *members)
{
    json_object_update(facts, members);
    json_decref(members);
}

void report_device(json_t *facts, int ordinal)
{
    xgemm_device device = {.struct_size = sizeof device};
    if (xgemm_device_get(ordinal, &device))
        return;
    json_object_set_new(
        facts, "device",
        json_pack("{s:i, s:s, s:s, s:i, s:i, s:I, s:I, s:f, s:f, s:f, s:f}", "ordinal",
                  device.ordinal, "name", device.name, "detail", device.detail,
                  "compute_capability", device.compute_capability, "multiprocessors",
                  device.multiprocessors, "memory_bytes", (json_int_t)device.memory_bytes,
                  "l2_bytes", (json_int_t)device.l2_bytes, "core_clock_mhz", device.core_clock_mhz,
                  "memory_clock_mhz", device.memory_clock_mhz, "peak_fp32_gflops",
                  device.peak_fp32_gflops, "peak_bandwidth_gbs", device.peak_bandwidth_gbs));
}
