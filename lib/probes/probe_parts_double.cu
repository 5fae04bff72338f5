/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_parts_double: complex numbers as two values of type double, each read and written by
 * itself. */
#define REAL   double
#define KERNEL xg_probe_parts_double
#include "probe_complex_parts.inc"
#undef REAL
#undef KERNEL
