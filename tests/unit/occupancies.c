/* SPDX-License-Identifier: BSD-3-Clause */
#include "occupancies.h"

#include <check.h>

int known_limits(void)
{
    int count = 0;
    while (xg_limits_at(count))
        count++;
    return count;
}

xgemm_device device_of(int compute_capability)
{
    const xgemm_device device = {.struct_size = sizeof device,
                                 .compute_capability = compute_capability};
    return device;
}

xgemm_occupancy_info occupancy(const xgemm_device *device, int threads, int registers,
                               int64_t shared, int cluster)
{
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    ck_assert_msg(xgemm_occupancy(device, threads, registers, shared, cluster, &info) == XGEMM_OK,
                  "%s", xgemm_last_error(NULL));
    return info;
}
