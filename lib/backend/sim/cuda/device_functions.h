/* SPDX-License-Identifier: BSD-3-Clause */
/* What CUDA's header of this name declares is in device.h, which is always included. */
#include "device.h"
