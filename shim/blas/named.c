/* SPDX-License-Identifier: BSD-3-Clause */
#include "named.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dynamic linker's reasons begin with the name, unless they are about another library. */
static const char *without(const char *name, const char *why)
{
    const size_t length = strlen(name);
    const bool begins = strncmp(why, name, length) == 0 && strncmp(why + length, ": ", 2) == 0;
    return begins ? why + length + 2 : why;
}

bool named_take(const char *who, named_taker *take, void *of)
{
    static _Atomic uint64_t told; /* a bit for each place in the list */
    const char *given = secure_getenv("XGEMM_BLAS");
    char *list = given ? strdup(given) : NULL, *rest = list;
    bool is_taken = false;
    int place = 0;
    for (char *name; rest && !is_taken && (name = strsep(&rest, ":")); place++) {
        const uint64_t bit = UINT64_C(1) << (place < 63 ? place : 63);
        const char *const why = *name ? take(name, of) : "";
        is_taken = !why;
        if (why && *why && !(atomic_fetch_or(&told, bit) & bit))
            fprintf(stderr, "%s: XGEMM_BLAS: %s: %s\n", who, name, without(name, why));
    }
    free(list);
    return is_taken;
}
