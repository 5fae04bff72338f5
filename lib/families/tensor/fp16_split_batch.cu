/* SPDX-License-Identifier: BSD-3-Clause */
/* The split kernel (fp16_split.h) for all products of a batch, for operands of any layout. */
#define BATCHED 1
#include "fp16_split.h"

XG_KERNEL(__launch_bounds__(XG_SPLIT_THREADS, 6), fp16_split_batch, xg_tensor_args)
{
    XG_DYNAMIC_SHARED(char, shared);
    xg_split_cta(&p, 0, 0, shared);
}
