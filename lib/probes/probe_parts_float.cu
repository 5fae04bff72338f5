/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_parts_float: complex numbers whose two floats are accessed separately. */
#define REAL   float
#define KERNEL probe_parts_float
#include "probe_complex_parts.inc"
