/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that $XGEMM_BLAS names, with colons between them. */
#ifndef XGEMM_SHIM_NAMED_H
#define XGEMM_SHIM_NAMED_H

#include <stdbool.h>

/* Takes what it wants of a library; NULL: it has it. Else why not, or "" where that is no mistake.
 */
typedef const char *named_taker(const char *name, void *of);

/*
 * Offers them in turn until one is taken; false: none was. Of each that is not, the reason goes to
 * standard error, after the words "who", once in a process. Any thread may call.
 */
bool named_take(const char *who, named_taker *take, void *of);

#endif
