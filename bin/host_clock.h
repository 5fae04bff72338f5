/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's clocks: monotonic for times, UTC for dates. */
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

enum { DATE_SIZE = 32 };

/* Date and time now, as 2026-01-31T23:59:59Z. */
static inline void now_date(char date[DATE_SIZE])
{
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

#endif
