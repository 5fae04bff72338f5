/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm probe: what a device's memory does, timed on a GPU, counted on the simulator. */
#include "commands.h"
#include "device_fields.h"
#include "host_clock.h"
#include "interrupt.h"
#include "lib/base/nearest.h"
#include "plot.h"
#include "report.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME (&command_probe)

enum { KEY_BYTES = 256, KEY_LIST, KEY_PLOT };

static const option_row rows[] = {
    {KEY_BYTES, "bytes", "N", "size of each array; default one that suits the device"},
    {KEY_LIST, "list", NULL, "only list the probes"},
    {KEY_PLOT, "plot", "FILE", "draw the curves (SVG or PNG; needs gnuplot)"},
};

typedef struct {
    settings common;
    const char *name, *plot_path; /* NULL: all probes, no picture */
    int64_t bytes;
    bool list;
} request;

/* A probe that ran: on what, and what it found. */
typedef struct {
    const request *r;
    xgemm_probe_info info;
    xgemm_device device;
    bool fell_back; /* there is no GPU, and the simulator took its place */
    const xgemm_probe_report *report;
} outcome;

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO}};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        if (key == KEY_BYTES)
            r.bytes = option_integer(ME, "bytes", value, 16384, INT64_C(1) << 39);
        else if (key == KEY_LIST)
            r.list = true;
        else
            r.plot_path = value;
    }
    if (argc - optind > 1)
        usage_error(ME, "one probe at a time; \"%s\" is too much", argv[optind + 1]);
    if (optind < argc)
        r.name = argv[optind];
    else if (r.plot_path)
        usage_error(ME, "--plot draws one probe; name it: 'xgemm probe --list' lists them");
    if (r.list && r.name)
        usage_error(ME, "--list runs nothing, so that a name has no effect");
    if (r.list)
        option_only(ME, "--list runs nothing", (const int[]){KEY_LIST, 0});
    if (r.bytes && r.name && strcmp(r.name, "launch") == 0)
        usage_error(ME, "launch reads no array, so that --bytes has no effect");
    return r;
}

/* ---- The list ---- */

static const char *devices_text(unsigned devices)
{
    const bool gpu = devices & XGEMM_RUNS_ON_CUDA, sim = devices & XGEMM_RUNS_ON_SIM;
    return gpu && sim ? "cuda sim" : gpu ? "cuda" : sim ? "sim" : "none";
}

static int list_probes(const request *r)
{
    static const column columns[] = {
        {"name", -15}, {"runs_on", -8}, {"parameter", -9}, {"unit", -13}, {"summary", -1},
    };
    report to = report_open(&r->common, columns, sizeof columns / sizeof *columns, "probes",
                            report_facts(ME));
    for (int i = 0; i < xgemm_probe_count(); i++) {
        xgemm_probe_info info = {.struct_size = sizeof info};
        if (xgemm_probe_get(i, &info))
            continue;
        const cell cells[] = {cell_text(info.name), cell_text(devices_text(info.devices)),
                              cell_text(info.parameter), cell_text(info.unit),
                              cell_text(info.summary)};
        report_row(&to, cells);
    }
    report_close(&to);
    return STATUS_DONE;
}

static bool find(const char *name, xgemm_probe_info *info)
{
    for (int i = 0; i < xgemm_probe_count(); i++) {
        *info = (xgemm_probe_info){.struct_size = sizeof *info};
        if (xgemm_probe_get(i, info) == XGEMM_OK && strcmp(info->name, name) == 0)
            return true;
    }
    return false;
}

_Noreturn static void unknown(const char *name)
{
    xg_nearest near = {{NULL}, {0}};
    for (int i = 0; i < xgemm_probe_count(); i++) {
        xgemm_probe_info info = {.struct_size = sizeof info};
        if (xgemm_probe_get(i, &info) == XGEMM_OK) /* its strings are the library's, and stay */
            xg_nearest_consider(&near, name, info.name);
    }
    const char *const meant = xg_nearest_meant(&near, name);
    usage_error(ME, "there is no probe \"%s\"; %s%s%s'xgemm probe --list' lists them", name,
                meant ? "the nearest name is " : "", meant ? meant : "", meant ? "; " : "");
}

/* ---- What came out ---- */

static bool is_timed(const outcome *o)
{
    return o->device.ordinal >= 0;
}

/* Points of a newer library may be larger. */
static const xgemm_probe_point *point_at(const xgemm_probe_report *of, int index)
{
    return (const void *)((const char *)of->points + (size_t)index * of->point_size);
}

static cell counted(int64_t value)
{
    return value > 0 ? cell_integer(value) : cell_none();
}

static double each(int64_t sum, const xgemm_probe_point *p)
{
    return p->requests ? (double)sum / (double)p->requests : 0.0;
}

/* For programs: everything, under names that are the same for every probe; the first of several. */
static report all_rows_open(const request *r, json_t *facts)
{
    static const column columns[] = {
        {"name", 0},      {"series", 0},        {"value", 0},           {"bytes", 0},
        {"median_us", 0}, {"gbs", 0},           {"percent_of_peak", 0}, {"requests", 0},
        {"sectors", 0},   {"ideal_sectors", 0}, {"wavefronts", 0},      {"ideal_wavefronts", 0},
    };
    const int count = sizeof columns / sizeof *columns;
    return r->name ? report_open(&r->common, columns + 1, count - 1, "points", facts)
                   : report_open(&r->common, columns, count, "points", facts);
}

static void all_rows_close(report *to)
{
    report_fact(to, "interrupted", json_boolean(interrupted()));
    report_close(to);
}

static void all_rows(const outcome *o, report *to)
{
    for (int i = 0; i < o->report->point_count; i++) {
        const xgemm_probe_point *p = point_at(o->report, i);
        const cell cells[] = {
            cell_text(o->info.name),
            cell_text(p->series),
            cell_real(p->parameter, 0),
            p->bytes > 0.0 ? cell_integer((int64_t)p->bytes) : cell_none(),
            known(p->microseconds, 2),
            known(p->gbs, 1),
            known(p->percent_of_peak, 1),
            counted(p->requests),
            counted(p->sectors),
            counted(p->ideal_sectors),
            counted(p->wavefronts),
            counted(p->ideal_wavefronts),
        };
        report_row(to, o->r->name ? cells + 1 : cells);
    }
}

/* Of a launch there are no bytes, and of a transfer no peak: no columns for what is not there. */
static void timed_table(const outcome *o)
{
    enum { COLUMNS = 6, ALONE = 3, WITH_SPEED = 5 };
    const column columns[COLUMNS] = {
        {"series", -16}, {o->info.parameter, 10}, {"median_us", 11}, {"bytes", 13},
        {"gbs", 9},      {"percent_of_peak", 15},
    };
    int count = ALONE;
    for (int i = 0; i < o->report->point_count; i++) {
        const xgemm_probe_point *p = point_at(o->report, i);
        const int needed = p->percent_of_peak > 0.0 ? COLUMNS : p->gbs > 0.0 ? WITH_SPEED : ALONE;
        count = needed > count ? needed : count;
    }
    report to = report_open(&o->r->common, columns, count, NULL, NULL);
    for (int i = 0; i < o->report->point_count; i++) {
        const xgemm_probe_point *p = point_at(o->report, i);
        const cell cells[COLUMNS] = {
            cell_text(p->series), cell_real(p->parameter, 0), known(p->microseconds, 2),
            known(p->bytes, 0),   known(p->gbs, 1),           known(p->percent_of_peak, 1),
        };
        report_row(&to, cells);
    }
    report_close(&to);
}

/* Whether any point is of global memory, or of shared memory. */
static bool any(const xgemm_probe_report *of, bool shared)
{
    for (int i = 0; i < of->point_count; i++) {
        const xgemm_probe_point *p = point_at(of, i);
        if (shared ? p->wavefronts : p->sectors)
            return true;
    }
    return false;
}

static void counted_table(const outcome *o)
{
    enum { COLUMNS = 7, EACH = 2 };
    static const column of_sectors[EACH] = {{"sectors/request", 15}, {"ideal", 6}};
    static const column of_passes[EACH] = {{"passes/request", 14}, {"ideal", 6}};
    column columns[COLUMNS] = {{"series", -16}, {o->info.parameter, 10}, {"requests", 9}};
    const bool sectors = any(o->report, false), passes = any(o->report, true);
    int count = 3;
    if (sectors)
        memcpy(&columns[count], of_sectors, sizeof of_sectors), count += EACH;
    if (passes)
        memcpy(&columns[count], of_passes, sizeof of_passes), count += EACH;

    report to = report_open(&o->r->common, columns, count, NULL, NULL);
    for (int i = 0; i < o->report->point_count; i++) {
        const xgemm_probe_point *p = point_at(o->report, i);
        cell cells[COLUMNS] = {cell_text(p->series), cell_real(p->parameter, 0),
                               cell_integer(p->requests)};
        int at = 3;
        if (sectors) {
            cells[at++] = known(each(p->sectors, p), 2);
            cells[at++] = known(each(p->ideal_sectors, p), 2);
        }
        if (passes) {
            cells[at++] = known(each(p->wavefronts, p), 2);
            cells[at++] = known(each(p->ideal_wavefronts, p), 2);
        }
        report_row(&to, cells);
    }
    report_close(&to);
}

static void print_text(const outcome *o)
{
    const char *no_gpu = o->fell_back ? " (there is no GPU)" : "";
    printf("%s: %s\n", o->info.name, o->info.summary);
    if (is_timed(o)) {
        printf("timed on %s\n\n", o->device.name);
        timed_table(o);
    } else {
        printf("counted on the simulator%s; source-level: nvcc may merge accesses\n\n", no_gpu);
        counted_table(o);
    }
}

/* For programs; of all probes the name is in each row. */
static report open_rows(const outcome *o)
{
    json_t *facts = report_facts(ME);
    device_add_ordinal(facts, o->device.ordinal);
    if (o->r->name)
        json_object_set_new(facts, "probe",
                            json_pack("{s:s, s:s, s:s, s:s}", "name", o->info.name, "parameter",
                                      o->info.parameter, "unit", o->info.unit, "measured",
                                      is_timed(o) ? "time" : "counts"));
    if (o->fell_back && !o->r->common.quiet)
        fputs("xgemm probe: there is no GPU; counted on the simulator\n", stderr);
    return all_rows_open(o->r, facts);
}

/* ---- The drawing ---- */

static double over(int64_t count, int64_t ideal)
{
    return ideal ? (double)count / (double)ideal : 0.0;
}

/* Counts of wide and narrow requests compare only by what each takes at best. */
static double height(const outcome *o, const xgemm_probe_point *p)
{
    if (!is_timed(o))
        return p->wavefronts ? over(p->wavefronts, p->ideal_wavefronts)
                             : over(p->sectors, p->ideal_sectors);
    return p->gbs > 0.0 ? p->gbs : p->microseconds;
}

static const char *height_text(const outcome *o)
{
    if (is_timed(o))
        return point_at(o->report, 0)->gbs > 0.0 ? "GB/s" : "microseconds";
    if (!any(o->report, true))
        return "sectors, times the ideal";
    return any(o->report, false) ? "sectors or passes, times the ideal" : "passes, times the ideal";
}

/* Logarithmic where no step along a line is less than a doubling. */
static plot_scale scale_of(const xgemm_probe_report *of)
{
    bool steps = false;
    for (int i = 0; i + 1 < of->point_count; i++) {
        const xgemm_probe_point *p = point_at(of, i), *next = point_at(of, i + 1);
        const bool same = strcmp(p->series, next->series) == 0;
        if (p->parameter <= 0.0 || (same && next->parameter < 2.0 * p->parameter))
            return PLOT_LINEAR;
        steps = steps || same;
    }
    return steps ? PLOT_LOGARITHMIC : PLOT_LINEAR;
}

static int draw(const outcome *o)
{
    char title[256], x_label[64], date[DATE_SIZE], message[4352];
    now_date(date);
    snprintf(title, sizeof title, "%s, %s, %.10s", o->info.name, o->device.name, date);
    snprintf(x_label, sizeof x_label, "%s (%s)", o->info.parameter, o->info.unit);
    plot *drawing = plot_new(title, x_label, height_text(o));
    if (!drawing)
        return failed(ME, "out of memory");
    for (int i = 0; i < o->report->point_count; i++) {
        const xgemm_probe_point *p = point_at(o->report, i);
        plot_point(drawing, p->series, p->parameter, height(o, p));
    }
    const int result =
        plot_write(drawing, o->r->plot_path, scale_of(o->report), message, sizeof message);
    plot_free(drawing);
    return result ? failed(ME, "%s", message) : STATUS_DONE;
}

/* ---- The run ---- */

/* The device; without a GPU, auto is the simulator here: the CPU has no such memory. */
static xgemm_handle *open_probe_device(const request *r, bool *fell_back)
{
    xgemm_handle *handle = open_device(ME, &r->common);
    *fell_back = r->common.device == XGEMM_DEVICE_AUTO && !getenv("XGEMM_DEVICE") &&
                 xgemm_get_device(handle) == XGEMM_DEVICE_CPU;
    if (!*fell_back)
        return handle;
    const settings simulator = {.device = XGEMM_DEVICE_SIM};
    xgemm_destroy(handle);
    return open_device(ME, &simulator);
}

/* Runs the outcome's probe; NULL in its report where that failed, which was said. */
static int probe(xgemm_handle *handle, outcome *o, xgemm_probe_report **found)
{
    *found = NULL;
    if (xgemm_probe(handle, o->info.name, o->r->bytes, found))
        return failed_call(ME, handle);
    o->report = *found;
    return STATUS_DONE;
}

static int run_one(xgemm_handle *handle, outcome *o)
{
    xgemm_probe_report *found;
    if (o->fell_back && !(o->info.devices & XGEMM_RUNS_ON_SIM)) {
        failed(ME, "probe %s needs a GPU, and there is none that can be used", o->info.name);
        return STATUS_NO_DEVICE;
    }
    int status = probe(handle, o, &found);
    if (status)
        return status;
    if (o->r->common.format == FORMAT_TEXT) {
        print_text(o);
    } else {
        report to = open_rows(o);
        all_rows(o, &to);
        all_rows_close(&to);
    }
    if (o->r->plot_path)
        status = draw(o);
    xgemm_probe_free(found);
    return status;
}

/* Every probe that the device has, one after the other. */
static int run_all(xgemm_handle *handle, outcome *o)
{
    const bool text = o->r->common.format == FORMAT_TEXT;
    const unsigned here = is_timed(o)                             ? XGEMM_RUNS_ON_CUDA
                          : o->device.ordinal == XGEMM_DEVICE_SIM ? XGEMM_RUNS_ON_SIM
                                                                  : 0;
    int status = STATUS_DONE, ran = 0;
    report to = {.root = NULL};
    for (int i = 0; i < xgemm_probe_count() && !status && !interrupted(); i++) {
        xgemm_probe_report *found;
        o->info = (xgemm_probe_info){.struct_size = sizeof o->info};
        if (xgemm_probe_get(i, &o->info) || !(o->info.devices & here))
            continue;
        status = probe(handle, o, &found);
        if (status)
            break;
        if (text && ran > 0)
            putchar('\n');
        if (!text && ran == 0)
            to = open_rows(o);
        if (text)
            print_text(o);
        else
            all_rows(o, &to);
        ran++;
        xgemm_probe_free(found);
    }
    if (!text && ran > 0)
        all_rows_close(&to);
    if (!status && ran == 0 && !interrupted())
        return failed(ME, "device %s has no probes", o->device.name);
    return status;
}

/* On the simulator one block reads shared memory once. */
static void check_bytes(const request *r, const outcome *o)
{
    if (r->bytes && r->name && strcmp(r->name, "banks") == 0 &&
        o->device.ordinal == XGEMM_DEVICE_SIM)
        usage_error(ME, "banks reads no array on the simulator, so that --bytes has no effect");
}

static int run(int argc, char **argv)
{
    const request r = parse(argc, argv);
    outcome o = {.r = &r, .device = {.struct_size = sizeof o.device}};
    if (r.list)
        return list_probes(&r);
    if (r.name && !find(r.name, &o.info))
        unknown(r.name);
    plot_prepare(ME, &r.common, r.plot_path);
    xgemm_handle *handle = open_probe_device(&r, &o.fell_back);
    int status = STATUS_DONE;
    if (xgemm_device_get(xgemm_get_device(handle), &o.device))
        status = failed_call(ME, NULL);
    check_bytes(&r, &o);
    interrupt_watch();
    if (status == STATUS_DONE)
        status = r.name ? run_one(handle, &o) : run_all(handle, &o);
    xgemm_destroy(handle);
    return interrupt_end(status);
}

const command command_probe = {
    "probe",
    "[NAME]",
    "show what a device's memory does: coalescing, bank conflicts, transfers",
    rows,
    sizeof rows / sizeof *rows,
    run,
    false};
