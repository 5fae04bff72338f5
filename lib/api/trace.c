/* SPDX-License-Identifier: BSD-3-Clause */
/* The public trace: a product's plan, run on the simulator and watched. */
#include "target.h"

#include "device/occupancy.h"
#include "planner/execute.h"
#include "problem/call.h"
#include "backend/sim/simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A report with its sites behind it, in one allocation. */
typedef struct {
    xgemm_trace_report report;
    xgemm_trace_site sites[];
} owned_report;

/* The matrices of a traced product, all zeros. */
typedef struct {
    float *a, *b, *c;
    void *workspace;
} memory;

static int64_t least_ld(xgemm_order order, bool transposed, int64_t rows, int64_t columns)
{
    return (order == XGEMM_ROW_MAJOR) == transposed ? rows : columns;
}

static xg_call call_of(const xgemm_trace_problem *p)
{
    xg_call call = {.order = p->order ? p->order : XGEMM_ROW_MAJOR,
                    .transa = p->transa ? p->transa : XGEMM_NO_TRANS,
                    .transb = p->transb ? p->transb : XGEMM_NO_TRANS,
                    .m = p->m,
                    .n = p->n,
                    .k = p->k,
                    .struct_size = sizeof call,
                    .type_a = XGEMM_F32,
                    .type_b = XGEMM_F32,
                    .type_c = XGEMM_F32,
                    .beta = &p->beta,
                    .batch_count = 1};
    call.lda = p->lda ? p->lda : least_ld(call.order, call.transa != XGEMM_NO_TRANS, p->m, p->k);
    call.ldb = p->ldb ? p->ldb : least_ld(call.order, call.transb != XGEMM_NO_TRANS, p->k, p->n);
    call.ldc = p->ldc ? p->ldc : least_ld(call.order, false, p->m, p->n);
    return call;
}

/* Elements from a matrix's first to its last; the call was checked, so that it cannot overflow. */
static size_t extent(xgemm_order order, bool transposed, int64_t rows, int64_t columns, int64_t ld)
{
    const bool by_rows = (order == XGEMM_ROW_MAJOR) != transposed;
    const int64_t lines = by_rows ? rows : columns, width = by_rows ? columns : rows;
    return (size_t)((lines - 1) * ld + width);
}

/* Aligned as the GPU's allocations are, since sectors are counted by address. */
static void *zeros(size_t bytes)
{
    enum { ALIGNMENT = 256 };
    void *block = NULL;
    if (bytes <= PTRDIFF_MAX - ALIGNMENT && posix_memalign(&block, ALIGNMENT, bytes) == 0)
        memset(block, 0, bytes);
    return block;
}

static void release(memory *m)
{
    free(m->a);
    free(m->b);
    free(m->c);
    free(m->workspace);
}

static xgemm_status allocate(xg_call *call, memory *m, xg_error *error)
{
    m->a =
        zeros(4 * extent(call->order, call->transa != XGEMM_NO_TRANS, call->m, call->k, call->lda));
    m->b =
        zeros(4 * extent(call->order, call->transb != XGEMM_NO_TRANS, call->k, call->n, call->ldb));
    m->c = zeros(4 * extent(call->order, false, call->m, call->n, call->ldc));
    if (!m->a || !m->b || !m->c)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                       "the host has no memory for the matrices to trace");
    call->a = m->a;
    call->b = m->b;
    call->c = m->c;
    return XGEMM_OK;
}

/* Checks all but the pointers, which are made after it. */
static xgemm_status check(const xgemm_trace_problem *p, const xg_call *call, xg_error *error)
{
    static float anything;
    if (p->m < 1 || p->n < 1 || p->k < 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "m, n and k are %lld, %lld and %lld; each must be at least 1",
                       (long long)p->m, (long long)p->n, (long long)p->k);
    if (p->most_blocks < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "most_blocks is %lld; it must be at least 0", (long long)p->most_blocks);
    xg_call whole = *call;
    whole.a = whole.b = whole.c = &anything;
    return xg_call_check(&whole, error);
}

static void add_site(xgemm_trace_report *report, xgemm_trace_site *to, const xg_trace_site *from,
                     double scale)
{
    *to = (xgemm_trace_site){
        .file = from->file,
        .line = from->line,
        .source = from->source,
        .array = from->array,
        .is_shared = from->is_shared,
        .is_store = from->is_store,
        .is_atomic = from->is_atomic,
        .bytes = from->bytes,
        .requests = from->requests,
        .partial_requests = from->partial_requests,
        .lanes = from->lanes,
        .sectors = from->sectors,
        .ideal_sectors = from->ideal_sectors,
        .cache_lines = from->cache_lines,
        .wavefronts = from->wavefronts,
        .ideal_wavefronts = from->ideal_wavefronts,
        .most_sectors = from->most_sectors,
        .most_ways = from->most_ways,
    };
    if (!from->is_shared) {
        report->bytes_asked += scale * (double)from->lanes * from->bytes;
        report->bytes_moved += scale * 32.0 * (double)from->sectors;
    }
}

/* GFLOP/s of products in FP32, as the kernel computes them; 0: not known. */
static double peak_of(const xgemm_device *device, const xg_kernel *kernel)
{
    if (kernel->tensor_products == 0)
        return device->peak_fp32_gflops;
    return device->peak_fp16_gflops / kernel->tensor_products; /* BF16's is the same */
}

/* The roofline: GFLOP/s at an arithmetic intensity. */
static double roof(const xgemm_trace_report *report, double flop_per_byte)
{
    const double by_memory = flop_per_byte * report->peak_gbs;
    return by_memory < report->peak_gflops ? by_memory : report->peak_gflops;
}

/* What the GPU makes of the launch: how many blocks at once, and which bound is the lower one. */
static xgemm_status add_device(xgemm_trace_report *report, const xg_kernel *kernel,
                               const xgemm_device *device)
{
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_occupancy_info occupancy = {.struct_size = sizeof occupancy};
    const int threads = report->block[0] * report->block[1] * report->block[2];
    if (xgemm_kernel_resources_find(report->kernel, device, &resources) == XGEMM_OK) {
        report->registers = resources.registers;
        report->registers_version = resources.binary_version;
    }
    const xgemm_status status =
        xgemm_occupancy(device, threads, report->registers, report->shared_bytes, 1, &occupancy);
    if (status)
        return status; /* its sentence is the thread's, where this function's would go */

    const double held = (double)occupancy.blocks * device->multiprocessors;
    const double blocks =
        (double)report->grid[0] * (double)report->grid[1] * (double)report->grid[2];
    snprintf(report->device, sizeof report->device, "%s", device->name);
    report->blocks_per_sm = occupancy.blocks;
    report->warp_occupancy = occupancy.warp_occupancy;
    report->limiters = occupancy.limiters;
    report->waves = held > 0.0 ? blocks / held : 0.0;
    report->peak_gflops = peak_of(device, kernel);
    report->peak_gbs = device->peak_bandwidth_gbs;
    report->roof_asked_gflops = roof(report, report->flop_per_byte_asked);
    report->roof_moved_gflops = roof(report, report->flop_per_byte_moved);
    report->roof_least_gflops = roof(report, report->flop_per_byte_least);
    return XGEMM_OK;
}

static xgemm_status make_report(const xg_plan *plan, const xg_candidate *chosen,
                                const xgemm_trace_problem *p, xg_trace *trace,
                                xgemm_trace_report **result, xg_error *error)
{
    int count;
    const xg_trace_site *sites = xg_trace_sites(trace, &count);
    const xg_trace_totals *totals = xg_trace_get_totals(trace);
    owned_report *owned = calloc(1, sizeof *owned + (size_t)count * sizeof *owned->sites);
    if (!owned)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");

    xgemm_trace_report *report = &owned->report;
    report->struct_size = sizeof *report;
    report->kernel = chosen->kernel->name;
    report->shared_bytes = chosen->kernel->shared_bytes;
    report->shared_tiles = chosen->stream_k_tiles;
    for (int i = 0; i < plan->step_count; i++) {
        const xg_step *step = &plan->steps[i];
        report->blocks += (int64_t)step->grid[0] * step->grid[1] * step->grid[2];
        /* Of several products, the tiles' and those of strips, the first. */
        if (!step->is_product || report->k_parts > 0)
            continue;
        report->k_parts = xg_ceil_div(p->k, chosen->k_per_split);
        for (int d = 0; d < 3; d++) {
            report->grid[d] = step->grid[d];
            report->block[d] = (int)step->block[d];
        }
    }
    report->blocks_run = totals->blocks;
    report->warps_run = totals->warps;
    report->barriers = totals->barriers;
    report->flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    report->bytes_least = 4.0 * ((double)p->m * (double)p->k + (double)p->k * (double)p->n +
                                 (p->beta == 0.0f ? 1.0 : 2.0) * (double)p->m * (double)p->n);
    report->flop_per_byte_least = report->flops / report->bytes_least;
    report->simt_efficiency =
        totals->steps ? (double)totals->step_lanes / (32.0 * (double)totals->steps) : 0.0;
    const double scale = totals->blocks ? (double)report->blocks / (double)totals->blocks : 0.0;
    for (int i = 0; i < count; i++)
        add_site(report, &owned->sites[i], &sites[i], scale);
    if (report->bytes_asked > 0.0) {
        report->flop_per_byte_asked = report->flops / report->bytes_asked;
        report->flop_per_byte_moved = report->flops / report->bytes_moved;
    }
    report->site_size = sizeof *owned->sites;
    report->site_count = count;
    report->sites = owned->sites;
    *result = report;
    return XGEMM_OK;
}

static xgemm_status run(const xg_plan *plan, const xg_problem *problem, void *workspace,
                        int64_t most_blocks, xg_trace *trace, xg_error *error)
{
    /* A sample of several launches would count each by another share: they run whole. */
    const xg_sim_options options = {.trace = trace,
                                    .most_blocks = plan->step_count == 1 ? most_blocks : 0};
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < plan->step_count && !status; i++) {
        _Alignas(8) unsigned char arguments[XG_ARGUMENTS_BYTES];
        const xg_launch launch = xg_step_launch(plan, i, problem, 0, workspace, arguments);
        status = xg_sim_launch(&launch, &options, error);
    }
    return status;
}

/*
 * The plan is the one that the GPU would run. The library runs on no GPU older than its kernels
 * are compiled for: what such a one adds to the report is occupancy and roofline alone.
 */
static xgemm_status target_of(const xgemm_device *device, const xg_kernel *kernel, xg_target *to,
                              xg_costs *scaled, xg_error *error)
{
    if (device && !xg_is_older_gpu(device))
        return xg_target_of_gpu(device, kernel, to, scaled, error);
    *to = xg_target_of(&xg_backend_sim, NULL, NULL, NULL);
    return XGEMM_OK;
}

static xgemm_status trace_call(const xg_kernel *kernel, const xgemm_trace_problem *p,
                               const xgemm_device *device, xg_call *call, memory *m,
                               xgemm_trace_report **result, xg_error *error)
{
    xg_plan plan;
    xg_candidate chosen;
    xgemm_status status = allocate(call, m, error);
    if (status)
        return status;
    const xg_problem problem = xg_call_problem(call);
    xg_request request = {.problem = problem, .kernel = kernel, .workspace_limit = SIZE_MAX};
    xg_costs scaled;
    status = target_of(device, kernel, &request.target, &scaled, error);
    if (!status)
        status = xg_plan_make(&xg_backend_sim, &request, &plan, &chosen, error);
    if (status)
        return status;
    if (plan.workspace_bytes > 0 && !(m->workspace = zeros(plan.workspace_bytes)))
        status = xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                         "the host has no memory for the kernel's workspace");
    if (status)
        return status;
    xg_trace *trace = xg_trace_new();
    if (!trace)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    status = run(&plan, &problem, m->workspace, p->most_blocks, trace, error);
    if (!status)
        status = make_report(&plan, &chosen, p, trace, result, error);
    xg_trace_free(trace);
    if (!status && device)
        status = add_device(*result, kernel, device);
    if (status) {
        xgemm_trace_free(*result);
        *result = NULL;
    }
    return status;
}

static xgemm_status trace_kernel(const char *name, const xgemm_trace_problem *problem,
                                 const xgemm_device *device, xgemm_trace_report **result,
                                 xg_error *error)
{
    if (result)
        *result = NULL;
    if (!name || !problem || !result)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL",
                       !name      ? "kernel"
                       : !problem ? "problem"
                                  : "report");
    if (problem->struct_size != sizeof *problem)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "struct_size is %zu; set it to sizeof(xgemm_trace_problem)",
                       problem->struct_size);
    const xg_kernel *kernel = xg_kernel_named(name);
    if (!kernel)
        return xg_kernel_unknown(name, &xg_backend_sim, error);
    if (!kernel->programs[0]->traced || !xg_trace_available())
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED,
            kernel->programs[0]->simulated
                ? "this build of libxgemm has no traced kernels: its compiler was not able"
                : "kernel %s is for the CPU; only a GPU's can be traced",
            name);
    xg_call call = call_of(problem);
    memory m = {NULL, NULL, NULL, NULL};
    xgemm_device gpu;
    xgemm_status status = check(problem, &call, error);
    if (!status && device)
        status = xg_device_complete(device, &gpu, error);
    if (!status)
        status = trace_call(kernel, problem, device ? &gpu : NULL, &call, &m, result, error);
    release(&m);
    return status;
}

xgemm_status xgemm_trace(const char *kernel, const xgemm_trace_problem *problem,
                         const xgemm_device *device, xgemm_trace_report **report)
{
    const xgemm_status status = trace_kernel(kernel, problem, device, report, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}

void xgemm_trace_free(xgemm_trace_report *report)
{
    free(report);
}
