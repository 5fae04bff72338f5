/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_32x32: 32 × 32 tiles, each of one warp, as thin.inc explains: for batches of small products,
 * which memory bounds; more warps than that would be kept waiting by it. */
#define KERNEL  xg_thin_32x32
#define BM      32
#define BN      32
#define THREADS 32
#define ROWS    8
#define BLOCKS  20
#define BK      16
#define STAGES  2
#include "thin.inc"
