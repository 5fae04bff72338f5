/* SPDX-License-Identifier: BSD-3-Clause */
/* C has a side of at most 4: skinny.inc. */
#include "families/common/ptx.h"

#define SIDE            4
#define CHUNKS          2
#define XG_SKINNY(name) xg_skinny4_##name
#define xg_skinny4_kernel xg_skinny4
#include "skinny.inc"
#undef xg_skinny4_kernel
