/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include "counters.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

library_functions library;

enum { LIBRARY_REASON = sizeof((counters_key *)NULL)->reason };

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

/*
 * Without the function's name that it begins with; what is not printable in ASCII may be half a
 * character once it is cut.
 */
static void shorten(const char *sentence, char to[LIBRARY_REASON])
{
    static const char more[] = "...", prefix[] = "xgemm_";
    const char *colon = strncmp(sentence, prefix, strlen(prefix)) ? NULL : strstr(sentence, ": ");
    sentence = colon ? colon + 2 : sentence;
    const size_t length = strlen(sentence), most = LIBRARY_REASON - 1;
    for (size_t i = 0; i < LIBRARY_REASON; i++)
        to[i] = i >= length ? '\0' : sentence[i] >= ' ' && sentence[i] <= '~' ? sentence[i] : '?';
    if (length > most)
        memcpy(to + LIBRARY_REASON - sizeof more, more, sizeof more);
}

const char *library_failure(void)
{
    enum { TEXTS = 8 };
    static char texts[TEXTS][LIBRARY_REASON];
    char text[LIBRARY_REASON];
    int i = 0;
    shorten(library.last_error(NULL), text);
    while (i < TEXTS && *texts[i] && strcmp(texts[i], text) != 0)
        i++;
    if (i == TEXTS)
        return "libxgemm has no handle on the GPU";
    memcpy(texts[i], text, sizeof text);
    return texts[i];
}

/* Whether both names are of one GPU, which may have several. */
static bool is_same_gpu(const xgemm_device *gpu, const char *measured_on)
{
    xgemm_device a = {.struct_size = sizeof a}, b = a;
    if (strcmp(gpu->name, measured_on) == 0)
        return true;
    return !library.device_find(gpu->name, &a) && !library.device_find(measured_on, &b) &&
           strcmp(a.name, b.name) == 0 && a.multiprocessors == gpu->multiprocessors;
}

bool library_is_measured(xgemm_handle *handle, const xgemm_device *gpu)
{
    enum { SIZE = 1024 };
    const xgemm_product product = {.struct_size = sizeof product,
                                   .order = XGEMM_COL_MAJOR,
                                   .transa = XGEMM_NO_TRANS,
                                   .transb = XGEMM_NO_TRANS,
                                   .m = SIZE,
                                   .n = SIZE,
                                   .k = SIZE,
                                   .type_a = XGEMM_F32,
                                   .type_b = XGEMM_F32,
                                   .type_c = XGEMM_F32,
                                   .lda = SIZE,
                                   .ldb = SIZE,
                                   .ldc = SIZE,
                                   .batch_count = 1};
    xgemm_plan plan = {.struct_size = sizeof plan};
    return !library.gemm_plan(handle, &product, &plan) && plan.measured_on &&
           is_same_gpu(gpu, plan.measured_on);
}
