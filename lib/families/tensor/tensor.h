/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The family of kernels that split operands into FP16 terms and multiply these on tensor cores.
 * Its parts, among themselves.
 */
#ifndef XGEMM_LIB_TENSOR_H
#define XGEMM_LIB_TENSOR_H

#include "args.h"
#include "families/family.h"

/*
 * The tiles of so many products of m x n, by clusters of CTAs: all, and those that are computed
 * whole. The others are stream-K's, which needs so many elements for partial sums.
 */
typedef struct {
    int64_t tiles, whole, clusters, partial_sums;
} xg_tensor_schedule;

xg_tensor_schedule xg_tensor_schedule_of(const xg_kernel *kernel, int multiprocessors, int64_t m,
                                         int64_t n, int64_t products, int64_t stream_k_iterations);

/*
 * A batch whose products the launches of a pass compute together: as a kernel's argument has it;
 * whether a kernel can; and whether a candidate does.
 */
xg_tensor_batch xg_tensor_batch_of(const xg_problem *problem, int64_t products);
bool xg_tensor_can_batch(const xg_kernel *kernel, const xg_problem *problem);
bool xg_tensor_is_batched(const xg_candidate *of, const xg_problem *problem);

/* The workspace of so many products of a batch at once, in bytes. */
double xg_batch_bytes(const xg_kernel *kernel, const xg_problem *problem, int64_t products);

/*
 * As many products in a pass as the workspace is to hold, at least one; passes of equal size. The
 * kernel must be able to batch.
 */
int64_t xg_tensor_products_of_pass(const xg_kernel *kernel, const xg_request *request);

/* The fastest way by the cost model. */
xg_candidate xg_tensor_candidate(const xg_kernel *kernel, const xg_request *request,
                                 double most_us);

/* A lower bound of the time of every candidate. */
double xg_tensor_least_us(const xg_kernel *kernel, const xg_request *request);

/* Of the family. */
bool xg_tensor_make_compact(const xg_candidate *of, const xg_request *request, xg_plan *plan);

#endif
