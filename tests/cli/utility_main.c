/* SPDX-License-Identifier: BSD-3-Clause */
/* The utility's main() as a function. */
#include "utility_limits.h"

#define main utility_main
#include "main.c"
