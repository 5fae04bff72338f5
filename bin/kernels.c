/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm kernels: the ladder, and what its kernels take. */
#include "commands.h"
#include "device_fields.h"
#include "gpu.h"
#include "kernel_list.h"
#include "report.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { KEY_RESOURCES = 256, KEY_GPU };

static const option_row rows[] = {
    {KEY_RESOURCES, "resources", NULL, "registers and memory, from the driver or as compiled"},
    {KEY_GPU, "gpu", "NAME|CC",
     "with --resources: as compiled for this GPU, which need not be here"},
};

static const column facts_columns[] = {
    {"name", -23},        {"runs_on", -13},      {"tile", -11}, {"threads", 7},
    {"shared_bytes", 12}, {"flop_per_byte", 13}, {"math", -7},  {"summary", -1},
};
static const column resources_columns[] = {
    {"name", -23},       {"compiled_for", 12},   {"registers", 9},    {"shared_bytes", 12},
    {"local_bytes", 11}, {"constant_bytes", 14}, {"max_threads", 11},
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
        cell_text(math_word(kernel->math)),
        cell_text(kernel->summary),
    };
    report_row(to, cells);
}

/* Where resources are from: the driver of a GPU, or what was recorded for one. */
typedef struct {
    bool resources;
    const char *gpu_name;
    xgemm_handle *handle; /* NULL: as recorded */
    xgemm_device gpu;
} source;

static int resources_row(report *to, const source *from, const xgemm_kernel_info *kernel)
{
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    if (!(kernel->devices & XGEMM_RUNS_ON_CUDA))
        return STATUS_DONE;
    const xgemm_status status = from->handle
                                    ? xgemm_kernel_resources_get(from->handle, kernel->name, &r)
                                    : xgemm_kernel_resources_find(kernel->name, &from->gpu, &r);
    if (status == XGEMM_ERROR_NOT_SUPPORTED || status == XGEMM_ERROR_DRIVER_TOO_OLD)
        return STATUS_DONE; /* not for this GPU or driver, others are */
    if (status)
        return failed_call(&command_kernels, from->handle);
    char version[CAPABILITY_TEXT];
    const cell cells[RESOURCES_COLUMNS] = {
        cell_text(kernel->name),     capability_cell(version, r.binary_version),
        cell_integer(r.registers),   cell_integer(r.shared_bytes),
        cell_integer(r.local_bytes), cell_integer(r.constant_bytes),
        cell_integer(r.max_threads),
    };
    report_row(to, cells);
    return STATUS_DONE;
}

/* The newest architecture that a kernel was compiled for, up to the GPU's; 0, and why, if none. */
static int newest_recorded(const xgemm_device *gpu)
{
    int newest = 0;
    for (int i = xgemm_kernel_count() - 1; i >= 0; i--) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        xgemm_kernel_resources r = {.struct_size = sizeof r};
        if (xgemm_kernel_get(i, &kernel) == XGEMM_OK &&
            xgemm_kernel_resources_find(kernel.name, gpu, &r) == XGEMM_OK &&
            r.binary_version > newest)
            newest = r.binary_version;
    }
    return newest;
}

/* "name": a kernel that is asked for, or NULL: all. */
static int choose_recorded(const settings *common, source *from, const char *name)
{
    if (from->gpu_name)
        from->gpu = gpu_choose(&command_kernels, common, from->gpu_name);
    else
        from->gpu = (xgemm_device){.struct_size = sizeof from->gpu, .compute_capability = INT_MAX};
    const int newest = newest_recorded(&from->gpu);
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    if (newest == 0 && name) /* for the sentence */
        (void)xgemm_kernel_resources_find(name, &from->gpu, &r);
    if (newest == 0)
        return failed_call(&command_kernels, NULL);
    if (!from->gpu_name) {
        from->gpu.compute_capability = newest;
        snprintf(from->gpu.name, sizeof from->gpu.name, "sm_%d", newest);
        if (!common->quiet)
            fprintf(stderr, "xgemm kernels: there is no GPU here; as compiled for sm_%d\n", newest);
    }
    return STATUS_DONE;
}

static int choose_source(settings *common, source *from, json_t *facts, const char *name)
{
    const bool here = !from->gpu_name && (common->device != XGEMM_DEVICE_AUTO ||
                                          gpu_first(&command_kernels).struct_size > 0);
    if (here) {
        if (common->device == XGEMM_DEVICE_AUTO)
            common->device = 0;
        from->handle = open_device(&command_kernels, common);
        if (xgemm_get_device(from->handle) < 0)
            return failed(&command_kernels,
                          "--resources is of GPUs; name one with --gpu, such as --gpu sm_90");
        device_add_ordinal(facts, xgemm_get_device(from->handle));
        return STATUS_DONE;
    }
    const int status = choose_recorded(common, from, name);
    if (from->gpu_name)
        device_add(facts, "gpu", &from->gpu);
    else
        json_object_set_new(facts, "gpu", json_null());
    return status;
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
            kernel_unknown(&command_kernels, argv[i]);
    }
}

static int list(const settings *common, const source *from, json_t *facts, int argc, char **argv)
{
    int status = STATUS_DONE;
    report to = from->resources
                    ? report_open(common, resources_columns, RESOURCES_COLUMNS, "kernels", facts)
                    : report_open(common, facts_columns, FACTS_COLUMNS, "kernels", facts);
    for (int i = 0; i < xgemm_kernel_count() && status == STATUS_DONE; i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        if (xgemm_kernel_get(i, &kernel) || !wanted(kernel.name, argc, argv))
            continue;
        if (from->resources)
            status = resources_row(&to, from, &kernel);
        else
            facts_row(&to, &kernel);
    }
    report_close(&to);
    return status;
}

static int run(int argc, char **argv)
{
    settings common = {.device = XGEMM_DEVICE_AUTO};
    source from = {.resources = false};
    const char *value;
    int key;

    while ((key = option_next(&command_kernels, argc, argv, &common, &value)) != -1) {
        if (key == KEY_GPU)
            from.gpu_name = value;
        else
            from.resources = true;
    }
    check_names(argc, argv);
    if (from.gpu_name && !from.resources)
        usage_error(&command_kernels, "--gpu is for --resources; give both");
    if (option_given('d') && !from.resources)
        usage_error(&command_kernels, "--device is for --resources; the list has all devices");
    json_t *facts = report_facts(&command_kernels);
    int status = from.resources
                     ? choose_source(&common, &from, facts, optind < argc ? argv[optind] : NULL)
                     : STATUS_DONE;
    if (status == STATUS_DONE)
        status = list(&common, &from, facts, argc, argv);
    else
        json_decref(facts);
    xgemm_destroy(from.handle);
    return status;
}

const command command_kernels = {
    "kernels", "[NAME]...", "list the kernels: tiles, memory, arithmetic intensity", rows, 2,
    run,       false};
