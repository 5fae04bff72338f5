/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of magnitudes: how many moduli a product takes. */
#define KERNEL residue_guard_128x256
#define GUARD
#include "product.inc"
