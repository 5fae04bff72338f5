/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm devices: what there is to run on, and the GPUs of the catalogue. */
#include "commands.h"
#include "report.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { KEY_CATALOG = 256 };

static const option_row rows[] = {
    {KEY_CATALOG, "catalog", NULL, "GPUs that need not be here, with their makers' figures"},
};

/* All there is to say; CSV and JSON have every field, in this order. */
typedef enum {
    DEVICE,
    NAME,
    CAPABILITY,
    PROCESSORS,
    MEMORY,
    CORE_CLOCK,
    MEMORY_CLOCK,
    FP32,
    BANDWIDTH,
    DETAIL,
    BALANCE,
    TF32,
    FP16,
    BF16,
    BUS,
    L2,
    LANES,
    SM_THREADS,
    SM_WARPS,
    SM_BLOCKS,
    SM_REGISTERS,
    SM_SHARED,
    BLOCK_THREADS,
    BLOCK_REGISTERS,
    BLOCK_SHARED,
    BLOCK_STATIC,
    BLOCK_RESERVED,
    THREAD_REGISTERS,
    REGISTER_GRANULE,
    WARP_GRANULE,
    SHARED_GRANULE,
    CLUSTER,
    LIMITS_FROM,
    SOURCE,
    FIELDS
} field;

/* The text's words and unit are for one device in full. */
static const struct {
    column column;
    const char *words, *unit;
} fields[FIELDS] = {
    [DEVICE] = {{"device", -6}, "device", ""},
    [NAME] = {{"name", -32}, "name", ""},
    [CAPABILITY] = {{"compute_capability", 18}, "compute capability", ""},
    [PROCESSORS] = {{"multiprocessors", 15}, "multiprocessors", ""},
    [MEMORY] = {{"memory_gib", 10}, "memory", "GiB"},
    [CORE_CLOCK] = {{"core_clock_mhz", 14}, "core clock, peak", "MHz"},
    [MEMORY_CLOCK] = {{"memory_clock_mhz", 16}, "memory clock, peak", "MHz"},
    [FP32] = {{"peak_fp32_gflops", 16}, "FP32 peak, CUDA cores", "GFLOP/s"},
    [BANDWIDTH] = {{"peak_bandwidth_gbs", 18}, "memory bandwidth, peak", "GB/s"},
    [DETAIL] = {{"detail", -1}, "detail", ""},
    [BALANCE] = {{"balance_flop_per_byte", 21}, "balance, FP32 / bandwidth", "OP/B"},
    [TF32] = {{"peak_tf32_gflops", 16}, "TF32 peak, tensor cores", "GFLOP/s"},
    [FP16] = {{"peak_fp16_gflops", 16}, "FP16 peak, sums in FP32", "GFLOP/s"},
    [BF16] = {{"peak_bf16_gflops", 16}, "BF16 peak, sums in FP32", "GFLOP/s"},
    [BUS] = {{"memory_bus_bits", 15}, "memory bus", "bits"},
    [L2] = {{"l2_mib", 6}, "L2 cache", "MiB"},
    [LANES] = {{"fp32_lanes", 10}, "FP32 units in an SM", ""},
    [SM_THREADS] = {{"threads_per_sm", 14}, "threads in an SM", ""},
    [SM_WARPS] = {{"warps_per_sm", 12}, "warps in an SM", ""},
    [SM_BLOCKS] = {{"blocks_per_sm", 13}, "blocks in an SM", ""},
    [SM_REGISTERS] = {{"registers_per_sm", 16}, "registers in an SM", "of 32 bits"},
    [SM_SHARED] = {{"shared_per_sm", 13}, "shared memory in an SM", "bytes"},
    [BLOCK_THREADS] = {{"threads_per_block", 17}, "threads in a block", ""},
    [BLOCK_REGISTERS] = {{"registers_per_block", 19}, "registers in a block", "of 32 bits"},
    [BLOCK_SHARED] = {{"shared_per_block", 16}, "shared memory in a block", "bytes, opted in to"},
    [BLOCK_STATIC] = {{"shared_per_block_static", 23}, "  without opting in", "bytes"},
    [BLOCK_RESERVED] = {{"shared_reserved", 15}, "  taken by the system", "bytes"},
    [THREAD_REGISTERS] = {{"registers_per_thread", 20}, "registers in a thread", "of 32 bits"},
    [REGISTER_GRANULE] = {{"register_granule", 16}, "registers, in multiples of", "a warp"},
    [WARP_GRANULE] = {{"warp_granule", 12}, "warps, in multiples of", "a block"},
    [SHARED_GRANULE] = {{"shared_granule", 14}, "shared, in multiples of", "bytes a block"},
    [CLUSTER] = {{"cluster_blocks", 14}, "blocks in a cluster", ""},
    [LIMITS_FROM] = {{"limits_from", 11}, "granules: those of", "(compute capability)"},
    [SOURCE] = {{"source", -1}, "source", ""},
};

static const field live_list[] = {DEVICE,       NAME, CAPABILITY, PROCESSORS, MEMORY, CORE_CLOCK,
                                  MEMORY_CLOCK, FP32, BANDWIDTH,  BALANCE,    DETAIL};
enum { LIVE_COLUMNS = sizeof live_list / sizeof *live_list };

/* The catalogue as a table must be narrower: its own headings, in TFLOP/s. */
static const column catalog_columns[] = {
    {"name", -48},       {"cc", 4},           {"sms", 3},          {"clock_mhz", 9},
    {"memory_gib", 10},  {"gbs", 6},          {"l2_mib", 6},       {"fp32_tflops", 11},
    {"tf32_tflops", 11}, {"fp16_tflops", 11}, {"bf16_tflops", 11}, {"flop_per_byte", 13},
};
enum { CATALOG_COLUMNS = sizeof catalog_columns / sizeof *catalog_columns };

static cell known(double value, int digits)
{
    return value > 0.0 ? cell_real(value, digits) : cell_none();
}

/* Of a GPU, where 0 is a number like others; the CPU and the simulator have none. */
static cell of_gpu(const xgemm_device *d, int64_t value)
{
    return d->compute_capability ? cell_integer(value) : cell_none();
}

static const char *capability_text(char *text, size_t size, int capability)
{
    snprintf(text, size, "%d.%d", capability / 10, capability % 10);
    return text;
}

typedef struct {
    cell cells[FIELDS];
    char device[16], capability[16], limits_from[16];
} description;

static void describe_what(description *to, const xgemm_device *d)
{
    cell *c = to->cells;
    snprintf(to->device, sizeof to->device, "%d", d->ordinal);
    c[DEVICE] = d->ordinal == XGEMM_DEVICE_CATALOG ? cell_none()
                : d->ordinal == XGEMM_DEVICE_CPU   ? cell_text("cpu")
                : d->ordinal == XGEMM_DEVICE_SIM   ? cell_text("sim")
                                                   : cell_text(to->device);
    c[NAME] = cell_text(d->name);
    c[DETAIL] = *d->detail ? cell_text(d->detail) : cell_none();
    c[SOURCE] = *d->source ? cell_text(d->source) : cell_none();
    c[CAPABILITY] = c[LIMITS_FROM] = cell_none();
    if (d->compute_capability)
        c[CAPABILITY] = cell_text(
            capability_text(to->capability, sizeof to->capability, d->compute_capability));
    if (d->limits_from)
        c[LIMITS_FROM] =
            cell_text(capability_text(to->limits_from, sizeof to->limits_from, d->limits_from));
}

static void describe_speed(cell *c, const xgemm_device *d)
{
    c[PROCESSORS] = cell_integer(d->multiprocessors);
    c[MEMORY] = known((double)d->memory_bytes / (1 << 30), 1);
    c[L2] = known((double)d->l2_bytes / (1 << 20), 1);
    c[BUS] = d->memory_bus_bits ? cell_integer(d->memory_bus_bits) : cell_none();
    c[CORE_CLOCK] = known(d->core_clock_mhz, 0);
    c[MEMORY_CLOCK] = known(d->memory_clock_mhz, 0);
    c[FP32] = known(d->peak_fp32_gflops, 0);
    c[TF32] = known(d->peak_tf32_gflops, 0);
    c[FP16] = known(d->peak_fp16_gflops, 0);
    c[BF16] = known(d->peak_bf16_gflops, 0);
    c[BANDWIDTH] = known(d->peak_bandwidth_gbs, 0);
    c[BALANCE] = known(d->balance_flop_per_byte, 1);
}

static void describe_limits(cell *c, const xgemm_device *d)
{
    c[LANES] = d->fp32_lanes ? cell_integer(d->fp32_lanes) : cell_none();
    c[SM_THREADS] = of_gpu(d, d->threads_per_sm);
    c[SM_WARPS] = of_gpu(d, d->warps_per_sm);
    c[SM_BLOCKS] = of_gpu(d, d->blocks_per_sm);
    c[SM_REGISTERS] = of_gpu(d, d->registers_per_sm);
    c[SM_SHARED] = of_gpu(d, d->shared_per_sm);
    c[BLOCK_THREADS] = d->threads_per_block ? cell_integer(d->threads_per_block) : cell_none();
    c[BLOCK_REGISTERS] = of_gpu(d, d->registers_per_block);
    c[BLOCK_SHARED] = of_gpu(d, d->shared_per_block);
    c[BLOCK_STATIC] = of_gpu(d, d->shared_per_block_static);
    c[BLOCK_RESERVED] = of_gpu(d, d->shared_reserved);
    c[THREAD_REGISTERS] = of_gpu(d, d->registers_per_thread);
    c[REGISTER_GRANULE] = of_gpu(d, d->register_granule);
    c[WARP_GRANULE] = of_gpu(d, d->warp_granule);
    c[SHARED_GRANULE] = of_gpu(d, d->shared_granule);
    c[CLUSTER] = of_gpu(d, d->cluster_blocks);
}

/* ---- Tables ---- */

static void live_row(report *to, const description *what)
{
    cell cells[LIVE_COLUMNS];
    for (int i = 0; i < LIVE_COLUMNS; i++)
        cells[i] = what->cells[live_list[i]];
    report_row(to, cells);
}

static void catalog_row(report *to, const description *what, const xgemm_device *d)
{
    const cell *c = what->cells;
    const cell cells[CATALOG_COLUMNS] = {
        c[NAME],
        c[CAPABILITY],
        c[PROCESSORS],
        c[CORE_CLOCK],
        known((double)d->memory_bytes / (1 << 30), 0),
        c[BANDWIDTH],
        c[L2],
        known(d->peak_fp32_gflops * 1e-3, 1),
        known(d->peak_tf32_gflops * 1e-3, 1),
        known(d->peak_fp16_gflops * 1e-3, 1),
        known(d->peak_bf16_gflops * 1e-3, 1),
        c[BALANCE],
    };
    report_row(to, cells);
}

/* ---- One device in full ---- */

static void print_value(const char *words, const cell *value, const char *unit)
{
    printf("%-28s ", words);
    switch (value->kind) {
    case CELL_TEXT:
        printf("%s%s%s\n", value->text, *unit ? " " : "", unit);
        break;
    case CELL_INTEGER:
        printf("%lld%s%s\n", (long long)value->integer, *unit ? " " : "", unit);
        break;
    case CELL_REAL:
        printf("%.*f%s%s\n", value->digits, value->real, *unit ? " " : "", unit);
        break;
    case CELL_NONE:
        puts("-");
        break;
    }
}

static void print_in_full(const description *what)
{
    for (int i = 0; i < FIELDS; i++) {
        const cell *value = &what->cells[i];
        if (value->kind == CELL_NONE && (i == DEVICE || i == DETAIL || i == SOURCE))
            continue;
        print_value(fields[i].words, value, fields[i].unit);
    }
}

/* ---- The command ---- */

typedef enum { LIVE, CATALOG, IN_FULL } manner;

typedef struct {
    report report;
    manner manner;
    bool text;
} output;

static output output_open(const settings *common, manner how)
{
    static column columns[FIELDS];
    output to = {.manner = how, .text = common->format == FORMAT_TEXT};
    json_t *facts = report_facts(&command_devices);
    int count = FIELDS;
    if (to.text && how == IN_FULL) {
        json_decref(facts);
        return to;
    }
    if (to.text && how == CATALOG) {
        to.report = report_open(common, catalog_columns, CATALOG_COLUMNS, "devices", facts);
        return to;
    }
    if (to.text)
        count = LIVE_COLUMNS;
    for (int i = 0; i < count; i++)
        columns[i] = fields[to.text ? (int)live_list[i] : i].column;
    to.report = report_open(common, columns, count, "devices", facts);
    return to;
}

static void output_device(output *to, const xgemm_device *d)
{
    description what;
    describe_what(&what, d);
    describe_speed(what.cells, d);
    describe_limits(what.cells, d);
    if (!to->text)
        report_row(&to->report, what.cells);
    else if (to->manner == IN_FULL)
        print_in_full(&what);
    else if (to->manner == CATALOG)
        catalog_row(&to->report, &what, d);
    else
        live_row(&to->report, &what);
}

static void output_close(output *to)
{
    if (!to->text || to->manner != IN_FULL)
        report_close(&to->report);
}

static int list_catalog(const settings *common)
{
    output to = output_open(common, CATALOG);
    int status = STATUS_DONE;
    for (int i = 0; i < xgemm_device_catalog_count() && status == STATUS_DONE; i++) {
        xgemm_device d = {.struct_size = sizeof d};
        if (xgemm_device_catalog_get(i, &d))
            status = failed_call(&command_devices, NULL);
        else
            output_device(&to, &d);
    }
    output_close(&to);
    return status;
}

static int show_named(const settings *common, const char *name)
{
    xgemm_device d = {.struct_size = sizeof d};
    if (xgemm_device_find(name, &d))
        usage_error(&command_devices, "%s; 'xgemm devices --catalog' lists all",
                    xgemm_last_error(NULL));
    output to = output_open(common, IN_FULL);
    output_device(&to, &d);
    output_close(&to);
    return STATUS_DONE;
}

static int show(output *to, int ordinal)
{
    xgemm_device d = {.struct_size = sizeof d};
    if (xgemm_device_get(ordinal, &d))
        return failed_call(&command_devices, NULL);
    output_device(to, &d);
    return STATUS_DONE;
}

/* Someone who writes "3090" may mean a product. */
static int not_here(int ordinal, int gpus)
{
    char name[16];
    xgemm_device d = {.struct_size = sizeof d};
    snprintf(name, sizeof name, "%d", ordinal);
    if (xgemm_device_find(name, &d))
        failed(&command_devices, "there is no GPU %d; there are %d", ordinal, gpus);
    else
        failed(&command_devices, "there is no GPU %d; there are %d ('--catalog %d' is the %s)",
               ordinal, gpus, ordinal, d.name);
    return STATUS_NO_DEVICE;
}

static int show_live(const settings *common, int only)
{
    const int gpus = xgemm_device_count();
    int status = STATUS_DONE;
    if (only >= gpus)
        return not_here(only, gpus);
    output to = output_open(common, only < 0 ? LIVE : IN_FULL);
    for (int i = 0; i < gpus && status == STATUS_DONE; i++)
        if (common->device == XGEMM_DEVICE_AUTO ? only < 0 || i == only : i == common->device)
            status = show(&to, i);
    if (only < 0 && common->device != XGEMM_DEVICE_SIM && status == STATUS_DONE)
        status = show(&to, XGEMM_DEVICE_CPU);
    if (only < 0 && common->device != XGEMM_DEVICE_CPU && status == STATUS_DONE)
        status = show(&to, XGEMM_DEVICE_SIM);
    output_close(&to);
    return status;
}

static int run(int argc, char **argv)
{
    settings common = {.device = XGEMM_DEVICE_AUTO};
    const char *value, *name = NULL;
    bool catalog = false;

    while (option_next(&command_devices, argc, argv, &common, &value) == KEY_CATALOG)
        catalog = true;
    if (optind < argc)
        name = argv[optind++];
    if (optind < argc)
        usage_error(&command_devices,
                    "one device at a time; \"%s\" is too much (a name of several "
                    "words stands in quotes)",
                    argv[optind]);
    if (catalog && common.device != XGEMM_DEVICE_AUTO)
        usage_error(&command_devices, "--catalog lists GPUs that need not be here; it takes no "
                                      "--device");
    /* Digits alone are the number of a GPU that is here. */
    if (name && (catalog || name[strspn(name, "0123456789")] || !*name))
        return show_named(&common, name);
    if (catalog)
        return list_catalog(&common);
    if (name)
        return show_live(&common,
                         (int)option_integer(&command_devices, "device", name, 0, INT_MAX));
    return show_live(&common, common.device);
}

const command command_devices = {
    "devices",
    "[N | NAME]",
    "list the GPUs, the CPU and the simulator, or GPUs of the catalogue",
    rows,
    1,
    run};
