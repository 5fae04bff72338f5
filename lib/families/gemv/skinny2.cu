/* SPDX-License-Identifier: BSD-3-Clause */
/* C has a side of at most 2: skinny.inc. */
#include "families/common/ptx.h"

#define SIDE            2
#define CHUNKS          2
#define XG_SKINNY(name) xg_skinny2_##name
#define xg_skinny2_kernel xg_skinny2
#include "skinny.inc"
#undef xg_skinny2_kernel
