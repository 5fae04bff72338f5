/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_64x128: 64 × 128 tiles, as pipelined.inc explains. */
#define KERNEL       pipelined_64x128
#define BM           64
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define CTAS_PER_SM  4
#define RASTER_GROUP 32
#define PAIRED_LANES
#include "pipelined.inc"
