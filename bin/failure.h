/* SPDX-License-Identifier: BSD-3-Clause */
/* Why something failed that calls libxgemm, and takes memory of its own. */
#ifndef XGEMM_BIN_FAILURE_H
#define XGEMM_BIN_FAILURE_H

#include <xgemm.h>

/* The handle's last failure; where it has none, it was the utility's own memory. */
static inline const char *failure_of(const xgemm_handle *handle)
{
    const char *sentence = xgemm_last_error(handle);
    return *sentence ? sentence : "the host is out of memory";
}

#endif
