/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_pairs_float: complex numbers as float2, each accessed as a whole. */
#define PAIR   float2
#define REAL   float
#define KERNEL probe_pairs_float
#include "probe_complex_pairs.inc"
