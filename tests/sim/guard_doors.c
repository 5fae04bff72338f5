/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of test_guard for the simulator, and functions of theirs that need no other thread.
 */
#include "families/tensor/fp16_split.cu"
#include "families/tensor/fp16x1_128x128.cu"
#include "families/tensor/fp16x1_128x256.cu"
#include "families/tensor/fp16x3_128x256.cu"
#include "families/tensor/fp16x3_128x64.cu"

#include "guard.h"

XG_SIM_KERNEL(fp16_split)
XG_SIM_KERNEL(fp16x3_128x64)
XG_SIM_KERNEL(fp16x3_128x256)
XG_SIM_KERNEL(fp16x1_128x128)
XG_SIM_KERNEL(fp16x1_128x256)

static xg_packed see(const float *row, int count)
{
    xg_seen seen = {0.0f, 0.0f, 0, 0};
    for (int i = 0; i < count; i += 4) {
        float4 four = {row[i], 0.0f, 0.0f, 0.0f};
        four.y = i + 1 < count ? row[i + 1] : 0.0f;
        four.z = i + 2 < count ? row[i + 2] : 0.0f;
        four.w = i + 3 < count ? row[i + 3] : 0.0f;
        xg_see_four(&seen, four);
    }
    return xg_packed_of(seen);
}

xg_row_stats guard_row_stats(const float *row, int count, int parts, bool sliced)
{
    const int first = sliced ? count / 2 : 0;
    const xg_packed none = {0, XG_NO_REST};
    const xg_packed before = first > 0 ? see(row, first) : none;
    return xg_row_stats_of(xg_together(before, see(row + first, count - first)), parts);
}

float guard_scale_to_parts(float largest)
{
    return xg_scale_to_parts(largest);
}

int guard_is_hopeless(xg_rows_found a, xg_rows_found b, int a_rows, int b_rows)
{
    return xg_check_is_hopeless(a, b, a_rows, b_rows);
}
