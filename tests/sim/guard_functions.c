/* SPDX-License-Identifier: BSD-3-Clause */
/* Device functions that need no other thread, for test_guard. */
#include "families/common/dialect.h"
#include "families/tensor/guard.h"
#include "families/tensor/operand_row.h"

#include "guard.h"

static xg_packed_scan see(const float *row, int count)
{
    xg_row_scan seen = {0.0f, 0.0f, 0, 0};
    for (int i = 0; i < count; i += 4) {
        float4 four = {row[i], 0.0f, 0.0f, 0.0f};
        four.y = i + 1 < count ? row[i + 1] : 0.0f;
        four.z = i + 2 < count ? row[i + 2] : 0.0f;
        four.w = i + 3 < count ? row[i + 3] : 0.0f;
        xg_scan_vec4(&seen, four);
    }
    return xg_pack_scan(seen);
}

xg_row_stats guard_row_stats(const float *row, int count, int terms, bool sliced)
{
    const int first = sliced ? count / 2 : 0;
    const xg_packed_scan none = {0, XG_EMPTY_REST};
    const xg_packed_scan before = first > 0 ? see(row, first) : none;
    return xg_make_row_stats(xg_merge_scans(before, see(row + first, count - first)), terms);
}

float guard_scale_to_terms(float largest)
{
    return xg_scale_to_terms(largest);
}

int guard_is_hopeless(xg_rows_summary a, xg_rows_summary b, int a_rows, int b_rows)
{
    return xg_mostly_suspect(a, b, a_rows, b_rows);
}
