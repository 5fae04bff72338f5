/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libblas.so.3: gemm of gemm.c, and every other routine of BLAS and CBLAS as a jump to that of
 * another BLAS, which is opened when this library is loaded. The jumps leave all registers and the
 * stack as they are, so that they are right for every signature.
 */
#include "below.h"
#include "named.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a routine is; hidden, so that code finds it without a relocation. */
#define SLOT(name)    slot_of_##name
#define ROUTINE(name) __attribute__((visibility("hidden"), used)) void *SLOT(name);
#include "routines.def"
#undef ROUTINE

#if defined __x86_64__
#define JUMP(name) "endbr64\n\tjmp *slot_of_" #name "(%rip)\n"
#elif defined __aarch64__
#define JUMP(name)                                                                                 \
    "hint #34\n\tadrp x16, slot_of_" #name "\n\tldr x16, [x16, #:lo12:slot_of_" #name "]\n"        \
    "\tbr x16\n"
#else
#error "no jump for this processor"
#endif
#define ROUTINE(name)                                                                              \
    __asm__(".text\n\t.balign 16\n\t.globl " #name "\n\t.type " #name ", @function\n" #name        \
            ":\n\t.cfi_startproc\n\t" JUMP(name) "\t.cfi_endproc\n\t.size " #name ", .-" #name     \
                                                 "\n");
#include "routines.def"
#undef ROUTINE

static const struct {
    const char *name;
    void **slot;
} routines[] = {
#define ROUTINE(name) {#name, &SLOT(name)},
#include "routines.def"
#undef ROUTINE
};
enum { ROUTINES = sizeof routines / sizeof *routines };

/* ---- The BLAS below ---- */

static void *opened;
static const char *path; /* of it */

static bool is_own(void *address)
{
    Dl_info own, of;
    return dladdr((void *)&routines, &own) && dladdr(address, &of) && own.dli_fbase == of.dli_fbase;
}

/* A BLAS, but not this one under another name; NULL, or why not. */
static const char *take(const char *name, void *unused)
{
    (void)unused;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    void *address = dlsym(library, "dgemm_");
    if (!address || is_own(address)) {
        dlclose(library);
        return address ? "it is this library" : "it has no dgemm_";
    }
    opened = library;
    path = strdup(name);
    return NULL;
}

/* By full names, since the dynamic linker has this library by the short one. */
static bool take_installed(void)
{
    static const char *const names[] = {BLAS_FOLDER "/openblas-pthread/libblas.so.3",
                                        BLAS_FOLDER "/openblas-openmp/libblas.so.3",
                                        BLAS_FOLDER "/openblas-serial/libblas.so.3",
                                        BLAS_FOLDER "/blis-pthread/libblas.so.3",
                                        BLAS_FOLDER "/blis-openmp/libblas.so.3",
                                        BLAS_FOLDER "/blis-serial/libblas.so.3",
                                        BLAS_FOLDER "/atlas/libblas.so.3",
                                        BLAS_FOLDER "/blas/libblas.so.3",
                                        "libopenblas.so.0",
                                        "libblis.so.4",
                                        "libmkl_rt.so.2",
                                        "libflexiblas.so.3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!take(names[i], NULL))
            return true;
    return false;
}

static void fail(const char *name)
{
    if (opened)
        fprintf(stderr, "libxgemm's libblas.so.3: %s has no %s\n", path, name);
    else
        fprintf(stderr,
                "libxgemm's libblas.so.3: there is no BLAS for %s; XGEMM_BLAS may name one\n",
                name);
    abort();
}

static void missing(void)
{
    fail("routine that was called");
}

/* Before the constructors of whatever is linked with this library. */
__attribute__((constructor)) static void fill(void)
{
    void (*const stop)(void) = missing;
    if (!named_take("libxgemm's libblas.so.3", take, NULL))
        take_installed();
    for (int i = 0; i < ROUTINES; i++) {
        *routines[i].slot = opened ? dlsym(opened, routines[i].name) : NULL;
        if (!*routines[i].slot)
            memcpy(routines[i].slot, &stop, sizeof stop);
    }
}

void *below(const char *name)
{
    void *const address = opened ? dlsym(opened, name) : NULL;
    if (!address)
        fail(name);
    return address;
}
