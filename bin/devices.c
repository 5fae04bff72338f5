/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm devices: lists this machine's devices, or GPUs of the catalogue. */
#include "commands.h"
#include "device_fields.h"
#include "report.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { KEY_CATALOG = 256 };

static const option_row rows[] = {
    {KEY_CATALOG, "catalog", NULL, "list the catalogue's GPUs instead, with their makers' figures"},
};

static const device_field live_list[] = {DEVICE,    NAME,       CAPABILITY,   MULTIPROCESSORS,
                                         MEMORY,    CORE_CLOCK, MEMORY_CLOCK, FP32,
                                         BANDWIDTH, BALANCE,    DETAIL};
enum { LIVE_COLUMNS = sizeof live_list / sizeof *live_list };

/* The catalogue's text table: narrower than device_fields; cells are those of catalog_row(). */
static const column catalog_columns[] = {
    {"name", -48},       {"cc", 4},           {"sms", 3},          {"clock_mhz", 9},
    {"memory_gib", 10},  {"gbs", 6},          {"l2_mib", 6},       {"fp32_tflops", 11},
    {"tf32_tflops", 11}, {"fp16_tflops", 11}, {"bf16_tflops", 11}, {"flop_per_byte", 13},
};
enum { CATALOG_COLUMNS = sizeof catalog_columns / sizeof *catalog_columns };

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
        c[MULTIPROCESSORS],
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

static void print_value(const char *label, const cell *value, const char *unit)
{
    printf("%-28s ", label);
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
        if (value->kind == CELL_NONE && (i == DEVICE || i == DETAIL || i >= SOURCE))
            continue;
        print_value(device_fields[i].label, value, device_fields[i].unit);
    }
}

/* ---- The command ---- */

typedef enum { VIEW_LIVE, VIEW_CATALOG, VIEW_IN_FULL } view;

typedef struct {
    report report;
    view view;
    bool text;
} output;

/* The GPUs that can be used here. */
typedef struct {
    int count;
    bool fail;                  /* none can, though driver and card seem to be there */
    const char *no_gpu_because; /* as a sentence; NULL: there is one */
} machine;

/* A driver that fails is loaded again by each call, so there is one, where there is no GPU. */
static machine look(void)
{
    static char why[1024];
    xgemm_device first = {.struct_size = sizeof first};
    const xgemm_status status = xgemm_device_get(0, &first);
    const bool none = status && status_without_device(status) == STATUS_NO_DEVICE;
    const int count = none ? 0 : xgemm_device_count();
    const char *const text = xgemm_last_error(NULL), *const end = strstr(text, ": ");
    const bool has_function = end && strncmp(text, "xgemm_device_", strlen("xgemm_device_")) == 0;
    snprintf(why, sizeof why, "%s", has_function ? end + 2 : text);
    return (machine){count, !none && count == 0, count > 0 ? NULL : why};
}

static output output_open(const settings *common, view which, const char *no_gpu_because)
{
    static column columns[FIELDS];
    output to = {.view = which, .text = common->format == FORMAT_TEXT};
    json_t *facts = report_facts(&command_devices);
    json_object_set_new(facts, "no_gpu_because",
                        no_gpu_because ? json_string(no_gpu_because) : json_null());
    int count = FIELDS;
    if (to.text && which == VIEW_IN_FULL) {
        json_decref(facts);
        return to;
    }
    if (to.text && which == VIEW_CATALOG) {
        to.report = report_open(common, catalog_columns, CATALOG_COLUMNS, "devices", facts);
        return to;
    }
    if (to.text)
        count = LIVE_COLUMNS;
    for (int i = 0; i < count; i++)
        columns[i] = device_fields[to.text ? (int)live_list[i] : i].column;
    to.report = report_open(common, columns, count, "devices", facts);
    return to;
}

static void output_device(output *to, const xgemm_device *d)
{
    description what;
    describe_device(&what, d);
    if (!to->text)
        report_row(&to->report, what.cells);
    else if (to->view == VIEW_IN_FULL)
        print_in_full(&what);
    else if (to->view == VIEW_CATALOG)
        catalog_row(&to->report, &what, d);
    else
        live_row(&to->report, &what);
}

static void output_close(output *to)
{
    if (!to->text || to->view != VIEW_IN_FULL)
        report_close(&to->report);
}

static int list_catalog(const settings *common)
{
    output to = output_open(common, VIEW_CATALOG, NULL);
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
    if (strcmp(name, "cpu") == 0 || strcmp(name, "sim") == 0)
        usage_error(&command_devices, "\"%s\" is no GPU's name; --device %s shows that device",
                    name, name);
    if (xgemm_device_find(name, &d))
        usage_error(&command_devices, "%s; 'xgemm devices --catalog' lists all",
                    xgemm_last_error(NULL));
    output to = output_open(common, VIEW_IN_FULL,
                            common->format == FORMAT_JSON ? look().no_gpu_because : NULL);
    output_device(&to, &d);
    output_close(&to);
    return STATUS_DONE;
}

static int add_device(output *to, int ordinal)
{
    xgemm_device d = {.struct_size = sizeof d};
    if (xgemm_device_get(ordinal, &d))
        return failed_call(&command_devices, NULL);
    output_device(to, &d);
    return STATUS_DONE;
}

/* No such GPU: says so, and names a product whose name is that number, such as 3090. */
static int not_here(int ordinal)
{
    const machine here = look();
    char name[16], count[16] = "none";
    xgemm_device d = {.struct_size = sizeof d};
    snprintf(name, sizeof name, "%d", ordinal);
    if (here.count)
        snprintf(count, sizeof count, "%d", here.count);
    if (xgemm_device_find(name, &d))
        failed(&command_devices, "there is no GPU %d; this machine has %s%s%s", ordinal, count,
               here.count ? "" : ": ", here.count ? "" : here.no_gpu_because);
    else
        failed(&command_devices,
               "there is no GPU %d; this machine has %s ('--catalog %d' is the %s)", ordinal, count,
               ordinal, d.name);
    return STATUS_NO_DEVICE;
}

/* Shows the device of this number, a GPU in full. */
static int show_one(const settings *common, int ordinal)
{
    xgemm_device d = {.struct_size = sizeof d};
    const xgemm_status status = xgemm_device_get(ordinal, &d);
    if (status && status_without_device(status) == STATUS_NO_DEVICE)
        return not_here(ordinal);
    if (status)
        return failed_call(&command_devices, NULL);
    const bool asks = ordinal < 0 && common->format == FORMAT_JSON;
    output to = output_open(common, ordinal >= 0 ? VIEW_IN_FULL : VIEW_LIVE,
                            asks ? look().no_gpu_because : NULL);
    output_device(&to, &d);
    output_close(&to);
    return STATUS_DONE;
}

/* All devices: one that fails is left out, and said; so are all, where the driver fails. */
static int list_live(const settings *common)
{
    const machine here = look();
    const char *const missing = here.no_gpu_because;
    if (missing && !*missing) /* nor was there memory for the sentence */
        return failed(&command_devices, "the host is out of memory");
    int status =
        here.fail ? failed(&command_devices, "no GPU can be used: %s", missing) : STATUS_DONE;
    output to = output_open(common, VIEW_LIVE, missing);
    for (int i = 0; i < here.count; i++)
        status |= add_device(&to, i);
    status |= add_device(&to, XGEMM_DEVICE_CPU);
    status |= add_device(&to, XGEMM_DEVICE_SIM);
    output_close(&to);
    if (missing && to.text && !here.fail)
        printf("\nno GPU can be used: %s\n", missing);
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
                    "one device at a time; \"%s\" is one too many (quote a name of several words)",
                    argv[optind]);
    if (catalog && common.device != XGEMM_DEVICE_AUTO)
        usage_error(&command_devices, "--catalog takes no --device: it lists GPUs of the "
                                      "catalogue, not of this machine");
    if (name && common.device != XGEMM_DEVICE_AUTO)
        usage_error(&command_devices, "give the device as an operand or with --device, not both");
    /* Digits alone are the ordinal of a GPU in this machine, without --catalog. */
    if (name && (catalog || name[strspn(name, "0123456789")] || !*name))
        return show_named(&common, name);
    if (catalog)
        return list_catalog(&common);
    if (name)
        common.device = (int)option_integer(&command_devices, "device", name, 0, INT_MAX);
    return common.device == XGEMM_DEVICE_AUTO ? list_live(&common)
                                              : show_one(&common, common.device);
}

const command command_devices = {
    "devices",
    "[N | NAME]",
    "list the GPUs, the CPU and the simulator, or GPUs of the catalogue",
    rows,
    1,
    run,
    false};
