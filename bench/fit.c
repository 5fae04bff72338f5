/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fits the constants of the cost models to what a GPU's kernels were measured to take, and writes
 * them as a file of lib/tuning/:
 *
 *   bench/fit "NVIDIA H100 80GB HBM3" 132 NN=nn.csv TN=tn.csv NN+1=ld.csv ... > lib/tuning/h100.c
 *
 * The arguments are the GPU's name, its multiprocessors, and tables that "xgemm bench --csv" wrote
 * (columns m, n, k, kernel, median_us; rows of "auto" are left out), each with the transposes of A
 * and B in row order and, after "+", what was added to leading dimensions. bench/tune.sh measures
 * such tables. Prints what the models are off before and after, kernel by kernel, on stderr.
 *
 * Coordinate descent: one constant after the other is moved by a step up or down while that makes
 * the loss smaller, then steps are halved. The loss is the mean square of log(predicted/measured),
 * no row counting more than OUTLIER; rows within NEAR of the fastest kernel's time for the problem
 * weigh WEIGHT times as much, since it is among these that the planner chooses. No factor goes
 * further than RANGE times from where it began: what few rows depend on is not made up.
 */
#include "families/kernels.h"
#include "problem/call.h"
#include "tuning/tuning.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLIER 0.25
#define NEAR    1.15
#define WEIGHT  4.0
#define RANGE   4.0
enum { ROWS_MOST = 100000, ROUNDS = 6 };

typedef struct {
    xg_problem problem;
    const xg_kernel *kernel;
    double us, weight;
} row;

static row rows[ROWS_MOST];
static int row_count;
static xg_costs costs, start;
static xg_target target;

/* ---- Constants ---- */

/* How a constant moves: by a factor, or by so much. */
typedef enum { FACTOR, AMOUNT } motion;

typedef struct {
    const char *name;
    size_t offset;
    motion by;
} constant;

#define OF(type, name, by)                                                                         \
    {                                                                                              \
#name, offsetof(type, name), by                                                            \
    }
static const constant tile_constants[] = {
    OF(xg_tile_cost, us_per_k, FACTOR),        OF(xg_tile_cost, alone, FACTOR),
    OF(xg_tile_cost, fixed_us, FACTOR),        OF(xg_tile_cost, epilogue_k, AMOUNT),
    OF(xg_tile_cost, unaligned_c_k, AMOUNT),   OF(xg_tile_cost, scalar_k_major, FACTOR),
    OF(xg_tile_cost, scalar_mn_major, FACTOR), OF(xg_tile_cost, later_k, FACTOR)};
static const constant tensor_constants[] = {OF(xg_tensor_cost, in_l2_us, FACTOR),
                                            OF(xg_tensor_cost, beyond_l2_us, FACTOR),
                                            OF(xg_tensor_cost, tile_us, FACTOR)};
static const constant gemv_constants[] = {OF(xg_gemv_cost, first_us, FACTOR),
                                          OF(xg_gemv_cost, us_per_k, FACTOR),
                                          OF(xg_gemv_cost, read_rate, FACTOR)};
#define GLOBAL(name) OF(xg_costs, name, FACTOR)
static const constant globals[] = {
    GLOBAL(launch_us),
    GLOBAL(next_launch_us),
    GLOBAL(next_pass_us),
    GLOBAL(copy_rate),
    GLOBAL(read_rate),
    GLOBAL(write_rate),
    GLOBAL(thin_write_rate),
    GLOBAL(reduce_rate),
    GLOBAL(l2_copy_us),
    GLOBAL(l2_copy_rate),
    GLOBAL(prefetched_k),
    GLOBAL(stream_k_us),
    GLOBAL(stream_k_part_us),
    GLOBAL(cluster_reduce_us),
    GLOBAL(overlap),
    GLOBAL(gemv_wave_us),
    GLOBAL(gemv_step_us),
    GLOBAL(gemv_mn_major_step_us),
    GLOBAL(l2_bytes),
    GLOBAL(split_us),
    GLOBAL(split_rate),
    GLOBAL(split_wave_us),
    GLOBAL(product_us),
    GLOBAL(tensor_cluster_us),
    GLOBAL(last_store_rate),
    GLOBAL(unaligned_store_rate),
    GLOBAL(edge_store_us),
    GLOBAL(edge_store_rate),
    GLOBAL(tensor_stream_k_us),
    GLOBAL(tensor_stream_k_column_us),
    GLOBAL(tensor_stream_k_part_us),
    GLOBAL(strip_step_us),
    GLOBAL(strip_step_narrow_us),
    GLOBAL(strips_us),
    GLOBAL(strips_rate),
    GLOBAL(strips_few_warps_rate),
    GLOBAL(split_strips_us),
    GLOBAL(split_strips_rate),
    GLOBAL(split_strip_more),
    GLOBAL(scalar_k_major_us),
    GLOBAL(scalar_k_major_rate),
    GLOBAL(scalar_mn_major_us),
    GLOBAL(scalar_mn_major_rate),
};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static double *value_of(void *base, const constant *c)
{
    return (double *)(void *)((char *)base + c->offset);
}

/* The same struct of the constants that the fit began with. */
static void *start_of(void *base)
{
    return (char *)&start + ((char *)base - (char *)&costs);
}

/* ---- Loss ---- */

static double predicted_us(const row *r)
{
    const xg_request request = {.problem = r->problem,
                                .target = target,
                                .kernel = r->kernel,
                                .math = XGEMM_MATH_TF32,
                                .workspace_limit = SIZE_MAX};
    return r->kernel->family->candidate(r->kernel, &request, INFINITY).microseconds;
}

/* Of a kernel's rows; kernel NULL: of all. */
static double loss_of(const xg_kernel *kernel)
{
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < row_count; i++) {
        if (kernel && rows[i].kernel != kernel)
            continue;
        const double off = log(predicted_us(&rows[i]) / rows[i].us);
        sum += rows[i].weight * (off * off < OUTLIER ? off * off : OUTLIER);
        weights += rows[i].weight;
    }
    return weights > 0.0 ? sum / weights : 0.0;
}

/* Moves one constant while that makes the loss smaller; whether it did. */
static bool descend(double *value, double began, motion by, double step, const xg_kernel *kernel,
                    double *loss)
{
    bool moved = false;
    for (int direction = 0; direction < 2; direction++)
        for (;;) {
            const double was = *value;
            const double factor = direction ? 1.0 / (1.0 + step) : 1.0 + step;
            *value = by == FACTOR ? was * factor : was + (direction ? -20.0 : 20.0) * step;
            const double now = loss_of(kernel);
            const bool far = by == FACTOR && (*value > began * RANGE || *value * RANGE < began);
            if (far || !(now < *loss * (1.0 - 1e-6))) {
                *value = was;
                break;
            }
            *loss = now;
            moved = true;
        }
    return moved;
}

static void fit(void *base, const constant *constants, int count, const xg_kernel *kernel)
{
    double loss = loss_of(kernel), step = 0.2;
    for (int round = 0; round < ROUNDS; round++, step *= 0.5)
        for (bool moved = true; moved;) {
            moved = false;
            for (int i = 0; i < count; i++) {
                double *const value = value_of(base, &constants[i]);
                if (*value != 0.0 || constants[i].by == AMOUNT)
                    moved |= descend(value, *value_of(start_of(base), &constants[i]),
                                     constants[i].by, step, kernel, &loss);
            }
        }
}

static int rows_of(const xg_kernel *kernel)
{
    int count = 0;
    for (int i = 0; i < row_count; i++)
        count += rows[i].kernel == kernel;
    return count;
}

/* Every kernel's own constants. */
static void fit_kernels(void)
{
    for (int id = 0; id < XG_KERNEL_COUNT; id++) {
        const xg_kernel *const kernel = xg_kernel_at(id);
        if (rows_of(kernel) == 0)
            continue;
        if (costs.tiles[id].ctas_per_sm > 0)
            fit(&costs.tiles[id], tile_constants, COUNT(tile_constants), kernel);
        if (costs.tensor[id].in_l2_us > 0.0)
            fit(&costs.tensor[id], tensor_constants, COUNT(tensor_constants), kernel);
        for (int i = 0; kernel->family == &xg_family_gemv && i < XG_GEMV_SIDES; i++)
            fit(&costs.gemv[i], gemv_constants, COUNT(gemv_constants), kernel);
    }
}

static void report(const char *when)
{
    for (int id = 0; id < XG_KERNEL_COUNT; id++)
        if (rows_of(xg_kernel_at(id)) > 0)
            fprintf(stderr, "%-6s %-22s %4d rows, off by %5.1f %%\n", when, xg_kernel_at(id)->name,
                    rows_of(xg_kernel_at(id)),
                    100.0 * (exp(sqrt(loss_of(xg_kernel_at(id)))) - 1.0));
    fprintf(stderr, "%-6s all %d rows, off by %.1f %%\n", when, row_count,
            100.0 * (exp(sqrt(loss_of(NULL))) - 1.0));
}

/* ---- Tables ---- */

_Noreturn static void fail(const char *what, const char *which)
{
    fprintf(stderr, "fit: %s: %s\n", which, what);
    exit(2);
}

/* A problem in row order, its matrices aligned. */
static xg_problem problem_of(const char *layout, int64_t m, int64_t n, int64_t k, int64_t pad)
{
    static const _Alignas(256) float anywhere[64];
    const bool ta = layout[0] == 'T', tb = layout[1] == 'T';
    static const float alpha = 1.0f, beta = 0.0f;
    const xg_call call = xg_call_of(XG_F32, XGEMM_ROW_MAJOR, ta ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                    tb ? XGEMM_TRANS : XGEMM_NO_TRANS, m, n, k, &alpha, anywhere,
                                    (ta ? m : k) + pad, 0, anywhere, (tb ? k : n) + pad, 0, &beta,
                                    (void *)(uintptr_t)anywhere, n + pad, 0, 1);
    return xg_call_problem(&call);
}

/* The columns by their names, whichever others there are. */
typedef struct {
    int m, n, k, kernel, us;
} columns;

static columns columns_of(char *header, const char *file)
{
    columns of = {-1, -1, -1, -1, -1};
    const struct {
        const char *name;
        int *at;
    } wanted[] = {
        {"m", &of.m}, {"n", &of.n}, {"k", &of.k}, {"kernel", &of.kernel}, {"median_us", &of.us}};
    int at = 0;
    for (char *name; (name = strsep(&header, ",\r\n")) != NULL && *name; at++)
        for (int i = 0; i < COUNT(wanted); i++)
            if (strcmp(name, wanted[i].name) == 0)
                *wanted[i].at = at;
    for (int i = 0; i < COUNT(wanted); i++)
        if (*wanted[i].at < 0)
            fail("has no column m, n, k, kernel or median_us", file);
    return of;
}

static void read_row(char *line, const columns *of, const char *layout, int64_t pad,
                     const char *file)
{
    const char *fields[64] = {NULL};
    int count = 0;
    for (char *field; count < COUNT(fields) && (field = strsep(&line, ",\r\n")) != NULL;)
        fields[count++] = field;
    const int last = of->us > of->kernel ? of->us : of->kernel;
    if (last >= count || strncmp(fields[of->kernel], "auto", 4) == 0)
        return;
    const xg_kernel *kernel = xg_kernel_named(fields[of->kernel]);
    const double us = strtod(fields[of->us], NULL);
    if (!kernel || us <= 0.0) /* cuBLAS's, and what was left out */
        return;
    if (row_count == ROWS_MOST)
        fail("there are too many rows", file);
    rows[row_count++] = (row){
        problem_of(layout, atoll(fields[of->m]), atoll(fields[of->n]), atoll(fields[of->k]), pad),
        kernel, us, 1.0};
}

static void read_table(const char *argument)
{
    const char *const path = strchr(argument, '=');
    if (!path || strspn(argument, "NT") != 2)
        fail("is no LAYOUT=FILE, as NN=a.csv or TN+1=b.csv", argument);
    const int64_t pad = argument[2] == '+' ? atoll(argument + 3) : 0;
    FILE *const in = fopen(path + 1, "r");
    char line[4096];
    columns of = {0};
    bool header = true;
    if (!in)
        fail("cannot be read", path + 1);
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#')
            continue;
        if (header)
            of = columns_of(line, path + 1);
        else
            read_row(line, &of, argument, pad, path + 1);
        header = false;
    }
    fclose(in);
}

static bool same_problem(const xg_problem *a, const xg_problem *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->a_stride_m == b->a_stride_m &&
           a->a_stride_k == b->a_stride_k && a->b_stride_k == b->b_stride_k &&
           a->b_stride_n == b->b_stride_n && a->c_stride_m == b->c_stride_m;
}

static void weigh(void)
{
    for (int i = 0; i < row_count; i++) {
        double best = rows[i].us;
        for (int j = 0; j < row_count; j++)
            if (rows[j].us < best && same_problem(&rows[i].problem, &rows[j].problem))
                best = rows[j].us;
        rows[i].weight = rows[i].us <= NEAR * best ? WEIGHT : 1.0;
    }
}

/* ---- The file ---- */

/* Kernels' identifiers, as in kernels.def. */
static const char *const ids[] = {
#define XG_PROGRAM(id)
#define XG_PROGRAM_SM90(id)
#define XG_KERNEL_ROW(id, ...) #id,
#include "families/kernels.def"
};

static void write_fields(const void *base, const constant *constants, int count)
{
    for (int i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)base + constants[i].offset, sizeof value);
        if (value != 0.0)
            printf(", .%s = %.4g", constants[i].name, value);
    }
}

static void write_file(const xgemm_device *gpu)
{
    printf(
        "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        "/* The cost models' constants for an %s, written by bench/fit from %d measured rows. */\n"
        "#include \"tuning.h\"\n\nconst xg_costs xg_costs_NAME = {\n    .gpu = \"%s\",\n",
        gpu->name, row_count, gpu->name);
    printf("    .multiprocessors = %d,\n    .sm_fp32_gflops = %.4g,\n    .sm_fp16_gflops = %.4g,\n"
           "    .sm_fp64_gflops = %.4g,\n    .bandwidth_gbs = %.4g,\n",
           costs.multiprocessors, gpu->peak_fp32_gflops / costs.multiprocessors,
           gpu->peak_fp16_gflops / costs.multiprocessors,
           gpu->peak_fp64_gflops / costs.multiprocessors, gpu->peak_bandwidth_gbs);
    for (int i = 0; i < COUNT(globals); i++)
        printf("    .%s = %.4g,\n", globals[i].name, *value_of(&costs, &globals[i]));
    printf("    .tiles =\n        {\n");
    for (int id = 0; id < XG_KERNEL_COUNT; id++) {
        const xg_tile_cost *const c = &costs.tiles[id];
        if (c->ctas_per_sm == 0)
            continue;
        printf("            [XG_KERNEL_%s] = {.ctas_per_sm = %d", ids[id], c->ctas_per_sm);
        write_fields(c, tile_constants, COUNT(tile_constants));
        if (c->vec4_k_major)
            printf(", .vec4_k_major = %d", c->vec4_k_major);
        if (c->k_multiple)
            printf(", .k_multiple = %d", c->k_multiple);
        printf("},\n");
    }
    printf("        },\n    .gemv =\n        {\n");
    for (int i = 0; i < XG_GEMV_SIDES; i++) {
        printf("            {.side = %d", costs.gemv[i].side);
        write_fields(&costs.gemv[i], gemv_constants, COUNT(gemv_constants));
        printf("},\n");
    }
    printf("        },\n    .tensor =\n        {\n");
    for (int id = 0; id < XG_KERNEL_COUNT; id++) {
        if (costs.tensor[id].in_l2_us == 0.0)
            continue;
        printf("            [XG_KERNEL_%s] = {.in_l2_us = %.4g, .beyond_l2_us = %.4g, "
               ".tile_us = %.4g},\n",
               ids[id], costs.tensor[id].in_l2_us, costs.tensor[id].beyond_l2_us,
               costs.tensor[id].tile_us);
    }
    printf("        },\n};\n");
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: fit GPU-NAME MULTIPROCESSORS LAYOUT=FILE.csv... > gpu.c\n");
        return 2;
    }
    costs = start = xg_costs_h200;
    costs.multiprocessors = atoi(argv[2]);
    target =
        (xg_target){.multiprocessors = atoi(argv[2]), .compute_capability = 90, .costs = &costs};
    xgemm_device gpu = {.struct_size = sizeof gpu};
    if (xgemm_device_find(argv[1], &gpu))
        fail("is not in the catalogue of GPUs (lib/device/catalog.txt), where its peaks are",
             argv[1]);
    if (target.multiprocessors < 1)
        fail("is no number of multiprocessors", argv[2]);
    for (int i = 3; i < argc; i++)
        read_table(argv[i]);
    if (row_count == 0)
        fail("there is no kernel's time in it", argv[3]);
    weigh();
    report("before");
    for (int round = 0; round < 2; round++) {
        fit_kernels();
        fit(&costs, globals, COUNT(globals), NULL);
    }
    fit_kernels();
    report("after");
    write_file(&gpu);
    return 0;
}
