/* SPDX-License-Identifier: BSD-3-Clause */
/* --kernel LIST: which kernels a command runs. */
#ifndef XGEMM_BIN_KERNEL_LIST_H
#define XGEMM_BIN_KERNEL_LIST_H

#include "workload.h"

enum { KERNEL_LIST_MAX = 64 };

typedef struct {
    const char *names[KERNEL_LIST_MAX];
    int count;
} kernel_list;

/* The row of a command that takes such a list, and its key. */
enum { KEY_KERNELS = 600 };
#define KERNELS_ROW(otherwise)                                                                     \
    OPTION_ROW(KEY_KERNELS, "kernel", "LIST",                                                      \
               "names with commas between, auto, or all; default " otherwise)

/* The kernel of that name; false when there is none. */
bool kernel_find(const char *name, xgemm_kernel_info *kernel);

/* Ends the program with the names nearest to one that no kernel has. */
_Noreturn void kernel_unknown(const command *which, const char *name);

/*
 * Names with commas between; "auto"; "all": each that the handle's device can
 * run for such a workload: of its types, with its epilogue. An unknown one, and one that is there
 * twice, ends the program with 2, one that the device cannot run with 1. The names are the
 * library's own.
 */
kernel_list kernels_from(const command *which, xgemm_handle *handle, const char *text,
                         const workload *of);

#endif
