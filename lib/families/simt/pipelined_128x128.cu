/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_128x128: 128 × 128 tiles, as pipelined.inc explains. */
#define KERNEL       pipelined_128x128
#define BM           128
#define BN           128
#define WM           32
#define WN           64
#define TM           8
#define TN           8
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#define PAD          4 /* without it 1 % slower on an H200; why is not known */
#include "pipelined.inc"
