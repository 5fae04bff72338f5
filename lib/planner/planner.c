/* SPDX-License-Identifier: BSD-3-Clause */
#include "planner.h"

#include "families/programs.h"
#include "families/transform/transform.h"
#include "families/typed.h"
#include "tuning/tuning.h"

#include <inttypes.h>
#include <math.h>

xg_target xg_target_of(const xg_backend *backend, const xg_device *device,
                       const xgemm_device *description, xg_costs *scaled)
{
    /* A build may lack a compute capability's own kernels. */
    const bool own = backend->can_run(&xg_program_fp16_split);
    return (xg_target){.host = backend->runs_host_code,
                       .multiprocessors = backend->multiprocessors(device),
                       .compute_capability = own ? backend->compute_capability(device) : 0,
                       .shared_per_block =
                           backend->shared_per_block ? backend->shared_per_block(device) : 0,
                       .costs = xg_costs_of(description, scaled),
                       .predicts = !description || xg_peaks_known(description)};
}

bool xg_takes_pointer_arrays(const xg_kernel *kernel, xg_type operands)
{
    return kernel->family->takes_pointer_arrays &&
           kernel->family->takes_pointer_arrays(kernel, operands);
}

_Static_assert(XG_KERNEL_COUNT <= 64, "see xg_target's left_out");

/* Whether the device, and its driver, have what the kernel needs. */
static bool fits_device(const xg_kernel *kernel, const xg_target *target)
{
    return !(target->left_out >> kernel->id & 1) &&
           xg_kernel_fits(kernel, target->compute_capability, target->shared_per_block);
}

/* The math mode concerns products of F32. */
static bool allows(const xg_kernel *kernel, const xg_request *request)
{
    return xg_type_is_half(request->problem.type_a) || xg_kernel_serves(kernel, request->math);
}

static bool takes_groups(const xg_kernel *kernel, const xg_problem *p)
{
    return p->groups == 0 ||
           (kernel->family->takes_groups && kernel->family->takes_groups(kernel, p->type_a));
}

/* Whether its elements are as the request has them. */
static bool keeps_elements(const xg_kernel *kernel, const xg_request *request)
{
    return !request->by_element || (kernel->chains >> request->problem.type_a & 1);
}

static bool may_serve(const xg_kernel *kernel, const xg_backend *backend, const xg_request *request)
{
    return backend->can_run(kernel->programs[0]) && fits_device(kernel, &request->target) &&
           allows(kernel, request) && xg_kernel_takes(kernel, &request->problem) &&
           keeps_elements(kernel, request) && takes_groups(kernel, &request->problem) &&
           (!request->problem.pointer_arrays ||
            xg_takes_pointer_arrays(kernel, request->problem.type_a)) &&
           kernel->family->applies(kernel, request);
}

/* A kernel that may serve, and a lower bound of its time. */
typedef struct {
    const xg_kernel *kernel;
    double least_us;
} contender;

/* Those that may serve, in order of these bounds, equal ones as in the table; returns how many. */
static int contenders_of(const xg_backend *backend, const xg_request *request,
                         contender list[XG_KERNEL_COUNT])
{
    int count = 0;
    for (int i = 0; i < XG_KERNEL_COUNT; i++) {
        const xg_kernel *kernel = xg_kernel_at(i);
        if (!may_serve(kernel, backend, request))
            continue;
        const double us =
            kernel->family->least_us ? kernel->family->least_us(kernel, request) : 0.0;
        int at = count++;
        for (; at > 0 && list[at - 1].least_us > us; at--)
            list[at] = list[at - 1];
        list[at] = (contender){kernel, us};
    }
    return count;
}

static bool has_room(const xg_candidate *found, const xg_request *request)
{
    return request->workspace_limit == SIZE_MAX ||
           found->kernel->family->workspace(found, request) <= (double)request->workspace_limit;
}

/* The bytes of A, B and C, once each: what memory moves for matrices that the L2 does not hold. */
static double least_bytes(const xg_problem *p)
{
    const double count = (double)p->batch_count;
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double a = xg_has_own_a(p) ? count : 1.0;
    const double b = xg_has_own_b(p) ? count : 1.0;
    return (double)xg_type_bytes(p->type_a) * (a * m * k + b * k * n) +
           (double)xg_type_bytes(p->type_c) * count * m * n;
}

/*
 * The GPU's peak for the products of a kernel, GFLOP/s. Tensor cores compute doubles by residues,
 * of which each takes a product of bytes at twice the rate of FP16, or more than one.
 */
static double peak_of(const xg_kernel *kernel, const xg_problem *p, const xg_roof *roof)
{
    const bool fp64 = xg_type_is_fp64(p->type_a);
    const int products = kernel->tensor_products;
    if (xg_type_is_half(p->type_a) && roof->tensor_gflops > 0.0)
        return roof->tensor_gflops;
    if (products && roof->tensor_gflops > 0.0)
        return fp64 ? 2.0 * roof->tensor_gflops : roof->tensor_gflops / products;
    return fp64 ? roof->fp64_gflops : roof->fp32_gflops;
}

/*
 * Constants that were scaled from one GPU to another may promise more than the other's peaks, by
 * which predictions are bounded: each kernel's by that of its arithmetic...
 */
static void bound_by_arithmetic(xg_candidate *found, const xg_kernel *kernel,
                                const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_roof *const roof = &request->target.costs->roof;
    const double flops = (xg_type_is_complex(p->type_a) ? 8.0 : 2.0) * (double)p->m * (double)p->n *
                         (double)p->k * (double)p->batch_count;
    if (roof->fp32_gflops > 0.0 && found->microseconds > 0.0)
        found->microseconds =
            xg_larger(found->microseconds, 1e-3 * flops / peak_of(kernel, p, roof));
}

/*
 * ... and by the memory's, which is the same for all kernels, that of the one that is chosen: equal
 * times would hide which is the fastest.
 */
static void bound_by_memory(xg_candidate *found, const xg_request *request)
{
    const xg_roof *const roof = &request->target.costs->roof;
    if (roof->fp32_gflops > 0.0 && found->microseconds > 0.0)
        found->microseconds = xg_larger(found->microseconds, 1e-3 * least_bytes(&request->problem) /
                                                                 roof->bandwidth_gbs);
}

static xg_candidate candidate_of(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    xg_candidate found = kernel->family->candidate(kernel, request, most_us);
    bound_by_arithmetic(&found, kernel, request);
    return found;
}

/* The fastest by the cost models, or the first of the table among equals. */
static bool choose(const xg_backend *backend, const xg_request *request, xg_candidate *best)
{
    contender list[XG_KERNEL_COUNT];
    const int count = contenders_of(backend, request, list);
    best->kernel = NULL;
    for (int i = 0; i < count; i++) {
        const double most_us = best->kernel ? best->microseconds : INFINITY;
        if (list[i].least_us > most_us)
            break;
        const xg_kernel *const kernel = list[i].kernel;
        const xg_candidate found = candidate_of(kernel, request, most_us);
        const bool faster = !best->kernel || found.microseconds < most_us ||
                            (found.microseconds == most_us && kernel->id < best->kernel->id);
        if (faster && has_room(&found, request))
            *best = found;
    }
    if (best->kernel)
        bound_by_memory(best, request);
    return best->kernel != NULL;
}

/* Of kernels without a model, as on the CPU, the last of the table. */
static bool choose_on_host(const xg_backend *backend, const xg_request *request, xg_candidate *best)
{
    best->kernel = NULL;
    for (int i = XG_KERNEL_COUNT - 1; i >= 0 && !best->kernel; i--) {
        const xg_kernel *kernel = xg_kernel_at(i);
        if (!may_serve(kernel, backend, request))
            continue;
        const xg_candidate found = kernel->family->candidate(kernel, request, INFINITY);
        if (has_room(&found, request))
            *best = found;
    }
    return best->kernel != NULL;
}

/* There is no kernel, or not the one asked for, or no workspace for it. */
static xgemm_status fail_elements(const xg_request *request, xg_error *error)
{
    if (request->kernel)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s does not compute elements of %s by XGEMM_REPRODUCIBLE_ELEMENT; "
                       "auto does",
                       request->kernel->name, xg_type_name(request->problem.type_a));
    return xg_fail(error,
                   request->workspace_limit == SIZE_MAX ? XGEMM_ERROR_NOT_SUPPORTED
                                                        : XGEMM_ERROR_WORKSPACE,
                   "no kernel computes this product of %s by XGEMM_REPRODUCIBLE_ELEMENT%s",
                   xg_type_name(request->problem.type_a),
                   request->workspace_limit == SIZE_MAX ? "" : " in the workspace that there is");
}

/* The candidate of the kernel that was asked for, or the fastest. */
static xgemm_status find(const xg_backend *backend, const xg_request *request, xg_candidate *found,
                         xg_error *error)
{
    const xg_kernel *kernel = request->kernel;
    const bool host = request->target.host;
    if (!kernel && (host ? choose_on_host : choose)(backend, request, found))
        return XGEMM_OK;
    if (!kernel && request->by_element)
        return fail_elements(request, error);
    if (!kernel) /* whose launches will say what is wrong */
        kernel = xg_kernel_at(request->problem.groups > 0       ? XG_KERNEL_general
                              : request->problem.pointer_arrays ? XG_KERNEL_pipelined_scalar_32x64
                                                                : XG_KERNEL_vectorized);
    if (!keeps_elements(kernel, request))
        return fail_elements(request, error);
    if (!takes_groups(kernel, &request->problem))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s does not compute ragged groups of %s; auto does", kernel->name,
                       xg_type_name(request->problem.type_a));
    if (request->problem.pointer_arrays &&
        !xg_takes_pointer_arrays(kernel, request->problem.type_a))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a batch from arrays of pointers on the %s device; "
                       "auto can, and strided batches are for every kernel",
                       kernel->name, backend->name);
    const xgemm_status status = xg_kernel_check_problem(kernel, &request->problem, error);
    if (!status)
        *found = candidate_of(kernel, request, INFINITY);
    if (!status)
        bound_by_memory(found, request);
    return status;
}

/*
 * Without a product, C = activation(beta * C + bias), of as many products at once as a grid, or the
 * host, takes.
 */
static xgemm_status plan_without_product(const xg_request *request, xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const bool host = request->target.host, plain = xg_is_plain_epilogue(&p->epilogue);
    const int64_t count = p->batch_count, most = host ? 1 : XG_GRID_Z_MAX;
    if (plain && xg_scalar_is(p->epilogue.type, p->epilogue.beta, 1))
        return XGEMM_OK;
    plan->batch_per_pass = count < most ? count : most;
    if (plain && xg_is_f32(p))
        return xg_add_scale(plan, p, host, error);
    return host ? xg_add_finish_on_host(
                      plan, p, request->by_element ? &xg_program_chain : &xg_program_finish_host,
                      error)
                : xg_add_finish(plan, p, error);
}

/* The candidate's launches; a kernel whose epilogue is alpha and beta alone is followed by another.
 */
static xgemm_status build(const xg_candidate *chosen, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xgemm_status status = chosen->kernel->family->build(chosen, request, plan, error);
    return status || xg_kernel_finishes(chosen->kernel, &request->problem) ||
                   xg_is_plain_epilogue(&request->problem.epilogue)
               ? status
               : xg_add_activation(plan, &request->problem, error);
}

/* ---- Products of F32 whose alpha or beta is in device memory ---- */

/*
 * Their kernels take alpha and beta by value; but for the general one, which is slow. So the
 * product alone is computed into the workspace, and the epilogue by a launch after it.
 */
static bool is_finished_apart(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return !request->target.host && !request->kernel && !request->by_element && xg_is_f32(p) &&
           p->epilogue.device_scalars && p->groups == 0 && !p->pointer_arrays;
}

/* The product alone, its rows in the workspace at multiples of 128 bytes. */
static xg_request product_alone(const xg_request *request)
{
    enum { ALIGNMENT = 32 /* elements */, WORKSPACE = 256 /* an address as aligned as it is */ };
    xg_request of = *request;
    xg_problem *const p = &of.problem;
    p->epilogue = (xg_epilogue_params){.type = p->epilogue.type,
                                       .alpha = xg_scalar_of(p->epilogue.type, 1),
                                       .beta = xg_scalar_of(p->epilogue.type, 0)};
    p->c = (void *)(uintptr_t)WORKSPACE;
    p->c_stride_m = xg_round_up(p->n, ALIGNMENT);
    p->c_batch_stride = p->batch_count > 1 ? p->m * p->c_stride_m : 0;
    return of;
}

/* The launches, where there is room for them and the product is not computed in panels. */
static xgemm_status plan_apart(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                               xg_candidate *chosen, bool *planned, xg_error *error)
{
    const double most = 0x1p29, most_of_one = 0x1p32; /* bytes of sums, of a pass and a product */
    const xg_request alone = product_alone(request);
    const xg_problem *const p = &alone.problem;
    const xg_costs *const costs = request->target.costs;
    const double bytes = xg_room_bytes((double)p->m, (double)p->c_stride_m, XG_F32);
    xg_workspace_offsets at = {.a = -1, .b = -1};
    xg_plan product;
    if (bytes > most_of_one || !choose(backend, &alone, chosen) || chosen->panels > 1)
        return XGEMM_OK;
    while (chosen->batch_per_pass > 1 && (double)chosen->batch_per_pass * bytes > most)
        chosen->batch_per_pass = xg_ceil_div(chosen->batch_per_pass, 2);
    const double sums = (double)chosen->batch_per_pass * bytes;
    if (request->workspace_limit != SIZE_MAX &&
        sums + chosen->kernel->family->workspace(chosen, &alone) > (double)request->workspace_limit)
        return XGEMM_OK;
    xg_plan_begin(&product, p);
    product.batch_per_pass = chosen->batch_per_pass;
    xgemm_status status = chosen->kernel->family->build(chosen, &alone, &product, error);
    if (status || product.panels || product.step_count >= XG_PLAN_STEPS) {
        xg_plan_free(&product);
        return status;
    }
    plan->batch_per_pass = chosen->batch_per_pass;
    if (!xg_plan_reserve(plan, plan->batch_per_pass * p->m, p->c_stride_m, XG_F32, "the product",
                         &at.c, error) ||
        !xg_plan_reserve(plan, 1, (int64_t)(product.workspace_bytes / 4), XG_F32, "the product",
                         &at.workspace, error))
        return XGEMM_ERROR_OVERFLOW;
    status = xg_plan_append(plan, &product, at, error);
    if (!status)
        status = xg_add_finish_of(plan, &request->problem, at.c, p->c_stride_m, error);
    chosen->microseconds +=
        costs->next_launch_us + (double)p->batch_count * bytes / costs->copy_rate;
    *planned = true;
    return status;
}

xgemm_status xg_plan_make(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                          xg_candidate *chosen, xg_error *error)
{
    const xg_problem *p = &request->problem;
    xg_plan_begin(plan, p);
    *chosen = (xg_candidate){.batch_per_pass = 1};
    if (xg_has_no_product(p) && p->groups == 0)
        return plan_without_product(request, plan, error);
    bool planned = false;
    xgemm_status status = is_finished_apart(request)
                              ? plan_apart(backend, request, plan, chosen, &planned, error)
                              : XGEMM_OK;
    if (!status && !planned) {
        status = find(backend, request, chosen, error);
        if (status)
            return status;
        plan->batch_per_pass = chosen->batch_per_pass;
        status = build(chosen, request, plan, error);
    }
    if (!request->target.predicts)
        chosen->microseconds = 0.0;
    if (!status && plan->workspace_bytes > request->workspace_limit)
        status = xg_fail(error, XGEMM_ERROR_WORKSPACE,
                         "kernel %s needs a workspace of %zu bytes for m = %" PRId64
                         ", n = %" PRId64 ", k = %" PRId64 " (row order), and was given %zu",
                         chosen->kernel->name, plan->workspace_bytes, p->m, p->n, p->k,
                         request->workspace_limit);
    if (status)
        xg_plan_free(plan);
    return status;
}
