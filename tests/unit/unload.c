/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that loads the library, multiplies, fails a call and unloads it, again and again, holds
 * no more memory, mappings, descriptors or thread-specific keys for it.
 *
 * $XGEMM_LIBRARY is the shared library (./.libs/libxgemm.so). Exits with 77 where there is none,
 * and where unloading is left to others: valgrind and the like keep what was unloaded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <xgemm.h>

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, SIZE = 96, ROUNDS = 8, SETS = 8 };

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#include <link.h>
#include <malloc.h>

static const char *path;

#define FUNCTIONS(X)                                                                               \
    X(xgemm_create)                                                                                \
    X(xgemm_destroy)                                                                               \
    X(xgemm_set_kernel)                                                                            \
    X(xgemm_sgemm)                                                                                 \
    X(xgemm_last_error)
#define POINTER(name) __typeof__(&name) name;
typedef struct {
    void *library;
    FUNCTIONS(POINTER)
} functions;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

static functions load(void)
{
    functions f = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!f.library)
        fail("%s\n", dlerror());
#define RESOLVE(name)                                                                              \
    {                                                                                              \
        void *const address = dlsym(f.library, #name);                                             \
        memcpy(&f.name, &address, sizeof address);                                                 \
        if (!address)                                                                              \
            fail("%s has no %s\n", path, #name);                                                   \
    }
    FUNCTIONS(RESOLVE)
    return f;
}

/* A failure without a handle, whose sentence is kept for the thread. */
static void fail_once(const functions *f)
{
    xgemm_handle *handle;
    if (f->xgemm_create(&handle, -1000) != XGEMM_ERROR_NO_DEVICE || !f->xgemm_last_error(NULL)[0])
        fail("device -1000 is there, or nothing says why it is not\n");
}

/* Kernels that use what the simulator keeps: stacks, asynchronous copies of each kind. */
static void multiply(const functions *f)
{
    static const char *const kernels[] = {"tiled16", "pipelined-64x128", "fp16x3-128x128"};
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    xgemm_handle *handle;
    if (f->xgemm_create(&handle, XGEMM_DEVICE_SIM))
        fail("%s\n", f->xgemm_last_error(NULL));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (f->xgemm_set_kernel(handle, kernels[i]) ||
            f->xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIZE, SIZE,
                           SIZE, 1.0f, a, SIZE, b, SIZE, 0.0f, c, SIZE))
            fail("%s\n", f->xgemm_last_error(handle));
    f->xgemm_destroy(handle);
}

static void unload(const functions *f)
{
    if (dlclose(f->library))
        fail("%s\n", dlerror());
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
        printf("skipped: the system keeps %s loaded\n", path);
        exit(SKIPPED);
    }
}

typedef struct {
    long bytes, mappings, descriptors;
} held;

static held holds(void)
{
    held now = {.bytes = (long)mallinfo2().uordblks + (long)mallinfo2().hblkhd};
    FILE *const maps = fopen("/proc/self/maps", "r");
    for (int byte; maps && (byte = fgetc(maps)) != EOF;)
        now.mappings += byte == '\n';
    if (maps)
        fclose(maps);
    DIR *const folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        now.descriptors++;
    if (folder)
        closedir(folder);
    return now;
}

static void rounds(int count)
{
    for (int i = 0; i < count; i++) {
        const functions f = load();
        fail_once(&f);
        multiply(&f);
        unload(&f);
    }
}

/* Keys that can still be had. */
static int free_keys(void)
{
    static pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;
    while (count < PTHREAD_KEYS_MAX && !pthread_key_create(&keys[count], NULL))
        count++;
    for (int i = 0; i < count; i++)
        pthread_key_delete(keys[i]);
    return count;
}

/* What the library needs stays, so that only its own memory is counted. */
static void keep_the_others(void)
{
    const functions f = load();
    struct link_map *map;
    if (dlinfo(f.library, RTLD_DI_LINKMAP, &map))
        fail("%s\n", dlerror());
    for (map = map->l_next; map; map = map->l_next)
        if (map->l_name[0])
            dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    unload(&f);
}

int main(void)
{
    path = getenv("XGEMM_LIBRARY");
    path = path ? path : "./.libs/libxgemm.so";
    if (access(path, R_OK)) {
        printf("skipped: no %s\n", path);
        return SKIPPED;
    }
    setenv("XGEMM_SIM", "late", 1); /* asynchronous copies are kept until they are waited for */
    keep_the_others();
    rounds(ROUNDS);
    holds(); /* allocates itself, the first time */
    /* What a set of rounds adds to the allocator's lists comes once; a leak comes in each. */
    bool leaks = true;
    for (int set = 0; set < SETS && leaks; set++) {
        const held before = holds();
        const int keys_before = free_keys();
        rounds(ROUNDS);
        const held after = holds();
        const int keys = keys_before - free_keys();
        printf("after %d rounds: %ld bytes, %ld mappings, %ld descriptors, %d keys more\n", ROUNDS,
               after.bytes - before.bytes, after.mappings - before.mappings,
               after.descriptors - before.descriptors, keys);
        leaks = after.bytes > before.bytes || after.mappings > before.mappings ||
                after.descriptors > before.descriptors || keys;
    }
    return leaks;
}
#else
int main(void)
{
    puts("skipped: this C library does not tell what is allocated");
    return SKIPPED;
}
#endif
