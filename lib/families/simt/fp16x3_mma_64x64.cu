/* SPDX-License-Identifier: BSD-3-Clause */
/* fp16x3_mma_64x64: 64 × 64 tiles to FP32's accuracy by mma.sync, as fp16_fused.inc explains. */
#define KERNEL fp16x3_mma_64x64
#define MMA_SYNC
#define BM           64
#define TERMS        2
#define CTAS_PER_SM  2
#define RASTER_GROUP 32
#include "fp16_fused.inc"
