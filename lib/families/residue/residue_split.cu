/* SPDX-License-Identifier: BSD-3-Clause */
/* Residues of doubles. */
#define KERNEL residue_split
#include "split.inc"
