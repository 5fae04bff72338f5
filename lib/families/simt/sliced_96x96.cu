/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_96x96: 96 × 96 tiles, as sliced.inc explains. */
#define KERNEL       sliced_96x96
#define BM           96
#define BN           96
#define WM           96
#define WN           32
#define TM           12
#define TN           8
#define SLICES       4
#define DEPTH        16
#define STAGES       3
#define CTAS_PER_SM  1
#define RASTER_GROUP 16
#define VEC4_STORES_ONLY
#include "sliced.inc"
