/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one argument of every kernel: a problem in canonical form,
 *
 *     C(i, j) = alpha * sum over l of A(i, l) * B(l, j) + beta * C(i, j)
 *
 * with A m × k, B k × n, C m × n. Element (i, l) of A lies at
 * a[i * a_stride_m + l * a_stride_k], and so on; C's columns are contiguous. Orders,
 * transposes and leading dimensions are all in the steps: of a_stride_m and a_stride_k
 * one is 1, and likewise of b_stride_k and b_stride_n.
 *
 * No more than 128 bytes: nvcc keeps the fields of a larger struct no longer in
 * registers of their own, and some kernels spill.
 *
 * Read by nvcc, by the host compiler and by the simulator.
 */
#ifndef XGEMM_KERNELS_ARGS_H
#define XGEMM_KERNELS_ARGS_H

#include <stdint.h>

#define XG_LISTS  INT64_MIN
#define XG_PADDED (INT64_MIN + 4)

typedef struct {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t a_stride_m, a_stride_k;
    int64_t b_stride_k, b_stride_n;
    int64_t c_stride_m;
    float alpha, beta;
    /*
     * For the kernels that split k: part s sums over l from s * k_part to the next
     * one's first, into C + s * m * c_stride_m. One part: k_part is at least k.
     */
    int64_t k_part;
    /*
     * For the kernels that compute a batch: the matrices of product z begin at
     * A + z * a_batch and so on; with a_batch = XG_LISTS, A, B and C are lists of
     * pointers instead, and theirs are number z. With one product a_batch (or b_batch) may be
     * XG_PADDED: A's (or B's) lines can be read up to a multiple of four floats.
     */
    int64_t a_batch, b_batch;
    union {
        int64_t c_batch;
        const void *list; /* for the kernel that works off a list of tiles, an xg_tile_list */
    };
} xg_args;

/*
 * Where the matrices of a kernel lie that has them copied by tiles (XG_TILE_MAPS in dialect.h): as
 * the driver has written it down for the copy engine.
 */
typedef struct {
    uint64_t words[16];
} __attribute__((aligned(128))) xg_tile_map;

typedef struct {
    xg_tile_map a, b;
} xg_tile_maps;

#endif
