/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm kernels: the ladder, and what its kernels take. */
#include "commands.h"
#include "kernel_list.h"
#include "report.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { KEY_RESOURCES = 256 };

static const option_row rows[] = {
    {KEY_RESOURCES, "resources", NULL, "registers and memory as the GPU's driver reports them"},
};

static const column facts_columns[] = {
    {"name", -18},        {"devices", -13},      {"tile", -11},   {"threads", 7},
    {"shared_bytes", 12}, {"flop_per_byte", 13}, {"summary", -1},
};
static const column resources_columns[] = {
    {"name", -18},       {"compute_capability", 18}, {"registers", 9},    {"shared_bytes", 12},
    {"local_bytes", 11}, {"constant_bytes", 14},     {"max_threads", 11},
};
enum {
    FACTS_COLUMNS = sizeof facts_columns / sizeof *facts_columns,
    RESOURCES_COLUMNS = sizeof resources_columns / sizeof *resources_columns
};

static const char *devices_text(unsigned devices)
{
    static char text[32];
    snprintf(text, sizeof text, "%s%s%s", devices & XGEMM_RUNS_ON_CUDA ? "cuda " : "",
             devices & XGEMM_RUNS_ON_SIM ? "sim " : "", devices & XGEMM_RUNS_ON_CPU ? "cpu " : "");
    if (*text)
        text[strlen(text) - 1] = '\0';
    return *text ? text : "none";
}

static void facts_row(report *to, const xgemm_kernel_info *kernel)
{
    char tile[40];
    snprintf(tile, sizeof tile, "%dx%dx%d", kernel->tile_m, kernel->tile_n, kernel->tile_k);
    const bool tiles = kernel->tile_m > 0;
    const cell cells[FACTS_COLUMNS] = {
        cell_text(kernel->name),
        cell_text(devices_text(kernel->devices)),
        tiles ? cell_text(tile) : cell_none(),
        tiles ? cell_integer(kernel->threads) : cell_none(),
        tiles ? cell_integer(kernel->shared_bytes) : cell_none(),
        tiles ? cell_real(kernel->flop_per_byte, 2) : cell_none(),
        cell_text(kernel->summary),
    };
    report_row(to, cells);
}

static int resources_row(report *to, xgemm_handle *handle, const xgemm_kernel_info *kernel)
{
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    if (!(kernel->devices & XGEMM_RUNS_ON_CUDA))
        return STATUS_DONE;
    if (xgemm_kernel_resources_get(handle, kernel->name, &r))
        return failed_call(&command_kernels, handle);
    const cell cells[RESOURCES_COLUMNS] = {
        cell_text(kernel->name),     cell_integer(r.binary_version),
        cell_integer(r.registers),   cell_integer(r.shared_bytes),
        cell_integer(r.local_bytes), cell_integer(r.constant_bytes),
        cell_integer(r.max_threads),
    };
    report_row(to, cells);
    return STATUS_DONE;
}

static bool wanted(const char *name, int argc, char **argv)
{
    if (optind == argc)
        return true;
    for (int i = optind; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

static void check_names(int argc, char **argv)
{
    for (int i = optind; i < argc; i++) {
        xgemm_kernel_info kernel;
        if (!kernel_find(argv[i], &kernel))
            usage_error(&command_kernels, "there is no kernel \"%s\"; 'xgemm kernels' lists them",
                        argv[i]);
    }
}

static int run(int argc, char **argv)
{
    settings common = {.device = XGEMM_DEVICE_AUTO};
    const char *value;
    bool resources = false;
    int status = STATUS_DONE;

    while (option_next(&command_kernels, argc, argv, &common, &value) == KEY_RESOURCES)
        resources = true;
    check_names(argc, argv);
    xgemm_handle *handle = NULL;
    json_t *facts = report_facts(&command_kernels);
    if (resources) {
        if (common.device == XGEMM_DEVICE_AUTO)
            common.device = 0;
        handle = open_device(&command_kernels, &common);
        if (xgemm_get_device(handle) < 0) {
            xgemm_destroy(handle);
            json_decref(facts);
            return failed(&command_kernels, "--resources needs a GPU: only its driver knows them");
        }
        report_device(facts, xgemm_get_device(handle));
    }
    report to = resources
                    ? report_open(&common, resources_columns, RESOURCES_COLUMNS, "kernels", facts)
                    : report_open(&common, facts_columns, FACTS_COLUMNS, "kernels", facts);
    for (int i = 0; i < xgemm_kernel_count() && status == STATUS_DONE; i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        if (xgemm_kernel_get(i, &kernel) || !wanted(kernel.name, argc, argv))
            continue;
        if (resources)
            status = resources_row(&to, handle, &kernel);
        else
            facts_row(&to, &kernel);
    }
    report_close(&to);
    xgemm_destroy(handle);
    return status;
}

const command command_kernels = {
    "kernels", "[NAME]...", "list the kernels: tiles, memory, arithmetic intensity", rows, 1, run};
