/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_32x32: 32 × 32 tiles, as sliced.inc explains. */
#define KERNEL       sliced_32x32
#define BM           32
#define BN           32
#define WM           32
#define WN           32
#define TM           8
#define TN           4
#define SLICES       4
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  4
#define RASTER_GROUP 16
#define A_K_MAJOR_VEC4
#define PAIRED_LANES
#include "sliced.inc"
