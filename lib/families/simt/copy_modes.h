/* SPDX-License-Identifier: BSD-3-Clause */
/* How a kernel copies a tile of an operand from global to shared memory. */
#ifndef XGEMM_KERNELS_COPY_MODES_H
#define XGEMM_KERNELS_COPY_MODES_H

/*
 * The operand's major, and the bytes of a copy: 4 (scalar) or 16 (vec4), which aligned rows need.
 */
enum { XG_SCALAR_K_MAJOR, XG_SCALAR_MN_MAJOR, XG_VEC4_MN_MAJOR, XG_VEC4_K_MAJOR };

/* Rows of A (columns of B) that a copy takes. */
#define XG_COPY_MN(mode) ((mode) == XG_VEC4_MN_MAJOR ? 4 : 1)

#endif
