/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_words_32x64: 32 × 64 tiles, as sliced.inc explains, with one slice. */
#define KERNEL xg_pipelined_words_32x64
#define BM     32
#define BN     64
#define WM     16
#define WN     32
#define TM     4
#define TN     4
#define SLICES 1
#define DEPTH  16
#define STAGES 4
#define BLOCKS 4
#define GROUP  32
#define PAIRED
#include "sliced.inc"
