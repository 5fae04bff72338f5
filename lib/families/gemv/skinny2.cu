/* SPDX-License-Identifier: BSD-3-Clause */
/* skinny2: one side of C is at most 2, as skinny.inc explains. */
#define SIDE            2
#define CHUNKS          2
#define XG_SKINNY(name) xg_skinny2_##name
#define KERNEL          skinny2
#include "skinny.inc"
