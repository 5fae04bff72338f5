/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm occupancy: how many blocks fit into a multiprocessor, and what limits them. */
#include "commands.h"
#include "device_fields.h"
#include "curve.h"
#include "gpu.h"
#include "kernel_list.h"
#include "plot.h"
#include "report.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    KEY_GPU = 256,
    KEY_KERNEL,
    KEY_THREADS,
    KEY_REGISTERS,
    KEY_SHARED,
    KEY_CLUSTER,
    KEY_CURVE,
    KEY_PLOT
};

static const option_row rows[] = {
    {KEY_GPU, "gpu", "NAME|CC", "a GPU of the catalogue, or a compute capability: sm_90"},
    {KEY_KERNEL, "kernel", "NAME", "threads, registers and shared memory of a kernel"},
    {KEY_THREADS, "threads", "N", "threads in a block"},
    {KEY_REGISTERS, "registers", "N", "registers of a thread; 0: not counted"},
    {KEY_SHARED, "shared", "BYTES", "shared memory of a block"},
    {KEY_CLUSTER, "cluster", "N", "blocks in a cluster"},
    {KEY_CURVE, "curve", "threads|registers|shared", "draw the occupancy over one of them"},
    {KEY_PLOT, "plot", "FILE", "draw the curve (SVG or PNG; needs gnuplot)"},
};

static const column columns[] = {
    {"kernel", -18},
    {"compiled_for", 12},
    {"threads", 7},
    {"registers", 9},
    {"shared_bytes", 12},
    {"cluster", 7},
    {"blocks", 6},
    {"warps", 5},
    {"resident_threads", 16},
    {"warp_occupancy", 14},
    {"thread_occupancy", 16},
    {"blocks_by_warps", 15},
    {"blocks_by_slots", 15},
    {"blocks_by_registers", 19},
    {"blocks_by_shared", 16},
    {"limiters", -1},
    {"registers_allocated", 19},
    {"shared_allocated", 16},
    {"clusters", 8},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

typedef struct {
    settings common;
    const char *gpu_name, *kernel, *plot_path;
    int64_t threads, registers, shared, cluster;
    bool has_threads, has_registers, has_shared;
    curve_axis axis;
    xgemm_device gpu;
    configuration block;
    int compiled_for;
} request;

/* ---- What is asked for ---- */

/* Of threads and registers every GPU has the same limits; of the rest the library judges. */
static int whole(const char *name, const char *value, int least, int most)
{
    return (int)option_integer(&command_occupancy, name, value, least, most);
}

static void take(request *r, int key, const char *value)
{
    switch (key) {
    case KEY_GPU:
        r->gpu_name = value;
        break;
    case KEY_KERNEL:
        r->kernel = value;
        break;
    case KEY_THREADS:
        r->threads = whole("threads", value, 1, 1024);
        r->has_threads = true;
        break;
    case KEY_REGISTERS:
        r->registers = whole("registers", value, 0, 255);
        r->has_registers = true;
        break;
    case KEY_SHARED:
        r->shared = option_integer(&command_occupancy, "shared", value, 0, INT64_MAX);
        r->has_shared = true;
        break;
    case KEY_CLUSTER:
        r->cluster = whole("cluster", value, 0, INT_MAX);
        break;
    case KEY_CURVE:
        r->axis = curve_axis_of(value);
        if (r->axis == CURVE_NONE)
            usage_error(&command_occupancy,
                        "--curve takes threads, registers or shared, not \"%s\"", value);
        break;
    default:
        r->plot_path = value;
    }
}

static void check_usage(const request *r, int argc, char **argv)
{
    if (optind < argc)
        usage_error(&command_occupancy, "it takes no operands; \"%s\" is too much", argv[optind]);
    if (!r->kernel && !r->has_threads)
        usage_error(&command_occupancy, "say of what: --kernel NAME, or --threads N with "
                                        "--registers N and --shared BYTES");
    if (r->plot_path && r->axis == CURVE_NONE)
        usage_error(&command_occupancy,
                    "--plot draws the curve; say which with --curve threads|registers|shared");
}

/* From the driver on a GPU that is here, else as recorded. */
static int resources_of(const request *r, xgemm_kernel_resources *resources)
{
    int status = STATUS_DONE;
    if (r->gpu.ordinal < 0) {
        if (xgemm_kernel_resources_find(r->kernel, &r->gpu, resources))
            status = failed_call(&command_occupancy, NULL);
        return status;
    }
    const settings here = {.device = r->gpu.ordinal};
    xgemm_handle *handle = open_device(&command_occupancy, &here);
    if (xgemm_kernel_resources_get(handle, r->kernel, resources))
        status = failed_call(&command_occupancy, handle);
    xgemm_destroy(handle);
    return status;
}

/* The kernel's own block; what options say comes first. */
static int take_kernel(request *r)
{
    xgemm_kernel_info kernel;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    if (!kernel_find(r->kernel, &kernel))
        kernel_unknown(&command_occupancy, r->kernel);
    if (kernel.threads == 0)
        usage_error(&command_occupancy, "kernel \"%s\" runs on the CPU and has no blocks",
                    r->kernel);
    r->kernel = kernel.name;
    if (!r->has_threads)
        r->threads = kernel.threads;
    if (!r->has_shared)
        r->shared = kernel.shared_bytes;
    if (r->has_registers)
        return STATUS_DONE;
    const int status = resources_of(r, &resources);
    r->registers = resources.registers;
    r->compiled_for = resources.binary_version;
    return status;
}

/* ---- What is printed ---- */

static cell allowed(int blocks)
{
    return blocks == INT_MAX ? cell_none() : cell_integer(blocks);
}

static void add_row(report *to, const request *r, const configuration *at,
                    const xgemm_occupancy_info *info)
{
    char version[CAPABILITY_TEXT];
    const cell cells[COLUMNS] = {
        r->kernel ? cell_text(r->kernel) : cell_none(),
        capability_cell(version, r->compiled_for),
        cell_integer(at->threads),
        at->registers ? cell_integer(at->registers) : cell_none(),
        cell_integer(at->shared),
        at->cluster ? cell_integer(at->cluster) : cell_none(),
        cell_integer(info->blocks),
        cell_integer(info->warps),
        cell_integer(info->threads),
        cell_real(info->warp_occupancy, 4),
        cell_real(info->thread_occupancy, 4),
        cell_integer(info->blocks_by_warps),
        cell_integer(info->blocks_by_slots),
        allowed(info->blocks_by_registers),
        allowed(info->blocks_by_shared),
        cell_text(limiters_text(info->limiters, LIMITERS_IN_A_COLUMN)),
        at->registers ? cell_integer(info->registers_allocated) : cell_none(),
        cell_integer(info->shared_allocated),
        info->clusters ? cell_integer(info->clusters) : cell_none(),
    };
    report_row(to, cells);
}

static void print_allowed(const char *name, int blocks, bool limits)
{
    printf("  %-20s", name);
    if (blocks == INT_MAX)
        printf("%6s\n", "-");
    else
        printf("%6d%s\n", blocks, limits ? "  limits" : "");
}

static void print_text(const request *r, const xgemm_occupancy_info *info, const char *text)
{
    const xgemm_device *gpu = &r->gpu;
    printf("%-22s%s, compute capability %d.%d\n", "GPU", gpu->name, gpu->compute_capability / 10,
           gpu->compute_capability % 10);
    if (r->kernel && r->compiled_for)
        printf("%-22s%s, as compiled for sm_%d\n", "kernel", r->kernel, r->compiled_for);
    else if (r->kernel)
        printf("%-22s%s\n", "kernel", r->kernel);
    printf("%-22s%6d a multiprocessor\n", "blocks", info->blocks);
    printf("%-22s%6d, %.2f %%\n", "warps", info->warps, 100.0 * info->warp_occupancy);
    printf("%-22s%6d, %.2f %%\n", "threads", info->threads, 100.0 * info->thread_occupancy);
    if (info->clusters)
        printf("%-22s%6d at most, of %d blocks\n", "clusters", info->clusters, info->cluster);
    puts("blocks that each alone allows");
    print_allowed("warps", info->blocks_by_warps, info->limiters & XGEMM_LIMITED_BY_WARPS);
    print_allowed("slots for blocks", info->blocks_by_slots,
                  info->limiters & XGEMM_LIMITED_BY_BLOCKS);
    print_allowed("registers", info->blocks_by_registers,
                  info->limiters & XGEMM_LIMITED_BY_REGISTERS);
    print_allowed("shared memory", info->blocks_by_shared,
                  info->limiters & XGEMM_LIMITED_BY_SHARED);
    printf("\n%s\n", text);
}

/* With a curve, CSV has its points; JSON has the configuration, and the curve beside it. */
static void print_rows(const request *r, const xgemm_occupancy_info *info, const char *text,
                       const curve *drawn)
{
    json_t *facts = r->common.format == FORMAT_JSON ? report_facts(&command_occupancy) : NULL;
    const bool curve_rows = drawn->count > 0;
    if (facts) {
        device_add(facts, "gpu", &r->gpu);
        json_object_set_new(facts, "text", json_string(text));
    }
    if (facts && curve_rows) {
        report inner = report_open(&r->common, columns, COLUMNS, "curve", NULL);
        for (int i = 0; i < drawn->count; i++)
            add_row(&inner, r, &drawn->points[i].at, &drawn->points[i].info);
        json_object_set(facts, "curve", inner.rows);
        json_decref(inner.rows);
        json_decref(inner.root);
    }
    report to = report_open(&r->common, columns, COLUMNS, "results", facts);
    if (facts || !curve_rows)
        add_row(&to, r, &r->block, info);
    for (int i = 0; !facts && i < drawn->count; i++)
        add_row(&to, r, &drawn->points[i].at, &drawn->points[i].info);
    report_close(&to);
}

static int show(const request *r)
{
    char text[512];
    curve drawn = {.count = 0};
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    const configuration *c = &r->block;
    if (xgemm_occupancy(&r->gpu, c->threads, c->registers, c->shared, c->cluster, &info) ||
        xgemm_occupancy_text(&r->gpu, c->threads, c->registers, c->shared, c->cluster, text,
                             sizeof text))
        usage_error(&command_occupancy, "%s", xgemm_last_error(NULL));
    if (r->axis != CURVE_NONE)
        drawn = curve_make(&r->gpu, c, r->axis);
    if (r->common.format != FORMAT_TEXT) {
        print_rows(r, &info, text, &drawn);
        return STATUS_DONE;
    }
    print_text(r, &info, text);
    if (drawn.count > 0) {
        putchar('\n');
        curve_print(&drawn);
    }
    return STATUS_DONE;
}

static int run(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO}};
    char message[4400];
    const char *value;
    int key;
    while ((key = option_next(&command_occupancy, argc, argv, &r.common, &value)) != -1)
        take(&r, key, value);
    check_usage(&r, argc, argv);
    r.gpu = gpu_choose(&command_occupancy, &r.common, r.gpu_name);
    plot_prepare(&command_occupancy, &r.common, r.plot_path);
    int status = r.kernel ? take_kernel(&r) : STATUS_DONE;
    r.block = (configuration){(int)r.threads, (int)r.registers, r.shared, (int)r.cluster};
    if (status == STATUS_DONE)
        status = show(&r);
    if (status == STATUS_DONE && r.plot_path &&
        curve_plot(&r.gpu, &r.block, r.axis, r.plot_path, message, sizeof message))
        status = failed(&command_occupancy, "%s", message);
    return status;
}

const command command_occupancy = {
    "occupancy",
    "",
    "say how many blocks fit into a multiprocessor, and what limits them",
    rows,
    sizeof rows / sizeof *rows,
    run,
    true};
