/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_16x64: 16 × 64 tiles, as sliced.inc explains. */
#define KERNEL       sliced_16x64
#define BM           16
#define BN           64
#define WM           16
#define WN           64
#define TM           4
#define TN           8
#define SLICES       8
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define A_K_MAJOR_VEC4
#define PAIRED_LANES
#include "sliced.inc"
