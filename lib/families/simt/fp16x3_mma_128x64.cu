/* SPDX-License-Identifier: BSD-3-Clause */
/* fp16x3_mma_128x64: 128 × 64 tiles to FP32's accuracy by mma.sync, as fp16_fused.inc explains. */
#define KERNEL fp16x3_mma_128x64
#define MMA_SYNC
#define BM           128
#define TERMS        2
#define CTAS_PER_SM  1
#define RASTER_GROUP 16
#include "fp16_fused.inc"
