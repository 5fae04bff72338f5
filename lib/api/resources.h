/* SPDX-License-Identifier: BSD-3-Clause */
/* What the compiler reported of a kernel's program, for whom a kernel's name is not enough. */
#ifndef XGEMM_LIB_API_RESOURCES_H
#define XGEMM_LIB_API_RESOURCES_H

#include "families/kernels.h"

/* As xgemm_kernel_resources_find(), of one of the kernel's programs and a complete device. */
xgemm_status xg_program_resources(const xg_kernel *kernel, const xg_program *program,
                                  const xgemm_device *device, xgemm_kernel_resources *result,
                                  xg_error *error);

#endif
