/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of the program that must stay. */
#ifndef XGEMM_SHIM_KEEP_H
#define XGEMM_SHIM_KEEP_H

/*
 * Keeps loaded whatever the address is in: it is remembered, and the program may close what it
 * opened.
 */
void keep_loaded(void *address);

#endif
