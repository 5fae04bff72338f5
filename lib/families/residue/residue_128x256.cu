/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of residues, tiles of 128 x 256. */
#define KERNEL residue_128x256
#include "product.inc"
