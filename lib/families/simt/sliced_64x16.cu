/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_64x16: 64 × 16 tiles, as sliced.inc explains. */
#define KERNEL       sliced_64x16
#define BM           64
#define BN           16
#define WM           64
#define WN           16
#define TM           8
#define TN           4
#define SLICES       8
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define A_K_MAJOR_VEC4
#define PAIRED_LANES
#include "sliced.inc"
