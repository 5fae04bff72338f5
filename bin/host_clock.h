/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's monotonic clock. */
#ifndef XGEMM_BIN_HOST_CLOCK_H
#define XGEMM_BIN_HOST_CLOCK_H

#include <time.h>

/* Microseconds since some fixed moment. */
static inline double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

#endif
