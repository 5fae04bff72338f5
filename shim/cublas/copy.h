/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XGEMM_SHIM_COPY_H
#define XGEMM_SHIM_COPY_H

#include "serve.h"

/* How many copies of the driver a call's source takes. */
int64_t copies_of(const call *c);

/*
 * Enqueues the copy of a call's source, of all products of a batch, to C, on the call's stream;
 * false: the driver refused one. Source and C do not overlap.
 */
bool copy_source(const call *c);

#endif
