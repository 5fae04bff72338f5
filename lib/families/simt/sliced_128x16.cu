/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_128x16: 128 × 16 tiles, as sliced.inc explains. */
#define KERNEL       sliced_128x16
#define BM           128
#define BN           16
#define WM           128
#define WN           16
#define TM           8
#define TN           8
#define SLICES       4
#define DEPTH        8
#define STAGES       4
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define A_K_MAJOR_VEC4
#include "sliced.inc"
