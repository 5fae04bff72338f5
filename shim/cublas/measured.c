/* SPDX-License-Identifier: BSD-3-Clause */
#include "measured.h"

#include "copy.h"
#include "shim/options.h"
#include "shim/product.h"

#include <stddef.h>
#include <string.h>

/* Why calls are passed on. */
#define TYPE    "cuBLAS is as fast for this type"
#define SIZE    "cuBLAS is as fast for this size"
#define ALIGNED "cuBLAS is as fast for aligned operands"
#define LAYOUT  "cuBLAS is as fast for these transposes"

/*
 * Where libxgemm was measured to be at least as fast as cuBLAS (doc/results/), rows for each type
 * and math mode; what no row has is passed on. The planned time is compared with what cuBLAS takes
 * at its best: its share of the GPU's peak, and what a call takes at least.
 *
 * FP32: on 360 shapes on an H200 it was as fast or faster but for seven, at worst by 6 %; predicted
 * to take longer than cuBLAS does at its best, batches were not (128 of 1024 x 1024 x 64: 0.91 to
 * 1.19 of its speed, by the transposes). TF32: at 1024 two launches took 1.4 times as long as
 * cuBLAS's one when nothing else filled the host's time.
 *
 * FP16 and BF16: cuBLAS is slow where A or B begins, or its columns are apart, by what is no
 * multiple of 16 bytes. By odd elements libxgemm is 1.9 times as fast at 1025, 2.6 at 2047, 2.9 at
 * 2049, 3.5 at 4097, 4.3 at 8193, 4 to 4.5 at 4096 where one operand is so; by two or four elements
 * 2.0 to 2.5 times at 4096. Small ones, unless a graph is captured, take cuBLAS 9.8 us at
 * least: 2.4 times as long at 256, twice at 512, 1.4 times at 1024, on both cards; with a side
 * below 64 nothing was measured.
 *
 * FP64: by residues 1.18 times as fast at 8192, where cuBLAS reaches 0.9 of the peak at its best;
 * FP64's peak by tensor cores is that of FP32 on the GPUs that were measured. Small ones take
 * cuBLAS 8.3 us at least. In odd columns its NN and TT fall to 0.63 of the peak, TN to 0.67, NT to
 * 0.72. C32 by real products on tensor cores 1.3 times as fast at 512, 2.5 at 1024, 4.1 at 4096;
 * cuBLAS reaches 0.8 of FP32's peak. Small ones take cuBLAS 8.1 us. C64 by residues 1.3 times as
 * fast at 4096, 1.5 at 4097, 1.6 to 1.8 at 8192; else 0.95 to 0.98, and in odd columns 1.16 to 1.2.
 */
enum { ANY = 16 }; /* bytes: what is aligned to more is not told apart */
enum { NN = 1, NT = 2, TN = 4, TT = 8 };
struct measured {
    xgemm_type type;
    xgemm_math math;
    double least_flops;            /* of a product, */
    int64_t least_size, most_size; /* and of m, n and k */
    unsigned most_alignment;       /* of A or of B, bytes */
    unsigned layouts;              /* NN ...; 0: all */
    bool has_batches;              /* batches were measured, too */
    bool always_by_time;           /* not only beyond LAUNCHES_US */
    const char *kernels;           /* what the planned kernel's name begins with */
    size_t peak_gflops;            /* the field of xgemm_device, and */
    double share;                  /* how much of it cuBLAS reaches at its best */
    double least_us;               /* what it takes for anything */
};

enum { LAUNCHES_US = 50 }; /* beyond it, what a launch costs is no reason for a longer time */

#define PEAK(type) offsetof(xgemm_device, peak_##type##_gflops)
#define ROW(of, mode, ...)                                                                         \
    {                                                                                              \
        .type = XGEMM_##of, .math = XGEMM_MATH_##mode, __VA_ARGS__                                 \
    }
/* All by time, one product a call. */
#define BY_TIME(of, ...) ROW(of, DEFAULT, .always_by_time = true, __VA_ARGS__)

static const measured rows[] = {
    ROW(F32, DEFAULT, .has_batches = true, .peak_gflops = PEAK(fp32), .share = 0.77),
    ROW(F32, STRICT, .has_batches = true, .peak_gflops = PEAK(fp32), .share = 0.77),
    ROW(F32, TF32, .has_batches = true, .peak_gflops = PEAK(tf32), .share = 0.79,
        .least_flops = 1.6e10, .kernels = "fp16x1"),
#define HALF(of, peak)                                                                             \
    BY_TIME(of, .least_size = 2048, .most_alignment = 2, .peak_gflops = peak, .share = 0.16),      \
        BY_TIME(of, .least_size = 1000, .most_alignment = 2, .peak_gflops = peak, .share = 0.085), \
        BY_TIME(of, .least_size = 4096, .most_alignment = 8, .peak_gflops = peak, .share = 0.27),  \
        BY_TIME(of, .least_size = 64, .most_size = 512, .peak_gflops = peak, .share = 0.8,         \
                .least_us = 9.8)
    HALF(F16, PEAK(fp16)),
    HALF(BF16, PEAK(bf16)),
    BY_TIME(F64, .least_size = 4097, .kernels = "fp16x3", .peak_gflops = PEAK(fp32), .share = 0.9),
    BY_TIME(F64, .least_size = 4096, .most_alignment = 8, .layouts = NN | TT,
            .peak_gflops = PEAK(fp32), .share = 0.63),
    BY_TIME(F64, .least_size = 64, .most_size = 256, .peak_gflops = PEAK(fp32), .share = 0.9,
            .least_us = 8.3),
    BY_TIME(C32, .least_size = 512, .kernels = "fp16x3", .peak_gflops = PEAK(fp32), .share = 0.8),
    BY_TIME(C32, .least_size = 64, .most_size = 256, .peak_gflops = PEAK(fp32), .share = 0.8,
            .least_us = 8.1),
    BY_TIME(C64, .least_size = 2049, .kernels = "fp16x3", .peak_gflops = PEAK(fp32), .share = 0.9),
};
#undef PEAK
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- Rows ---- */

/* The largest power of two, up to ANY, that the places of all columns are multiples of. */
static unsigned alignment_to(xgemm_type type, const void *base, int64_t ld)
{
    const uint64_t places = (uint64_t)(uintptr_t)base | (uint64_t)ld * bytes_of(type) | ANY;
    return (unsigned)(places & (~places + 1));
}

static unsigned layout_of(const xgemm_product *p)
{
    return p->transa == XGEMM_NO_TRANS ? (p->transb == XGEMM_NO_TRANS ? NN : NT)
                                       : (p->transb == XGEMM_NO_TRANS ? TN : TT);
}

static bool is_within(const measured *row, int64_t size)
{
    return size >= row->least_size && (!row->most_size || size <= row->most_size);
}

static bool is_size_of(const measured *row, const xgemm_product *p)
{
    return is_within(row, p->m) && is_within(row, p->n) && is_within(row, p->k) &&
           2.0 * (double)p->m * (double)p->n * (double)p->k >= row->least_flops;
}

static const char *check_row(const measured *row, const call *c)
{
    const xgemm_product *p = &c->product;
    if (p->type_b != row->type || p->type_c != row->type)
        return "the types were not measured";
    if (row->most_alignment && alignment_to(row->type, p->a, p->lda) > row->most_alignment &&
        alignment_to(row->type, p->b, p->ldb) > row->most_alignment)
        return ALIGNED;
    if (!is_size_of(row, p))
        return SIZE;
    if (row->layouts && !(row->layouts & layout_of(p)))
        return LAYOUT;
    const bool is_batch = p->batch_count > 1 || p->flags & XGEMM_POINTER_ARRAYS;
    return is_batch && !row->has_batches ? "batches were not measured" : NULL;
}

/*
 * The next row after "after", which may be NULL, in that math mode, or in any (-1). The reason is
 * that of the first row of the type.
 */
static const measured *next_row(const measured *after, const call *c, int math, const char **why)
{
    *why = NULL;
    for (const measured *row = after ? after + 1 : rows; row < rows + ROWS; row++) {
        if (row->type != c->product.type_a || (math >= 0 && (int)row->math != math))
            continue;
        const char *const reason = check_row(row, c);
        if (!reason)
            return row;
        *why = *why ? *why : reason;
    }
    *why = *why ? *why : TYPE;
    return NULL;
}

const measured *measured_row(const call *c, const measured *after, const char **why)
{
    return next_row(after, c, (int)c->math, why);
}

const char *refused(const call *c, xgemm_math math)
{
    const char *why;
    return options.serves_all || next_row(NULL, c, (int)math, &why) ? NULL : why;
}

const char *refused_always(const call *c)
{
    const char *why;
    return options.serves_all || next_row(NULL, c, -1, &why) ? NULL : why;
}

const char *refused_operand(xgemm_type type, const void *base, int64_t rows_of, int64_t columns,
                            int64_t ld)
{
    const unsigned alignment = alignment_to(type, base, ld);
    const char *why = NULL;
    for (const measured *row = rows; row < rows + ROWS && !options.serves_all; row++) {
        if (row->type != type)
            continue;
        const bool is_odd = !row->most_alignment || alignment <= row->most_alignment;
        if (is_odd && is_within(row, rows_of) && is_within(row, columns))
            return NULL;
        why = why ? why : is_odd ? SIZE : ALIGNED;
    }
    return options.serves_all ? NULL : why ? why : TYPE;
}

/* ---- Times ---- */

bool measured_for_launches(const measured *row)
{
    return row->least_us > 0;
}

static double c_bytes(const xgemm_product *p)
{
    return (double)p->batch_count * (double)p->m * (double)p->n * (double)bytes_of(p->type_c);
}

/* As fast as on large products, or as the memory, or as it ever is. */
double measured_us(const measured *row, const call *c, const xgemm_device *gpu)
{
    const xgemm_product *p = &c->product;
    double peak;
    memcpy(&peak, (const char *)gpu + row->peak_gflops, sizeof peak);
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double count = (double)p->batch_count;
    const double products = p->type_a == XGEMM_C32 || p->type_a == XGEMM_C64 ? 4 : 1;
    const bool lists = p->flags & XGEMM_POINTER_ARRAYS;
    const double a = lists || p->stride_a ? count : 1, b = lists || p->stride_b ? count : 1;
    const double bytes = (double)bytes_of(p->type_a) * (a * m * k + b * k * n) + c_bytes(p);
    const double work = peak > 0 ? 2e-3 * products * m * n * k * count / (peak * row->share) : 0;
    const double memory = gpu->peak_bandwidth_gbs > 0 ? 1e-3 * bytes / gpu->peak_bandwidth_gbs : 0;
    return larger(larger(work, memory), row->least_us);
}

double beside_us(const call *c, const xgemm_device *gpu)
{
    enum { LAUNCH_US = 3 };
    const xgemm_product *p = &c->product;
    const double pass =
        gpu->peak_bandwidth_gbs > 0 ? 2e-3 * c_bytes(p) / (0.8 * gpu->peak_bandwidth_gbs) : 0;
    const double copies = (double)copies_of(c);
    return (p->bias || p->activation ? LAUNCH_US + pass : 0) +
           (copies > 0 ? LAUNCH_US * copies + pass : 0);
}

const char *measured_slower(const measured *row, const call *c, const char *kernel, double us,
                            double other_us)
{
    const bool is_slower = us > other_us;
    if (row->kernels && strncmp(kernel, row->kernels, strlen(row->kernels)) != 0)
        return SIZE;
    if (is_slower && (c->product.bias || c->product.activation))
        return "bias and activation take longer";
    if (is_slower && c->source)
        return "copying C to D takes longer";
    return is_slower && (row->always_by_time || us > LAUNCHES_US) ? SIZE : NULL;
}
