/* SPDX-License-Identifier: BSD-3-Clause */
#include "tuning.h"

#include "device/catalog.h"
#include "device/fields.h"
#include "families/double/double.h"
#include "families/kernels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const xg_costs *const measured[] = {&xg_costs_h200, &xg_costs_h100};
enum { MEASURED = sizeof measured / sizeof *measured };

/* Whether both names are of one product, which has several. */
static bool same_product(const char *a, const char *b, int multiprocessors)
{
    xg_name names[2];
    const char *comma;
    if (strcmp(a, b) == 0)
        return true;
    if (!xg_name_read(&names[0], a, &comma) || !xg_name_read(&names[1], b, &comma))
        return false;
    const xg_catalog_row *const row = xg_catalog_named(&names[0], multiprocessors);
    return row && row == xg_catalog_named(&names[1], multiprocessors);
}

/* How far a GPU is from one that was measured: by the logarithms of what differs. */
static double distance(const xgemm_device *gpu, const xg_costs *costs)
{
    return fabs(log((double)gpu->multiprocessors / costs->multiprocessors)) +
           fabs(log(gpu->peak_bandwidth_gbs / costs->bandwidth_gbs));
}

static const xg_costs *nearest(const xgemm_device *gpu)
{
    const xg_costs *best = measured[0];
    for (int i = 1; i < MEASURED; i++)
        if (distance(gpu, measured[i]) < distance(gpu, best))
            best = measured[i];
    return best;
}

/*
 * mma.sync reaches nearly all of the tensor cores' peak before compute capability 9.0, and less of
 * it since: an estimate, as its constants are.
 */
static double mma_share(const xgemm_device *gpu)
{
    return gpu->compute_capability < 90 ? 1.5 : 1.0;
}

/* A multiprocessor's peaks by those of the one that was measured. */
typedef struct {
    double fp32, fp64, fp64_tensor, tensor, mma;
} peaks;

/* Memory's rates by the bandwidth, and a multiprocessor's times by the peak of what it uses. */
static void scale(xg_costs *costs, const peaks *by, double memory)
{
    static const size_t rates[] = {
        offsetof(xg_costs, copy_rate),           offsetof(xg_costs, read_rate),
        offsetof(xg_costs, write_rate),          offsetof(xg_costs, thin_write_rate),
        offsetof(xg_costs, reduce_rate),         offsetof(xg_costs, split_rate),
        offsetof(xg_costs, last_store_rate),     offsetof(xg_costs, unaligned_store_rate),
        offsetof(xg_costs, edge_store_rate),     offsetof(xg_costs, strips_rate),
        offsetof(xg_costs, split_strips_rate),   offsetof(xg_costs, strips_few_warps_rate),
        offsetof(xg_costs, scalar_k_major_rate), offsetof(xg_costs, scalar_mn_major_rate),
        offsetof(xg_costs, half_align_rate),     offsetof(xg_costs, half_reduce_rate),
        offsetof(xg_costs, half_read_rate),      offsetof(xg_costs, half_write_rate),
        offsetof(xg_costs, double_reduce_rate),  offsetof(xg_costs, double_l2_rate),
        offsetof(xg_costs, double_memory_rate),  offsetof(xg_costs, residue_rate)};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        *(double *)(void *)((char *)costs + rates[i]) *= memory;
    for (int i = 0; i < XG_GEMV_SIDES; i++)
        costs->gemv[i].read_rate *= memory;
    for (int i = 0; i < XG_KERNEL_COUNT; i++) {
        costs->tiles[i].us_per_k /= xg_kernel_at(i)->tensor_products > 0 ? by->tensor : by->fp32;
        costs->tensor[i].in_l2_us /= by->tensor;
        costs->tensor[i].beyond_l2_us /= by->tensor;
    }
    for (size_t i = 0; i < sizeof costs->half / sizeof *costs->half; i++) {
        costs->half[i].in_l2_us /= by->tensor;
        costs->half[i].beyond_l2_us /= by->tensor;
    }
    for (int i = 0; i < XG_MMA_TILES; i++) {
        costs->mma[i].k_us /= by->mma;
        costs->mma[i].full_k_us /= by->mma;
    }
    costs->residue_block_us /= by->tensor;
    for (int i = 0; i < XG_DOUBLE_TILES; i++) {
        const double peak = xg_double_cost_is_fp64(i) ? by->fp64_tensor : by->fp32;
        costs->fp64[i].alone_us /= peak;
        costs->fp64[i].full_us /= peak;
    }
    costs->sm_fp32_gflops *= by->fp32;
    costs->sm_fp64_gflops *= by->fp64;
}

bool xg_peaks_known(const xgemm_device *gpu)
{
    return gpu->multiprocessors > 0 && gpu->peak_bandwidth_gbs > 0.0 && gpu->fp32_lanes > 0 &&
           gpu->core_clock_mhz > 0.0;
}

const xg_costs *xg_costs_of(const xgemm_device *gpu, xg_costs *scaled)
{
    if (!gpu || !xg_peaks_known(gpu))
        return measured[0];
    for (int i = 0; i < MEASURED; i++)
        if (measured[i]->multiprocessors == gpu->multiprocessors &&
            same_product(measured[i]->gpu, gpu->name, gpu->multiprocessors))
            return measured[i];
    *scaled = *nearest(gpu);
    const double sm_fp32 = 2e-3 * gpu->fp32_lanes * gpu->core_clock_mhz;
    const double sm_fp16 = gpu->peak_fp16_gflops / gpu->multiprocessors;
    const double fp64 = xg_device_fp64_gflops(gpu, false), mma = xg_device_fp64_gflops(gpu, true);
    const double sm_fp64 = fp64 / gpu->multiprocessors;
    const double sm_fp64_tensor = (mma > fp64 ? mma : fp64) / gpu->multiprocessors;
    const double fp32 = sm_fp32 / scaled->sm_fp32_gflops;
    const double tensor = sm_fp16 > 0.0 ? sm_fp16 / scaled->sm_fp16_gflops : fp32;
    const peaks by = {.fp32 = fp32,
                      .fp64 = sm_fp64 / scaled->sm_fp64_gflops,
                      .fp64_tensor = sm_fp64_tensor / (2.0 * scaled->sm_fp64_gflops),
                      .tensor = tensor,
                      .mma = tensor * mma_share(gpu)};
    scale(scaled, &by, gpu->peak_bandwidth_gbs / scaled->bandwidth_gbs);
    scaled->roof = (xg_roof){.fp32_gflops = sm_fp32 * gpu->multiprocessors,
                             .fp64_gflops = sm_fp64_tensor * gpu->multiprocessors,
                             .tensor_gflops = gpu->peak_fp16_gflops,
                             .bandwidth_gbs = gpu->peak_bandwidth_gbs};
    return scaled;
}
