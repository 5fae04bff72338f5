/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm devices: what there is to run on. */
#include "commands.h"
#include "report.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>

static const column columns[] = {
    {"device", -6},
    {"name", -32},
    {"compute_capability", 18},
    {"multiprocessors", 15},
    {"memory_gib", 10},
    {"core_clock_mhz", 14},
    {"memory_clock_mhz", 16},
    {"peak_fp32_gflops", 16},
    {"peak_bandwidth_gbs", 18},
    {"detail", -1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static cell known(double value, int digits)
{
    return value > 0.0 ? cell_real(value, digits) : cell_none();
}

static int row(report *to, int ordinal)
{
    xgemm_device d = {.struct_size = sizeof d};
    char name[16], capability[16];
    if (xgemm_device_get(ordinal, &d))
        return failed_call(&command_devices, NULL);
    snprintf(name, sizeof name, "%d", ordinal);
    snprintf(capability, sizeof capability, "%d.%d", d.compute_capability / 10,
             d.compute_capability % 10);
    const cell cells[COLUMNS] = {
        cell_text(ordinal == XGEMM_DEVICE_CPU   ? "cpu"
                  : ordinal == XGEMM_DEVICE_SIM ? "sim"
                                                : name),
        cell_text(d.name),
        d.compute_capability ? cell_text(capability) : cell_none(),
        cell_integer(d.multiprocessors),
        known((double)d.memory_bytes / (1 << 30), 1),
        known(d.core_clock_mhz, 0),
        known(d.memory_clock_mhz, 0),
        known(d.peak_fp32_gflops, 0),
        known(d.peak_bandwidth_gbs, 0),
        cell_text(d.detail),
    };
    report_row(to, cells);
    return STATUS_DONE;
}

static int run(int argc, char **argv)
{
    settings common = {.device = XGEMM_DEVICE_AUTO};
    const char *value;
    int status = STATUS_DONE, only = -1;

    (void)option_next(&command_devices, argc, argv, &common, &value);
    if (optind < argc)
        only = (int)option_integer(&command_devices, "device", argv[optind++], 0, INT_MAX);
    if (optind < argc)
        usage_error(&command_devices, "one device at a time; \"%s\" is too much", argv[optind]);
    if (common.device >= 0)
        only = common.device;
    const int gpus = xgemm_device_count();
    if (only >= gpus) {
        failed(&command_devices, "there is no GPU %d; there are %d", only, gpus);
        return STATUS_NO_DEVICE;
    }

    report to = report_open(&common, columns, COLUMNS, "devices", report_facts(&command_devices));
    for (int i = 0; i < gpus && status == STATUS_DONE; i++)
        if (common.device == XGEMM_DEVICE_AUTO ? only < 0 || i == only : i == common.device)
            status = row(&to, i);
    if (only < 0 && common.device != XGEMM_DEVICE_SIM && status == STATUS_DONE)
        status = row(&to, XGEMM_DEVICE_CPU);
    if (only < 0 && common.device != XGEMM_DEVICE_CPU && status == STATUS_DONE)
        status = row(&to, XGEMM_DEVICE_SIM);
    report_close(&to);
    return status;
}

const command command_devices = {
    "devices", "[N]", "list the GPUs, the CPU and the simulator, with clocks and peaks",
    NULL,      0,     run};
