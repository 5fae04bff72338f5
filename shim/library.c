/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

library_functions library;

static bool find(void *from, const char *name, void *to)
{
    void *address = dlsym(from, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

bool library_load(void)
{
    static bool is_tried, is_there;
    if (is_tried)
        return is_there;
    is_tried = true;
    const char *name = secure_getenv("XGEMM_RUN_LIBRARY");
    void *opened = dlopen(name && *name ? name : "libxgemm.so.0", RTLD_NOW | RTLD_LOCAL);
    is_there = opened != NULL;
#define FIND(function) is_there = is_there && find(opened, "xgemm_" #function, &library.function);
    LIBRARY_FUNCTIONS(FIND)
#undef FIND
    return is_there;
}
