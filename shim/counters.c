/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static counters *shared;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void map(void)
{
    const char *name = secure_getenv(COUNTERS_VARIABLE);
    struct stat about;
    const int file = name && *name ? open(name, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == sizeof *shared) {
        void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED && ((counters *)memory)->magic == COUNTERS_MAGIC)
            shared = memory;
        else if (memory != MAP_FAILED)
            munmap(memory, sizeof *shared);
    }
    close(file);
    if (shared)
        atomic_fetch_add(&shared->processes, 1);
}

/* A thread that is cancelled meanwhile ends later: another would map the file again. */
static void map_once(void)
{
    int cancelled;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    map();
    pthread_setcancelstate(cancelled, NULL);
}

counters *counters_open(void)
{
    pthread_once(&once, map_once);
    return shared;
}

/* FNV-1a. */
static uint64_t hash_of(const counters_key *key)
{
    const unsigned char *bytes = (const unsigned char *)key;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

counters_kind *counters_find(const counters_key *key, double predicted_us, double library_us)
{
    if (!counters_open())
        return NULL;
    const uint64_t hash = hash_of(key), step = hash >> 32 | 1;
    for (uint64_t i = 0; i < COUNTERS_PLACES; i++) {
        counters_kind *kind = &shared->kinds[(hash + i * step) % COUNTERS_KINDS];
        uint64_t found = atomic_load(&kind->hash);
        if (found == 0 && atomic_compare_exchange_strong(&kind->hash, &found, hash)) {
            kind->key = *key;
            kind->predicted_us = predicted_us;
            kind->library_us = library_us;
            atomic_store(&kind->is_ready, 1);
            return kind;
        }
        if (found == hash)
            return kind;
    }
    return NULL;
}

void counters_count(counters_kind *kind)
{
    if (kind)
        atomic_fetch_add_explicit(&kind->calls, 1, memory_order_relaxed);
    else if (shared)
        atomic_fetch_add_explicit(&shared->lost, 1, memory_order_relaxed);
}
