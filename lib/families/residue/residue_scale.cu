/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers of two, norms and magnitudes of lines of doubles. */
#define KERNEL residue_scale
#include "scale.inc"
