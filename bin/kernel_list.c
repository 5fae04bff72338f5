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

static void add(const command *which, kernel_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            usage_error(which, "--kernel has \"%s\" twice", name);
    if (list->count < KERNEL_LIST_MAX)
        list->names[list->count++] = name;
}

/* Whether the handle's kernel computes such products; sizes do not matter. */
static bool is_for(xgemm_handle *handle, const workload *of)
{
    static const shape any = {256, 256, 256};
    workload w = workload_of(any, of->order, of->transa, of->transb, 0);
    xgemm_plan plan = {.struct_size = sizeof plan};
    workload_scalars scalars;
    w.type = of->type;
    w.type_c = of->type_c;
    w.activation = of->activation;
    w.has_bias = of->has_bias;
    w.bias_per_row = of->bias_per_row;
    const buffers aligned = {NULL, NULL, NULL, (const void *)256};
    const xgemm_product product = workload_product(&w, &aligned, &scalars);
    return xgemm_gemm_plan(handle, &product, &plan) == XGEMM_OK;
}

/* Those that this device runs in the handle's math mode. */
static void add_all(const command *which, kernel_list *list, xgemm_handle *handle,
                    const workload *of)
{
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        if (xgemm_kernel_get(i, &kernel) == XGEMM_OK && (kernel.devices & device_bit(handle)) &&
            xgemm_set_kernel(handle, kernel.name) == XGEMM_OK && is_for(handle, of))
            add(which, list, kernel.name);
    }
}

static void add_named(const command *which, kernel_list *list, xgemm_handle *handle,
                      const char *name, const workload *of)
{
    const xgemm_status status = xgemm_set_kernel(handle, name);
    if (status || !is_for(handle, of)) {
        failed_call(which, handle);
        exit(status == XGEMM_ERROR_UNKNOWN_KERNEL ? STATUS_USAGE : STATUS_FAILED);
    }
    xgemm_kernel_info kernel;
    if (kernel_find(name, &kernel))
        add(which, list, kernel.name);
}

kernel_list kernels_from(const command *which, xgemm_handle *handle, const char *text,
                         const workload *of)
{
    kernel_list list = {.count = 0};
    for (const char *at = text; at;) {
        char name[64];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (length == 0)
            usage_error(which, "--kernel takes names of kernels with commas between, auto or all");
        if (strcmp(name, "all") == 0)
            add_all(which, &list, handle, of);
        else if (strcmp(name, "auto") == 0)
            add(which, &list, "auto");
        else
            add_named(which, &list, handle, name, of);
        at = at[length] ? at + length + 1 : NULL;
    }
    if (list.count == 0)
        usage_error(which, "no kernel of this device computes such products");
    return list;
}
