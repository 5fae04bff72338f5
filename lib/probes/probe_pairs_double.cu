/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_pairs_double: complex numbers as double2, each accessed as a whole. */
#define PAIR   double2
#define REAL   double
#define KERNEL probe_pairs_double
#include "probe_complex_pairs.inc"
