/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thin_32x32: 32 × 32 tiles of one warp, as thin.inc explains: for batches of small products, which
 * memory bounds, so that more warps would only wait for it.
 */
#define KERNEL      thin_32x32
#define BM          32
#define BN          32
#define THREADS     32
#define THREAD_ROWS 8
#define CTAS_PER_SM 20
#define BK          16
#define STAGES      2
#include "thin.inc"
