/* SPDX-License-Identifier: BSD-3-Clause */
/* skinny16: one side of C is at most 16, as skinny.inc explains. */
#define SIDE            16
#define CHUNKS          1
#define XG_SKINNY(name) xg_skinny16_##name
#define KERNEL          skinny16
#include "skinny.inc"
