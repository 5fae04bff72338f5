/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

xgemm_status xg_fail(xg_error *error, xgemm_status status, const char *format, ...)
{
    if (error) {
        /* By way of a copy: an argument may be the very text that is replaced. */
        char text[sizeof error->text];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        memcpy(error->text, text, sizeof text);
    }
    return status;
}

xgemm_status xg_size_check(size_t struct_size, const char *type, xg_error *error)
{
    if (struct_size >= sizeof struct_size)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "struct_size is %zu; set it to sizeof(%s)",
                   struct_size, type);
}

void xg_error_prefix(xg_error *error, const char *function)
{
    char text[sizeof error->text];
    const size_t used = (size_t)snprintf(text, sizeof text, "%s: ", function);
    snprintf(text + used, sizeof text - used, "%s", error->text);
    memcpy(error->text, text, sizeof text);
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void make_key(void)
{
    have_key = pthread_key_create(&key, free) == 0;
}

/*
 * The library is unloaded: the key is given back, and the thread's error. Those of other threads
 * go when they end, but for the ones that are alive now.
 */
__attribute__((destructor)) static void unload(void)
{
    if (!have_key)
        return;
    free(pthread_getspecific(key));
    pthread_key_delete(key);
    have_key = false;
}

/* A key rather than a thread-local variable, whose access function is the dynamic linker's. */
xg_error *xg_thread_error(void)
{
    static xg_error shared_when_out_of_memory;
    pthread_once(&once, make_key);
    xg_error *error = have_key ? pthread_getspecific(key) : NULL;
    if (error)
        return error;
    error = have_key ? calloc(1, sizeof *error) : NULL;
    if (!error || pthread_setspecific(key, error)) {
        free(error);
        return &shared_when_out_of_memory;
    }
    return error;
}
