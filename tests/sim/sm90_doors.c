/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of sm90_kernels.cu and sm90_full_range.cu for the simulator; compiled plain and traced. */
#include "sm90_full_range.cu"
#include "sm90_kernels.cu"

XG_SIM_KERNEL(full_range)

#define XG_SM90_DOOR(name, mistake) XG_SIM_KERNEL(name)
XG_SM90_KERNELS(XG_SM90_DOOR)

#define XG_SM90_OTHER_DOOR(name, body, mistake) XG_SIM_KERNEL(name)
XG_SM90_OTHERS(XG_SM90_OTHER_DOOR)
