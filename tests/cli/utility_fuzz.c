/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs as calls of the utility (tests/fuzz.h says how it is called): a word of the command line
 * on each line up to an empty one, and after that a file, which is there as "f" and as the standard
 * input: shapes, the JSON of an earlier result, a matrix. Changes put in the options that "xgemm
 * help COMMAND" lists, so that new ones are tried too.
 *
 * However it is called, the utility ends with one of its exit statuses; if that is not 0, it says a
 * sentence, and if it is, --json has printed one object. What was asked for something long is
 * stopped, and counted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "data_parts.h"
#include "fuzz.h"
#include "utility_limits.h"

#include <jansson.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MOST = 48, WORDS_MOST = 2048, WORD_MOST = 80, VALUES_OF_OPTION = 8 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const commands[] = {"multiply", "bench",   "plan",      "verify", "kernels",
                                       "devices",  "explain", "occupancy", "probe",  "run"};

static const char *const values[] = {
    "",
    "0",
    "1",
    "-1",
    "2",
    "8",
    "8:16:4",
    "16:8:4",
    "1e99",
    "1e-50",
    "nan",
    "-inf",
    "0x10",
    "99999999999999999999",
    "8,,8",
    ",",
    "1:1000000",
    "row",
    "col",
    "N",
    "T,N",
    "C",
    "strict",
    "tf32",
    "default",
    "all",
    "auto",
    "naive",
    "tiled16,reference",
    "reference",
    "blas",
    "H200",
    "sm_90",
    "A100",
    "cpu",
    "sim",
    "list",
    "normal",
    "a:b",
    "cublas",
    "shapes.txt",
    "r.json",
    "a.npy",
    "out.svg",
    "-",
    "none/out",
    "%s%n",
    "\xff\xfe",
    "4x2x8",
    "64,32,64",
    "1.5",
    "12345678",
    "threads",
    "registers",
    "x.unknown",
    "2147483648",
    "1099511627776",
    "9223372036854775807",
    "shared",
    "b.npy",
};

static const char *const fragments[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        "\"",
                                        ",",
                                        ":",
                                        "null",
                                        "true",
                                        "#",
                                        "\n",
                                        "\\u0000",
                                        "m",
                                        "\t",
                                        "\xc3",
                                        "[[[[[[",
                                        "-",
                                        "1.5e-7",
                                        "\"a\"",
                                        " ",
                                        "\r\n",
                                        "\n\n",
                                        "--",
                                        "\n-f\nf\n",
                                        "\n--json\n",
                                        "\n--csv\n",
                                        "\n--from\nf\n",
                                        "\n--baseline\nf\n"};

static const char *words[WORDS_MOST];
static size_t word_count;
static unsigned long taken, stopped;

const fuzz_program fuzz_this = {"tests/cli/corpus", words, 1200, 0};

/* ---- Words that changes put in ---- */

static void add_word(const char *format, const char *first, const char *second)
{
    char text[WORD_MOST];
    snprintf(text, sizeof text, format, first, second);
    if (word_count + 1 < WORDS_MOST && !(words[word_count++] = strdup(text)))
        abort();
}

/* "      --name ARGUMENT   text", "  -n, --name", "  -m SPEC": with some values. */
static void add_option(const char *line, fuzz_random *random)
{
    char name[32];
    if (strlen(line) < 8 || line[0] != ' ' || line[2 + 4 * (line[2] == ' ')] != '-')
        return;
    const char *at = strstr(line, "--");
    if (!at || at - line > 8)
        at = line + 2;
    const size_t end = strcspn(at, " [\n");
    snprintf(name, sizeof name, "%.*s", (int)end, at);
    const bool with_argument = at[end] == ' ' && at[end + 1] != ' ';
    add_word("%s\n%s", name, "");
    for (int i = 0; with_argument && i < VALUES_OF_OPTION; i++)
        add_word("%s\n%s\n", name, values[fuzz_pick(random, COUNT(values))]);
}

static void add_options(const char *command, fuzz_random *random)
{
    char program[] = "xgemm", help[] = "help", name[16];
    char *arguments[] = {program, help, name, NULL};
    const char *output, *messages;
    const size_t before = word_count;
    snprintf(name, sizeof name, "%s", command);
    REQUIRE(utility_run(3, arguments, "/dev/null", &output, &messages) == 0);
    for (const char *line = output; *line; line += strcspn(line, "\n") + 1)
        add_option(line, random);
    REQUIRE_THAT(word_count > before + 4, "the help of %s has few options", command);
}

static void make_words(void)
{
    fuzz_random random = {1};
    for (size_t i = 0; i < COUNT(commands); i++)
        add_options(commands[i], &random);
    for (size_t i = 0; i < COUNT(values); i++)
        add_word("%s%s", values[i], "");
    for (size_t i = 0; i < COUNT(fragments); i++)
        add_word("%s%s", fragments[i], "");
}

/* ---- The folder ---- */

static struct {
    const char *name;
    unsigned char bytes[FUZZ_MOST];
    size_t size;
    ino_t number;
} matrices[] = {{"a.npy", {0}, 0, 0}, {"b.npy", {0}, 0, 0}};

static void load_matrices(void)
{
    const char *top = getenv("srcdir");
    char path[4096];
    for (size_t i = 0; i < COUNT(matrices); i++) {
        snprintf(path, sizeof path, "%s/examples/%s", top ? top : ".", matrices[i].name);
        FILE *file = fopen(path, "rb");
        REQUIRE_THAT(file != NULL, "%s cannot be read", path);
        matrices[i].size = fread(matrices[i].bytes, 1, sizeof matrices[i].bytes, file);
        fclose(file);
    }
}

/* Those that the utility replaced come again, and what it made goes. */
static void tidy_folder(void)
{
    struct stat status;
    for (size_t i = 0; i < COUNT(matrices); i++) {
        if (matrices[i].number && stat(matrices[i].name, &status) == 0 &&
            status.st_ino == matrices[i].number && (size_t)status.st_size == matrices[i].size)
            continue;
        fuzz_write(matrices[i].name, matrices[i].bytes, matrices[i].size);
        REQUIRE(stat(matrices[i].name, &status) == 0);
        matrices[i].number = status.st_ino;
    }
    DIR *folder = opendir(".");
    REQUIRE(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, "a.npy") != 0 && strcmp(entry->d_name, "b.npy") != 0)
            unlink(entry->d_name); /* "." and ".." stay */
    closedir(folder);
}

/* ---- Calls ---- */

static bool has(char *const *arguments, const char *word)
{
    for (; *arguments; arguments++)
        if (strcmp(*arguments, word) == 0)
            return true;
    return false;
}

/* jansson takes an object's repeated keys, which nothing here should print. */
static bool is_object(const char *text)
{
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const bool result = json_is_object(root);
    json_decref(root);
    return result;
}

static void call(int count, char **arguments)
{
    const char *output, *messages;
    char *given[ARGUMENTS_MOST + 2]; /* getopt puts them in another order */
    memcpy(given, arguments, ((size_t)count + 1) * sizeof *given);
    const int code = utility_run(count, arguments, "f", &output, &messages);
    if (code == UTILITY_STOPPED) {
        stopped++;
        return;
    }
    const bool not_there = code == 127 && strcmp(given[1], "run") == 0;
    REQUIRE_THAT(code == 0 || code == 1 || code == 2 || code == 77 || not_there,
                 "the exit status is %d", code);
    /* A comparison or check that does not hold is in the table. */
    if (code != 0 && !has(given, "-") && (code != 1 || !*output))
        REQUIRE_THAT(strlen(messages) > 8 && (strncmp(messages, "xgemm", 5) == 0 || count == 1),
                     "it says nothing with status %d, but \"%s\"", code, messages);
    if (code == 0 && has(given, "--json") && !has(given, "-") && !has(given, "-h") &&
        !has(given, "--help") && strcmp(given[1], "help") != 0)
        REQUIRE_THAT(is_object(output), "it prints no object of JSON, but \"%s\"", output);
    taken += code == 0;
}

/* The words of the lines, in place; NULL ends them. What leaves the folder is not called. */
static int split(char *text, char **arguments)
{
    int count = 0;
    for (char *rest, *word = strtok_r(text, "\n", &rest); word;
         word = strtok_r(NULL, "\n", &rest)) {
        if (strchr(word, '/') || count == ARGUMENTS_MOST)
            return -1;
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    return count;
}

void fuzz_judge(const unsigned char *bytes, size_t size)
{
    char text[FUZZ_MOST + 1], program[] = "xgemm", *arguments[ARGUMENTS_MOST + 2] = {program};
    if (size > FUZZ_MOST)
        return;
    memcpy(text, bytes, size);
    text[size] = '\0';
    char *const gap = strstr(text, "\n\n");
    const size_t head = gap ? (size_t)(gap - text) + 2 : size;
    text[gap ? head - 2 : head] = '\0';
    const int count = split(text, arguments + 1);
    if (count < 0)
        return;
    tidy_folder();
    fuzz_write("f", bytes + head, size - head);
    call(count + 1, arguments);
}

void fuzz_begin(void)
{
    load_matrices();
    fuzz_enter_folder();
    REQUIRE(data_pools_open()); /* which last as long as the program */
    make_words();
}

void fuzz_end(unsigned long inputs)
{
    fuzz_leave_folder();
    for (size_t i = 0; i < word_count; i++)
        free((void *)(uintptr_t)words[i]);
    printf("%lu calls of the utility, of which %lu were taken and %lu stopped\n", inputs, taken,
           stopped);
}
