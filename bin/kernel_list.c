/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kernel_find(const char *name, xgemm_kernel_info *kernel)
{
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        kernel->struct_size = sizeof *kernel;
        if (xgemm_kernel_get(i, kernel) == XGEMM_OK && strcmp(kernel->name, name) == 0)
            return true;
    }
    return false;
}

void kernel_unknown(const command *which, const char *name)
{
    xgemm_kernel_resources none = {.struct_size = sizeof none};
    if (xgemm_kernel_resources_find(name, NULL, &none) == XGEMM_ERROR_UNKNOWN_KERNEL)
        usage_error(which, "%s; 'xgemm kernels' lists all", xgemm_last_error(NULL));
    usage_error(which, "there is no kernel \"%s\"; 'xgemm kernels' lists them", name);
}

static unsigned device_bit(const xgemm_handle *handle)
{
    const int device = xgemm_get_device(handle);
    return device >= 0                  ? XGEMM_RUNS_ON_CUDA
           : device == XGEMM_DEVICE_CPU ? XGEMM_RUNS_ON_CPU
                                        : XGEMM_RUNS_ON_SIM;
}

static void add(kernel_list *list, const char *name)
{
    if (list->count < KERNEL_LIST_MAX)
        list->names[list->count++] = name;
}

/* Those that this device runs in the handle's math mode. */
static void add_all(kernel_list *list, xgemm_handle *handle)
{
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        if (xgemm_kernel_get(i, &kernel) == XGEMM_OK && (kernel.devices & device_bit(handle)) &&
            xgemm_set_kernel(handle, kernel.name) == XGEMM_OK)
            add(list, kernel.name);
    }
}

static void add_named(const command *which, kernel_list *list, xgemm_handle *handle,
                      const char *name)
{
    const xgemm_status status = xgemm_set_kernel(handle, name);
    if (status) {
        failed_call(which, handle);
        exit(status == XGEMM_ERROR_UNKNOWN_KERNEL ? STATUS_USAGE : STATUS_FAILED);
    }
    xgemm_kernel_info kernel;
    if (kernel_find(name, &kernel))
        add(list, kernel.name);
}

kernel_list kernels_from(const command *which, xgemm_handle *handle, const char *text)
{
    kernel_list list = {.count = 0};
    while (*text) {
        char name[64];
        const size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (strcmp(name, "all") == 0)
            add_all(&list, handle);
        else if (strcmp(name, "auto") == 0)
            add(&list, "auto");
        else
            add_named(which, &list, handle, name);
        text += length + (text[length] == ',');
    }
    if (list.count == 0)
        usage_error(which, "--kernel takes names of kernels with commas between, auto or all");
    return list;
}
