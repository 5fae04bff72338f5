/* SPDX-License-Identifier: BSD-3-Clause */
#include "keep.h"

#include <dlfcn.h>

void keep_loaded(void *address)
{
    Dl_info of;
    void *const library = dladdr(address, &of)
                              ? dlopen(of.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
                              : (void *)0;
    if (library)
        dlclose(library);
}
