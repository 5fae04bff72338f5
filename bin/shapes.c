/* SPDX-License-Identifier: BSD-3-Clause */
#include "shapes.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MAXIMUM_BITS = 40, NUMBERS_MAX = 100000, SHAPES_MAX = 1000000 };
#define SIZE_MAXIMUM ((int64_t)1 << SIZE_MAXIMUM_BITS)

typedef struct {
    int64_t *items;
    size_t count;
} numbers;

bool shape_option(shape_options *options, int key, const char *value)
{
    const char **slots[] = {['m'] = &options->m,
                            ['n'] = &options->n,
                            ['k'] = &options->k,
                            ['s'] = &options->size,
                            ['f'] = &options->file};
    if (key < 0 || (size_t)key >= sizeof slots / sizeof *slots || !slots[key])
        return false;
    *slots[key] = value;
    return true;
}

static void *grow(void *items, size_t bytes)
{
    void *larger = realloc(items, bytes);
    if (!larger) {
        fputs("xgemm: the host is out of memory\n", stderr);
        exit(STATUS_FAILED);
    }
    return larger;
}

void shape_add(shape_list *list, int64_t m, int64_t n, int64_t k)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->items = grow(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count++] = (shape){m, n, k};
}

void shape_list_free(shape_list *list)
{
    free(list->items);
    *list = (shape_list){0};
}

/* A whole number at *text, which moves behind it, at most INT64_MAX; -1 when there is none. */
static int64_t number_at(const char **text)
{
    char *end;
    const long long value = strtoll(*text, &end, 10);
    if (end == *text || value < 0)
        return -1;
    *text = end;
    return value;
}

/* FIRST, or FIRST:LAST with step 1, or FIRST:LAST:STEP; false when it is none of these. */
static bool range_at(const char **text, int64_t *first, int64_t *last, int64_t *step)
{
    *step = 1;
    *first = *last = number_at(text);
    if (*first >= 0 && **text == ':') {
        ++*text;
        *last = number_at(text);
        if (*last >= 0 && **text == ':') {
            ++*text;
            *step = number_at(text);
        }
    }
    return *first >= 0 && *last >= *first && *step > 0 && (**text == ',' || **text == '\0');
}

static numbers parse(const command *which, const char *option, const char *spec)
{
    numbers list = {NULL, 0};
    const char *text = spec;
    for (;;) {
        int64_t first, last, step;
        if (!range_at(&text, &first, &last, &step))
            usage_error(which,
                        "%s takes a number, FIRST:LAST:STEP or a list of these with commas, not "
                        "\"%s\"",
                        option, spec);
        if (last > SIZE_MAXIMUM || step > SIZE_MAXIMUM)
            usage_error(which, "%s: \"%s\" is beyond the largest size, 2^%d", option, spec,
                        SIZE_MAXIMUM_BITS);
        if ((last - first) / step >= NUMBERS_MAX)
            usage_error(which, "%s: \"%s\" is more than %d sizes", option, spec, NUMBERS_MAX);
        list.items = grow(list.items,
                          (list.count + (size_t)((last - first) / step) + 1) * sizeof *list.items);
        for (int64_t value = first; value <= last; value += step)
            list.items[list.count++] = value;
        if (*text == '\0')
            return list;
        text++;
    }
}

static void add_combinations(const command *which, const shape_options *options, shape_list *list)
{
    const char *any = options->m ? options->m : options->n ? options->n : options->k;
    const char *given = options->m ? "-m" : options->n ? "-n" : "-k"; /* a sentence names it */
    if (!any)
        return;
    numbers m = parse(which, given, any);
    numbers n = parse(which, options->n ? "-n" : given, options->n ? options->n : any);
    numbers k = parse(which, options->k ? "-k" : given, options->k ? options->k : any);
    if ((double)m.count * (double)n.count * (double)k.count > SHAPES_MAX)
        usage_error(which, "%zu sizes of -m, %zu of -n and %zu of -k are more than %d shapes",
                    m.count, n.count, k.count, SHAPES_MAX);
    for (size_t i = 0; i < m.count; i++)
        for (size_t j = 0; j < n.count; j++)
            for (size_t l = 0; l < k.count; l++)
                shape_add(list, m.items[i], n.items[j], k.items[l]);
    free(m.items);
    free(n.items);
    free(k.items);
}

static void add_squares(const command *which, const char *spec, shape_list *list)
{
    numbers sizes = parse(which, "--size", spec);
    for (size_t i = 0; i < sizes.count; i++)
        shape_add(list, sizes.items[i], sizes.items[i], sizes.items[i]);
    free(sizes.items);
}

/* What a terminal may show of a line. */
static const char *printable(char *line)
{
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
            *at = '?';
    return line;
}

static void add_line(const command *which, const char *path, int number, char *line,
                     shape_list *list)
{
    shape s;
    char rest;
    line[strcspn(line, "#\n")] = '\0';
    if (line[strspn(line, " \t\r")] == '\0')
        return;
    if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %c", &s.m, &s.n, &s.k, &rest) != 3 ||
        s.m < 0 || s.n < 0 || s.k < 0)
        usage_error(which, "%s:%d: a line is \"m n k\", not \"%s\"", path, number, printable(line));
    if (s.m > SIZE_MAXIMUM || s.n > SIZE_MAXIMUM || s.k > SIZE_MAXIMUM)
        usage_error(which, "%s:%d: \"%s\" is beyond the largest size, 2^%d", path, number,
                    printable(line), SIZE_MAXIMUM_BITS);
    shape_add(list, s.m, s.n, s.k);
}

static void add_file(const command *which, const char *path, shape_list *list)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    if (!file)
        usage_error(which, "cannot read %s: %s", path, strerror(errno));
    while (getline(&line, &room, file) >= 0)
        add_line(which, path, ++number, line, list);
    const bool broken = !feof(file); /* also without memory for a line, which sets no error */
    const int error = errno;
    free(line);
    if (!is_stdin)
        fclose(file);
    if (broken)
        usage_error(which, "cannot read %s: %s", path, strerror(error));
}

shape_list shapes_from(const command *which, const shape_options *options)
{
    shape_list list = {0};
    add_combinations(which, options, &list);
    if (options->size)
        add_squares(which, options->size, &list);
    if (options->file) {
        const size_t before = list.count;
        add_file(which, options->file, &list);
        if (list.count == before)
            usage_error(which, "%s has no line \"m n k\"", options->file);
    }
    return list;
}

void shapes_no_operand(const command *which, int argc, char **argv)
{
    if (optind < argc)
        usage_error(which, "\"%s\" is no option; sizes are given by -m, -n, -k, --size or --shapes",
                    argv[optind]);
}

int64_t shape_extent(const shape *s, int dimension)
{
    return dimension == 0 ? s->m : dimension == 1 ? s->n : s->k;
}

double shape_work(const shape *s)
{
    return (double)s->m * (double)s->n * (double)s->k;
}

int shape_by_work(const void *left, const void *right)
{
    const shape *a = left, *b = right;
    if (shape_work(a) != shape_work(b))
        return shape_work(a) < shape_work(b) ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (shape_extent(a, d) != shape_extent(b, d))
            return shape_extent(a, d) < shape_extent(b, d) ? -1 : 1;
    return 0;
}

bool shape_is_square(const shape *s)
{
    return s->m == s->n && s->n == s->k;
}

const char *shape_text(const shape *s, char text[64])
{
    if (shape_is_square(s))
        snprintf(text, 64, "%" PRId64, s->m);
    else
        snprintf(text, 64, "%" PRId64 "x%" PRId64 "x%" PRId64, s->m, s->n, s->k);
    return text;
}

const char *bytes_text(double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static char text[32];
    size_t unit = 0;
    while (bytes >= 1024.0 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024.0;
        unit++;
    }
    snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}
