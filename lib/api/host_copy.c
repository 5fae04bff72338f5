/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_copy.h"

#include <string.h>
#include <unistd.h>

/* CUDA's stream of the calling thread, so that threads do not wait for each other. */
#define STREAM_PER_THREAD ((void *)2)

int64_t xg_host_step(int64_t columns)
{
    enum { UNIT = 16 };
    return (columns + UNIT - 1) / UNIT * UNIT;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t parts(int64_t size, int64_t of)
{
    return (size + of - 1) / of;
}

/* ---- Chunks ---- */

/* As many rows as there is room for, or a part of one. */
static xg_copy cut(void *device, const xg_part *part, bool to_device)
{
    const int64_t row = xg_host_step(part->columns) * (int64_t)part->bytes;
    xg_copy copy = {.part = *part, .device = device, .to_device = to_device};
    copy.rows = row <= XG_COPY_CHUNK ? XG_COPY_CHUNK / row : 1;
    copy.columns = row <= XG_COPY_CHUNK ? part->columns : XG_COPY_CHUNK / (int64_t)part->bytes;
    copy.chunks = parts(part->rows, copy.rows) * parts(part->columns, copy.columns);
    return copy;
}

/* A chunk by way of the staging memory. */
static xgemm_status copy_chunk(const xg_copiers *copiers, const xg_copy *copy, int64_t number,
                               char *staging, xg_error *error)
{
    const xgemm_handle *h = copiers->handle;
    void *const stream = h->backend->has_streams ? STREAM_PER_THREAD : NULL;
    const xg_part *of = &copy->part;
    const int64_t across = parts(of->columns, copy->columns);
    const int64_t row = number / across * copy->rows, column = number % across * copy->columns;
    const int64_t rows = least(copy->rows, of->rows - row);
    const size_t width = (size_t)least(copy->columns, of->columns - column) * of->bytes;
    const size_t step = (size_t)xg_host_step(of->columns) * of->bytes;
    const size_t bytes = across > 1 ? width : (size_t)(rows - 1) * step + width;
    char *const device = copy->device + (size_t)row * step + (size_t)column * of->bytes;
    char *const host = (char *)(uintptr_t)of->host + (row * of->ld + column) * (int64_t)of->bytes;
    const size_t pitch = (size_t)of->ld * of->bytes;
    if (copy->to_device) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(staging + (size_t)i * step, host + (size_t)i * pitch, width);
        return h->backend->upload(h->device, stream, device, staging, bytes, error);
    }
    const xgemm_status status =
        h->backend->download(h->device, stream, staging, device, bytes, error);
    for (int64_t i = 0; i < rows && !status; i++)
        memcpy(host + (size_t)i * pitch, staging + (size_t)i * step, width);
    return status;
}

/* ---- Threads ---- */

/* With the lock, which is free during the copy: the next chunk of the first copy. */
static void take_chunk(xg_copiers *copiers, char *staging)
{
    xg_copy *const copy = copiers->first;
    const int64_t number = copy->next++;
    const bool is_wanted = !copy->status;
    xgemm_status status = XGEMM_OK;
    xg_error error;
    if (copy->next == copy->chunks)
        copiers->first = copy->after;
    pthread_mutex_unlock(&copiers->lock);
    if (is_wanted)
        status = copy_chunk(copiers, copy, number, staging, &error);
    pthread_mutex_lock(&copiers->lock);
    if (status && !copy->status) {
        copy->status = status;
        copy->error = error;
    }
    if (++copy->ended == copy->chunks)
        pthread_cond_broadcast(&copiers->done);
}

static void *run(void *argument)
{
    xg_copiers *const copiers = argument;
    pthread_mutex_lock(&copiers->lock);
    char *const staging = copiers->staging + (size_t)copiers->started++ * XG_COPY_CHUNK;
    for (;;) {
        if (copiers->first)
            take_chunk(copiers, staging);
        else if (copiers->is_ending)
            break;
        else
            pthread_cond_wait(&copiers->begun, &copiers->lock);
    }
    pthread_mutex_unlock(&copiers->lock);
    return NULL;
}

int xg_copiers_count(int devices)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const long each = (cpus > 0 ? cpus : 1) / devices;
    return each < 2 ? 2 : each < XG_COPIERS_MAX ? (int)each : XG_COPIERS_MAX;
}

void xg_copiers_begin(xg_copiers *copiers, const xgemm_handle *handle, void *staging, int count)
{
    *copiers = (xg_copiers){.handle = handle, .staging = staging};
    pthread_mutex_init(&copiers->lock, NULL);
    pthread_cond_init(&copiers->begun, NULL);
    pthread_cond_init(&copiers->done, NULL);
    while (copiers->count < count &&
           pthread_create(&copiers->threads[copiers->count], NULL, run, copiers) == 0)
        copiers->count++;
}

void xg_copiers_end(xg_copiers *copiers)
{
    if (!copiers->handle)
        return;
    pthread_mutex_lock(&copiers->lock);
    copiers->is_ending = true;
    pthread_cond_broadcast(&copiers->begun);
    pthread_mutex_unlock(&copiers->lock);
    for (int i = 0; i < copiers->count; i++)
        pthread_join(copiers->threads[i], NULL);
    pthread_mutex_destroy(&copiers->lock);
    pthread_cond_destroy(&copiers->begun);
    pthread_cond_destroy(&copiers->done);
    copiers->handle = NULL;
}

/* ---- Copies ---- */

/* With the lock: after those that are in work. */
static void append(xg_copiers *copiers, xg_copy *copy)
{
    xg_copy **at = &copiers->first;
    while (*at)
        at = &(*at)->after;
    *at = copy;
}

/* Where there is no thread the callers copy, one at a time. */
static void take_alone(xg_copiers *copiers)
{
    copiers->is_taken = true;
    take_chunk(copiers, copiers->staging);
    copiers->is_taken = false;
    pthread_cond_broadcast(&copiers->done);
}

static xgemm_status copy_all(xg_copiers *copiers, xg_copy copy, xg_error *error)
{
    if (copy.chunks == 0)
        return XGEMM_OK;
    pthread_mutex_lock(&copiers->lock);
    append(copiers, &copy);
    pthread_cond_broadcast(&copiers->begun);
    while (copy.ended < copy.chunks) {
        if (copiers->count == 0 && copiers->first && !copiers->is_taken)
            take_alone(copiers);
        else
            pthread_cond_wait(&copiers->done, &copiers->lock);
    }
    pthread_mutex_unlock(&copiers->lock);
    if (copy.status)
        *error = copy.error;
    return copy.status;
}

xgemm_status xg_copy_to_device(xg_copiers *copiers, void *to, const xg_part *from, xg_error *error)
{
    return copy_all(copiers, cut(to, from, true), error);
}

xgemm_status xg_copy_to_host(xg_copiers *copiers, const xg_part *to, const void *from,
                             xg_error *error)
{
    return copy_all(copiers, cut((void *)(uintptr_t)from, to, false), error);
}
