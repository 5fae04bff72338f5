/* SPDX-License-Identifier: BSD-3-Clause */
/* The BLAS below: whichever the process has loaded, under whatever name. */
#ifndef XGEMM_SHIM_BELOW_H
#define XGEMM_SHIM_BELOW_H

/*
 * The function of that name in the first of: what the dynamic linker finds after this library; any
 * other library of the process, as with RTLD_LOCAL in NumPy's wheels; the libraries that
 * $XGEMM_BLAS names, with colons between them. It does not come back without one: the process ends
 * with a message, as it would where a symbol is missing. Any thread may ask.
 */
void *below(const char *name);

#endif
