/* SPDX-License-Identifier: BSD-3-Clause */
/* C has a side of at most 1: skinny.inc. */
#include "ptx.h"

#define SIDE            1
#define CHUNKS          2
#define XG_SKINNY(name) xg_skinny1_##name
#define xg_skinny1_kernel xg_skinny1
#include "skinny.inc"
#undef xg_skinny1_kernel
