/* SPDX-License-Identifier: BSD-3-Clause */
/* C has a side of at most 16: skinny.inc. */
#include "families/common/ptx.h"

#define SIDE            16
#define CHUNKS          1
#define XG_SKINNY(name) xg_skinny16_##name
#define xg_skinny16_kernel xg_skinny16
#include "skinny.inc"
#undef xg_skinny16_kernel
