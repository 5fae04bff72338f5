/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_product.h"

#include "gemm.h"
#include "host_job.h"

#include <stdlib.h>
#include <string.h>

enum {
    LANES = 4,     /* threads of a GPU, so that tiles are multiplied while others are copied */
    LANES_SIM = 2, /* of the simulator */
    TILE_MOST = 4096,
    TILE_LEAST = 512, /* unless the memory is short: a smaller one is not worth its launches */
    TILE_FLOOR = 64,
    ALIGNMENT = 256,
    BLOCK_MOST = 256 << 20
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t parts(int64_t size, int64_t of)
{
    return (size + of - 1) / of;
}

/* ---- The product in row order ---- */

xg_call xg_host_transposed(const xg_call *call)
{
    xg_call other = *call;
    other.order = call->order == XGEMM_ROW_MAJOR ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    other.m = call->n, other.n = call->m;
    other.a = call->b, other.lda = call->ldb, other.transa = call->transb;
    other.b = call->a, other.ldb = call->lda, other.transb = call->transa;
    other.bias_per_row = call->bias && !call->bias_per_row;
    return other;
}

static xg_call in_row_order(const xg_call *call)
{
    xg_call row = *call;
    row.flags &= ~(unsigned)XGEMM_HOST_MEMORY;
    row.batch_count = 1;
    row.stride_a = row.stride_b = row.stride_c = 0;
    return call->order == XGEMM_ROW_MAJOR ? row : xg_host_transposed(&row);
}

/* ---- Sizes ---- */

/* At most the bytes of 2^55 elements, which no device has: k may be as large as a call allows where
   it is not split. */
static size_t block_bytes(const xg_host_job *job, int operand)
{
    const int64_t most = INT64_C(1) << 55;
    const bool is_plain = (operand ? job->call.transb : job->call.transa) == XGEMM_NO_TRANS;
    const int64_t rows = operand ? job->tile_k : job->tile_m;
    const int64_t columns = operand ? job->tile_n : job->tile_k;
    const int64_t lines = is_plain ? rows : columns, length = is_plain ? columns : rows;
    if (length > most / 2 || lines > most / xg_host_leading_dimension(length))
        return (size_t)most * job->bytes;
    return (size_t)(lines * xg_host_leading_dimension(length)) * job->bytes;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* All that follows from the tile's size. */
static void derive(xg_host_job *job)
{
    const xg_call *c = &job->call;
    const int64_t side = job->tile_m > job->tile_n ? job->tile_m : job->tile_n;
    job->tiles_m = parts(c->m, job->tile_m);
    job->tiles_n = parts(c->n, job->tile_n);
    job->panels = c->k ? parts(c->k, job->tile_k) : 1;
    job->a_block = aligned(block_bytes(job, 0));
    job->b_block = aligned(block_bytes(job, 1));
    job->c_tile =
        aligned((size_t)(job->tile_m * xg_host_leading_dimension(job->tile_n)) * job->c_bytes);
    job->bias_part = aligned((size_t)xg_host_leading_dimension(side) * job->bias_bytes);
}

/*
 * Whether there is room for a tile of C with its bias, and two blocks of operands, for each thread.
 * Sets the number of places for blocks: at most one for each block, and at least two a thread.
 */
static bool fits(xg_host_job *job, uint64_t room)
{
    const uint64_t block = larger(job->a_block, job->b_block);
    const uint64_t fixed = (uint64_t)job->lanes * (job->c_tile + job->bias_part);
    const int64_t blocks = (job->tiles_m + job->tiles_n) * job->panels;
    const uint64_t needed = 2 * (uint64_t)job->lanes;
    const uint64_t wanted = (uint64_t)blocks > needed ? (uint64_t)blocks : needed;
    const uint64_t places = room > fixed ? (room - fixed) / block : 0;
    job->places = (int)(places < wanted ? places : wanted);
    return places >= needed;
}

/*
 * The square tile is halved until each thread has at least four; then the tile and the depth of
 * blocks are reduced, and at last the number of threads, until all fits.
 */
static bool choose_sizes(xg_host_job *job, int lanes, uint64_t room)
{
    const xg_call *c = &job->call;
    int64_t side = TILE_MOST;
    while (side > TILE_LEAST && parts(c->m, side) * parts(c->n, side) < 4 * lanes * job->devices)
        side /= 2;
    job->tile_m = least(side, c->m);
    job->tile_n = least(side, c->n);
    const int64_t most_k =
        BLOCK_MOST / (int64_t)job->bytes / least(side, c->m > c->n ? c->m : c->n);
    /* Sums of half-precision C would be rounded after each panel. */
    const bool may_split = job->c_bytes > 2 && !job->by_element;
    job->tile_k = c->k == 0 ? 1 : may_split ? least(c->k, most_k / 256 * 256 + 256) : c->k;
    job->lanes = lanes;
    for (;;) {
        derive(job);
        if (fits(job, room))
            break;
        int64_t *const tile = job->tile_m > job->tile_n ? &job->tile_m : &job->tile_n;
        if (may_split && job->tile_k > TILE_FLOOR && job->tile_k > 4 * *tile)
            job->tile_k = (job->tile_k / 2 + 15) / 16 * 16;
        else if (*tile > TILE_FLOOR)
            *tile = (*tile / 2 + 15) / 16 * 16;
        else if (may_split && job->tile_k > TILE_FLOOR)
            job->tile_k = (job->tile_k / 2 + 15) / 16 * 16;
        else if (job->lanes > 1)
            job->lanes--;
        else
            return false;
    }
    const int64_t tiles = job->tiles_m * job->tiles_n;
    job->lanes = (int)least(job->lanes, tiles);
    return true;
}

/* ---- Devices and threads ---- */

typedef struct {
    xg_host_job *job;
    int device, lane, ordinal;
    pthread_t thread;
    bool is_started;
} worker;

static void *run_worker(void *argument)
{
    worker *const w = argument;
    xg_host_run_lane(w->job, w->device, w->lane, w->ordinal);
    return NULL;
}

static void *run_ahead(void *job)
{
    xg_host_run_ahead(job);
    return NULL;
}

/*
 * Where all of A and B has room on one device, a thread copies them. Several devices need parts of
 * them each, which are known as tiles are taken.
 */
static bool has_room_for_all(const xg_host_job *job)
{
    return job->devices == 1 && job->call.k > 0 &&
           job->places >= (job->tiles_m + job->tiles_n) * job->panels;
}

/*
 * All threads: the caller's own stream may be in a capture. Where the first cannot be made, the
 * caller's takes its place, which will do alone.
 */
static void run_all(xg_host_job *job, const int *ordinals)
{
    enum { MOST = LANES * XG_HOST_DEVICES_MAX };
    worker workers[MOST];
    pthread_t ahead;
    const int count = job->lanes * job->devices;
    sigset_t before;
    xg_block_signals(&before);
    job->is_ahead = has_room_for_all(job) && pthread_create(&ahead, NULL, run_ahead, job) == 0;
    for (int i = 0; i < count; i++) {
        const int device = i % job->devices;
        workers[i] = (worker){
            .job = job, .device = device, .lane = i / job->devices, .ordinal = ordinals[device]};
        workers[i].is_started =
            pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!workers[0].is_started)
        xg_host_run_lane(job, 0, 0, ordinals[0]);
    for (int i = 0; i < count; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
    if (job->is_ahead)
        pthread_join(ahead, NULL);
}

static xgemm_status fail_memory(xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
}

/*
 * The device is open, and has pinned memory and threads for copies, from the first product until
 * the handle ends: to pin memory takes milliseconds, a new thread gets a stream of its own from the
 * driver, and a device that nobody has open loses its kernels.
 */
static xgemm_status open_device(xg_host_device *of, int ordinal, int copiers, xg_error *error)
{
    if (!of->open) {
        const xgemm_status status = xg_handle_create(&of->open, ordinal, error);
        if (status)
            return status;
    }
    const xgemm_handle *h = of->open;
    const size_t staging = (size_t)copiers * XG_COPY_CHUNK;
    xgemm_status status = XGEMM_OK;
    if (!of->staging && h->backend->allocate_pinned)
        status = h->backend->allocate_pinned(h->device, staging, &of->staging, error);
    else if (!of->staging && !(of->staging = malloc(staging)))
        status = fail_memory(error);
    if (!status && !xg_copiers_are_there(of->copiers) &&
        !(of->copiers = xg_copiers_begin(h, of->staging, copiers)))
        status = fail_memory(error);
    return status;
}

/* What the driver would not take back is given back later. */
static void release_memory(xg_host_device *of)
{
    xg_error ignored;
    if (of->memory && !of->open->backend->release(of->open->device, of->memory, &ignored))
        of->memory = NULL;
}

static void close_devices(xgemm_handle *handle)
{
    xg_error ignored;
    for (int i = 0; i < XG_HOST_DEVICES_MAX; i++) {
        xg_host_device *const of = &handle->host[i];
        xg_copiers_end(of->copiers);
        release_memory(of);
        if (of->open && of->staging && of->open->backend->release_pinned)
            of->open->backend->release_pinned(of->open->device, of->staging, &ignored);
        else
            free(of->staging);
        xg_handle_destroy(of->open, true); /* it multiplies nothing */
    }
}

/* How often the list has the device, whose memory these entries share. */
static unsigned entries_of(const int *ordinals, int count, int ordinal)
{
    unsigned entries = 0;
    for (int i = 0; i < count; i++)
        entries += ordinals[i] == ordinal;
    return entries;
}

/* All devices, which can run the named kernel if there is one; the least memory that one has free.
 */
static xgemm_status open_devices(const xg_host_job *job, xg_host_device *devices,
                                 const int *ordinals, uint64_t *room, xg_error *error)
{
    const int count = job->devices;
    const xg_kernel *kernel = job->settings->kernel;
    xgemm_status status = XGEMM_OK;
    *room = UINT64_MAX;
    for (int i = 0; i < count && !status; i++) {
        uint64_t bytes, total;
        status = open_device(&devices[i], ordinals[i], xg_copiers_count(count), error);
        const xgemm_handle *h = devices[i].open;
        if (!status && kernel)
            status = xg_handle_find_kernel(h, kernel->name, &kernel, error);
        if (!status)
            status = h->backend->memory_info(h->device, &bytes, &total, error);
        if (!status) /* half of it is for workspaces, or what one entry has */
            bytes = 2 * bytes / (entries_of(ordinals, count, ordinals[i]) + 1);
        if (!status && bytes < *room)
            *room = bytes;
    }
    return status;
}

/* A product's memory of a device, and its blocks in it. */
static xgemm_status begin_device(xg_host_job *job, int i, xg_host_device *of)
{
    const xgemm_handle *h = of->open;
    const size_t tiles = (size_t)job->lanes * (job->c_tile + job->bias_part);
    const size_t block = larger(job->a_block, job->b_block);
    release_memory(of);
    if (of->memory)
        return xg_fail(&job->error, XGEMM_ERROR_DRIVER,
                       "the driver does not take back the memory of an earlier product");
    const xgemm_status status = h->backend->allocate(h->device, tiles + (size_t)job->places * block,
                                                     &of->memory, &job->error);
    if (status)
        return status;
    job->memory[i] = of->memory;
    if (!xg_blocks_init(&job->blocks[i], job->places))
        return fail_memory(&job->error);
    for (int at = 0; at < job->places; at++)
        job->blocks[i].places[at].memory = job->memory[i] + tiles + (size_t)at * block;
    return XGEMM_OK;
}

static void end_devices(xg_host_job *job, xg_host_device *devices)
{
    for (int i = 0; i < job->devices; i++) {
        release_memory(&devices[i]);
        xg_blocks_free(&job->blocks[i]);
    }
}

/* The memory of all devices, of each a part of what it has free; the rest is for workspaces. */
static xgemm_status begin_devices(xg_host_job *job, const int *ordinals, xg_host_device *devices,
                                  unsigned part)
{
    uint64_t room;
    xgemm_status status = open_devices(job, devices, ordinals, &room, &job->error);
    if (status)
        return status;
    const xgemm_handle *h = devices[0].open;
    if (!choose_sizes(job, h->backend->host_memory ? LANES_SIM : LANES, room / part))
        return xg_fail(&job->error, XGEMM_ERROR_OUT_OF_DEVICE_MEMORY,
                       "the device has %llu bytes free, too few for tiles of the matrices",
                       (unsigned long long)room);
    for (int i = 0; i < job->devices && !status; i++)
        status = begin_device(job, i, &devices[i]);
    return status;
}

/* Others may have taken what was free by the time that it is allocated: then with less. */
static xgemm_status run_on(xg_host_job *job, const int *ordinals, xg_host_device *devices)
{
    enum { PART = 2, LEAST_PART = 32 };
    xgemm_status status = XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
    for (unsigned part = PART; part <= LEAST_PART && status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
         part *= 2) {
        end_devices(job, devices);
        status = begin_devices(job, ordinals, devices, part);
    }
    if (status)
        return status;
    run_all(job, ordinals);
    return job->status;
}

/* One product of a checked call. */
static xgemm_status run(xgemm_handle *handle, const xg_call *call, const char *function)
{
    xg_blocks blocks[XG_HOST_DEVICES_MAX];
    char *memory[XG_HOST_DEVICES_MAX] = {NULL};
    xg_host_job job = {.call = in_row_order(call),
                       .bytes = xg_type_bytes((xg_type)call->type_a),
                       .c_bytes = xg_type_bytes((xg_type)call->type_c),
                       .by_element = handle->reproducible == XGEMM_REPRODUCIBLE_ELEMENT,
                       .is_transposed = call->order == XGEMM_COL_MAJOR,
                       .bias_bytes = call->bias ? xg_type_bytes((xg_type)call->type_bias) : 0,
                       .settings = handle,
                       .function = function,
                       .blocks = blocks,
                       .host = handle->host,
                       .memory = memory,
                       .devices = handle->host_devices ? handle->host_devices : 1};
    const xg_type scalars = xg_type_of_scalars((xg_type)call->type_a);
    const int *const ordinals = handle->host_devices ? handle->host_ordinals : &handle->ordinal;
    if (call->alpha && xg_scalar_is(scalars, xg_scalar_load(scalars, call->alpha), 0))
        job.call.k = 0; /* A and B are not read */
    memset(blocks, 0, sizeof blocks);
    pthread_mutex_init(&job.lock, NULL);
    handle->host_close = close_devices;
    const xgemm_status status = run_on(&job, ordinals, handle->host);
    end_devices(&job, handle->host);
    pthread_mutex_destroy(&job.lock);
    handle->ran = (xg_ran){.kernel = job.kernel};
    handle->recomputed.elements += least(job.recomputed, call->m * call->n); /* of all panels */
    handle->fallbacks += job.fallbacks > 0; /* of products, and not of their tiles */
    if (status)
        handle->error = job.error;
    return status;
}

/* Product number i of a batch that is a stride apart. */
static xg_call strided(const xg_call *call, int64_t i)
{
    const int64_t bytes = (int64_t)xg_type_bytes((xg_type)call->type_a);
    const int64_t c_bytes = (int64_t)xg_type_bytes((xg_type)call->type_c);
    xg_call one = *call;
    one.a = call->a ? (const char *)call->a + i * call->stride_a * bytes : NULL;
    one.b = call->b ? (const char *)call->b + i * call->stride_b * bytes : NULL;
    one.c = (char *)call->c + i * call->stride_c * c_bytes;
    return one;
}

static xgemm_status run_batch(xgemm_handle *handle, const xg_call *call, const char *function)
{
    const bool lists = call->flags & XGEMM_POINTER_ARRAYS;
    xgemm_status status = lists ? xg_call_check_pointers(call, &handle->error) : XGEMM_OK;
    for (int64_t i = 0; i < call->batch_count && !status; i++) {
        const xg_call one = lists ? xg_call_of_batch(call, i) : strided(call, i);
        status = run(handle, &one, function);
    }
    return status;
}

/* Other threads work with what is on this one's stack: it cannot be cancelled meanwhile. */
static xgemm_status run_uncancelled(xgemm_handle *handle, const xg_call *call, const char *function)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    const xgemm_status status = run_batch(handle, call, function);
    pthread_setcancelstate(before, NULL);
    return status;
}

xgemm_status xg_multiply_host(xgemm_handle *handle, const xg_call *call, const char *function)
{
    xg_call on_host = *call;
    on_host.flags &= ~(unsigned)XGEMM_HOST_MEMORY;
    if (call->flags & XGEMM_DEVICE_SCALARS)
        return xg_call_end(
            handle, call,
            xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                    "flags has XGEMM_HOST_MEMORY and XGEMM_DEVICE_SCALARS; the scalars must be on "
                    "the host, too"),
            function);
    if (handle->backend->runs_host_code)
        return xg_multiply(handle, &on_host, function);
    xgemm_status status = xg_call_check(&on_host, &handle->error);
    if (!status) {
        handle->ran = (xg_ran){.kernel = NULL};
        handle->recomputed = (xg_recomputed){.elements = 0};
        if (xg_call_writes(&on_host))
            status = run_uncancelled(handle, &on_host, function);
    }
    return xg_call_end(handle, call, status, function);
}

xgemm_status xgemm_create_devices(xgemm_handle **handle, const int *ordinals, int count)
{
    xg_error *const error = xg_thread_error();
    xgemm_handle *made = NULL;
    xgemm_status status = XGEMM_OK;
    if (handle)
        *handle = NULL;
    if (!handle || !ordinals)
        status = xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s: %s is NULL", __func__,
                         handle ? "ordinals" : "handle");
    else if (count < 1 || count > XG_HOST_DEVICES_MAX)
        status = xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s: count is %d; it must be 1 to %d",
                         __func__, count, (int)XG_HOST_DEVICES_MAX);
    for (int i = count - 1; i >= 0 && !status; i--) { /* the last is the first device's */
        xg_handle_destroy(made, true);                /* it has multiplied nothing */
        status = xgemm_create(&made, ordinals[i]);
    }
    if (status)
        return status;
    made->host_devices = count;
    memcpy(made->host_ordinals, ordinals, (size_t)count * sizeof *ordinals);
    *handle = made;
    return XGEMM_OK;
}
