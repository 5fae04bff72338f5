/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of libraries that are opened at run time. */
#ifndef XGEMM_BIN_SYMBOL_H
#define XGEMM_BIN_SYMBOL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Puts a function's address into *to, a pointer to a function pointer; false when it is not there.
 */
static inline bool find_symbol(void *library, const char *symbol, void *to)
{
    void *address = dlsym(library, symbol);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

#endif
