/* SPDX-License-Identifier: BSD-3-Clause */
#include "backup.h"

#include "shim/product.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One thread copies some 5 GB/s, and needs new pages for it. */
enum { THREADS = 8, LINES_LEAST = 64 };

typedef struct {
    char *c, *copy;
    size_t width, pitch; /* bytes of a line, and from one to the next of C */
    int64_t lines;
    bool is_back;
} lines;

static void *copy_lines(void *argument)
{
    const lines *const of = argument;
    for (int64_t i = 0; i < of->lines; i++) {
        char *const c = of->c + (size_t)i * of->pitch, *const copy =
                                                           of->copy + (size_t)i * of->width;
        memcpy(of->is_back ? c : copy, of->is_back ? copy : c, of->width);
    }
    return NULL;
}

/* In parts, each by a thread, or by this one where none can be made. */
static void copy_all(lines all)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t count = cpus < 1 ? 1 : cpus < THREADS ? cpus : THREADS;
    if (count > all.lines / LINES_LEAST)
        count = all.lines / LINES_LEAST + 1;
    lines part[THREADS];
    pthread_t threads[THREADS];
    bool is_started[THREADS] = {false};
    sigset_t signals, before;
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, &before); /* signals are the program's own threads' */
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = all.lines * i / count;
        part[i] = all;
        part[i].c += (size_t)first * all.pitch;
        part[i].copy += (size_t)first * all.width;
        part[i].lines = all.lines * (i + 1) / count - first;
        is_started[i] = i > 0 && pthread_create(&threads[i], NULL, copy_lines, &part[i]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int64_t i = 0; i < count; i++)
        if (is_started[i])
            pthread_join(threads[i], NULL);
        else
            copy_lines(&part[i]);
}

static lines lines_of(const xgemm_product *p, void *copy, bool is_back)
{
    const size_t bytes = bytes_of(p->type_c);
    const bool by_column = p->order == XGEMM_COL_MAJOR;
    return (lines){.c = p->c,
                   .copy = copy,
                   .width = (size_t)(by_column ? p->m : p->n) * bytes,
                   .pitch = (size_t)p->ldc * bytes,
                   .lines = by_column ? p->n : p->m,
                   .is_back = is_back};
}

void *backup_make(const xgemm_product *product)
{
    const lines of = lines_of(product, NULL, false);
    void *const copy = malloc(of.width * (size_t)of.lines);
    if (copy)
        copy_all(lines_of(product, copy, false));
    return copy;
}

void backup_restore(const xgemm_product *product, void *backup)
{
    copy_all(lines_of(product, backup, true));
}
