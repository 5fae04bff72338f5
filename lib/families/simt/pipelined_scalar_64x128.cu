/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_scalar_64x128: 64 × 128 tiles, as sliced.inc explains, with one slice. */
#define KERNEL       pipelined_scalar_64x128
#define BM           64
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define SLICES       1
#define DEPTH        16
#define STAGES       4
#define CTAS_PER_SM  3
#define RASTER_GROUP 16
#define PAIRED_LANES
#include "sliced.inc"
