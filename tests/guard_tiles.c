/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard.h"
TCase *guard_tiles(void)
{
    return tcase_create("tiles");
}
