/* SPDX-License-Identifier: BSD-3-Clause */
/* skinny8: one side of C is at most 8, as skinny.inc explains. */
#define SIDE            8
#define CHUNKS          1
#define XG_SKINNY(name) xg_skinny8_##name
#define KERNEL          skinny8
#include "skinny.inc"
