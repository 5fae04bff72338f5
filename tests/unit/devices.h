/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of device records share. */
#ifndef XGEMM_TESTS_DEVICES_H
#define XGEMM_TESTS_DEVICES_H

#include <xgemm.h>

/* A record of the catalogue by its index or by a name; fails the test when there is none. */
xgemm_device entry(int index);
xgemm_device found(const char *name);

/* x is y, within a part of it. */
void near(const char *name, const char *what, double x, double y, double part);

#endif
