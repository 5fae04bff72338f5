/* SPDX-License-Identifier: BSD-3-Clause */
/* bf16x6_64x64: 64 × 64 tiles, as bf16.inc explains. */
#define KERNEL       bf16x6_64x64
#define BM           64
#define BN           64
#define WM           32
#define WN           32
#define STAGES       3
#define CTAS_PER_SM  2
#define RASTER_GROUP 16
#include "bf16.inc"
