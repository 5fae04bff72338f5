/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libblas.so.3: gemm of gemm.c, and every other routine of BLAS and CBLAS as a jump to that of
 * another BLAS, which is opened when this library is loaded. The jumps leave all registers and the
 * stack as they are, so that they are right for every signature.
 */
#include "below.h"

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

/* A BLAS, but not this one under another name. */
static bool take(const char *name)
{
    void *library = *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library ? dlsym(library, "dgemm_") : NULL;
    if (!address || is_own(address)) {
        if (library)
            dlclose(library);
        return false;
    }
    opened = library;
    path = strdup(name);
    return true;
}

static bool take_named(void)
{
    const char *given = secure_getenv("XGEMM_BLAS");
    char *list = given ? strdup(given) : NULL, *rest = list;
    bool is_found = false;
    for (char *name; rest && !is_found && (name = strsep(&rest, ":"));)
        is_found = take(name);
    free(list);
    return is_found;
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
        if (take(names[i]))
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
    if (!take_named())
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
