/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of test_wrong_kernels for the simulator; compiled plain and traced. */
#include "wrong_kernels.cu"
