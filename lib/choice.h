/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel computes a problem on a GPU, and how: by predicted time. */
#ifndef XGEMM_LIB_CHOICE_H
#define XGEMM_LIB_CHOICE_H

#include "kernels.h"

/* How a kernel with tiles computes a problem. */
typedef struct {
    int64_t m, n;   /* of C, what the tiles cover; narrow strips are left to "skinny" */
    int64_t k_part; /* at least k: not split */
    double microseconds;
} xg_shape;

/* The fastest shape by the model, for a kernel that can split k and leave strips. */
xg_shape xg_shape_of(const xg_kernel *kernel, const xg_args *problem, int processors);

/* The fastest kernel by the model, of those whose plan needs no more workspace than that. */
const xg_kernel *xg_choose(const xg_args *problem, int processors, size_t workspace_limit);

/*
 * The depth of a part of k when "blocks" tiles are to become about "enough": none
 * shorter than least, all multiples of that many; k when there is one part.
 */
int64_t xg_part_of(int64_t k, int64_t blocks, int64_t enough, int64_t least, int64_t multiple);

/* Whether A's first m rows (B's first n columns) must be copied for a kernel that packs. */
bool xg_packs_a(const xg_args *problem, int64_t m);
bool xg_packs_b(const xg_args *problem, int64_t n);

#endif
