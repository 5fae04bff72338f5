/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "failure.h"
#include "replacement.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { KEY_JSON = 1000, KEY_CSV, ROWS_MAX = 48 };

static const option_row common_rows[] = {
    {'d', "device", "auto|cpu|sim|N", "where to run: a GPU's number, the CPU or the simulator"},
    {KEY_JSON, "json", NULL, "results as JSON"},
    {KEY_CSV, "csv", NULL, "results as comma-separated values"},
    {'q', "quiet", NULL, "no progress and no notes on standard error"},
    {'h', "help", NULL, "print this help"},
};
enum { COMMON_ROWS = sizeof common_rows / sizeof *common_rows };

static const option_row *row_at(const command *which, int index)
{
    return index < which->option_count ? &which->options[index]
                                       : &common_rows[index - which->option_count];
}

static void print_help(const command *which)
{
    printf("Usage: xgemm %s [OPTION]...%s%s\n%s.\n\nOptions:\n", which->name,
           *which->operands ? " " : "", which->operands, which->summary);
    for (int i = 0; i < which->option_count + COMMON_ROWS; i++) {
        const option_row *row = row_at(which, i);
        if (row->key == 'd' && which->has_no_device)
            continue; /* it is taken, for the sentence that refuses it */
        char left[64];
        int used = row->key < 256 ? snprintf(left, sizeof left, "  -%c", row->key)
                                  : snprintf(left, sizeof left, "    ");
        if (row->name)
            used += snprintf(left + used, sizeof left - (size_t)used, "%s --%s",
                             row->key < 256 ? "," : " ", row->name);
        if (row->argument)
            snprintf(left + used, sizeof left - (size_t)used, " %s", row->argument);
        printf("%-32s  %s\n", left, row->text);
    }
}

static void vcomplain(const command *which, const char *format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "xgemm %s: ", which->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

static int output_lost(void)
{
    perror("xgemm: standard output");
    return STATUS_FAILED;
}

int close_output(int status)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? status : output_lost();
}

void usage_error(const command *which, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vcomplain(which, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'xgemm %s --help'.\n", which->name);
    exit(STATUS_USAGE);
}

int failed(const command *which, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vcomplain(which, format, arguments);
    va_end(arguments);
    return STATUS_FAILED;
}

int failed_call(const command *which, const xgemm_handle *handle)
{
    return failed(which, "%s", failure_of(handle));
}

static int parse_device(const command *which, const char *text)
{
    if (strcmp(text, "auto") == 0)
        return XGEMM_DEVICE_AUTO;
    if (strcmp(text, "cpu") == 0)
        return XGEMM_DEVICE_CPU;
    if (strcmp(text, "sim") == 0)
        return XGEMM_DEVICE_SIM;
    if (!isdigit((unsigned char)*text))
        usage_error(which, "there is no device \"%s\"; there are auto, cpu, sim and GPU numbers",
                    text);
    return (int)option_integer(which, "device", text, 0, INT_MAX);
}

/* Takes a common option; false when the key is the command's own. */
static bool take_common(const command *which, int key, settings *common)
{
    switch (key) {
    case 'd':
        common->device = parse_device(which, optarg);
        return true;
    case KEY_JSON:
        common->format = FORMAT_JSON;
        return true;
    case KEY_CSV:
        common->format = FORMAT_CSV;
        return true;
    case 'q':
        common->quiet = true;
        return true;
    case 'h':
        print_help(which);
        exit(close_output(STATUS_DONE));
    case '?':
        fprintf(stderr, "Try 'xgemm %s --help'.\n", which->name);
        exit(STATUS_USAGE);
    default:
        return false;
    }
}

/* Whether an option has an argument; "[=FILE]" is one that may be left out. */
static int takes(const option_row *row)
{
    return !row->argument            ? no_argument
           : row->argument[0] == '[' ? optional_argument
                                     : required_argument;
}

static int given[2 * ROWS_MAX]; /* the keys, in their order */
static int given_count;

bool option_given(int key)
{
    for (int i = 0; i < given_count; i++)
        if (given[i] == key)
            return true;
    return false;
}

static const option_row *row_of(const command *which, int key)
{
    for (int i = 0; i < which->option_count + COMMON_ROWS; i++)
        if (row_at(which, i)->key == key)
            return row_at(which, i);
    return row_at(which, 0);
}

/* As it is given: "--size", "-m". */
static const char *spelling(const option_row *row, char text[32])
{
    if (row->name)
        snprintf(text, 32, "--%s", row->name);
    else
        snprintf(text, 32, "-%c", row->key);
    return text;
}

void option_only(const command *which, const char *since, const int *keys)
{
    for (int i = 0; i < given_count; i++) {
        bool known = given[i] == KEY_JSON || given[i] == KEY_CSV || given[i] == 'q';
        for (const int *key = keys; *key && !known; key++)
            known = given[i] == *key;
        if (!known)
            usage_error(which, "%s, so that %s has no effect", since,
                        spelling(row_of(which, given[i]), (char[32]){0}));
    }
}

/* What would have no effect is a mistake. */
static void note_given(const command *which, int key, const char *value)
{
    const option_row *const row = row_of(which, key);
    const char *const dots = row->argument ? strstr(row->argument, "...") : NULL;
    if (value && !dots && option_given(key))
        usage_error(which, "%s is given twice; only one of them would have an effect",
                    spelling(row, (char[32]){0}));
    /* As a script writes whose variable is not set: nothing could be written there in the end. */
    if (value && !*value && row->argument && strstr(row->argument, "FILE"))
        usage_error(which, "%s needs the name of a file, and its name is empty",
                    spelling(row, (char[32]){0}));
    if ((key == KEY_JSON && option_given(KEY_CSV)) || (key == KEY_CSV && option_given(KEY_JSON)))
        usage_error(which, "--json and --csv are two forms of the same results; give one of them");
    if (given_count < (int)(sizeof given / sizeof *given) && !option_given(key))
        given[given_count++] = key;
}

/* "leading" is "+" where options end at the first operand, else "". */
static int next(const command *which, const char *leading, int argc, char **argv, settings *common,
                const char **value)
{
    struct option long_options[ROWS_MAX + 1];
    char short_options[2 * ROWS_MAX + 2], *letter = short_options;
    int names = 0;
    if (optind == 0) /* another command line, as getopt is told too */
        given_count = 0;
    if (*leading)
        *letter++ = *leading;

    for (int i = 0; i < which->option_count + COMMON_ROWS; i++) {
        const option_row *row = row_at(which, i);
        if (row->name)
            long_options[names++] = (struct option){row->name, takes(row), NULL, row->key};
        if (row->key < 256) {
            *letter++ = (char)row->key;
            if (row->argument)
                *letter++ = ':';
        }
    }
    *letter = '\0';
    memset(&long_options[names], 0, sizeof *long_options);

    for (;;) {
        const int key = getopt_long(argc, argv, short_options, long_options, NULL);
        *value = optarg;
        if (key != -1 && key != '?')
            note_given(which, key, optarg);
        if (key == -1 || !take_common(which, key, common))
            return key;
    }
}

int option_next(const command *which, int argc, char **argv, settings *common, const char **value)
{
    const int key = next(which, "", argc, argv, common, value);
    if (key == -1 && !replacement_takes_bytes(STDOUT_FILENO, 1))
        exit(output_lost()); /* before anything is computed for it */
    return key;
}

int option_next_leading(const command *which, int argc, char **argv, settings *common,
                        const char **value)
{
    return next(which, "+", argc, argv, common, value);
}

double option_real(const command *which, const char *name, const char *text)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end)
        usage_error(which, "--%s takes a number, not \"%s\"", name, text);
    if (errno == ERANGE && fabs(value) > 1.0)
        usage_error(which, "--%s: \"%s\" is beyond what a double holds", name, text);
    if (value == 0.0 && errno == ERANGE)
        usage_error(which, "--%s: \"%s\" is so small that a double would be 0", name, text);
    return value;
}

int64_t option_integer(const command *which, const char *name, const char *text, int64_t least,
                       int64_t most)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        usage_error(which, "%s%s takes a whole number from %" PRId64 " to %" PRId64 ", not \"%s\"",
                    name[1] ? "--" : "-", name, least, most, text);
    return value;
}

xgemm_transpose option_transpose(const command *which, const char *name, const char *text)
{
    if (strcasecmp(text, "n") == 0)
        return XGEMM_NO_TRANS;
    if (strcasecmp(text, "t") == 0)
        return XGEMM_TRANS;
    if (strcasecmp(text, "c") == 0)
        return XGEMM_CONJ_TRANS;
    usage_error(which, "--%s takes N, T or C, not \"%s\"", name, text);
}

xgemm_order option_order(const command *which, const char *text)
{
    if (strcmp(text, "row") == 0)
        return XGEMM_ROW_MAJOR;
    if (strcmp(text, "col") == 0)
        return XGEMM_COL_MAJOR;
    usage_error(which, "--order takes row or col, not \"%s\"", text);
}

xgemm_math option_math(const command *which, const char *text)
{
    for (int math = XGEMM_MATH_DEFAULT; math <= XGEMM_MATH_TF32; math++)
        if (strcmp(text, math_word((xgemm_math)math)) == 0)
            return (xgemm_math)math;
    usage_error(which, "--math takes default, strict or tf32, not \"%s\"", text);
}

const char *transpose_letter(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? "N" : trans == XGEMM_TRANS ? "T" : "C";
}

const char *order_word(xgemm_order order)
{
    return order == XGEMM_ROW_MAJOR ? "row" : "col";
}

const char *math_word(xgemm_math math)
{
    return math == XGEMM_MATH_TF32 ? "tf32" : math == XGEMM_MATH_STRICT ? "strict" : "default";
}

int status_without_device(xgemm_status status)
{
    switch (status) {
    case XGEMM_ERROR_NO_DRIVER:
    case XGEMM_ERROR_DRIVER_TOO_OLD:
    case XGEMM_ERROR_NO_DEVICE:
    case XGEMM_ERROR_NOT_SUPPORTED:
        return STATUS_NO_DEVICE;
    case XGEMM_ERROR_ENVIRONMENT:
        return STATUS_USAGE;
    default:
        return STATUS_FAILED;
    }
}

/* Why the CPU computes where there is a GPU, whose driver is too old or that has no kernels. */
static void note_fallback(const command *which)
{
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_handle *gpu;
    const xgemm_status status = xgemm_create(&gpu, 0);
    if (status == XGEMM_ERROR_DRIVER_TOO_OLD ||
        (status == XGEMM_ERROR_NOT_SUPPORTED && xgemm_device_get(0, &device) == XGEMM_OK))
        fprintf(stderr, "xgemm %s: the GPU is not used: %s\n", which->name, xgemm_last_error(NULL));
    if (!status)
        xgemm_destroy(gpu);
}

xgemm_handle *open_device(const command *which, const settings *common)
{
    xgemm_handle *handle;
    const xgemm_status status = xgemm_create(&handle, common->device);
    if (status) {
        failed_call(which, NULL);
        exit(status_without_device(status));
    }
    if (common->device == XGEMM_DEVICE_AUTO && !getenv("XGEMM_DEVICE") && !common->quiet &&
        xgemm_get_device(handle) == XGEMM_DEVICE_CPU)
        note_fallback(which);
    return handle;
}
