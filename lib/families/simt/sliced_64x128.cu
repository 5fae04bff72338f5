/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_64x128: 64 × 128 tiles, as sliced.inc explains. */
#define KERNEL       sliced_64x128
#define BM           64
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define SLICES       4
#define DEPTH        16
#define STAGES       3
#define CTAS_PER_SM  1
#define RASTER_GROUP 16
#define VEC4_STORES_ONLY
#include "sliced.inc"
