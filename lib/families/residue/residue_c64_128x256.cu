/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of residues of complex numbers, three for each modulus, tiles of 128 x 256. */
#define KERNEL   residue_c64_128x256
#define PRODUCTS 3
#include "product.inc"
