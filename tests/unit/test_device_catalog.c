/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue against its own data file and against what must hold of any GPU. */
#include "devices.h"

#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 13, LINE_BYTES = 1024, ROWS_MAX = 512 };
enum { NAMES, CC, SMS, MHZ, GB, BUS, GBS, L2, FP32, TF32, FP16, BF16, SOURCE };

/* ---- The data file, read by the test's own means ---- */

typedef struct {
    char line[LINE_BYTES];
    char *column[COLUMNS];
} row;

static row rows[ROWS_MAX];
static int row_count;

static char *trimmed(char *text)
{
    while (*text == ' ')
        text++;
    for (char *end = text + strlen(text); end > text && strchr(" \r\n", end[-1]);)
        *--end = '\0';
    return text;
}

static void split(row *r)
{
    char *at = r->line;
    for (int i = 0; i < COLUMNS; i++) {
        ck_assert_msg(at != NULL, "row %d has %d columns", row_count, i);
        char *end = strchr(at, ';');
        if (end)
            *end++ = '\0';
        r->column[i] = trimmed(at);
        at = end;
    }
    ck_assert_msg(at == NULL, "row %d has too many columns", row_count);
}

static void read_file(void)
{
    char path[4096];
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/lib/device/catalog.txt", top ? top : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    row_count = 0;
    while (fgets(rows[row_count].line, LINE_BYTES, file)) {
        if (strchr("#\n", rows[row_count].line[0]))
            continue;
        split(&rows[row_count++]);
        ck_assert_int_lt(row_count, ROWS_MAX);
    }
    fclose(file);
}

static double number(const row *r, int column)
{
    return strtod(r->column[column], NULL);
}

/* The name before the first comma, and what follows (NULL: nothing). */
static const char *first_name(const row *r, const char **others)
{
    static char name[LINE_BYTES];
    snprintf(name, sizeof name, "%s", r->column[NAMES]);
    char *comma = strchr(name, ',');
    *others = comma ? comma + 1 : NULL;
    if (comma)
        *comma = '\0';
    return name;
}

/* ---- The catalogue ---- */

START_TEST(test_file)
{
    read_file();
    ck_assert_int_ge(row_count, 80);
    ck_assert_int_eq(xgemm_device_catalog_count(), row_count);
    for (int i = 0; i < row_count; i++) {
        const row *r = &rows[i];
        const xgemm_device d = entry(i);
        const char *others;
        ck_assert_str_eq(d.name, first_name(r, &others));
        ck_assert_str_eq(d.source, r->column[SOURCE]);
        ck_assert_str_eq(d.detail, "");
        ck_assert_int_eq(d.ordinal, XGEMM_DEVICE_CATALOG);
        ck_assert_int_eq(d.compute_capability, (int)number(r, CC));
        ck_assert_int_eq(d.multiprocessors, (int)number(r, SMS));
        ck_assert_int_eq(d.memory_bus_bits, (int64_t)number(r, BUS));
        near(d.name, "MHz", d.core_clock_mhz, number(r, MHZ), 1e-9);
        near(d.name, "GB", (double)d.memory_bytes, number(r, GB) * (1 << 30), 1e-9);
        near(d.name, "GB/s", d.peak_bandwidth_gbs, number(r, GBS), 1e-9);
        near(d.name, "L2", (double)d.l2_bytes, number(r, L2) * (1 << 20), 1e-9);
        near(d.name, "TF32", d.peak_tf32_gflops, number(r, TF32) * 1e3, 1e-9);
        near(d.name, "FP16", d.peak_fp16_gflops, number(r, FP16) * 1e3, 1e-9);
        near(d.name, "BF16", d.peak_bf16_gflops, number(r, BF16) * 1e3, 1e-9);
    }
}
END_TEST

/* A wrong digit in SMs or clock does not survive the maker's own peak. */
START_TEST(test_peaks)
{
    read_file();
    int compared = 0;
    for (int i = 0; i < row_count; i++) {
        const xgemm_device d = entry(i);
        const double maker = number(&rows[i], FP32) * 1e3;
        near(d.name, "its peak by clock", d.peak_fp32_gflops,
             d.multiprocessors * d.fp32_lanes * 2e-3 * d.core_clock_mhz, 1e-9);
        if (d.peak_fp32_gflops > 0.0 && maker > 0.0) {
            near(d.name, "FP32", d.peak_fp32_gflops, maker, 0.03);
            compared++;
        }
        ck_assert_msg(d.peak_fp32_gflops > 0.0 || d.core_clock_mhz == 0.0, "%s has no peak",
                      d.name);
        near(d.name, "balance", d.balance_flop_per_byte, d.peak_fp32_gflops / d.peak_bandwidth_gbs,
             1e-9);
    }
    ck_assert_int_ge(compared, 80);
}
END_TEST

/* Tensor cores do a power of two of multiply-adds in a clock; their own clock may be lower. */
static void plausible_tensor(const xgemm_device *d, const char *what, double gflops)
{
    const double clocks = d->multiprocessors * d->core_clock_mhz * 1e-3;
    if (gflops <= 0.0 || clocks <= 0.0)
        return;
    const double each = gflops / 2.0 / clocks;
    const double power = exp2(round(log2(each)));
    near(d->name, what, each, power, 0.15);
    ck_assert_msg(power >= 32 && power <= 8192, "%s: %s does %g in a clock", d->name, what, each);
}

/* With sums in FP32 at half the rate: the easiest mistake to make. */
static void plausible_geforce(const xgemm_device *d)
{
    const bool turing = d->compute_capability == 75;
    near(d->name, "FP16", d->peak_fp16_gflops, (turing ? 4 : 2) * d->peak_fp32_gflops, 0.03);
    if (!turing)
        near(d->name, "TF32", d->peak_tf32_gflops, d->peak_fp32_gflops, 0.03);
}

START_TEST(test_tensor_peaks)
{
    for (int i = 0; i < xgemm_device_catalog_count(); i++) {
        const xgemm_device d = entry(i);
        plausible_tensor(&d, "TF32", d.peak_tf32_gflops);
        plausible_tensor(&d, "FP16", d.peak_fp16_gflops);
        plausible_tensor(&d, "BF16", d.peak_bf16_gflops);
        if (d.compute_capability < 80)
            ck_assert_msg(d.peak_tf32_gflops == 0.0 && d.peak_bf16_gflops == 0.0,
                          "%s has no TF32 and no BF16", d.name);
        else
            near(d.name, "BF16", d.peak_bf16_gflops, d.peak_fp16_gflops, 1e-9);
        if (strncmp(d.name, "GeForce RTX", 11) == 0)
            plausible_geforce(&d);
    }
}
END_TEST

/* As NVIDIA's data sheets have them, TFLOP/s; tensor cores where they have FP64. */
START_TEST(test_fp64_peaks)
{
    static const struct {
        const char *name;
        double fp64, tensor;
    } known[] = {{"V100 SXM2 16GB", 7.8, 0.0},     {"A100 SXM4 80GB", 9.7, 19.5},
                 {"H100 SXM5", 34.0, 67.0},        {"H200 SXM", 34.0, 67.0},
                 {"GeForce RTX 4090", 1.29, 1.29}, {"GeForce RTX 2080 Ti", 0.42, 0.0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        xgemm_device d = {.struct_size = sizeof d};
        ck_assert_msg(xgemm_device_find(known[i].name, &d) == XGEMM_OK, "%s", known[i].name);
        near(d.name, "FP64", d.peak_fp64_gflops, known[i].fp64 * 1e3, 0.02);
        near(d.name, "FP64 on tensor cores", d.peak_fp64_tensor_gflops, known[i].tensor * 1e3,
             0.02);
    }
}
END_TEST

/* What a pin of the bus takes, HBM's or another's: a wrong digit in either figure shows. */
static void plausible_memory(const xgemm_device *d)
{
    const double gib = (double)d->memory_bytes / (1 << 30);
    ck_assert_msg(gib >= 4 && gib <= 512, "%s has %g GiB", d->name, gib);
    ck_assert_msg(d->peak_bandwidth_gbs >= 100 && d->peak_bandwidth_gbs <= 10000, "%s: %g GB/s",
                  d->name, d->peak_bandwidth_gbs);
    ck_assert_msg(d->l2_bytes <= 256 << 20, "%s has too much L2", d->name);
    if (d->memory_bus_bits) {
        const double gbits = d->peak_bandwidth_gbs * 8.0 / (double)d->memory_bus_bits;
        ck_assert_msg(d->memory_bus_bits % 32 == 0, "%s: the bus is odd", d->name);
        const double most = d->memory_bus_bits >= 2048 ? 10.0 : 32.0;
        ck_assert_msg(gbits >= 1.5 && gbits <= most, "%s: %g Gbit/s a pin", d->name, gbits);
    }
}

START_TEST(test_limits)
{
    for (int i = 0; i < xgemm_device_catalog_count(); i++) {
        const xgemm_device d = entry(i);
        plausible_memory(&d);
        ck_assert_msg(d.limits_from == d.compute_capability, "%s has the limits of %d", d.name,
                      d.limits_from);
        ck_assert_int_eq(d.warps_per_sm * 32, d.threads_per_sm);
        ck_assert_int_ge(d.blocks_per_sm, 16);
        ck_assert_int_eq(d.threads_per_block, 1024);
        ck_assert_int_eq(d.registers_per_thread, 255);
        ck_assert_int_eq(d.registers_per_sm % d.register_granule, 0);
        ck_assert_int_ge(d.registers_per_sm, d.registers_per_block);
        ck_assert_int_gt(d.registers_per_block, 0);
        ck_assert_int_gt(d.warp_granule, 0);
        ck_assert_int_gt(d.shared_granule, 0);
        ck_assert_int_eq(d.shared_per_block_static, 48 * 1024);
        ck_assert_int_ge(d.shared_per_block, d.shared_per_block_static);
        ck_assert_int_eq(d.shared_per_block + d.shared_reserved, d.shared_per_sm);
        ck_assert_int_eq(d.cluster_blocks, d.compute_capability >= 90 ? 8 : 0);
    }
}
END_TEST

/* Figures that everyone knows, so that not all columns can be exchanged. */
START_TEST(test_known)
{
    const xgemm_device a100 = found("A100"), h100 = found("H100");
    near("A100", "balance", a100.balance_flop_per_byte, 19500.0 / 1555.0, 0.005);
    ck_assert_int_eq(a100.multiprocessors, 108);
    ck_assert_int_eq(a100.shared_per_sm, 164 * 1024);
    ck_assert_int_eq(a100.l2_bytes, 40 << 20);
    ck_assert_int_eq(h100.multiprocessors, 132);
    ck_assert_int_eq(h100.threads_per_sm, 2048);
    ck_assert_int_eq(h100.shared_per_block, 227 * 1024);
    near("H100", "FP16", h100.peak_fp16_gflops, 989400, 1e-9);
}
END_TEST

START_TEST(test_index)
{
    const int bad[] = {-1, INT_MIN, INT_MAX, xgemm_device_catalog_count()};
    for (int i = 0; i < COUNT(bad); i++) {
        xgemm_device d = {.struct_size = sizeof d, .name = "as it was"};
        ck_assert_int_eq(xgemm_device_catalog_get(bad[i], &d), XGEMM_ERROR_NO_DEVICE);
        ck_assert_int_eq(strncmp(xgemm_last_error(NULL), "xgemm_device_catalog_get: ", 26), 0);
        ck_assert_str_eq(d.name, "as it was");
    }
}
END_TEST

/* What a driver reports finds its row, or an earlier one with the same name. */
START_TEST(test_other_names)
{
    read_file();
    int tried = 0;
    for (int i = 0; i < row_count; i++) {
        const char *others;
        (void)first_name(&rows[i], &others);
        for (char *name = others ? strtok((char *)(uintptr_t)others, ",") : NULL; name;
             name = strtok(NULL, ",")) {
            const xgemm_device d = found(trimmed(name));
            ck_assert_msg(d.compute_capability == (int)number(&rows[i], CC), "%s finds %s", name,
                          d.name);
            tried++;
        }
    }
    ck_assert_int_ge(tried, 20);
}
END_TEST

static Suite *catalog_suite(void)
{
    Suite *suite = suite_create("device catalogue");
    TCase *cases = add_case(suite, "catalogue");
    tcase_add_test(cases, test_file);
    tcase_add_test(cases, test_peaks);
    tcase_add_test(cases, test_tensor_peaks);
    tcase_add_test(cases, test_fp64_peaks);
    tcase_add_test(cases, test_limits);
    tcase_add_test(cases, test_known);
    tcase_add_test(cases, test_index);
    tcase_add_test(cases, test_other_names);
    return suite;
}

int main(void)
{
    return run_anywhere(catalog_suite());
}
