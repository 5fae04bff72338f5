/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs of tma-sliced-64x128 share. They set KERNEL, and STAGES or A_K_MAJOR. */
#define BM           64
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define SLICES       4
#define CTAS_PER_SM  1
#define RASTER_GROUP 16
#define BK           24
#include "tma.inc"
