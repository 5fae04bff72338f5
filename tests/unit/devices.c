/* SPDX-License-Identifier: BSD-3-Clause */
#include "devices.h"

#include <check.h>
#include <math.h>

xgemm_device entry(int index)
{
    xgemm_device d = {.struct_size = sizeof d};
    ck_assert_msg(xgemm_device_catalog_get(index, &d) == XGEMM_OK, "%d: %s", index,
                  xgemm_last_error(NULL));
    return d;
}

xgemm_device found(const char *name)
{
    xgemm_device d = {.struct_size = sizeof d};
    ck_assert_msg(xgemm_device_find(name, &d) == XGEMM_OK, "\"%s\": %s", name,
                  xgemm_last_error(NULL));
    return d;
}

void near(const char *name, const char *what, double x, double y, double part)
{
    ck_assert_msg(fabs(x - y) <= part * fabs(y), "%s: %s is %g, not %g within %g %%", name, what, x,
                  y, 100.0 * part);
}
