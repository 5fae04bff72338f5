/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs that launches run: those of kernels.def, and the functions of the host. */
#ifndef XGEMM_LIB_PROGRAMS_H
#define XGEMM_LIB_PROGRAMS_H

#include "backend/backend.h"

#define XG_PROGRAM(id)      extern const xg_program xg_program_##id;
#define XG_PROGRAM_SM90(id) extern const xg_program xg_program_##id;
#define XG_KERNEL_ROW(...)
#include "kernels.def"
#undef XG_PROGRAM
#undef XG_PROGRAM_SM90
#undef XG_KERNEL_ROW

extern const xg_program xg_program_reference, xg_program_chain, xg_program_blas, xg_program_finish_host,
    xg_program_scale_host;

#endif
