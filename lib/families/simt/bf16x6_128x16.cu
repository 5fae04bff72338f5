/* SPDX-License-Identifier: BSD-3-Clause */
/* bf16x6_128x16: 128 × 16 tiles, as bf16.inc explains. */
#define KERNEL       bf16x6_128x16
#define BM           128
#define BN           16
#define WM           16
#define WN           16
#define STAGES       2
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#include "bf16.inc"
