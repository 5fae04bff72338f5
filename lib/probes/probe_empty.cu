/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_empty: does nothing, to show what a launch alone costs. */
#include "families/common/dialect.h"

XG_KERNEL
void xg_probe_empty(const xg_args p)
{
    (void)p;
}
