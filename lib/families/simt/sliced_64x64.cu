/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_64x64: 64 × 64 tiles, as sliced.inc explains. */
#define KERNEL       sliced_64x64
#define BM           64
#define BN           64
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define SLICES       4
#define DEPTH        16
#define STAGES       3
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define WAIT_AT_TOP
#define PAIRED_LANES
#include "sliced.inc"
