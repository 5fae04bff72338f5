/* SPDX-License-Identifier: BSD-3-Clause */
/* make_float4() and the like: all of them are there. */
#include "device.h"
