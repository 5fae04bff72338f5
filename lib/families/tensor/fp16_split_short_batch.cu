/* SPDX-License-Identifier: BSD-3-Clause */
/* The split of a few k-blocks (split_short.h) for all products of a batch. */
#define BATCHED 1
#include "split_short.h"

XG_KERNEL(__launch_bounds__(XG_SPLIT_THREADS, 4), fp16_split_short_batch, xg_tensor_args)
{
    xg_split_short_cta(&p);
}
