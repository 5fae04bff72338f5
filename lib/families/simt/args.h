/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the kernels that compute tiles of C. */
#ifndef XGEMM_SIMT_ARGS_H
#define XGEMM_SIMT_ARGS_H

#include "families/common/args.h"

/*
 * In place of the batch stride of A or B, where there is one product: the operand is an aligned
 * copy, whose rows can be read up to a multiple of four elements.
 */
#define XG_PADDED (INT64_MIN + 4)

typedef struct {
    XG_PRODUCT_FIELDS
    /* Split s sums over k from s * k_per_split on, into C + s * m * c_stride_m. One: at least k. */
    int64_t k_per_split;
    /* The matrices of product z begin at A + z * a_batch_stride and so on; or XG_POINTER_ARRAYS. */
    int64_t a_batch_stride, b_batch_stride, c_batch_stride;
} xg_simt_args;

/*
 * The order in which a kernel of sliced.inc adds up k: CTAs of a cluster, each with a split of its
 * own; slices of a split; and the k of a slice in a stage, and of a stage.
 */
typedef struct {
    int32_t cluster, slices, slice_k, stage_k;
} xg_simt_order;

/* Of simt_compact, which computes what another kernel does, whose argument it has. */
typedef struct {
    xg_simt_args product;
    xg_simt_order order;
} xg_simt_compact_args;

/* Of the kernels on TMA: one product, whose last tiles may be computed by stream-K. */
typedef struct {
    XG_PRODUCT_FIELDS
    int64_t iterations_per_cta; /* main loop iterations that a stream-K CTA computes */
    int64_t stream_k_ctas;      /* the first CTAs of the grid */
    void *partial_sums;         /* a tile of each stream-K CTA, then a counter of each */
} xg_tma_args;

#endif
