/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_32x64: 32 × 64 tiles, as sliced.inc explains. */
#define KERNEL       sliced_32x64
#define BM           32
#define BN           64
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define SLICES       4
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  4
#define RASTER_GROUP 16
#define WAIT_AT_TOP
#define KEEP_THREAD_INDEX
#define PAIRED_LANES
#include "sliced.inc"
