/* SPDX-License-Identifier: BSD-3-Clause */
/* Residues of complex numbers: of their parts, and of the sums of these. */
#define KERNEL residue_split_c64
#define PARTS  2
#include "split.inc"
