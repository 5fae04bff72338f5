/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits A and B into FP16 parts, and computes strips of C meanwhile, see fp16_split.h. */
#include "fp16_split.h"

XG_KERNEL
void __launch_bounds__(XG_SPLIT_THREADS, 5) xg_fp16_split_strips(const xg_args p)
{
    XG_DYNAMIC_SHARED(char, shared);
    xg_split_block(&p, 0, 1, shared);
}
