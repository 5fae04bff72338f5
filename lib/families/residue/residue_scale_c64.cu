/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers of two, norms and magnitudes of lines of complex numbers. */
#define KERNEL residue_scale_c64
#define PARTS  2
#include "scale.inc"
