/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_64x64: 64 × 64 tiles, as thin.inc explains. */
#define KERNEL      thin_64x64
#define BM          64
#define BN          64
#define THREADS     64
#define THREAD_ROWS 16
#define CTAS_PER_SM 8
#define BK          16
#define STAGES      3
#include "thin.inc"
