/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thin_80x100: 80 × 100 tiles, as thin.inc explains: for a C of up to a hundred columns, or as many
 * more than tiles of 128 cover. Five rows of 25 threads: of 128 only three do not multiply.
 */
#define KERNEL  xg_thin_80x100
#define BM      80
#define BN      100
#define THREADS 128
#define ROWS    16
#define BLOCKS  4
#include "thin.inc"
