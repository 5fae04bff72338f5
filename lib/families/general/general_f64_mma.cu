/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * general_f64_mma: double precision on the tensor cores of compute capability 9.0, for every
 * layout, alignment and epilogue. 128 x 128 tiles of C, 16 of k in each of four stages that
 * cp.async fills; eight warps of 64 x 32 elements. The grid's z is the product of a batch.
 *
 * A K-major tile keeps its rows in shared memory, and an MN-major one its columns, each padded so
 * that the 16 lanes that are served together find their doubles in different banks.
 */
#include "families/common/batch.h"
#include "families/common/epilogue_typed.h"
#include "families/common/ptx_sm90.h"
#include "families/common/raster.h"

#define TILE     128
#define TILE_K   16
#define STAGES   4
#define THREADS  256
#define PITCH_K  (TILE_K + 4) /* from row to row of a K-major tile, */
#define PITCH_MN (TILE + 4)   /* and from k to k of an MN-major one */
#define OPERAND  (TILE * PITCH_K)
#define STAGE    (2 * OPERAND)
#define ROWS     4 /* a warp's products of 16 rows, */
#define COLUMNS  4 /* and of 8 columns */
#define RASTER   8

/* An operand, "mn" being A's row or B's column; and how its tiles lie in shared memory. */
typedef struct {
    const double *from;
    int64_t stride_mn, stride_k, size_mn, size_k, first_mn;
    int k_major, aligned; /* the second: pairs of elements are, to 16 bytes */
    int pitch_mn, pitch_k;
} operand;

XG_DEVICE operand operand_of(const void *matrix, int64_t batch_stride, int64_t stride_mn,
                             int64_t stride_k, int64_t size_mn, int64_t size_k, int64_t first_mn)
{
    operand of;
    of.from = (const double *)xg_matrix_of_batch(matrix, batch_stride, sizeof(double));
    of.stride_mn = stride_mn, of.stride_k = stride_k;
    of.size_mn = size_mn, of.size_k = size_k, of.first_mn = first_mn;
    of.k_major = stride_k == 1;
    of.aligned = (uintptr_t)of.from % 16 == 0 && (of.k_major ? stride_mn : stride_k) % 2 == 0;
    of.pitch_mn = of.k_major ? PITCH_K : 1;
    of.pitch_k = of.k_major ? 1 : PITCH_MN;
    return of;
}

/* Doubles that are inside, from (mn, k) on, at most two of them along the contiguous dimension. */
XG_DEVICE int inside(const operand *of, int64_t mn, int64_t k)
{
    const int64_t left = of->k_major ? of->size_k - k : of->size_mn - mn;
    const int other = of->k_major ? mn < of->size_mn : k < of->size_k;
    return other ? (int)XG_MAX(XG_MIN(left, (int64_t)2), (int64_t)0) : 0;
}

/* A tile from k on to a stage, asynchronously; what is outside becomes 0. */
XG_DEVICE void copy_tile(const operand *of, int64_t k, double *to)
{
    const int each = of->aligned ? 2 : 1; /* doubles a copy */
    const int along = (of->k_major ? TILE_K : TILE) / each;
    for (int i = (int)threadIdx.x; i < TILE * TILE_K / each; i += THREADS) {
        const int line = i / along, at = i % along * each;
        const int mn = of->k_major ? line : at, l = of->k_major ? at : line;
        const int count = XG_MIN(inside(of, of->first_mn + mn, k + l), each);
        const double *const from =
            count > 0 ? of->from + (of->first_mn + mn) * of->stride_mn + (k + l) * of->stride_k
                      : of->from;
        double *const place = to + mn * of->pitch_mn + l * of->pitch_k;
        if (each == 2)
            xg_cp_async16(place, from, 8 * count);
        else
            xg_cp_async8(place, from, 8 * count);
    }
}

/* A warp's part of a stage: acc += A * B. */
XG_DEVICE void multiply_stage(const double *a, const double *b, const operand *a_of,
                              const operand *b_of, double acc[ROWS * COLUMNS * 4])
{
    const int lane = (int)threadIdx.x % 32, group = lane / 4, inner = lane % 4;
    XG_UNROLL
    for (int k = 0; k < TILE_K; k += 8) {
        double x[ROWS][4], y[COLUMNS][2];
        XG_UNROLL
        for (int i = 0; i < ROWS; i++)
            XG_UNROLL
        for (int e = 0; e < 4; e++)
            x[i][e] = a[(16 * i + group + e % 2 * 8) * a_of->pitch_mn +
                        (k + inner + e / 2 * 4) * a_of->pitch_k];
        XG_UNROLL
        for (int j = 0; j < COLUMNS; j++)
            XG_UNROLL
        for (int e = 0; e < 2; e++)
            y[j][e] = b[(8 * j + group) * b_of->pitch_mn + (k + inner + e * 4) * b_of->pitch_k];
        XG_UNROLL
        for (int i = 0; i < ROWS; i++)
            XG_UNROLL
        for (int j = 0; j < COLUMNS; j++)
            xg_mma_f64(acc + (i * COLUMNS + j) * 4, x[i], y[j]);
    }
}

/*
 * Stores a warp's accumulators. The loop is not unrolled, so that the code of the epilogue stands
 * there for one row of products: the accumulators of the others move down to it.
 */
XG_DEVICE void store_sums(const xg_typed_args *p, int64_t row0, int64_t column0,
                          double acc[ROWS * COLUMNS * 4])
{
    const xg_scalars_f64 by = xg_scalars_of_f64(&p->epilogue);
    double *const c = (double *)xg_matrix_of_batch(p->c, p->c_batch_stride, sizeof(double));
    const int lane = (int)threadIdx.x % 32;
    XG_UNROLL_BY(1)
    for (int i = 0; i < ROWS; i++) {
        XG_UNROLL
        for (int e = 0; e < COLUMNS * 4; e++) {
            const int64_t row = row0 + 16 * i + lane / 4 + e / 2 % 2 * 8;
            const int64_t column = column0 + e / 4 * 8 + lane % 4 * 2 + e % 2;
            if (row < p->m && column < p->n)
                xg_store_real_f64(&p->epilogue, &by, c, row * p->c_stride_m + column, row, column,
                                  acc[e]);
        }
        XG_UNROLL
        for (int e = 0; e + COLUMNS * 4 < ROWS * COLUMNS * 4; e++)
            acc[e] = acc[e + COLUMNS * 4];
    }
}

XG_KERNEL(__launch_bounds__(THREADS, 1), general_f64_mma, xg_typed_args)
{
    XG_DYNAMIC_SHARED(double, stages);
    const unsigned tiles_m = (unsigned)((p.m + TILE - 1) / TILE);
    const unsigned tiles_n = (unsigned)((p.n + TILE - 1) / TILE);
    const xg_raster_tile at = xg_raster_tile_of(blockIdx.x, tiles_m, RASTER * tiles_n, RASTER);
    const operand a = operand_of(p.a, p.a_batch_stride, p.a_stride_m, p.a_stride_k, p.m, p.k,
                                 (int64_t)at.m * TILE);
    const operand b = operand_of(p.b, p.b_batch_stride, p.b_stride_n, p.b_stride_k, p.n, p.k,
                                 (int64_t)at.n * TILE);
    const int warp = (int)threadIdx.x / 32;
    const int row = warp / 4 * 16 * ROWS, column = warp % 4 * 8 * COLUMNS;
    const int64_t steps = (p.k + TILE_K - 1) / TILE_K;
    double acc[ROWS * COLUMNS * 4];
    XG_UNROLL
    for (int i = 0; i < ROWS * COLUMNS * 4; i++)
        acc[i] = 0.0;
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < steps) {
            copy_tile(&a, (int64_t)i * TILE_K, stages + i * STAGE);
            copy_tile(&b, (int64_t)i * TILE_K, stages + i * STAGE + OPERAND);
        }
        xg_cp_async_commit();
    }
    int now = 0, next = STAGES - 1;
    for (int64_t i = 0; i < steps; i++) {
        xg_cp_async_wait(STAGES - 2);
        __syncthreads();
        if (i + STAGES - 1 < steps) {
            copy_tile(&a, (i + STAGES - 1) * TILE_K, stages + next * STAGE);
            copy_tile(&b, (i + STAGES - 1) * TILE_K, stages + next * STAGE + OPERAND);
        }
        xg_cp_async_commit();
        multiply_stage(stages + now * STAGE + row * a.pitch_mn,
                       stages + now * STAGE + OPERAND + column * b.pitch_mn, &a, &b, acc);
        now = now == STAGES - 1 ? 0 : now + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
    }
    store_sums(&p, a.first_mn + row, b.first_mn + column, acc);
}
