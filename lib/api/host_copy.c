/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_copy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a chunk, and of its parts. */
enum { CHUNK_LEAST = 512 << 10, PART_LEAST = 1 << 20 };

/* CUDA's stream of the calling thread, so that threads do not wait for each other. */
#define STREAM_PER_THREAD ((void *)2)

int64_t xg_host_leading_dimension(int64_t columns)
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

/*
 * As many rows as there is room for, or a part of one; fewer where some of the threads would have
 * no chunk. Not fewer still: each chunk has calls of the driver, which come one at a time.
 */
static xg_copy cut(void *device, const xg_part *part, bool to_device, int threads)
{
    const int64_t row = xg_host_leading_dimension(part->columns) * (int64_t)part->bytes;
    const int64_t share = parts(row * part->rows, threads > 1 ? threads : 1);
    const int64_t bytes = least(share > CHUNK_LEAST ? share : CHUNK_LEAST, XG_COPY_CHUNK);
    xg_copy copy = {.part = *part, .device = device, .to_device = to_device};
    copy.rows = row <= bytes ? bytes / row : 1;
    copy.columns = row <= XG_COPY_CHUNK ? part->columns : XG_COPY_CHUNK / (int64_t)part->bytes;
    copy.chunks = parts(part->rows, copy.rows) * parts(part->columns, copy.columns);
    return copy;
}

/* A chunk: rows of the host and of the device, and of the staging memory, as on the device. */
typedef struct {
    char *host, *device;
    size_t pitch, step, width; /* of the host's rows, the device's; bytes of a row */
    int64_t rows;
} chunk;

static chunk chunk_at(const xg_copy *copy, int64_t number)
{
    const xg_part *of = &copy->part;
    const int64_t across = parts(of->columns, copy->columns);
    const int64_t row = number / across * copy->rows, column = number % across * copy->columns;
    const size_t step = (size_t)xg_host_leading_dimension(of->columns) * of->bytes;
    return (chunk){.host =
                       (char *)(uintptr_t)of->host + (row * of->ld + column) * (int64_t)of->bytes,
                   .device = copy->device + (size_t)row * step + (size_t)column * of->bytes,
                   .pitch = (size_t)of->ld * of->bytes,
                   .step = step,
                   .width = (size_t)least(copy->columns, of->columns - column) * of->bytes,
                   .rows = least(copy->rows, of->rows - row)};
}

/* Some of its rows; of one that is a part of a row, this part. */
static chunk rows_of(const chunk *of, int64_t first, int64_t count)
{
    chunk some = *of;
    some.host += (size_t)first * of->pitch;
    some.device += (size_t)first * of->step;
    some.rows = least(count, of->rows - first);
    return some;
}

static size_t bytes_of(const chunk *of)
{
    return of->rows > 0 ? (size_t)(of->rows - 1) * of->step + of->width : 0;
}

static void pack(const chunk *of, char *staging)
{
    for (int64_t i = 0; i < of->rows; i++)
        memcpy(staging + (size_t)i * of->step, of->host + (size_t)i * of->pitch, of->width);
}

static void unpack(const chunk *of, const char *staging)
{
    for (int64_t i = 0; i < of->rows; i++)
        memcpy(of->host + (size_t)i * of->pitch, staging + (size_t)i * of->step, of->width);
}

static xgemm_status wait_for(const xgemm_handle *h, void *stream, xg_error *error)
{
    return h->backend->upload_begin ? h->backend->wait(h->device, stream, error) : XGEMM_OK;
}

/* Each part is on its way to the device while the next is packed. */
static xgemm_status send(const xgemm_handle *h, void *stream, const chunk *of, int64_t rows,
                         char *staging, xg_error *error)
{
    xgemm_status (*const begin)(xg_device *, void *, void *, const void *, size_t, xg_error *) =
        h->backend->upload_begin ? h->backend->upload_begin : h->backend->upload;
    xgemm_status status = XGEMM_OK;
    for (int64_t row = 0; row < of->rows && !status; row += rows) {
        const chunk part = rows_of(of, row, rows);
        char *const from = staging + (size_t)row * of->step;
        pack(&part, from);
        status = begin(h->device, stream, part.device, from, bytes_of(&part), error);
    }
    /* The staging memory is the next chunk's even after a failure. */
    xg_error ignored;
    const xgemm_status waited = wait_for(h, stream, status ? &ignored : error);
    return status ? status : waited;
}

/* Each part is unpacked while the next is on its way. */
static xgemm_status receive(const xgemm_handle *h, void *stream, const chunk *of, int64_t rows,
                            char *staging, xg_error *error)
{
    xgemm_status (*const begin)(xg_device *, void *, void *, const void *, size_t, xg_error *) =
        h->backend->download_begin ? h->backend->download_begin : h->backend->download;
    chunk part = rows_of(of, 0, rows);
    xgemm_status status = begin(h->device, stream, staging, part.device, bytes_of(&part), error);
    for (int64_t row = 0; row < of->rows; row += rows) {
        if (!status)
            status = wait_for(h, stream, error);
        const bool is_there = !status;
        const chunk next = rows_of(of, row + rows, rows);
        if (is_there && next.rows > 0)
            status = begin(h->device, stream, staging + (size_t)(row + rows) * of->step,
                           next.device, bytes_of(&next), error);
        if (is_there)
            unpack(&part, staging + (size_t)row * of->step);
        part = next;
    }
    return status;
}

/* A chunk by way of the staging memory, in parts. */
static xgemm_status copy_chunk(const xg_copiers *copiers, const xg_copy *copy, int64_t number,
                               char *staging, xg_error *error)
{
    enum { PARTS = 4 };
    const xgemm_handle *h = copiers->handle;
    void *const stream = h->backend->has_streams ? STREAM_PER_THREAD : NULL;
    const chunk of = chunk_at(copy, number);
    const int64_t quarter = parts(copy->rows, PARTS), enough = parts(PART_LEAST, (int64_t)of.step);
    const int64_t rows = quarter > enough ? quarter : enough;
    return copy->to_device ? send(h, stream, &of, rows, staging, error)
                           : receive(h, stream, &of, rows, staging, error);
}

/* Bytes from row to row of the host; of a single row no more than it has. */
static int64_t host_pitch(const xg_part *of)
{
    return (of->rows > 1 ? of->ld : of->columns) * (int64_t)of->bytes;
}

/*
 * Pinned memory whose rows are as near each other as CUDA's copies of rows allow
 * (CU_DEVICE_ATTRIBUTE_MAX_PITCH): the device copies all by itself, in the caller's stream.
 */
static bool is_pinned(const xg_copiers *copiers, const xg_part *of)
{
    const xgemm_handle *h = copiers->handle;
    const int64_t row = xg_host_leading_dimension(of->columns) * (int64_t)of->bytes;
    const int64_t last = ((of->rows - 1) * of->ld + of->columns) * (int64_t)of->bytes - 1;
    return h->backend->is_pinned && row <= INT32_MAX && host_pitch(of) <= INT32_MAX &&
           h->backend->is_pinned(h->device, of->host, of->host + last);
}

static xgemm_status copy_pinned(const xg_copiers *copiers, const xg_copy *copy, xg_error *error)
{
    const xgemm_handle *h = copiers->handle;
    const xg_part *of = &copy->part;
    const size_t pitch = (size_t)host_pitch(of);
    const size_t step = (size_t)xg_host_leading_dimension(of->columns) * of->bytes;
    char *const host = (char *)(uintptr_t)of->host;
    const xg_row_copy what = {.to = copy->to_device ? copy->device : host,
                              .from = copy->to_device ? host : copy->device,
                              .to_pitch = copy->to_device ? step : pitch,
                              .from_pitch = copy->to_device ? pitch : step,
                              .width = (size_t)of->columns * of->bytes,
                              .rows = (size_t)of->rows,
                              .to_device = copy->to_device};
    return h->backend->copy_rows(h->device, STREAM_PER_THREAD, &what, error);
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

bool xg_copiers_are_there(const xg_copiers *copiers)
{
    return copiers && copiers->process == getpid();
}

void xg_block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

xg_copiers *xg_copiers_begin(const xgemm_handle *handle, void *staging, int count)
{
    xg_copiers *const copiers = calloc(1, sizeof *copiers);
    if (!copiers)
        return NULL;
    copiers->handle = handle;
    copiers->staging = staging;
    copiers->process = getpid();
    pthread_mutex_init(&copiers->lock, NULL);
    pthread_cond_init(&copiers->begun, NULL);
    pthread_cond_init(&copiers->done, NULL);
    sigset_t before;
    xg_block_signals(&before);
    while (copiers->count < count &&
           pthread_create(&copiers->threads[copiers->count], NULL, run, copiers) == 0)
        copiers->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return copiers;
}

void xg_copiers_end(xg_copiers *copiers)
{
    if (!xg_copiers_are_there(copiers)) /* a child's lock may be held for ever */
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
    free(copiers);
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
    if (is_pinned(copiers, &copy.part))
        return copy_pinned(copiers, &copy, error);
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
    return copy_all(copiers, cut(to, from, true, copiers->count), error);
}

xgemm_status xg_copy_to_host(xg_copiers *copiers, const xg_part *to, const void *from,
                             xg_error *error)
{
    return copy_all(copiers, cut((void *)(uintptr_t)from, to, false, copiers->count), error);
}
