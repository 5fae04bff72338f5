/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread of a product of matrices in host memory. */
#include "host_job.h"

#include <string.h>

/* CUDA's stream of the calling thread, so that threads do not wait for each other. */
#define STREAM_PER_THREAD ((void *)2)

typedef struct {
    xg_host_job *job;
    xg_blocks *blocks;
    xgemm_handle *handle;
    xg_copiers *copiers;
    bool copies;         /* blocks, and nothing else: xg_host_run_ahead() */
    void *c_tile, *bias; /* of the device */
    xg_error error;
} lane;

/* ---- A tile of C ---- */

typedef struct {
    int64_t i, j;              /* which */
    int64_t m, n, row, column; /* its size and place */
} tile;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static xg_part part_of(const void *matrix, int64_t ld, size_t bytes, int64_t row, int64_t column,
                       int64_t rows, int64_t columns)
{
    return (xg_part){(const char *)matrix + (row * ld + column) * (int64_t)bytes, rows, columns, ld,
                     bytes};
}

/* The part of op(A), or op(B), from a row and a column on, where it lies. */
static xg_part operand_part(const xg_host_job *job, int operand, int64_t row, int64_t column,
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
static xg_block *block_of(lane *l, int operand, int64_t i, int64_t panel, const xg_part *from,
                          xgemm_status *status)
{
    bool is_new = false;
    const bool fills = l->copies || !l->job->is_ahead;
    xg_block *block = xg_block_get(l->blocks, operand, i, panel, fills ? &is_new : NULL);
    if (!block || !is_new)
        return block;
    *status = xg_copy_to_device(l->copiers, block->memory, from, &l->error);
    if (*status)
        return NULL; /* it stays unfilled, and all threads are stopped */
    xg_block_filled(l->blocks, block);
    return block;
}

static int64_t k_of_panel(const xg_host_job *job, int64_t panel)
{
    return least(job->tile_k, job->call.k - panel * job->tile_k);
}

/* Both blocks of a panel of a tile, filled; false: a failure, also of another thread. */
static bool blocks_of(lane *l, const tile *t, int64_t panel, xg_block *blocks[2], xg_part parts[2],
                      xgemm_status *status)
{
    const xg_host_job *job = l->job;
    const int64_t from = panel * job->tile_k, k = k_of_panel(job, panel);
    parts[0] = operand_part(job, 0, t->row, from, t->m, k);
    parts[1] = operand_part(job, 1, from, t->column, k, t->n);
    blocks[0] = block_of(l, 0, t->i, panel, &parts[0], status);
    blocks[1] = blocks[0] ? block_of(l, 1, t->j, panel, &parts[1], status) : NULL;
    return blocks[0] && blocks[1];
}

static void release(lane *l, xg_block *const blocks[2])
{
    xg_block_release(l->blocks, blocks[0]);
    xg_block_release(l->blocks, blocks[1]);
}

static const void *one_of(xgemm_type type)
{
    static const float f[2] = {1, 0};
    static const double d[2] = {1, 0};
    return type == XGEMM_F64 || type == XGEMM_C64 ? (const void *)d : (const void *)f;
}

/* Adds what is told of the last product to what is told of the whole one. */
static xgemm_status add_recomputed(lane *l)
{
    xg_host_job *const job = l->job;
    int64_t elements = 0;
    const xgemm_status status = xg_recomputed_get(l->handle, &elements);
    pthread_mutex_lock(&job->lock);
    job->recomputed += elements;
    pthread_mutex_unlock(&job->lock);
    return status;
}

/* The sentence of the lane's handle, without the name of its function: the caller's comes there. */
static xgemm_status fail_inner(lane *l, xgemm_status status)
{
    const char *const text = l->handle->error.text, *const at = strstr(text, ": ");
    const bool is_named = strncmp(text, "xgemm_", strlen("xgemm_")) == 0;
    return xg_fail(&l->error, status, "%s", is_named && at ? at + strlen(": ") : text);
}

/* The product of two blocks, added to what the panels before gave. */
static xgemm_status multiply(lane *l, const tile *t, int64_t panel, int64_t k, const xg_block *a,
                             const xg_part *of_a, const xg_block *b, const xg_part *of_b)
{
    const xg_host_job *job = l->job;
    xgemm_product p = job->call;
    p.m = t->m, p.n = t->n, p.k = k;
    p.a = a ? a->memory : NULL, p.lda = a ? xg_host_leading_dimension(of_a->columns) : p.lda;
    p.b = b ? b->memory : NULL, p.ldb = b ? xg_host_leading_dimension(of_b->columns) : p.ldb;
    p.c = l->c_tile, p.ldc = xg_host_leading_dimension(t->n);
    if (panel > 0)
        p.beta = one_of(p.type_a);
    if (panel + 1 < job->panels) {
        p.bias = NULL;
        p.activation = XGEMM_ACTIVATION_NONE;
    } else if (p.bias) {
        p.bias = l->bias;
    }
    /* In the caller's order: complex elements have other bits in the product of the transposes. */
    if (job->is_transposed)
        p = xg_host_transposed(&p);
    xgemm_status status = xgemm_gemm(l->handle, &p);
    if (!status)
        status = xgemm_synchronize(l->handle);
    if (!status)
        status = add_recomputed(l);
    return status ? fail_inner(l, status) : XGEMM_OK;
}

static xgemm_status add_panel(lane *l, const tile *t, int64_t panel)
{
    xgemm_status status = XGEMM_OK;
    xg_block *blocks[2];
    xg_part parts[2];
    if (!blocks_of(l, t, panel, blocks, parts, &status))
        return status ? status : XGEMM_ERROR_INTERNAL;
    status = multiply(l, t, panel, k_of_panel(l->job, panel), blocks[0], &parts[0], blocks[1],
                      &parts[1]);
    release(l, blocks);
    return status;
}

static xgemm_status send_bias(lane *l, const tile *t)
{
    const xg_host_job *job = l->job;
    if (!job->call.bias)
        return XGEMM_OK;
    const bool by_row = job->call.bias_per_row;
    const xg_part from = part_of(job->call.bias, 0, job->bias_bytes, 0, by_row ? t->row : t->column,
                                 1, by_row ? t->m : t->n);
    return xg_copy_to_device(l->copiers, l->bias, &from, &l->error);
}

static bool reads_c(const xg_call *call)
{
    const xg_type type = xg_type_of_scalars((xg_type)call->type_a);
    return call->beta && !xg_scalar_is(type, xg_scalar_load(type, call->beta), 0);
}

static xgemm_status compute(lane *l, const tile *t)
{
    const xg_host_job *job = l->job;
    const xg_part c =
        part_of(job->call.c, job->call.ldc, job->c_bytes, t->row, t->column, t->m, t->n);
    xgemm_status status = XGEMM_OK;
    if (reads_c(&job->call))
        status = xg_copy_to_device(l->copiers, l->c_tile, &c, &l->error);
    if (!status)
        status = send_bias(l, t);
    if (!status && job->call.k == 0)
        status = multiply(l, t, 0, 0, NULL, NULL, NULL, NULL);
    for (int64_t panel = 0; job->call.k && panel < job->panels && !status; panel++)
        status = add_panel(l, t, panel);
    return status ? status : xg_copy_to_host(l->copiers, &c, l->c_tile, &l->error);
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

static xgemm_status begin(lane *l, int ordinal)
{
    const xgemm_handle *settings = l->job->settings;
    const xgemm_status status = xg_handle_create(&l->handle, ordinal, &l->error);
    if (status)
        return status;
    l->handle->math = settings->math;
    /* Tiles wait for their kernels, so that all of C is by the same ones. */
    l->handle->reproducible = settings->reproducible == XGEMM_REPRODUCIBLE_NONE
                                  ? XGEMM_REPRODUCIBLE_RUN
                                  : settings->reproducible;
    l->handle->kernel = settings->kernel;
    l->handle->stream = l->handle->backend->has_streams ? STREAM_PER_THREAD : NULL;
    return XGEMM_OK;
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

void xg_host_run_ahead(xg_host_job *job)
{
    lane l = {.job = job, .blocks = job->blocks, .copiers = job->host->copiers, .copies = true};
    const int64_t tiles = job->tiles_m * job->tiles_n;
    xgemm_status status = XGEMM_OK;
    for (int64_t number = 0; number < tiles; number++) {
        const tile t = tile_at(job, number);
        for (int64_t panel = 0; panel < job->panels; panel++) {
            xg_block *blocks[2];
            xg_part parts[2];
            if (!blocks_of(&l, &t, panel, blocks, parts, &status)) {
                if (status)
                    fail(&l, status);
                return;
            }
            release(&l, blocks);
        }
    }
}

void xg_host_run_lane(xg_host_job *job, int device_index, int number, int ordinal)
{
    char *const memory =
        job->memory[device_index] + (size_t)number * (job->c_tile + job->bias_part);
    lane l = {.job = job,
              .blocks = &job->blocks[device_index],
              .copiers = job->host[device_index].copiers,
              .c_tile = memory,
              .bias = memory + job->c_tile};
    const int64_t tiles = job->tiles_m * job->tiles_n;
    xgemm_status status = begin(&l, ordinal);
    while (!status && !l.blocks->is_stopped) {
        const int64_t next = atomic_fetch_add(&job->next, 1);
        if (next >= tiles)
            break;
        const tile t = tile_at(job, next);
        status = compute(&l, &t);
    }
    if (status)
        fail(&l, status);
    pthread_mutex_lock(&job->lock);
    if (!status && l.handle->ran.kernel)
        job->kernel = l.handle->ran.kernel;
    job->fallbacks += l.handle ? l.handle->fallbacks : 0;
    pthread_mutex_unlock(&job->lock);
    xg_handle_destroy(l.handle, !status); /* each tile was waited for */
}
