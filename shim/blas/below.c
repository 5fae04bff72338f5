/* SPDX-License-Identifier: BSD-3-Clause */
#include "below.h"

#include "named.h"
#include "shim/keep.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    void *own; /* where this library begins */
    void *address;
} search;

static void *start_of(void *address)
{
    Dl_info about;
    return dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* In an opened library, or what it is linked with; not here. */
static void look_in(void *library, search *for_what)
{
    void *address = library ? dlsym(library, for_what->name) : NULL;
    if (address && start_of(address) != for_what->own)
        for_what->address = address;
}

enum { NAMES_MAX = 4096 };

typedef struct {
    char *list[NAMES_MAX];
    int count;
} names;

/* Nothing is opened from here: the dynamic linker holds a lock. */
static int note_name(struct dl_phdr_info *about, size_t size, void *argument)
{
    names *const to = argument;
    (void)size;
    if (*about->dlpi_name && to->count < NAMES_MAX) /* RTLD_NEXT has looked through the program */
        to->list[to->count] = strdup(about->dlpi_name);
    to->count += *about->dlpi_name && to->count < NAMES_MAX && to->list[to->count];
    return 0;
}

static void look_in_loaded(search *for_what)
{
    names *const loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return;
    dl_iterate_phdr(note_name, loaded);
    for (int i = 0; i < loaded->count; i++) {
        void *library = for_what->address ? NULL : dlopen(loaded->list[i], RTLD_NOW | RTLD_NOLOAD);
        look_in(library, for_what);
        if (library)
            dlclose(library);
        free(loaded->list[i]);
    }
    free(loaded);
}

static const char *look_in_named(const char *name, void *for_what)
{
    void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    look_in(library, for_what);
    return ((search *)for_what)->address ? NULL : "";
}

void *below(const char *name)
{
    static char here;
    search for_what = {.name = name, .own = start_of(&here), .address = dlsym(RTLD_NEXT, name)};
    int cancelled; /* a thread that ended here would keep the dynamic linker's lock */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    if (!for_what.address)
        look_in_loaded(&for_what);
    if (!for_what.address)
        named_take("libxgemm-blas", look_in_named, &for_what);
    pthread_setcancelstate(cancelled, NULL);
    if (for_what.address) {
        keep_loaded(for_what.address);
        return for_what.address;
    }
    fprintf(stderr, "libxgemm-blas: no BLAS of this process has %s; XGEMM_BLAS may name one\n",
            name);
    abort();
}
