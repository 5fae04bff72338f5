/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "host_clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static char **arguments; /* of the command line; NULL where there was no memory for a copy */
static int argument_count;

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

json_t *report_text(const char *text)
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

json_t *report_value(const cell *x)
{
    switch (x->kind) {
    case CELL_TEXT:
        return report_text(x->text);
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
    if (!strpbrk(text, ",\"\n\r")) {
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
            json_object_set_new(row, to->columns[i].key, report_value(&cells[i]));
        json_array_append_new(to->rows, row);
        return;
    }
    for (int i = 0; i < to->count; i++)
        print_field(to, i, format_cell(buffer, sizeof buffer, &cells[i], to->format == FORMAT_CSV));
    fflush(stdout);
}

void report_fact(report *to, const char *key, json_t *value)
{
    if (to->root)
        json_object_set_new(to->root, key, value);
    else
        json_decref(value);
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

void report_keep_arguments(int argc, char **argv)
{
    arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (!arguments) {
        fputs("xgemm: the host is out of memory\n", stderr);
        exit(STATUS_FAILED);
    }
    memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
    argument_count = argc;
}

static json_t *command_line(void)
{
    json_t *words = json_array();
    for (int i = 0; i < argument_count; i++)
        json_array_append_new(words, report_text(arguments[i]));
    return words;
}

static json_t *host_facts(const command *which)
{
    xgemm_device cpu = {.struct_size = sizeof cpu};
    struct utsname system;
    char name[sizeof system.sysname + sizeof system.release + sizeof system.machine + 2] = "";
    if (xgemm_device_get(XGEMM_DEVICE_CPU, &cpu))
        exit(failed_call(which, NULL));
    if (uname(&system) == 0)
        snprintf(name, sizeof name, "%s %s %s", system.sysname, system.release, system.machine);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    json_t *host = json_object();
    json_object_set_new(host, "cpu", report_text(cpu.name));
    json_object_set_new(host, "logical_cpus", cpus > 0 ? json_integer(cpus) : json_null());
    json_object_set_new(host, "system", *name ? report_text(name) : json_null());
    return host;
}

json_t *report_facts(const command *which)
{
    char date[DATE_SIZE];
    now_date(date);
    json_t *facts =
        json_pack("{s:i, s:s, s:s, s:s}", "schema_version", REPORT_SCHEMA, "xgemm_version",
                  xgemm_version(), "command", which->name, "date", date);
    json_object_set_new(facts, "command_line", command_line());
    json_object_set_new(facts, "host", host_facts(which));
    return facts;
}

/* jansson has this in one call since 2.12. */
void report_add(json_t *facts, json_t *members)
{
    json_object_update(facts, members);
    json_decref(members);
}
