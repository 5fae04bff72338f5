/* SPDX-License-Identifier: BSD-3-Clause */
/* bf16x6_128x128: 128 × 128 tiles, as bf16.inc explains. */
#define KERNEL       bf16x6_128x128
#define BM           128
#define BN           128
#define WM           32
#define WN           64
#define STAGES       3
#define CTAS_PER_SM  1
#define RASTER_GROUP 16
#include "bf16.inc"
