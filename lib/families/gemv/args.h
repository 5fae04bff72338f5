/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument of the kernels for a C with a short side. */
#ifndef XGEMM_GEMV_ARGS_H
#define XGEMM_GEMV_ARGS_H

#include "families/common/args.h"

typedef struct {
    XG_PRODUCT_FIELDS
    /* Split s sums over k from s * k_per_split on, into C + s * m * c_stride_m. */
    int64_t k_per_split;
    /* The part of C lies beside what the stream's last launch computes, and need not wait for it.
     */
    int64_t is_strip;
} xg_gemv_args;

#endif
