/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits A and B into FP16 parts where all slices are whole, see fp16_split.h. */
#include "fp16_split.h"

XG_KERNEL
void __launch_bounds__(XG_SPLIT_THREADS, 8) xg_fp16_split_even(const xg_args p)
{
    XG_DYNAMIC_SHARED(char, shared);
    xg_split_block(&p, 2, 0, shared);
}
