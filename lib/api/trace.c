/* SPDX-License-Identifier: BSD-3-Clause */
/* The public trace: a product's plan, run on the simulator and watched. */
#include "resources.h"
#include "target.h"

#include "device/fields.h"
#include "device/occupancy.h"
#include "families/kernels.h"
#include "planner/execute.h"
#include "problem/call.h"
#include "backend/sim/simulator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A report with its sites behind it, in one allocation. */
typedef struct {
    xgemm_trace_report report;
    xgemm_trace_site sites[];
} owned_report;

/* The matrices of a traced product, its bias and its workspace. */
enum { BLOCKS_MOST = 5 };
typedef struct {
    void *blocks[BLOCKS_MOST];
    int count;
} memory;

/* What is traced. */
typedef struct {
    const xg_kernel *kernel;
    xg_call call;
    int64_t most_blocks;
    const xgemm_device *device; /* complete; NULL: none */
    int64_t static_bytes;       /* of the product's launch: what it uses of static shared memory */
} traced;

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

/*
 * Aligned as the GPU's allocations are, since sectors are counted by address. Zeros that no block
 * of the launch touches take no memory of the system.
 */
static void *zeros(memory *m, size_t bytes)
{
    enum { ALIGNMENT = 256 };
    char *const block = bytes <= PTRDIFF_MAX - ALIGNMENT ? calloc(bytes + ALIGNMENT, 1) : NULL;
    if (!block)
        return NULL;
    m->blocks[m->count++] = block;
    return block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT);
}

static void release(memory *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->blocks[i]);
}

static xgemm_status allocate(xg_call *call, memory *m, xg_error *error)
{
    const bool turned_a = call->transa != XGEMM_NO_TRANS, turned_b = call->transb != XGEMM_NO_TRANS;
    const size_t bytes = xg_type_bytes((xg_type)call->type_a);
    const size_t bytes_c = xg_type_bytes((xg_type)call->type_c);
    void *const a = zeros(m, bytes * extent(call->order, turned_a, call->m, call->k, call->lda));
    void *const b = zeros(m, bytes * extent(call->order, turned_b, call->k, call->n, call->ldb));
    void *const c = zeros(m, bytes_c * extent(call->order, false, call->m, call->n, call->ldc));
    void *bias = NULL;
    if (call->bias)
        bias = zeros(m, xg_type_bytes((xg_type)call->type_bias) *
                            (size_t)(call->bias_per_row ? call->m : call->n));
    if (!a || !b || !c || (call->bias && !bias))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                       "the host has no memory for the matrices to trace");
    call->a = a;
    call->b = b;
    call->c = c;
    call->bias = bias;
    return XGEMM_OK;
}

/* Checks all but the pointers, which are made after it. */
static xgemm_status check(const traced *t, xg_error *error)
{
    static _Alignas(16) char anything[16];
    const xg_call *call = &t->call;
    if (call->m < 1 || call->n < 1 || call->k < 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "m, n and k are %lld, %lld and %lld; each must be at least 1",
                       (long long)call->m, (long long)call->n, (long long)call->k);
    if (t->most_blocks < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "most_blocks is %lld; it must be at least 0", (long long)t->most_blocks);
    if (call->flags || call->batch_count != 1)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "flags is 0x%x and batch_count %lld; one product is traced, whose matrices "
                       "and scalars are the host's",
                       call->flags, (long long)call->batch_count);
    xg_call whole = *call;
    whole.a = whole.b = whole.c = anything;
    whole.bias = whole.bias ? anything : NULL;
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

/*
 * GFLOP/s of products in FP32, FP64 or FP16, as the kernel computes them; 0: not known. What
 * doubles take on the integers of tensor cores depends on the data.
 */
static double peak_of(const xgemm_device *device, const xg_kernel *kernel, xg_type type)
{
    if (xg_type_alignment(type) == sizeof(double)) {
        const bool cuda_cores = kernel->id == XG_KERNEL_general;
        const double mma = cuda_cores ? 0.0 : xg_device_fp64_gflops(device, true);
        return kernel->tensor_products ? 0.0 : fmax(xg_device_fp64_gflops(device, false), mma);
    }
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
static xgemm_status add_device(xgemm_trace_report *report, const traced *t,
                               const xg_program *program)
{
    const xgemm_device *device = t->device;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_occupancy_info occupancy = {.struct_size = sizeof occupancy};
    const int threads = report->block[0] * report->block[1] * report->block[2];
    xg_error unknown;
    if (xg_program_resources(t->kernel, program, device, &resources, &unknown) == XGEMM_OK) {
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
    report->peak_gflops = peak_of(device, t->kernel, (xg_type)t->call.type_a);
    report->peak_gbs = device->peak_bandwidth_gbs;
    report->roof_asked_gflops = roof(report, report->flop_per_byte_asked);
    report->roof_moved_gflops = roof(report, report->flop_per_byte_moved);
    report->roof_least_gflops = roof(report, report->flop_per_byte_least);
    return XGEMM_OK;
}

/* The launch that multiplies; of several, the tiles' and those of strips, the first. */
static const xg_step *product_of(const xg_plan *plan)
{
    for (int i = 0; i < plan->step_count; i++)
        if (plan->steps[i].is_product)
            return &plan->steps[i];
    return NULL;
}

static void add_launches(xgemm_trace_report *report, const traced *t, const xg_plan *plan,
                         const xg_candidate *chosen)
{
    const xg_step *product = product_of(plan);
    report->kernel = chosen->kernel->name;
    report->shared_tiles = xg_stream_k_tiles(chosen);
    for (int i = 0; i < plan->step_count; i++) {
        const xg_step *step = &plan->steps[i];
        report->blocks += (int64_t)step->grid[0] * step->grid[1] * step->grid[2];
    }
    if (!product)
        return;
    report->k_parts = xg_ceil_div(t->call.k, chosen->k_per_split);
    for (int d = 0; d < 3; d++) {
        report->grid[d] = product->grid[d];
        report->block[d] = (int)product->block[d];
    }
    report->shared_bytes = (int)(product->shared_bytes + t->static_bytes);
}

/* The operations, and the bytes of each matrix once. */
static void add_work(xgemm_trace_report *report, const xg_call *call)
{
    const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
    const xg_problem problem = xg_call_problem(call);
    const bool reads_c = !xg_scalar_is(problem.epilogue.type, problem.epilogue.beta, 0);
    const double bytes = (double)xg_type_bytes((xg_type)call->type_a);
    const double bytes_c = (double)xg_type_bytes((xg_type)call->type_c);
    report->flops = (xg_type_is_complex((xg_type)call->type_a) ? 8.0 : 2.0) * m * n * k;
    report->bytes_least = bytes * (m * k + k * n) + bytes_c * (reads_c ? 2.0 : 1.0) * m * n;
    report->flop_per_byte_least = report->flops / report->bytes_least;
}

static xgemm_status make_report(const traced *t, const xg_plan *plan, const xg_candidate *chosen,
                                xg_trace *trace, xgemm_trace_report **result, xg_error *error)
{
    int count;
    const xg_trace_site *sites = xg_trace_sites(trace, &count);
    const xg_trace_totals *totals = xg_trace_get_totals(trace);
    owned_report *owned = calloc(1, sizeof *owned + (size_t)count * sizeof *owned->sites);
    if (!owned)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");

    xgemm_trace_report *report = &owned->report;
    report->struct_size = sizeof *report;
    add_launches(report, t, plan, chosen);
    add_work(report, &t->call);
    report->blocks_run = totals->blocks;
    report->warps_run = totals->warps;
    report->barriers = totals->barriers;
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

/* Runs the launches; of the product's, what it has in static shared memory is kept. */
static xgemm_status run(traced *t, const xg_plan *plan, const xg_problem *problem, void *workspace,
                        xg_trace *trace, xg_error *error)
{
    /* A sample of several launches would count each by another share: they run whole. */
    const xg_sim_options options = {.trace = trace,
                                    .most_blocks = plan->step_count == 1 ? t->most_blocks : 0,
                                    .of_halves = xg_type_is_half(problem->type_a)};
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < plan->step_count && !status; i++) {
        _Alignas(8) unsigned char arguments[XG_ARGUMENTS_BYTES];
        const xg_launch launch = xg_step_launch(plan, i, problem, 0, workspace, arguments);
        const int64_t before = xg_trace_static_bytes(trace);
        status = xg_sim_launch(&launch, &options, error);
        if (&plan->steps[i] == product_of(plan))
            t->static_bytes = xg_trace_static_bytes(trace) - before;
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
    if (device && kernel->programs[0]->compute_capability)
        return xg_target_check_kernel(device, kernel, error);
    *to = xg_target_of(&xg_backend_sim, NULL, NULL, NULL);
    return XGEMM_OK;
}

static xgemm_status trace_plan(traced *t, memory *m, const xg_plan *plan,
                               const xg_candidate *chosen, xgemm_trace_report **result,
                               xg_error *error)
{
    const xg_problem problem = xg_call_problem(&t->call);
    if (plan->panels)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s computes this product in panels, of which there is no trace",
                       chosen->kernel->name);
    void *const workspace = plan->workspace_bytes > 0 ? zeros(m, plan->workspace_bytes) : NULL;
    if (plan->workspace_bytes > 0 && !workspace)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                       "the host has no memory for the kernel's workspace");
    xg_trace *trace = xg_trace_new();
    if (!trace)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    xgemm_status status = run(t, plan, &problem, workspace, trace, error);
    if (!status)
        status = make_report(t, plan, chosen, trace, result, error);
    xg_trace_free(trace);
    const xg_step *product = product_of(plan);
    if (!status && t->device && product)
        status = add_device(*result, t, product->program);
    return status;
}

static xgemm_status trace_call(traced *t, memory *m, xgemm_trace_report **result, xg_error *error)
{
    xg_plan plan;
    xg_candidate chosen;
    xgemm_status status = allocate(&t->call, m, error);
    if (status)
        return status;
    const xg_problem problem = xg_call_problem(&t->call);
    xg_request request = {.problem = problem, .kernel = t->kernel, .workspace_limit = SIZE_MAX};
    xg_costs scaled;
    if (xg_has_no_product(&problem))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "alpha is 0: nothing is multiplied");
    status = target_of(t->device, t->kernel, &request.target, &scaled, error);
    if (!status)
        status = xg_plan_make(&xg_backend_sim, &request, &plan, &chosen, error);
    if (status)
        return status;
    status = trace_plan(t, m, &plan, &chosen, result, error);
    xg_plan_free(&plan);
    if (status) {
        xgemm_trace_free(*result);
        *result = NULL;
    }
    return status;
}

/* The kernel of the name, of which there is a trace. */
static xgemm_status find_kernel(const char *name, const xg_kernel **result, xg_error *error)
{
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
    *result = kernel;
    return XGEMM_OK;
}

static xgemm_status trace_kernel(const char *name, traced *t, const xgemm_device *device,
                                 xgemm_trace_report **result, xg_error *error)
{
    memory m = {.count = 0};
    xgemm_device gpu;
    xgemm_status status = find_kernel(name, &t->kernel, error);
    if (!status)
        status = check(t, error);
    if (!status && device)
        status = xg_device_complete(device, &gpu, error);
    t->device = device ? &gpu : NULL;
    if (!status)
        status = trace_call(t, &m, result, error);
    release(&m);
    return status;
}

static xgemm_status check_pointers(const char *kernel, const void *problem,
                                   const char *problem_name, xgemm_trace_report **report,
                                   xg_error *error)
{
    if (report)
        *report = NULL;
    if (kernel && problem && report)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL",
                   !kernel    ? "kernel"
                   : !problem ? problem_name
                              : "report");
}

static xgemm_status done(xgemm_status status, const char *function)
{
    if (status)
        xg_error_prefix(xg_thread_error(), function);
    return status;
}

xgemm_status xgemm_trace(const char *kernel, const xgemm_trace_problem *problem,
                         const xgemm_device *device, xgemm_trace_report **report)
{
    xg_error *error = xg_thread_error();
    xgemm_status status = check_pointers(kernel, problem, "problem", report, error);
    if (!status && problem->struct_size < sizeof *problem) /* a newer program's is larger */
        status = xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                         "struct_size is %zu; set it to sizeof(xgemm_trace_problem)",
                         problem->struct_size);
    if (status)
        return done(status, __func__);
    traced t = {.call = call_of(problem), .most_blocks = problem->most_blocks};
    return done(trace_kernel(kernel, &t, device, report, error), __func__);
}

xgemm_status xgemm_gemm_trace(const char *kernel, const xgemm_product *product, int64_t most_blocks,
                              const xgemm_device *device, xgemm_trace_report **report)
{
    xg_error *error = xg_thread_error();
    traced t = {.most_blocks = most_blocks};
    xgemm_status status = check_pointers(kernel, product, "product", report, error);
    if (!status)
        status = xg_call_of_product(product, &t.call, error);
    if (!status)
        status = trace_kernel(kernel, &t, device, report, error);
    return done(status, __func__);
}

void xgemm_trace_free(xgemm_trace_report *report)
{
    free(report);
}
