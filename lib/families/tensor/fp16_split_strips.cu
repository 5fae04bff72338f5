/* SPDX-License-Identifier: BSD-3-Clause */
/* The split kernel (fp16_split.h) that also computes edge strips of C. */
#include "fp16_split.h"

XG_KERNEL(__launch_bounds__(XG_SPLIT_THREADS, 5), fp16_split_strips, xg_tensor_args)
{
    XG_DYNAMIC_SHARED(char, shared);
    xg_split_cta(&p, 0, 1, shared);
}
