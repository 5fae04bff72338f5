/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_32x64: 32 × 64 tiles, as pipelined.inc explains. */
#define KERNEL       pipelined_32x64
#define BM           32
#define BN           64
#define WM           16
#define WN           32
#define TM           4
#define TN           4
#define CTAS_PER_SM  8
#define RASTER_GROUP 32
#define PAIRED_LANES
#include "pipelined.inc"
