/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by allocations.sh: the allocation number $FAIL_ALLOCATION fails, of those that the
 * utility, libxgemm, libjansson and libz ask for until the program ends, when what counts coverage
 * allocates. Their number goes to the file $COUNT_ALLOCATIONS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static long count, failing = -1;
static int has_ended;

static void end(void)
{
    has_ended = 1;
}

static int is_ours(const void *caller)
{
    Dl_info from;
    if (!dladdr(caller, &from) || !from.dli_fname)
        return 0;
    const char *slash = strrchr(from.dli_fname, '/');
    const char *name = slash ? slash + 1 : from.dli_fname;
    return strstr(name, "xgemm") || strstr(name, "jansson") || strstr(name, "libz.");
}

static int fails(const void *caller)
{
    static __thread int inside;
    if (inside)
        return 0;
    inside = 1;
    if (failing < 0) {
        const char *text = getenv("FAIL_ALLOCATION");
        failing = text ? strtol(text, NULL, 10) : 0;
    }
    const int counts = !has_ended && is_ours(caller);
    if (counts && count++ == 0)
        atexit(end);
    const int now = counts && count == failing;
    inside = 0;
    if (now)
        errno = ENOMEM;
    return now;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory;
    return fails(__builtin_return_address(0)) || posix_memalign(&memory, alignment, size) ? NULL
                                                                                          : memory;
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t limit)
{
    const size_t size = strnlen(text, limit);
    char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

/* What the C library allocates for a call of ours is not seen by its caller. */

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*opens)(const char *, const char *);
    if (fails(__builtin_return_address(0)))
        return NULL;
    if (!opens) {
        void *found = dlsym(RTLD_NEXT, "fopen");
        memcpy(&opens, &found, sizeof opens);
    }
    return opens(path, mode);
}

/* Which getline() is. */
ssize_t __getdelim(char **line, size_t *room, int end, FILE *file)
{
    return fails(__builtin_return_address(0)) ? -1 : getdelim(line, room, end, file);
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
    return fails(__builtin_return_address(0)) ? -1 : getdelim(line, room, '\n', file);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("COUNT_ALLOCATIONS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", count);
        fclose(file);
    }
}
