/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of test_sm90 for the simulator; compiled plain and traced. */
#include "sm90_kernels.cu"

#include "sm90_blocks.cu"
#include "sm90_full_range.cu"
#include "sm90_products.cu"
#include "sm90_stores.cu"
#include "sm90_wrong_calls.cu"

#define XG_SM90_OTHER(name, body, mistake)                                                         \
    XG_KERNEL(, name, xg_test_args)                                                                \
    {                                                                                              \
        body(p, mistake);                                                                          \
    }
XG_SM90_OTHERS(XG_SM90_OTHER)
