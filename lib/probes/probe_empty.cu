/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_empty: does nothing, to show what a launch alone costs. */
#include "args.h"
#include "families/common/dialect.h"

XG_KERNEL(, probe_empty, xg_probe_args)
{
    (void)p;
}
