/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that stands in for CUDA where a C compiler compiles kernels. The build puts it before each
 * unit of kernels (-include), so that kernels need not know of it; also before the assembly of a
 * traced one, which has no use for it.
 */
#if !defined(XGEMM_SIM_SHIM_H) && !defined(__ASSEMBLER__)
#define XGEMM_SIM_SHIM_H

#include "cuda_shim.h"
#include "sm90_shim.h"

#endif
