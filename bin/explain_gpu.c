/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm explain --gpu: the kernel's occupancy and its place under a GPU's roofline. */
#include "device_fields.h"
#include "explain_text.h"
#include "gpu.h"
#include "host_clock.h"
#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_registers(const explain_request *r, const xgemm_trace_report *t)
{
    if (r->is_source && t->registers > 0)
        printf("  registers: %d a thread, %s; shared memory: %d bytes a block\n", t->registers,
               r->by_nvcc ? "by nvcc" : "as given", t->shared_bytes);
    else if (r->is_source)
        printf("  registers: not known and left out (--registers, from nvcc -Xptxas -v); shared "
               "memory: %d bytes a block\n",
               t->shared_bytes);
    else if (t->registers > 0)
        printf("  registers: %d a thread, as compiled for sm_%d; shared memory: %d bytes a block\n",
               t->registers, t->registers_version, t->shared_bytes);
    else
        printf("  registers: not on record in this build, and left out; shared memory: %d bytes a "
               "block\n",
               t->shared_bytes);
}

/* What hides latency: the elements that the threads of a multiprocessor load in a phase. */
static void print_loads(const explain_request *r, const xgemm_trace_report *t)
{
    const int threads = t->block[0] * t->block[1] * t->block[2];
    const int elements = r->info.tile_k * (r->info.tile_m + r->info.tile_n);
    if (elements > 0 && threads > 0 && t->shared_bytes > 0)
        printf("  loads in flight: %.4g a thread in a phase: %.4g * %d threads * %d block%s = "
               "%.0f elements a multiprocessor\n",
               (double)elements / threads, (double)elements / threads, threads, t->blocks_per_sm,
               plural(t->blocks_per_sm), (double)elements * t->blocks_per_sm);
}

static void print_occupancy(const explain_request *r, const xgemm_trace_report *t)
{
    const int threads = t->block[0] * t->block[1] * t->block[2];
    char text[512];
    printf("\nOn %s (sm_%d, %d multiprocessors)\n", t->device, r->gpu.compute_capability,
           r->gpu.multiprocessors);
    print_registers(r, t);
    if (xgemm_occupancy_text(&r->gpu, threads, t->registers, t->shared_bytes, 1, text,
                             sizeof text) == XGEMM_OK)
        printf("  occupancy: %s\n", text);
    if (t->blocks_per_sm == 0)
        return;
    print_loads(r, t);
    const int64_t blocks = t->grid[0] * t->grid[1] * t->grid[2];
    printf("  waves: %" PRId64 " block%s, %d at once: %.2f\n", blocks, plural(blocks),
           t->blocks_per_sm * r->gpu.multiprocessors, t->waves);
}

/* An intensity of 0 is not known: the least one where not all blocks ran. */
static void print_roof(const xgemm_trace_report *t, const char *what, double intensity, double roof)
{
    if (intensity <= 0.0)
        return;
    printf("  %-26s %8.2f OP/B: at most %7.0f GFLOP/s, %5.1f %% of the peak, bound by %s\n", what,
           intensity, roof, 100.0 * roof / t->peak_gflops,
           roof < t->peak_gflops ? "memory" : "arithmetic");
}

/* Of a kernel of one's own there are no types. */
static bool is_double(const explain_request *r)
{
    return r->is_source ? r->is_fp64 : type_part(r->work.type) == XGEMM_F64;
}

static bool is_half(const explain_request *r)
{
    return !r->is_source && type_is_half(r->work.type);
}

const char *source_peak(const xgemm_device *gpu, const xgemm_trace_report *t, bool is_fp64)
{
    const double peak = t->peak_gflops;
    const bool is_tensor = !is_fp64 && peak != gpu->peak_fp32_gflops;
    return is_fp64                                       ? "in FP64"
           : !is_tensor                                  ? "in FP32"
           : peak > 0.0 && peak == gpu->peak_tf32_gflops ? "of TF32 products on tensor cores"
           : peak > 0.0                                  ? "of 16-bit products on tensor cores"
                                                         : "on tensor cores";
}

void explain_gpu(const explain_request *r, const xgemm_trace_report *t)
{
    if (!*t->device) {
        printf("\nOccupancy and roofline: --gpu NAME names a GPU; 'xgemm devices --catalog' lists "
               "them\n");
        return;
    }
    print_occupancy(r, t);
    if (t->blocks_per_sm == 0) {
        printf("\nRoofline: none of a kernel that cannot run\n");
        return;
    }
    if (t->peak_gflops == 0.0) {
        printf("\nRoofline: the peak of this GPU %s is not known\n",
               r->is_source ? source_peak(&r->gpu, t, r->is_fp64)
               : r->info.math == XGEMM_MATH_STRICT && !is_half(r)
                   ? (is_double(r) ? "in FP64" : "in FP32")
                   : (is_double(r) ? "for doubles by residues" : "on tensor cores"));
        return;
    }
    if (t->flop_per_byte_asked <= 0.0) {
        printf(
            "\nRoofline: the kernel computes nothing in floating point; memory, at %.0f GB/s, is "
            "its bound\n",
            t->peak_gbs);
        return;
    }
    printf("\nRoofline: %.0f GFLOP/s %s, %.0f GB/s: they balance at %.1f OP/B\n", t->peak_gflops,
           r->is_source                        ? source_peak(&r->gpu, t, r->is_fp64)
           : is_double(r)                      ? "in FP64"
           : r->info.math == XGEMM_MATH_STRICT ? "in FP32"
           : is_half(r)                        ? "of 16-bit products on tensor cores"
                                               : "of FP32 products on tensor cores",
           t->peak_gbs, t->peak_gflops / t->peak_gbs);
    print_roof(t, "asked (no cache)", t->flop_per_byte_asked, t->roof_asked_gflops);
    print_roof(t, "moved (whole sectors)", t->flop_per_byte_moved, t->roof_moved_gflops);
    print_roof(t, "least (a perfect cache)", t->flop_per_byte_least, t->roof_least_gflops);
}

/* What is 0 where it is not known. */
static json_t *known_value(double value)
{
    return value > 0.0 ? json_real(value) : json_null();
}

void explain_gpu_facts(json_t *facts, const explain_request *r, const xgemm_trace_report *t)
{
    char version[CAPABILITY_TEXT];
    const cell compiled_for = capability_cell(version, t->registers_version);
    if (!*t->device) {
        report_add(facts, json_pack("{s:n, s:n, s:n}", "gpu", "occupancy", "roofline"));
        return;
    }
    device_add(facts, "gpu", &r->gpu);
    json_object_set_new(
        facts, "occupancy",
        json_pack("{s:o, s:o, s:i, s:i, s:f, s:s, s:f}", "compiled_for",
                  report_value(&compiled_for), "registers",
                  t->registers ? json_integer(t->registers) : json_null(), "shared_bytes",
                  t->shared_bytes, "blocks", t->blocks_per_sm, "warp_occupancy", t->warp_occupancy,
                  "limiters", limiters_text(t->limiters, LIMITERS_IN_A_COLUMN), "waves", t->waves));
    json_object_set_new(facts, "roofline",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "peak_gflops",
                                  known_value(t->peak_gflops), "peak_bandwidth_gbs",
                                  known_value(t->peak_gbs), "asked_gflops",
                                  known_value(t->roof_asked_gflops), "moved_gflops",
                                  known_value(t->roof_moved_gflops), "least_gflops",
                                  known_value(t->roof_least_gflops)));
}

/* The roof from below the kernel's least intensity to above its largest. */
static void draw_roof(plot *p, const xgemm_trace_report *t)
{
    const double balance = t->peak_gflops / t->peak_gbs;
    const double from = 0.5 * (t->flop_per_byte_moved < balance ? t->flop_per_byte_moved : balance);
    const double to = 2.0 * (t->flop_per_byte_least > balance ? t->flop_per_byte_least : balance);
    plot_point(p, t->device, from, from * t->peak_gbs);
    plot_point(p, t->device, balance, t->peak_gflops);
    plot_point(p, t->device, to, t->peak_gflops);
}

int explain_roofline(const explain_request *r, const xgemm_trace_report *t, char *message,
                     size_t message_size)
{
    char title[256], date[DATE_SIZE];
    const bool counts = t->flop_per_byte_asked > 0.0;
    if (t->peak_gflops <= 0.0 || t->peak_gbs <= 0.0 || !counts) {
        snprintf(message, message_size, "--plot draws no roofline: %s",
                 counts ? "a peak of this GPU is not known"
                        : "the kernel computes nothing in floating point");
        return -1;
    }
    now_date(date);
    snprintf(title, sizeof title,
             "%s, m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64 ", on %s, %.10s", t->kernel,
             r->work.size.m, r->work.size.n, r->work.size.k, t->device, date);
    plot *p = plot_new(title, "FP32 operations a byte of global memory", "GFLOP/s at most");
    if (!p) {
        snprintf(message, message_size, "the host is out of memory");
        return -1;
    }
    draw_roof(p, t);
    plot_point(p, "asked (no cache)", t->flop_per_byte_asked, t->roof_asked_gflops);
    plot_point(p, "moved (whole sectors)", t->flop_per_byte_moved, t->roof_moved_gflops);
    plot_point(p, "least (a perfect cache)", t->flop_per_byte_least, t->roof_least_gflops);
    const int result = plot_write(p, r->plot, PLOT_ROOFLINE, message, message_size);
    plot_free(p);
    return result;
}
