/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "fuzz.h"

#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SKIPPED = 77, /* what Automake takes it for: there is no corpus */
    SECONDS = 60  /* after which an input ends the program, on a busy machine too */
};

typedef struct {
    unsigned char bytes[FUZZ_MOST];
    size_t size;
} sample;

static sample *stored; /* the corpus */
static size_t stored_count;
static const unsigned char *judged; /* the input of now */
static size_t judged_size;
static char folder[512], before_folder[4096];

size_t fuzz_pick(fuzz_random *random, size_t bound)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (size_t)((random->state * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % bound;
}

/* By Fowler, Noll and Vo. */
fuzz_random fuzz_random_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (fuzz_random){hash | 1};
}

_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s:%d: %s does not hold: ", file, line, condition);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\nfor the input $'", stderr);
    for (size_t i = 0; i < judged_size; i++)
        fprintf(stderr, isprint(judged[i]) && !strchr("\\'", judged[i]) ? "%c" : "\\%03o",
                judged[i]);
    fputs("'\n", stderr);
    abort();
}

static void judge(const unsigned char *bytes, size_t size)
{
    /* Of the exact size, so that a sanitizer sees a step beyond. */
    unsigned char *copy = malloc(size > 0 ? size : 1);
    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    judged = copy;
    judged_size = size;
#ifndef XGEMM_LIBFUZZER /* which has a limit of its own */
    alarm(SECONDS);
#endif
    fuzz_judge(copy, size);
    judged_size = 0;
    free(copy);
}

/* ---- Files ---- */

void fuzz_write(const char *path, const void *bytes, size_t size)
{
    unlink(path); /* a file that is emptied and written again, ext4 brings to the disk at once */
    FILE *file = fopen(path, "wb");
    const bool good = file && (size == 0 || fwrite(bytes, 1, size, file) == size);
    REQUIRE_THAT(file && fclose(file) == 0 && good, "%s cannot be written", path);
}

void fuzz_enter_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/xgemm-fuzz-XXXXXX", parent && *parent ? parent : "/tmp");
    REQUIRE_THAT(getcwd(before_folder, sizeof before_folder) && mkdtemp(folder) &&
                     chdir(folder) == 0,
                 "no temporary folder");
}

void fuzz_leave_folder(void)
{
    struct dirent **names;
    const int count = scandir(".", &names, NULL, NULL);
    for (int i = 0; i < count; i++) {
        unlink(names[i]->d_name); /* "." and ".." stay */
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    REQUIRE_THAT(chdir(before_folder) == 0 && rmdir(folder) == 0, "the folder is left");
}

static void read_sample(const char *path, sample *to)
{
    FILE *file = fopen(path, "rb");
    REQUIRE_THAT(file != NULL, "%s cannot be read", path);
    to->size = fread(to->bytes, 1, sizeof to->bytes, file);
    fclose(file);
}

static int no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void load(const char *path)
{
    stored = realloc(stored, (stored_count + 1) * sizeof *stored);
    REQUIRE_THAT(stored != NULL, "no memory for the inputs");
    read_sample(path, &stored[stored_count++]);
}

/* In the order of their names, so that a run is the same wherever the corpus lies. */
static void load_corpus(void)
{
    const char *top = getenv("srcdir");
    char path[4096];
    struct dirent **names;
    snprintf(path, sizeof path, "%s/%s", top ? top : ".", fuzz_this.corpus);
    const int count = scandir(path, &names, no_dot, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", top ? top : ".", fuzz_this.corpus,
                 names[i]->d_name);
        load(path);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* ---- Changes ---- */

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "-0",
    "1e9",
    "1e400",
    "3L",
    "0x10",
    "nan",
    "2147483648",
    "4294967296",
    "1099511627776",
    "2305843009213693951",
    "2305843009213693952",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Puts the bytes in the place of those from begin to end, as far as there is room. */
static void replace(sample *s, size_t begin, size_t end, const void *bytes, size_t size)
{
    const size_t tail = s->size - end;
    if (begin + size + tail > FUZZ_MOST)
        return;
    memmove(s->bytes + begin + size, s->bytes + end, tail);
    memcpy(s->bytes + begin, bytes, size);
    s->size = begin + size + tail;
}

static const char *any_word(fuzz_random *random)
{
    size_t count = 0;
    while (fuzz_this.words[count])
        count++;
    return fuzz_this.words[fuzz_pick(random, count)];
}

static void flip_bit(sample *s, fuzz_random *random)
{
    if (s->size > 0)
        s->bytes[fuzz_pick(random, s->size)] ^= (unsigned char)(1u << fuzz_pick(random, 8));
}

/* To a random one, or one of a word. */
static void set_byte(sample *s, fuzz_random *random)
{
    const char *word = any_word(random);
    if (s->size > 0)
        s->bytes[fuzz_pick(random, s->size)] =
            (unsigned char)(fuzz_pick(random, 2) ? word[fuzz_pick(random, strlen(word) + 1)]
                                                 : (int)fuzz_pick(random, 256));
}

static void cut(sample *s, fuzz_random *random)
{
    s->size = fuzz_pick(random, s->size + 1);
}

static void remove_bytes(sample *s, fuzz_random *random)
{
    const size_t begin = fuzz_pick(random, s->size + 1), left = s->size - begin;
    const size_t most = fuzz_pick(random, 4) == 0 ? left : left < 8 ? left : 8;
    replace(s, begin, begin + fuzz_pick(random, most + 1), "", 0);
}

/* Bytes of a stored one, or of itself. */
static void splice(sample *s, fuzz_random *random)
{
    static sample copy;
    const sample *from = &copy;
    copy = *s;
    if (stored_count > 0 && fuzz_pick(random, 4))
        from = &stored[fuzz_pick(random, stored_count)];
    const size_t begin = fuzz_pick(random, from->size + 1);
    const size_t size = fuzz_pick(random, from->size - begin + 1);
    const size_t at = fuzz_pick(random, s->size + 1);
    const size_t gone = fuzz_pick(random, 2) ? 0 : fuzz_pick(random, s->size - at + 1);
    replace(s, at, at + gone, from->bytes + begin, size);
}

static void insert_word(sample *s, fuzz_random *random)
{
    const char *word = any_word(random);
    const size_t at = fuzz_pick(random, s->size + 1), left = s->size - at;
    const size_t gone = fuzz_pick(random, 2) ? 0 : fuzz_pick(random, (left < 8 ? left : 8) + 1);
    replace(s, at, at + gone, word, strlen(word));
}

/* The next number of a text. */
static void swap_number(sample *s, fuzz_random *random)
{
    const char *number = numbers[fuzz_pick(random, NUMBERS)];
    size_t begin = fuzz_pick(random, s->size + 1), end;
    while (begin < s->size && !isdigit(s->bytes[begin]))
        begin++;
    for (end = begin; end < s->size && isdigit(s->bytes[end]); end++)
        ;
    if (end > begin)
        replace(s, begin, end, number, strlen(number));
}

static void change(sample *s, fuzz_random *random)
{
    static void (*const changes[])(sample *, fuzz_random *) = {
        flip_bit, set_byte,    cut,         remove_bytes, splice,
        splice,   insert_word, insert_word, swap_number,  swap_number};
    for (size_t count = fuzz_pick(random, 5); count > 0; count--)
        changes[fuzz_pick(random, sizeof changes / sizeof *changes)](s, random);
}

#ifdef XGEMM_LIBFUZZER

/* ---- Guided by coverage ---- */

int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed);

int LLVMFuzzerInitialize(int *argument_count, char ***arguments)
{
    (void)argument_count;
    (void)arguments;
    load_corpus();
    fuzz_begin();
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size <= FUZZ_MOST)
        judge(data, size);
    return 0;
}

/* Its changes, and ours, which know the words. */
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed)
{
    static sample s;
    fuzz_random random = {2 * (uint64_t)seed + 1};
    if (size > FUZZ_MOST || fuzz_pick(&random, 2) == 0)
        return LLVMFuzzerMutate(data, size, most);
    s.size = size;
    memcpy(s.bytes, data, size);
    change(&s, &random);
    if (s.size > most)
        s.size = most;
    memcpy(data, s.bytes, s.size);
    return s.size;
}

#else

/* ---- At random ---- */

static void next_input(sample *s, fuzz_random *random)
{
    if ((int)fuzz_pick(random, 100) >= fuzz_this.random_bytes) {
        *s = stored[fuzz_pick(random, stored_count)];
        change(s, random);
        return;
    }
    s->size = fuzz_pick(random, 128);
    for (size_t i = 0; i < s->size; i++)
        s->bytes[i] = (unsigned char)fuzz_pick(random, 256);
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

int main(int argument_count, char **arguments)
{
    static sample s;
    const bool files = argument_count > 1 && !is_number(arguments[1]);
    const unsigned long iterations = files                ? 0
                                     : argument_count > 1 ? strtoul(arguments[1], NULL, 10)
                                                          : fuzz_this.iterations;
    fuzz_random random = {2 * (argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 1) + 1};
    for (int i = 1; files && i < argument_count; i++)
        load(arguments[i]);
    if (!files)
        load_corpus();
    if (stored_count == 0)
        return SKIPPED;
    fuzz_begin();
    for (size_t i = 0; i < stored_count; i++)
        judge(stored[i].bytes, stored[i].size);
    for (unsigned long i = 0; i < iterations; i++) {
        next_input(&s, &random);
        judge(s.bytes, s.size);
    }
    fuzz_end(stored_count + iterations);
    free(stored);
    return EXIT_SUCCESS;
}

#endif
