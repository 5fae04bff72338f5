/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread of a product of matrices in host memory. */
#include "host_job.h"

#include <stdlib.h>
#include <string.h>

/* CUDA's stream of the calling thread, so that threads do not wait for each other. */
#define STREAM_PER_THREAD ((void *)2)

typedef struct {
    xg_host_job *job;
    xg_blocks *blocks;
    xgemm_handle *handle;
    void *staging;       /* of the host, pinned where that helps */
    void *c_tile, *bias; /* of the device */
    xg_error error;
} lane;

/* A part of a row-major matrix. */
typedef struct {
    const char *host;
    int64_t rows, columns, ld; /* ld: elements of the host's rows */
    size_t bytes;              /* of an element */
} part;

int64_t xg_host_step(int64_t columns)
{
    enum { UNIT = 16 };
    return (columns + UNIT - 1) / UNIT * UNIT;
}

/* ---- Copies, by way of the staging memory ---- */

static xgemm_status send(lane *l, void *to, const part *from)
{
    const xgemm_handle *h = l->handle;
    const size_t step = (size_t)xg_host_step(from->columns) * from->bytes;
    const int64_t most = (int64_t)(l->job->staging / step);
    xgemm_status status = XGEMM_OK;
    for (int64_t row = 0; row < from->rows && !status; row += most) {
        const int64_t rows = from->rows - row < most ? from->rows - row : most;
        for (int64_t i = 0; i < rows; i++)
            memcpy((char *)l->staging + (size_t)i * step,
                   from->host + (row + i) * from->ld * (int64_t)from->bytes,
                   (size_t)from->columns * from->bytes);
        status = h->backend->upload(h->device, h->stream, (char *)to + (size_t)row * step,
                                    l->staging, (size_t)rows * step, &l->error);
    }
    return status;
}

static xgemm_status receive(lane *l, const void *from, const part *to)
{
    const xgemm_handle *h = l->handle;
    const size_t step = (size_t)xg_host_step(to->columns) * to->bytes;
    const int64_t most = (int64_t)(l->job->staging / step);
    xgemm_status status = XGEMM_OK;
    for (int64_t row = 0; row < to->rows && !status; row += most) {
        const int64_t rows = to->rows - row < most ? to->rows - row : most;
        status = h->backend->download(h->device, h->stream, l->staging,
                                      (const char *)from + (size_t)row * step, (size_t)rows * step,
                                      &l->error);
        for (int64_t i = 0; i < rows && !status; i++)
            memcpy((char *)(uintptr_t)to->host + (row + i) * to->ld * (int64_t)to->bytes,
                   (char *)l->staging + (size_t)i * step, (size_t)to->columns * to->bytes);
    }
    return status;
}

/* ---- A tile of C ---- */

typedef struct {
    int64_t i, j;              /* which */
    int64_t m, n, row, column; /* its size and place */
} tile;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static part part_of(const void *matrix, int64_t ld, size_t bytes, int64_t row, int64_t column,
                    int64_t rows, int64_t columns)
{
    return (part){(const char *)matrix + (row * ld + column) * (int64_t)bytes, rows, columns, ld,
                  bytes};
}

/* The part of op(A), or op(B), from a row and a column on, where it lies. */
static part operand_part(const xg_host_job *job, int operand, int64_t row, int64_t column,
                         int64_t rows, int64_t columns)
{
    const xg_call *c = &job->call;
    const void *matrix = operand ? c->b : c->a;
    const int64_t ld = operand ? c->ldb : c->lda;
    const bool is_plain = (operand ? c->transb : c->transa) == XGEMM_NO_TRANS;
    return is_plain ? part_of(matrix, ld, job->bytes, row, column, rows, columns)
                    : part_of(matrix, ld, job->bytes, column, row, columns, rows);
}

/* The block, filled; NULL: a failure, also of another thread. */
static xg_block *block_of(lane *l, int operand, int64_t i, int64_t panel, const part *from,
                          xgemm_status *status)
{
    bool is_new;
    xg_block *block = xg_block_get(l->blocks, operand, i, panel, &is_new);
    const xgemm_handle *h = l->handle;
    if (!block || !is_new)
        return block;
    const size_t a = l->job->a_block, b = l->job->b_block;
    if (!block->memory)
        *status = h->backend->allocate(h->device, a > b ? a : b, &block->memory, &l->error);
    if (!*status)
        *status = send(l, block->memory, from);
    if (*status)
        return NULL; /* it stays unfilled, and all threads are stopped */
    xg_block_filled(l->blocks, block);
    return block;
}

static const void *one_of(xgemm_type type)
{
    static const float f[2] = {1, 0};
    static const double d[2] = {1, 0};
    return type == XGEMM_F64 || type == XGEMM_C64 ? (const void *)d : (const void *)f;
}

/* The product of two blocks, added to what the panels before gave. */
static xgemm_status multiply(lane *l, const tile *t, int64_t panel, int64_t k, const xg_block *a,
                             const part *of_a, const xg_block *b, const part *of_b)
{
    const xg_host_job *job = l->job;
    xgemm_product p = job->call;
    p.m = t->m, p.n = t->n, p.k = k;
    p.a = a ? a->memory : NULL, p.lda = a ? xg_host_step(of_a->columns) : p.lda;
    p.b = b ? b->memory : NULL, p.ldb = b ? xg_host_step(of_b->columns) : p.ldb;
    p.c = l->c_tile, p.ldc = xg_host_step(t->n);
    if (panel > 0)
        p.beta = one_of(p.type_a);
    if (panel + 1 < job->panels) {
        p.bias = NULL;
        p.activation = XGEMM_ACTIVATION_NONE;
    } else if (p.bias) {
        p.bias = l->bias;
    }
    xgemm_status status = xgemm_gemm(l->handle, &p);
    if (!status)
        status = xgemm_synchronize(l->handle);
    if (status)
        l->error = l->handle->error;
    return status;
}

static xgemm_status add_panel(lane *l, const tile *t, int64_t panel)
{
    const xg_host_job *job = l->job;
    const int64_t from = panel * job->tile_k, k = least(job->tile_k, job->call.k - from);
    xgemm_status status = XGEMM_OK;
    const part of_a = operand_part(job, 0, t->row, from, t->m, k);
    const part of_b = operand_part(job, 1, from, t->column, k, t->n);
    xg_block *const a = block_of(l, 0, t->i, panel, &of_a, &status);
    xg_block *const b = a ? block_of(l, 1, t->j, panel, &of_b, &status) : NULL;
    if (!a || !b)
        return status ? status : XGEMM_ERROR_INTERNAL;
    status = multiply(l, t, panel, k, a, &of_a, b, &of_b);
    xg_block_release(l->blocks, a);
    xg_block_release(l->blocks, b);
    return status;
}

static xgemm_status send_bias(lane *l, const tile *t)
{
    const xg_host_job *job = l->job;
    if (!job->call.bias)
        return XGEMM_OK;
    const bool by_row = job->call.bias_per_row;
    const part from = part_of(job->call.bias, 0, job->bias_bytes, 0, by_row ? t->row : t->column, 1,
                              by_row ? t->m : t->n);
    return send(l, l->bias, &from);
}

static bool reads_c(const xg_call *call)
{
    const xg_type type = xg_type_of_scalars((xg_type)call->type_a);
    return call->beta && !xg_scalar_is(type, xg_scalar_load(type, call->beta), 0);
}

static xgemm_status compute(lane *l, const tile *t)
{
    const xg_host_job *job = l->job;
    const part c = part_of(job->call.c, job->call.ldc, job->c_bytes, t->row, t->column, t->m, t->n);
    xgemm_status status = reads_c(&job->call) ? send(l, l->c_tile, &c) : XGEMM_OK;
    if (!status)
        status = send_bias(l, t);
    if (!status && job->call.k == 0)
        status = multiply(l, t, 0, 0, NULL, NULL, NULL, NULL);
    for (int64_t panel = 0; job->call.k && panel < job->panels && !status; panel++)
        status = add_panel(l, t, panel);
    return status ? status : receive(l, l->c_tile, &c);
}

/* Row after row of tiles, there and back, so that the blocks of B that were used last come first.
 */
static tile tile_at(const xg_host_job *job, int64_t number)
{
    tile t = {.i = number / job->tiles_n, .j = number % job->tiles_n};
    if (t.i % 2)
        t.j = job->tiles_n - 1 - t.j;
    t.row = t.i * job->tile_m;
    t.column = t.j * job->tile_n;
    t.m = least(job->tile_m, job->call.m - t.row);
    t.n = least(job->tile_n, job->call.n - t.column);
    return t;
}

/* ---- The thread ---- */

static xgemm_status allocate(lane *l)
{
    const xg_host_job *job = l->job;
    const xgemm_handle *h = l->handle;
    const int64_t side = job->tile_m > job->tile_n ? job->tile_m : job->tile_n;
    xgemm_status status = h->backend->allocate(h->device, job->c_tile, &l->c_tile, &l->error);
    if (!status && job->call.bias)
        status = h->backend->allocate(h->device, (size_t)xg_host_step(side) * job->bias_bytes,
                                      &l->bias, &l->error);
    if (!status && h->backend->allocate_pinned)
        status = h->backend->allocate_pinned(h->device, job->staging, &l->staging, &l->error);
    else if (!status && !(l->staging = malloc(job->staging)))
        status = xg_fail(&l->error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    return status;
}

static xgemm_status begin(lane *l, int ordinal)
{
    const xgemm_handle *settings = l->job->settings;
    const xgemm_status status = xgemm_create(&l->handle, ordinal);
    if (status) {
        l->error = *xg_thread_error();
        return status;
    }
    l->handle->math = settings->math;
    l->handle->kernel = settings->kernel;
    l->handle->stream = l->handle->backend->has_streams ? STREAM_PER_THREAD : NULL;
    return allocate(l);
}

static void end(lane *l)
{
    xgemm_handle *h = l->handle;
    xg_error ignored;
    if (!h)
        return;
    if (h->backend->allocate_pinned && l->staging)
        h->backend->release_pinned(h->device, l->staging, &ignored);
    else
        free(l->staging);
    if (l->c_tile)
        h->backend->release(h->device, l->c_tile, &ignored);
    if (l->bias)
        h->backend->release(h->device, l->bias, &ignored);
    xgemm_destroy(h);
}

/* The first failure is the job's; the others are what it brings about. */
static void fail(lane *l, xgemm_status status)
{
    xg_host_job *job = l->job;
    pthread_mutex_lock(&job->lock);
    if (!job->status) {
        job->status = status;
        job->error = l->error;
    }
    pthread_mutex_unlock(&job->lock);
    for (int i = 0; i < job->devices; i++)
        xg_blocks_stop(&job->blocks[i]);
}

void xg_host_run_lane(xg_host_job *job, int device_index, int ordinal)
{
    lane l = {.job = job, .blocks = &job->blocks[device_index]};
    const int64_t tiles = job->tiles_m * job->tiles_n;
    xgemm_status status = begin(&l, ordinal);
    while (!status && !l.blocks->is_stopped) {
        const int64_t number = atomic_fetch_add(&job->next, 1);
        if (number >= tiles)
            break;
        const tile t = tile_at(job, number);
        status = compute(&l, &t);
    }
    if (status)
        fail(&l, status);
    pthread_mutex_lock(&job->lock);
    if (!status && l.handle->ran.kernel)
        job->kernel = l.handle->ran.kernel;
    pthread_mutex_unlock(&job->lock);
    end(&l);
}
