/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_words_64x128: 64 × 128 tiles, as sliced.inc explains, with one slice. */
#define KERNEL xg_pipelined_words_64x128
#define BM     64
#define BN     128
#define WM     32
#define WN     64
#define TM     8
#define TN     8
#define SLICES 1
#define DEPTH  16
#define STAGES 4
#define BLOCKS 3
#define GROUP  16
#define PAIRED
#include "sliced.inc"
