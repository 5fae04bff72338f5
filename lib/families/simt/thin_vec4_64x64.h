/* SPDX-License-Identifier: BSD-3-Clause */
/* What the four programs of thin-vec4-64x64 share. They set KERNEL, A_K_MAJOR and B_K_MAJOR. */
#define BM          64
#define BN          64
#define THREADS     64
#define CTAS_PER_SM 8
#define BK          16
#define STAGES      3
#include "thin_vec4.inc"
