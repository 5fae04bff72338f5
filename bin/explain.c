/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm explain: what a kernel does, counted on the simulator. */
#include "commands.h"
#include "explain_source.h"
#include "explain_text.h"
#include "gpu.h"
#include "kernel_list.h"
#include "plot.h"
#include "problem_options.h"
#include "report.h"
#include "sweep.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME (&command_explain)

enum { KEY_BLOCKS = 256, KEY_GPU, KEY_PLOT, KEY_DRAM, KEY_TILE };

static const option_row rows[] = {
    {'m', NULL, "N", "rows of C; default 256"},
    {'n', NULL, "N", "columns of C; default 256"},
    {'k', NULL, "N", "the inner size; default 256"},
    ORDER_ROW,
    TRANSA_ROW,
    TRANSB_ROW,
    BETA_ROW("C"),
    ALPHA_ROW,
    LD_PAD_ROW,
    {KEY_TYPE, "type", "TYPE", "of the elements: f32, f64, f16, bf16, c32, c64; default f32"},
    TYPE_C_ROW,
    EPILOGUE_ROWS,
    OPTION_ROW(KEY_MATH, "math", "MODE", "with auto: default, strict or tf32"),
    {KEY_BLOCKS, "blocks", "N", "simulate N blocks of one launch; default as many as take seconds"},
    {KEY_GPU, "gpu", "NAME|CC",
     "as this GPU would run it; default the one that is here, else an H200"},
    {KEY_PLOT, "plot", "FILE", "draw the roofline with the kernel on it (SVG or PNG)"},
    {KEY_DRAM, "dram", "CxBxBYTES", "show which channels and banks the first tiles of A touch"},
    {KEY_TILE, "tile", "N", "width of the tiles for --dram; default the kernel's"},
    SOURCE_ROWS,
};

enum { SIZE_MOST = 1 << 20 };

static int64_t size_option(int key, const char *value)
{
    const char name[] = {(char)key, '\0'};
    return option_integer(ME, name, value, 1, SIZE_MOST);
}

static void parse_dram(const char *text, dram_shape *dram)
{
    char rest;
    if (sscanf(text, "%dx%dx%d%c", &dram->channels, &dram->banks, &dram->bytes, &rest) != 3 ||
        dram->channels < 1 || dram->banks < 1 || dram->bytes < 4 || dram->bytes % 4 ||
        dram->channels > DRAM_MOST || dram->banks > DRAM_MOST || dram->bytes > 1 << 20)
        usage_error(ME,
                    "--dram takes CHANNELSxBANKSxBYTES, such as 4x2x8 (1 to %d of each, bytes a "
                    "multiple of 4), not \"%s\"",
                    DRAM_MOST, text);
}

/* An option that a file's kernel has no use for. */
static void not_for_a_file(int key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].key == key && rows[i].name)
            usage_error(ME, "--%s is for the library's kernels, not for a file", rows[i].name);
    usage_error(ME, "-%c is for the library's kernels, not for a file", key);
}

static explain_request parse(int argc, char **argv, source_request *source)
{
    explain_request r = {.common = {.device = XGEMM_DEVICE_SIM}, .problem = problem_defaults()};
    shape size = {256, 256, 256};
    const char *value;
    int product_key = 0; /* of an option that is for the library's kernels */
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        const bool is_source_key = source_option(ME, source, key, value);
        if (!is_source_key && key != KEY_BLOCKS && key != KEY_GPU)
            product_key = key;
        switch (key) {
        case 'm':
            size.m = size_option(key, value);
            break;
        case 'n':
            size.n = size_option(key, value);
            break;
        case 'k':
            size.k = size_option(key, value);
            break;
        case KEY_BLOCKS:
            r.most_blocks = option_integer(ME, "blocks", value, 1, INT32_MAX);
            break;
        case KEY_GPU:
            r.gpu = gpu_choose(ME, &(settings){.device = XGEMM_DEVICE_AUTO}, value);
            break;
        case KEY_PLOT:
            r.plot = value;
            break;
        case KEY_DRAM:
            parse_dram(value, &r.dram);
            break;
        case KEY_TILE:
            r.dram.tile = option_integer(ME, "tile", value, 1, SIZE_MOST);
            break;
        case KEY_TYPE:
            r.problem.type = option_type(ME, "type", value);
            break;
        default:
            if (!is_source_key)
                problem_option(ME, &r.problem, key, value);
        }
    }
    if (r.common.device != XGEMM_DEVICE_AUTO && r.common.device != XGEMM_DEVICE_SIM)
        usage_error(ME, "kernels are explained on the simulator; --gpu names the GPU to explain "
                        "them for");
    if (source->launch_file || (optind < argc && is_source(argv[optind]))) {
        if (product_key)
            not_for_a_file(product_key);
        return r;
    }
    if (source->any)
        usage_error(ME, "these options are for a file, FILE.cu");
    if (argc - optind != 1)
        usage_error(ME, "which kernel? One name, or auto; 'xgemm kernels' lists them");
    r.kernel = argv[optind];
    if (strcmp(r.kernel, "auto") != 0 && option_given(KEY_MATH))
        sweep_math_unused(ME, r.kernel);
    if (option_given(KEY_DRAM) && r.common.format != FORMAT_TEXT)
        usage_error(ME, "--dram draws into the text, so that it has no effect on JSON and CSV");
    if (option_given(KEY_TILE) && !option_given(KEY_DRAM))
        usage_error(ME, "--tile is the width of tiles for --dram; give both");
    sweep_check(ME, &(sweep){.type_count = 0}, &r.problem); /* of this problem alone */
    r.work = problem_workload(&r.problem, size);
    return r;
}

/* Made for it: there is a bias where it is not NULL. */
static xgemm_product product_of(const explain_request *r, workload_scalars *scalars)
{
    const buffers none = {NULL, NULL, NULL, (const void *)256};
    return workload_product(&r->work, &none, scalars);
}

/* What the library would run on the GPU: by the kernel, or by the one that it chooses. */
static xgemm_plan plan_of(const explain_request *r, const char *kernel)
{
    xgemm_plan plan = {.struct_size = sizeof plan, .device = r->gpu.struct_size ? &r->gpu : NULL};
    xgemm_handle *handle = open_device(ME, &(settings){.device = XGEMM_DEVICE_SIM});
    workload_scalars scalars;
    const xgemm_product product = product_of(r, &scalars);
    const xgemm_math math = kernel ? XGEMM_MATH_TF32 : problem_math(&r->problem); /* allows any */
    if (xgemm_set_math(handle, math) || xgemm_set_kernel(handle, kernel) ||
        xgemm_gemm_plan(handle, &product, &plan))
        exit(failed_call(ME, handle));
    xgemm_destroy(handle);
    return plan;
}

static void choose_kernel(explain_request *r)
{
    r->kernel = plan_of(r, NULL).kernel; /* the library's own name */
    if (!r->kernel)
        usage_error(ME, "nothing is multiplied with --alpha 0");
}

/* Of several launches all blocks run, since one launch reads what another wrote. */
static void check_blocks(const explain_request *r)
{
    const int launches = r->most_blocks ? plan_of(r, r->kernel).launches : 1;
    if (launches > 1)
        usage_error(ME,
                    "the product takes %d launches, all of which run whole, so that --blocks "
                    "has no effect",
                    launches);
}

/* Blocks for a few seconds: the simulator traces about 3e7 multiply-adds a second. */
static void set_blocks(explain_request *r)
{
    const double one = (double)r->info.tile_m * r->info.tile_n * (double)r->work.size.k;
    const double most = 3.0e7 / one;
    if (r->most_blocks == 0)
        r->most_blocks = most < 4.0 ? 4 : most > 1e6 ? 1000000 : (int64_t)most;
}

static int run(int argc, char **argv)
{
    source_request source = {.launch.struct_size = sizeof source.launch};
    explain_request r = parse(argc, argv, &source);
    xgemm_trace_report *trace;
    if (!r.kernel) {
        source.common = r.common;
        source.gpu = r.gpu;
        source.launch.most_blocks = r.most_blocks;
        return explain_source(ME, &source, argc - optind, argv + optind);
    }
    if (r.gpu.struct_size == 0)
        r.gpu = gpu_first(ME);
    if (strcmp(r.kernel, "auto") == 0)
        choose_kernel(&r);
    if (!kernel_find(r.kernel, &r.info))
        kernel_unknown(ME, r.kernel);
    if (r.plot && r.gpu.struct_size == 0)
        usage_error(ME, "--plot draws a GPU's roofline, and no GPU is here; --gpu names one");
    check_blocks(&r);
    plot_prepare(ME, &r.common, r.plot);
    if (r.info.tile_m > 0)
        set_blocks(&r);
    workload_scalars scalars;
    const xgemm_product product = product_of(&r, &scalars);
    if (xgemm_gemm_trace(r.kernel, &product, r.most_blocks, r.gpu.struct_size ? &r.gpu : NULL,
                         &trace))
        return failed_call(ME, NULL);
    if (r.common.format == FORMAT_TEXT)
        explain_text(&r, trace);
    else
        explain_rows(&r, ME, trace);
    char why[512];
    const int drawn = r.plot ? explain_roofline(&r, trace, why, sizeof why) : 0;
    xgemm_trace_free(trace);
    return drawn ? failed(ME, "%s", why) : STATUS_DONE;
}

const command command_explain = {"explain",
                                 "KERNEL|FILE.cu|-",
                                 "count what a kernel does, the library's or one's own: requests, "
                                 "sectors, conflicts, divergence",
                                 rows,
                                 sizeof rows / sizeof *rows,
                                 run,
                                 true};
