/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_scalar_32x64: 32 × 64 tiles, as sliced.inc explains, with one slice. */
#define KERNEL       pipelined_scalar_32x64
#define BM           32
#define BN           64
#define WM           16
#define WN           32
#define TM           4
#define TN           4
#define SLICES       1
#define DEPTH        16
#define STAGES       4
#define CTAS_PER_SM  4
#define RASTER_GROUP 32
#define PAIRED_LANES
#include "sliced.inc"
