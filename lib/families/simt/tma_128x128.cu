/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_128x128: 128 × 128 tiles loaded by TMA, as tma.inc explains. */
#define KERNEL       tma_128x128
#define BM           128
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define BK           24
#define STAGES       4
#include "tma.inc"
