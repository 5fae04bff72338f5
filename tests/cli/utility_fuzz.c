/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random command lines, shapes files and JSON of earlier results for the utility: utility_fuzz
 * [ITERATIONS [SEED]]. The same arguments give the same run. $XGEMM is the utility; its options are
 * those that "xgemm help COMMAND" lists, so that new ones are tried too; texts begin as the files
 * of tests/cli/corpus.
 *
 * However it is called, the utility ends by itself with one of its exit statuses; if that is not 0,
 * it says a sentence, and if it is, --json has printed one object. What runs out of its processor
 * time was asked for something long, and is counted. Memory is bounded, too.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, SECONDS = 4, TEXT_MOST = 1 << 14, OPTIONS_MOST = 64, WORDS_MOST = 24 };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const char *const commands[] = {"multiply", "bench",   "plan",      "verify", "kernels",
                                       "devices",  "explain", "occupancy", "probe"};

/* Words that each command takes, so that some lines are right. */
static const char *const beginnings[][WORDS_MOST] = {
    {"a.npy", "b.npy", "-o", "c.npy"},
    {"-d", "cpu", "--samples", "1", "--warm", "0", "--time", "0", "--limit", "0"},
    {"--gpu", "H200", "-s", "64"},
    {"-d", "cpu", "--size", "8"},
    {NULL},
    {NULL},
    {"tiled16", "-m", "16", "-n", "16", "-k", "16"},
    {"--gpu", "A100", "--kernel", "tiled16"},
    {"banks", "-d", "sim", "--bytes", "4096"},
};

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

/* Of the help, by command: "--name", "-n", each with whether it has an argument. */
typedef struct {
    char name[32];
    bool with_argument;
} option;
static option options[COUNT(commands)][OPTIONS_MOST];
static int option_counts[COUNT(commands)];

static char program[4096], folder[512];
static uint64_t state;
static unsigned long long_ones, taken;

static int pick(int bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state * UINT64_C(0x9e3779b97f4a7c15) >> 33) % (uint64_t)bound);
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "utility_fuzz: %s\n", what);
    exit(EXIT_FAILURE);
}

static size_t read_file(const char *path, char *to, size_t most)
{
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(to, 1, most - 1, file) : 0;
    if (file)
        fclose(file);
    to[size] = '\0';
    return size;
}

static void write_file(const char *path, const char *from, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(from, 1, size, file) != size || fclose(file))
        give_up("a file cannot be written");
}

/* ---- Running ---- */

static void limit(int what, rlim_t most)
{
    const struct rlimit limits = {most, most + (what == RLIMIT_CPU)};
    setrlimit(what, &limits);
}

static int start(char *const *arguments)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const int in = open("shapes.txt", O_RDONLY),
                  out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int messages = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(messages, STDERR_FILENO);
        limit(RLIMIT_CPU, SECONDS);
        limit(RLIMIT_FSIZE, 1 << 24);
        limit(RLIMIT_CORE, 0);
        limit(RLIMIT_AS, (rlim_t)2 << 30);
        execv(program, arguments);
        _exit(126);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        give_up("a process cannot be started");
    return status;
}

static bool has(char *const *arguments, const char *word)
{
    for (; *arguments; arguments++)
        if (strcmp(*arguments, word) == 0)
            return true;
    return false;
}

static _Noreturn void complain(const char *what, int status, char *const *arguments)
{
    char text[4096];
    fprintf(stderr, "utility_fuzz: %s (wait status 0x%x):\n ", what, (unsigned)status);
    for (; *arguments; arguments++)
        fprintf(stderr, " '%s'", *arguments);
    read_file("err", text, sizeof text);
    fprintf(stderr, "\nin %s; its messages:\n%s\n", folder, text);
    exit(EXIT_FAILURE);
}

/* Whether the output is an object of JSON, by its ends; the schema is another test's. */
static bool is_object(void)
{
    static char text[1 << 20];
    const size_t size = read_file("out", text, sizeof text);
    return size + 1 == sizeof text ||
           (size > 3 && text[0] == '{' && strcmp(text + size - 3, "\n}\n") == 0);
}

static void run(char *const *arguments)
{
    char text[4096];
    const int status = start(arguments);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
        long_ones++;
        return;
    }
    if (!WIFEXITED(status))
        complain("it ended by a signal", status, arguments);
    const int code = WEXITSTATUS(status);
    if (code != 0 && code != 1 && code != 2 && code != 77)
        complain("this is none of its exit statuses", status, arguments);
    const size_t size = read_file("err", text, sizeof text);
    if (code != 0 && (size < 8 || strncmp(text, "xgemm", 5) != 0) && !has(arguments, "-"))
        /* a comparison or check that does not hold is in the table */
        if (code != 1 || read_file("out", text, sizeof text) == 0)
            complain("it says nothing", status, arguments);
    if (code == 0 && has(arguments, "--json") && !has(arguments, "-") && !has(arguments, "-h") &&
        !has(arguments, "--help") && !is_object())
        complain("this is no object of JSON", status, arguments);
    taken += code == 0;
}

/* ---- Command lines ---- */

/* "      --name ARGUMENT   text", "  -n, --name", "  -m SPEC". */
static void read_option(int command, char *line)
{
    const size_t length = strlen(line);
    if (length < 8 || line[0] != ' ' || line[2 + 4 * (line[2] == ' ')] != '-' ||
        option_counts[command] == OPTIONS_MOST)
        return;
    option *to = &options[command][option_counts[command]];
    char *name = strstr(line, "--");
    if (!name || name - line > 8)
        name = line + 2;
    const size_t end = strcspn(name, " [\n");
    if (end >= sizeof to->name)
        return;
    memcpy(to->name, name, end);
    to->with_argument = name[end] == ' ' && name[end + 1] != ' ';
    option_counts[command]++;
}

static void read_options(int command)
{
    char help[] = "help", name[16], text[TEXT_MOST], *rest;
    snprintf(name, sizeof name, "%s", commands[command]);
    char *const arguments[] = {program, help, name, NULL};
    if (start(arguments) != 0 || read_file("out", text, sizeof text) == 0)
        complain("no help", 0, arguments);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        read_option(command, line);
    if (option_counts[command] < 5)
        give_up("the help has no options");
}

static char *word(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        give_up("no memory");
    return copy;
}

static void command_line(void)
{
    char *arguments[2 * WORDS_MOST + 4];
    int count = 0;
    const int command = pick(COUNT(commands));
    arguments[count++] = word(program);
    arguments[count++] = word(commands[command]);
    if (pick(8) != 0)
        for (int i = 0; beginnings[command][i]; i++)
            arguments[count++] = word(beginnings[command][i]);
    for (int more = pick(4); more > 0; more--) {
        const option *o = &options[command][pick(option_counts[command])];
        arguments[count++] = word(o->name);
        if (o->with_argument != (pick(30) == 0))
            arguments[count++] = word(values[pick(COUNT(values))]);
    }
    if (pick(12) == 0)
        arguments[count++] = word(values[pick(COUNT(values))]);
    arguments[count] = NULL;
    run(arguments);
    for (int i = 0; i < count; i++)
        free(arguments[i]);
}

/* ---- Texts ---- */

static const char *const fragments[] = {
    "{",  "}",  "[",    "]",      "\"", ",",      ":",     "null",    "true",
    "-1", "0",  "1e9",  "1e400",  "#",  "\n",     "8",     "\\u0000", "99999999999999999999",
    "m",  "\t", "\xc3", "[[[[[[", "-",  "1.5e-7", "\"a\"", " ",       "\r\n"};

/* Some places of the text become something else. */
static size_t mutate(char *text, size_t size)
{
    for (int changes = 1 + pick(3); changes > 0; changes--) {
        const size_t at = (size_t)pick((int)size + 1);
        size_t gone = (size_t)pick(pick(6) == 0 ? 200 : 6);
        if (gone > size - at)
            gone = size - at;
        const char *in = pick(4) == 0 ? "" : fragments[pick(COUNT(fragments))];
        const size_t more = strlen(in);
        if (size - gone + more + 1 > TEXT_MOST)
            continue;
        memmove(text + at + more, text + at + gone, size - at - gone);
        memcpy(text + at, in, more);
        size = size - gone + more;
    }
    return size;
}

static void changed_text(const char *const *names, const char *to, char *const *arguments)
{
    static char text[TEXT_MOST];
    char path[640];
    int count = 0;
    while (names[count])
        count++;
    snprintf(path, sizeof path, "%s", names[pick(count)]);
    size_t size = read_file(path, text, sizeof text);
    size = mutate(text, size);
    write_file(to, text, size);
    run(arguments);
}

static void try_texts(void)
{
    static const char *const shapes[] = {"corpus-shapes.txt", NULL};
    static const char *const results[] = {"corpus-results.json", "corpus-results-1.json", NULL};
    static char words[][16] = {"plan",   "-f",        "s.txt",     "--gpu",  "H200", "bench",
                               "--from", "r.json",    "--json",    "-d",     "cpu",  "--size",
                               "8",      "--samples", "1",         "--warm", "0",    "--baseline",
                               "--csv",  "--kernel",  "reference", "--time"};
    char *const shapes_line[] = {program, words[0], words[1], words[2], words[3], words[4], NULL};
    char *const from_line[] = {program, words[5], words[6], words[7], words[pick(2) ? 8 : 18],
                               NULL};
    char *const baseline_line[] = {program,   words[5],  words[9],  words[10], words[11], words[12],
                                   words[13], words[14], words[15], words[16], words[21], words[16],
                                   words[17], words[7],  words[19], words[20], NULL};
    changed_text(shapes, "s.txt", shapes_line);
    changed_text(results, "r.json", pick(4) ? from_line : baseline_line);
}

/* ---- The folder ---- */

static bool copy(const char *top, const char *from, const char *to)
{
    static char text[1 << 16];
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", top, from);
    const size_t size = read_file(path, text, sizeof text);
    if (size > 0)
        write_file(to, text, size);
    return size > 0;
}

static void remove_folder(void)
{
    char line[600];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    if (system(line) != 0)
        give_up("the folder is left");
}

/* The utility itself, not Libtool's script that starts it. */
static void find_program(void)
{
    char path[4096 - 32];
    const char *name = getenv("XGEMM");
    if (!name || !realpath(name, path))
        exit(SKIPPED);
    char *slash = strrchr(path, '/');
    snprintf(program, sizeof program, "%.*s/.libs/xgemm", (int)(slash - path), path);
    if (access(program, X_OK) != 0) {
        snprintf(program, sizeof program, "%s", path);
        return;
    }
    *slash = '\0';
    strcat(path, "/.libs");
    setenv("LD_LIBRARY_PATH", path, 1);
}

int main(int argument_count, char **arguments)
{
    const unsigned long iterations = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 120;
    const unsigned long seed = argument_count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    const char *srcdir = getenv("srcdir"), *parent = getenv("TMPDIR");
    char top[4096];
    find_program();
    if (!realpath(srcdir ? srcdir : ".", top))
        give_up("no srcdir");
    snprintf(folder, sizeof folder, "%s/xgemm-utility-fuzz-XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        give_up("no temporary folder");
    if (!copy(top, "examples/a.npy", "a.npy") || !copy(top, "examples/b.npy", "b.npy") ||
        !copy(top, "tests/cli/corpus/shapes.txt", "corpus-shapes.txt") ||
        !copy(top, "tests/cli/corpus/shapes.txt", "shapes.txt") ||
        !copy(top, "tests/cli/corpus/results.json", "corpus-results.json") ||
        !copy(top, "tests/cli/corpus/results-1.json", "corpus-results-1.json") ||
        !copy(top, "tests/cli/corpus/results.json", "r.json"))
        give_up("no corpus");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    state = seed * 2 + 1; /* a state of 0 would stay 0 */
    for (int command = 0; command < COUNT(commands); command++)
        read_options(command);
    for (unsigned long i = 0; i < iterations; i++) {
        command_line();
        if (i % 3 == 0)
            try_texts();
    }
    if (chdir("/") == 0)
        remove_folder();
    printf("%lu command lines and %lu texts, of which %lu were taken and %lu too long\n",
           iterations, (iterations + 2) / 3 * 2, taken, long_ones);
    return EXIT_SUCCESS;
}
