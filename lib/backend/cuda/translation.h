/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that the driver translates from PTX, each in a thread of its own: several at a time, and
 * beside what the process does on the GPU. cuModuleLoadData holds a lock of the context as long as
 * it translates, which launches of kernels wait for; cuLibraryLoadData, of CUDA 12.0, does not.
 * A kernel's translation has a place, NULL at first. Any thread may call.
 */
#ifndef XGEMM_CUDA_TRANSLATION_H
#define XGEMM_CUDA_TRANSLATION_H

#include "driver.h"

#include <stdbool.h>

typedef struct xg_cu_translation xg_cu_translation;

/* Begins one of PTX, which stays where it is, unless there is one in the place or the driver cannot
   do it so; true: this call did. */
bool xg_cu_translation_begin(xg_cu_translation **place, const xg_cu *driver, xg_cu_context context,
                             const void *ptx);

/* Waits for so many milliseconds, or with -1 until it ends; true: nothing is under way any more. */
bool xg_cu_translation_wait(xg_cu_translation *const *place, int milliseconds);

/* What has ended: the kernel's module, which is the library's, or what failed. */
typedef struct {
    xg_cu_library library;
    xg_cu_module module;
    xg_cu_result failed;
    const char *what; /* the driver's function */
} xg_cu_translated;

/* Takes what has ended out of its place; false: there is nothing. The context is current. */
bool xg_cu_translation_take(xg_cu_translation **place, xg_cu_translated *out);

/* Waits, and frees what nobody has taken. */
void xg_cu_translation_end(xg_cu_translation **place);

/* In a child of fork(). */
void xg_cu_translation_after_fork(void);

#endif
