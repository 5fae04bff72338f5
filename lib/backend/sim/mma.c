/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mma.sync: the matrix product that the threads of a warp compute together, of FP16, BF16 and F64;
 * and ldmatrix and stmatrix, by which they load and store fragments of it together.
 */
#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "tensor_core.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 16, GROUP = 4 /* threads that hold a row of A, a column of B */ };

/* A thread's fragments. Two of each: no thread writes a third before all have read the first. */
typedef struct {
    union {
        uint32_t a[4];
        double a_f64[4];
    };
    union {
        uint32_t b[2];
        double b_f64[2];
    };
    uint32_t number; /* from 1; 0: nothing */
} fragments;
static fragments brought[2][XG_SIM_THREADS_MAX];
static uint32_t numbers[XG_SIM_THREADS_MAX]; /* of the thread's last product */

/* The row of a thread that ldmatrix loads, or what it gives stmatrix, and its number of that. */
typedef struct {
    uint16_t row[8];
    uint32_t number;
} loaded_row;
static loaded_row rows_brought[2][XG_SIM_THREADS_MAX];
static uint32_t loads[XG_SIM_THREADS_MAX];

/* One of the two numbers of a word. */
static float part_of(uint32_t both, int which, bool is_bf16)
{
    const uint32_t bits = which ? both & 0xffff0000u : both << 16;
    float value;
    if (!is_bf16)
        return xg_sim_half_value(bits >> 16);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value == value ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fff;
}

unsigned xg_sim_bf16x2(float low, float high)
{
    return bf16(high) << 16 | bf16(low);
}

/* Accumulator i of four is in row group + i / 2 * 8, column 2 * inner + i % 2. */
static void factors_of(const fragments *warp, int lane, bool is_bf16, float a[DEPTH][4],
                       float b[DEPTH][4])
{
    const int group = lane / GROUP, inner = lane % GROUP;
    for (int k = 0; k < DEPTH; k++) {
        const int inside = k / 2 % GROUP, half = k / 2 / GROUP;
        for (int i = 0; i < 4; i++) {
            a[k][i] = part_of(warp[group * GROUP + inside].a[half * 2 + i / 2], k % 2, is_bf16);
            b[k][i] = part_of(warp[(2 * inner + i % 2) * GROUP + inside].b[half], k % 2, is_bf16);
        }
    }
}

/* Brings the thread's fragments, and waits for those of its warp, which it gives back. */
static const fragments *bring(const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                              const xg_sim_location *here)
{
    const int thread = xg_sim_thread(), first = thread / XG_SIM_WARP * XG_SIM_WARP;
    const uint32_t number = ++numbers[thread];
    fragments *const threads = brought[number % 2], *const warp = threads + first;
    xg_sim_use_models();
    memcpy(&threads[thread].a, a, a_bytes);
    memcpy(&threads[thread].b, b, b_bytes);
    threads[thread].number = number;
    xg_sim_sync_lanes(0xffffffffu, false, here);
    for (int lane = 0; lane < XG_SIM_WARP; lane++)
        if (warp[lane].number != number)
            xg_sim_fail_at(here, "multiplies matrices with a warp of which lane %d brings nothing",
                           lane);
    return warp;
}

/* d = c + A * B. */
static void multiply(float *d, const uint32_t *a, const uint32_t *b, const float *c, bool is_bf16,
                     const xg_sim_location *here)
{
    float rows[DEPTH][4], columns[DEPTH][4], result[4];
    const fragments *const warp = bring(a, 4 * sizeof(uint32_t), b, 2 * sizeof(uint32_t), here);
    factors_of(warp, xg_sim_thread() % XG_SIM_WARP, is_bf16, rows, columns);
    memcpy(result, c, sizeof result);
    xg_tensor_core_multiply_warp(result, (const float(*)[4])rows, (const float(*)[4])columns);
    memcpy(d, result, sizeof result);
}

void xg_sim_mma_bf16(float *d, const uint32_t *a, const uint32_t *b, const float *c,
                     const xg_sim_location *here)
{
    multiply(d, a, b, c, true, here);
}

void xg_sim_mma_half(float *d, const uint32_t *a, const uint32_t *b, int bf16,
                     const xg_sim_location *here)
{
    multiply(d, a, b, d, bf16 != 0, here);
}

/* Four matrices of 8 x 8: lane i has brought row i % 8 of number i / 8. */
void xg_sim_ldmatrix(uint32_t *to, const void *from, int transposed, const xg_sim_location *here)
{
    enum { MATRICES = 4, SIZE = 8 };
    const int thread = xg_sim_thread(), lane = thread % XG_SIM_WARP;
    const int group = lane / GROUP, inner = 2 * (lane % GROUP);
    const uint32_t number = ++loads[thread];
    loaded_row *const rows = rows_brought[number % 2] + thread - lane;
    uint16_t parts[MATRICES][2];
    xg_sim_use_models();
    if ((uintptr_t)from % sizeof rows->row)
        xg_sim_fail_at(here, "loads a row of a matrix that is not at a multiple of %zu bytes",
                       sizeof rows->row);
    memcpy(rows[lane].row, from, sizeof rows->row);
    rows[lane].number = number;
    xg_sim_sync_lanes(0xffffffffu, false, here);
    for (int i = 0; i < MATRICES; i++)
        for (int j = 0; j < 2; j++) {
            const loaded_row *const row = &rows[i * SIZE + (transposed ? inner + j : group)];
            if (row->number != number)
                xg_sim_fail_at(here, "loads matrices with a warp of which lane %d brings no row",
                               (int)(row - rows));
            parts[i][j] = row->row[transposed ? group : inner + j];
        }
    memcpy(to, parts, sizeof parts);
}

void *xg_sim_stmatrix_row(unsigned to, const xg_sim_location *here)
{
    enum { BYTES = 16 };
    if (to % BYTES)
        xg_sim_fail_at(here, "stores a row of a matrix to 0x%x, which is no multiple of %d", to,
                       BYTES);
    return xg_sim_memory(xg_sim_rank(), to, BYTES, "stores a row of a matrix", here);
}

/* The row of lane i is row i % 8 of matrix i / 8, of which each lane of four has two elements. */
void xg_sim_stmatrix(void *to, const uint32_t *from, const xg_sim_location *here)
{
    enum { SIZE = 8 };
    const int thread = xg_sim_thread(), lane = thread % XG_SIM_WARP;
    const uint32_t number = ++loads[thread];
    loaded_row *const rows = rows_brought[number % 2] + thread - lane;
    uint16_t row[SIZE];
    xg_sim_use_models();
    memcpy(rows[lane].row, from, sizeof rows->row);
    rows[lane].number = number;
    xg_sim_sync_lanes(0xffffffffu, false, here);
    for (int i = 0; i < GROUP; i++) {
        const loaded_row *const part = &rows[lane % SIZE * GROUP + i];
        if (part->number != number)
            xg_sim_fail_at(here, "stores matrices with a warp of which lane %d brings no elements",
                           (int)(part - rows));
        memcpy(row + 2 * i, part->row + lane / SIZE * 2, 2 * sizeof *row);
    }
    memcpy(to, row, sizeof row);
}

/* Fused multiply-adds in ascending k; on the card each step is rounded likewise. */
void xg_sim_mma_f64(double *d, const double *a, const double *b, int depth,
                    const xg_sim_location *here)
{
    const size_t parts = (size_t)depth / GROUP; /* of a fragment: of four k each */
    const fragments *const warp = bring(a, 2 * parts * sizeof *a, b, parts * sizeof *b, here);
    const int lane = xg_sim_thread() % XG_SIM_WARP, group = lane / GROUP, inner = lane % GROUP;
    double result[4];
    memcpy(result, d, sizeof result);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < depth; k++) {
            const int inside = k % GROUP, half = k / GROUP;
            const double x = warp[group * GROUP + inside].a_f64[half * 2 + i / 2];
            const double y = warp[(2 * inner + i % 2) * GROUP + inside].b_f64[half];
            result[i] = fma(x, y, result[i]);
        }
    memcpy(d, result, sizeof result);
}

static void reset(void)
{
    for (int thread = 0; thread < xg_sim_all_threads(); thread++) {
        numbers[thread] = brought[0][thread].number = brought[1][thread].number = 0;
        loads[thread] = rows_brought[0][thread].number = rows_brought[1][thread].number = 0;
    }
}

const xg_sim_model xg_sim_mma_model = {.reset = reset};
