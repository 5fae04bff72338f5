/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_parts_float: complex numbers as two values of type float, each read and written by itself.
 */
#define REAL   float
#define KERNEL xg_probe_parts_float
#include "probe_complex_parts.inc"
#undef REAL
#undef KERNEL
