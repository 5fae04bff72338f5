/* SPDX-License-Identifier: BSD-3-Clause */
/* A number for each kernel, in kernels.def's order. */
#ifndef XGEMM_LIB_KERNEL_IDS_H
#define XGEMM_LIB_KERNEL_IDS_H

#define XG_PROGRAM(id)
#define XG_PROGRAM_SM90(id)
#define XG_KERNEL_ROW(id, ...) XG_KERNEL_##id,
enum {
#include "kernels.def"
    XG_KERNEL_COUNT
};
#undef XG_PROGRAM
#undef XG_PROGRAM_SM90
#undef XG_KERNEL_ROW

#endif
