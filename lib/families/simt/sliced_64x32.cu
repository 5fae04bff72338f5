/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_64x32: 64 × 32 tiles, as sliced.inc explains. */
#define KERNEL       sliced_64x32
#define BM           64
#define BN           32
#define WM           64
#define WN           32
#define TM           8
#define TN           8
#define SLICES       4
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  4
#define RASTER_GROUP 16
#define WAIT_AT_TOP
#define PAIRED_LANES
#include "sliced.inc"
