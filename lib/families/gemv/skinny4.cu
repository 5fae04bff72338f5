/* SPDX-License-Identifier: BSD-3-Clause */
/* skinny4: one side of C is at most 4, as skinny.inc explains. */
#define SIDE            4
#define CHUNKS          2
#define XG_SKINNY(name) xg_skinny4_##name
#define KERNEL          skinny4
#include "skinny.inc"
