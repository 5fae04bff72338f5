/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_parts_double: complex numbers whose two doubles are accessed separately. */
#define REAL   double
#define KERNEL probe_parts_double
#include "probe_complex_parts.inc"
