/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrong kernels and their twins for the simulator; compiled plain and traced. */
#include "wrong_kernels.cu"

#define DOORS(name)                                                                                \
    XG_SIM_KERNEL(name)                                                                            \
    XG_SIM_KERNEL(name##_right)

DOORS(missing_barrier)
DOORS(early_return)
DOORS(no_bounds_check)
DOORS(write_into_gap)
DOORS(nothing_written)
DOORS(shared_place)
DOORS(overlapping_blocks)
DOORS(order_of_blocks)
DOORS(writes_input)
