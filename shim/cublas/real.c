/* SPDX-License-Identifier: BSD-3-Clause */
#include "real.h"

#include "shim/keep.h"

#include <dlfcn.h>

_Thread_local int real_depth;

static const char *const names[][4] = {
    [REAL_CUBLAS] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", NULL},
    [REAL_CUBLASLT] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", NULL},
    [REAL_DRIVER] = {"libcuda.so.1", NULL},
};

/* Whether an address is in this library itself. */
static bool is_own(void *address)
{
    Dl_info own, of;
    return dladdr((void *)&names, &own) && dladdr(address, &of) && own.dli_fbase == of.dli_fbase;
}

/*
 * What the program would have had without this library; and since RTLD_NEXT finds nothing in a
 * library that was loaded with RTLD_LOCAL, as PyTorch loads cuBLAS, that library by its name.
 */
static void *find(const real_function *function)
{
    void *address = dlsym(RTLD_NEXT, function->name);
    const char *const *name = names[function->library];
    for (; *name && !address; name++) {
        void *library = dlopen(*name, RTLD_NOW | RTLD_NOLOAD);
        if (!library)
            continue;
        address = dlsym(library, function->name);
        if (address && is_own(address))
            address = NULL;
        dlclose(library); /* of the count alone: the process has it */
    }
    if (address)
        keep_loaded(address);
    return address;
}

void *real_address(real_function *function)
{
    void *address = atomic_load_explicit(&function->address, memory_order_acquire);
    if (!address) {
        address = find(function);
        atomic_store_explicit(&function->address, address, memory_order_release);
    }
    return address;
}
