/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_64x128: 64 × 128 tiles, as thin.inc explains. */
#define KERNEL      thin_64x128
#define BM          64
#define BN          128
#define THREADS     128
#define THREAD_ROWS 16
#define CTAS_PER_SM 4
#include "thin.inc"
