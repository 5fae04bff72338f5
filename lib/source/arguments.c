/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const xg_element_type types[] = {
    {"float", 'f', 4},  {"double", 'f', 8}, {"half", 'h', 2},     {"bfloat16", 'b', 2},
    {"char", 'i', 1},   {"uchar", 'u', 1},  {"short", 'i', 2},    {"ushort", 'u', 2},
    {"int", 'i', 4},    {"uint", 'u', 4},   {"long", 'i', 8},     {"ulong", 'u', 8},
    {"bool", 'u', 1},   {"int8", 'i', 1},   {"uint8", 'u', 1},    {"int16", 'i', 2},
    {"uint16", 'u', 2}, {"int32", 'i', 4},  {"uint32", 'u', 4},   {"int64", 'i', 8},
    {"uint64", 'u', 8}, {"size_t", 'u', 8}, {"unsigned", 'u', 4},
};

/* ---- Parsing ---- */

static xgemm_status wrong(const char *text, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "\"%s\" is no argument: NAME=TYPE[N]:INIT, NAME=TYPE[ROWSxCOLUMNS]:INIT or "
                   "NAME=TYPE:VALUE, such as a=float[1024x1024]:random or n=int:1024",
                   text);
}

static bool take_number(const char *text, double *value, const char **end)
{
    char *after;
    errno = 0;
    *value = strtod(text, &after);
    *end = after;
    return after > text && errno == 0;
}

/* LOW..HIGH, of which strtod would take the first dot for LOW's. */
static bool take_range(const char *text, xg_argument *a)
{
    char low[64];
    const char *end, *const dots = strstr(text, "..");
    const size_t length = dots ? (size_t)(dots - text) : sizeof low;
    if (length >= sizeof low)
        return false;
    memcpy(low, text, length);
    low[length] = '\0';
    a->init = XG_INIT_RANDOM;
    a->has_range = true;
    return take_number(low, &a->low, &end) && !*end && take_number(dots + 2, &a->high, &end) &&
           !*end && a->low <= a->high;
}

/* What follows the colon. */
static bool take_init(const char *text, xg_argument *a)
{
    const char *end;
    if (strcmp(text, "zero") == 0)
        return true;
    if (strcmp(text, "one") == 0) {
        a->value = 1.0;
        a->integer = 1;
        return true;
    }
    if (a->count >= 0 && strcmp(text, "index") == 0)
        return a->init = XG_INIT_INDEX, true;
    if (a->count >= 0 && strcmp(text, "undefined") == 0)
        return a->init = XG_INIT_UNDEFINED, true;
    if (a->count >= 0 && strcmp(text, "random") == 0)
        return a->init = XG_INIT_RANDOM, true;
    if (a->count >= 0 && strncmp(text, "random=", 7) == 0)
        return take_range(text + 7, a);
    if (!take_number(text, &a->value, &end) || *end)
        return false;
    return true;
}

/* A whole number that the type has: "12", "0xff", "1e6". */
static bool take_integer(const char *text, xg_argument *a)
{
    const int bits = 8 * a->type->bytes;
    const bool is_signed = a->type->kind == 'i';
    char *after;
    errno = 0;
    a->integer =
        is_signed || *text == '-' ? strtoll(text, &after, 0) : (long long)strtoull(text, &after, 0);
    if (*after && fabs(a->value) < 0x1p53 && a->value == floor(a->value)) {
        a->integer = (long long)a->value;
    } else if (*after || errno) {
        return false;
    }
    if (strcmp(a->type->name, "bool") == 0)
        return a->integer == 0 || a->integer == 1;
    if (is_signed && bits < 64)
        return a->integer >= -(1LL << (bits - 1)) && a->integer < 1LL << (bits - 1);
    if (!is_signed)
        return *text != '-' && (bits == 64 || (a->integer >= 0 && a->integer < 1LL << bits));
    return true;
}

/* Whether a number for one of the integer types is one of it; words and ranges are. */
static bool fits_type(const char *init, xg_argument *a)
{
    double value;
    const char *end;
    const bool is_number = a->init == XG_INIT_VALUE && take_number(init, &value, &end);
    return !is_number || (a->type->kind != 'i' && a->type->kind != 'u') || take_integer(init, a);
}

enum { ELEMENTS_MOST = 1 << 30 }; /* of an array */

/* "[N]" or "[NxM]" and so on; the end, or NULL: with the count -1 there are too many, or none. */
static const char *take_sizes(const char *text, xg_argument *a)
{
    char *end = NULL;
    a->count = 1;
    do {
        const long long size = strtoll(text + 1, &end, 10);
        if (end == text + 1)
            return NULL;
        if (size < 1 || size > ELEMENTS_MOST || a->count > ELEMENTS_MOST / size) {
            a->count = -1;
            return NULL;
        }
        a->count *= size;
        text = end;
    } while (*text == 'x');
    return *text == ']' ? text + 1 : NULL;
}

static xgemm_status parse_one(const char *text, xg_argument *a, xg_error *error)
{
    const char *equals = strchr(text, '=');
    memset(a, 0, sizeof *a);
    a->count = -1;
    if (!equals || equals == text || equals - text >= XG_NAME_MOST)
        return wrong(text, error);
    memcpy(a->name, text, (size_t)(equals - text));
    const char *type = equals + 1;
    const size_t length = strcspn(type, "[:");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, type, length) == 0)
            a->type = &types[i];
    if (!a->type)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "\"%s\": there is no type \"%.*s\"; there are float, double, half, "
                       "bfloat16, char, uchar, short, ushort, int, uint, long, ulong and bool",
                       text, (int)length, type);
    const char *at = type + length;
    if (*at == '[' && !(at = take_sizes(at, a)))
        return a->count < 0
                   ? xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                             "\"%s\": an array has from 1 to %d elements", text, ELEMENTS_MOST)
                   : wrong(text, error);
    if (*at != ':' && !(*at == '\0' && a->count >= 0))
        return wrong(text, error);
    if (*at && !take_init(at + 1, a))
        return wrong(text, error);
    if (*at && !fits_type(at + 1, a))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "\"%s\": %s has no such number", text,
                       a->type->name);
    return XGEMM_OK;
}

static int parameter_named(const xg_source_kernel *kernel, const char *name)
{
    for (int i = 0; i < kernel->parameter_count; i++)
        if (strcmp(kernel->parameters[i], name) == 0)
            return i;
    return -1;
}

static void list_parameters(const xg_source_kernel *kernel, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < kernel->parameter_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 kernel->parameters[i]);
}

xgemm_status xg_no_such_parameter(const xg_source_kernel *kernel, const char *name, xg_error *error)
{
    char all[400];
    list_parameters(kernel, all, sizeof all);
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "kernel %s has no parameter \"%s\"; it has %s",
                   kernel->name, name, *all ? all : "none");
}

/* By name; where the parameters are not known, in the order that they are given. */
static xgemm_status place(const xg_source_kernel *kernel, const xg_argument *one, xg_arguments *to,
                          bool *given, xg_error *error)
{
    int at = to->count;
    if (kernel->parameter_count >= 0)
        at = parameter_named(kernel, one->name);
    if (at < 0 && one->count >= 0 && to->variable_count < XG_VARIABLES_MOST) {
        to->variables[to->variable_count++] = *one;
        return XGEMM_OK;
    }
    if (at < 0)
        return xg_no_such_parameter(kernel, one->name, error);
    if (given[at])
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "the argument %s is given twice",
                       one->name);
    given[at] = true;
    to->all[at] = *one;
    to->count++;
    return XGEMM_OK;
}

xgemm_status xg_arguments_parse(const xgemm_source_launch *launch, const xg_source_kernel *kernel,
                                xg_arguments *arguments, xg_error *error)
{
    bool given[XG_PARAMETERS_MOST] = {false};
    xgemm_status status = XGEMM_OK;
    memset(arguments, 0, sizeof *arguments);
    if (launch->argument_count > XG_PARAMETERS_MOST)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%d arguments; the most is %d",
                       launch->argument_count, XG_PARAMETERS_MOST);
    for (int i = 0; i < launch->argument_count && !status; i++) {
        xg_argument one;
        status = parse_one(launch->arguments[i], &one, error);
        if (!status)
            status = place(kernel, &one, arguments, given, error);
    }
    for (int i = 0; i < kernel->parameter_count && !status; i++)
        if (!given[i])
            status = xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                             "kernel %s has a parameter \"%s\", for which there is no argument: "
                             "%s=float[N]:random or %s=int:N, for example",
                             kernel->name, kernel->parameters[i], kernel->parameters[i],
                             kernel->parameters[i]);
    return status;
}

/* ---- Memory ---- */

int64_t xg_arguments_bytes(const xg_arguments *arguments)
{
    int64_t bytes = 0;
    for (int i = 0; i < arguments->count; i++)
        if (arguments->all[i].count > 0)
            bytes += arguments->all[i].count * arguments->all[i].type->bytes;
    return bytes;
}

/* FP32 to FP16's bits, towards zero: of data that may be any. */
static uint16_t half_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest >= 0x47800000u)
        return (uint16_t)(sign | 0x7c00u);
    return (uint16_t)(rest < 0x38800000u ? sign : sign | (rest - 0x38000000u) >> 13);
}

static void store(const xg_element_type *type, char *to, double real, long long integer)
{
    const float single = (float)real;
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &single, sizeof bits);
    switch (type->kind) {
    case 'f':
        memcpy(to, type->bytes == 8 ? (const void *)&real : (const void *)&single,
               (size_t)type->bytes);
        break;
    case 'h':
    case 'b':
        half = type->kind == 'h' ? half_bits(single) : (uint16_t)(bits >> 16);
        memcpy(to, &half, sizeof half);
        break;
    default: /* little-endian, as the GPU is */
        memcpy(to, &integer, (size_t)type->bytes);
    }
}

/* From the same numbers each time: of floats between -1 and 1, of integers all that there are. */
static void store_random(const xg_argument *a, char *to, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double unit = (double)(*state >> 11) * 0x1p-53;
    const bool integer = a->type->kind == 'i' || a->type->kind == 'u';
    if (a->has_range && integer)
        store(a->type, to, 0.0, (long long)(a->low + unit * (a->high - a->low + 1.0)));
    else if (a->has_range)
        store(a->type, to, a->low + unit * (a->high - a->low), 0);
    else
        store(a->type, to, 2.0 * unit - 1.0, (long long)(*state >> 20));
}

static void fill(const xg_argument *a, int number)
{
    uint64_t state = 88172645463325252u + (uint64_t)number;
    for (int64_t i = 0; i < a->count; i++) {
        char *to = a->base + i * a->type->bytes;
        if (a->init == XG_INIT_RANDOM)
            store_random(a, to, &state);
        else if (a->init == XG_INIT_INDEX)
            store(a->type, to, (double)i, i);
        else if (a->init == XG_INIT_UNDEFINED)
            memset(to, 0xff, (size_t)a->type->bytes);
        else if (a->value != 0.0)
            store(a->type, to, a->value, a->integer);
    }
}

void xg_argument_fill(const xg_argument *variable, char *at)
{
    xg_argument there = *variable;
    there.base = at;
    fill(&there, (int)variable->name[0]);
}

bool xg_arguments_fill(xg_arguments *arguments)
{
    enum { APART = 1 << 27 }; /* an access past the end of one is not in the next */
    for (int i = 0; i < arguments->count; i++) {
        xg_argument *a = &arguments->all[i];
        if (a->count < 0)
            continue;
        const size_t bytes = (size_t)a->count * (size_t)a->type->bytes;
        char *all = mmap(NULL, bytes + 2 * (size_t)APART, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED)
            return false;
        a->base = all + APART;
        if (mprotect(a->base, bytes, PROT_READ | PROT_WRITE) != 0)
            return false;
        fill(a, i);
    }
    return true;
}
