/* SPDX-License-Identifier: BSD-3-Clause */
/* C has a side of at most 8: skinny.inc. */
#include "families/common/ptx.h"

#define SIDE            8
#define CHUNKS          1
#define XG_SKINNY(name) xg_skinny8_##name
#define xg_skinny8_kernel xg_skinny8
#include "skinny.inc"
#undef xg_skinny8_kernel
