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
DOORS(missing_copy_wait)
DOORS(copy_without_barrier)
DOORS(stage_too_early)
DOORS(missing_syncwarp)
DOORS(warp_for_block)
DOORS(absent_lane)
DOORS(absent_factor)
DOORS(warp_hangs)
DOORS(lost_update)
DOORS(unfinished_sum)
DOORS(past_dynamic)
DOORS(forgotten_z)
DOORS(other_product)
DOORS(other_pointer)
