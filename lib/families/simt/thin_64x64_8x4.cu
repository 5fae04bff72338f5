/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thin_64x64_8x4: 64 × 64 tiles with twice the threads, as thin.inc explains: where tiles are too
 * few to fill the multiprocessors, more warps hide more latency.
 */
#define KERNEL      thin_64x64_8x4
#define BM          64
#define BN          64
#define THREADS     128
#define THREAD_ROWS 8
#define CTAS_PER_SM 5
#include "thin.inc"
