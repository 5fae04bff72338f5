/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real product of a complex one, whether it is computed so, and how long that takes:
 *
 *     time = the real product's + launches + bytes / rate
 *
 * where bytes are those that the launches before and after the real product read and write. The
 * rate is that of the split's pass, which goes at the memory's speed, too.
 */
#include "complex.h"

#include <math.h>

/* Far within what the arguments of the launches hold. */
enum { SIZE_MOST = 1 << 24, STRIDE_MOST = 1 << 30 };

/*
 * Whether each part of C is the real product's element. Factors other than 1 are complex also where
 * their imaginary parts are 0: Inf in one part of a sum reaches both of C's.
 */
static bool is_real(const xg_epilogue_params *e)
{
    return xg_is_plain_epilogue(e) && xg_scalar_is(e->type, e->alpha, 1) &&
           (xg_scalar_is(e->type, e->beta, 0) || xg_scalar_is(e->type, e->beta, 1));
}

/* Floats of a line, padded to vec4. */
static int64_t padded(int64_t floats)
{
    return xg_round_up(floats, 4);
}

xg_complex_real xg_complex_real_of(const xg_request *request)
{
    /* Of what is in the workspace only the alignment is known. */
    static const _Alignas(16) float somewhere[4];
    xg_complex_real of = {.request = *request};
    xg_problem *const p = &of.request.problem;
    const bool direct = is_real(&p->epilogue), a_k_major = p->a_stride_k == 1;
    const bool b_k_major = p->b_stride_k == 1;
    of.request.workspace_limit = SIZE_MAX;
    if (!a_k_major)
        of.a_rows = 2 * p->k, of.a_stride = padded(p->m);
    of.b_rows = 2 * (b_k_major ? p->n : p->k);
    of.b_stride = padded(2 * (b_k_major ? p->k : p->n));
    if (!direct)
        of.c_rows = p->m, of.c_stride = 2 * xg_round_up(p->n, XG_COMPLEX_COLUMNS);
    p->type_a = p->type_b = p->type_c = XG_F32;
    p->n *= 2;
    p->k *= 2;
    p->a = a_k_major ? p->a : somewhere;
    p->a_stride_m = a_k_major ? 2 * p->a_stride_m : 1;
    p->a_stride_k = a_k_major ? 1 : of.a_stride;
    p->a_batch_stride = a_k_major ? 2 * p->a_batch_stride : 0;
    p->b = somewhere;
    p->b_stride_k = b_k_major ? 1 : of.b_stride;
    p->b_stride_n = b_k_major ? of.b_stride : 1;
    p->b_batch_stride = 0;
    p->c = direct ? p->c : (void *)(uintptr_t)somewhere;
    p->c_stride_m = direct ? 2 * p->c_stride_m : of.c_stride;
    p->c_batch_stride = direct ? 2 * p->c_batch_stride : 0;
    p->batch_count = 1; /* its products are computed one after the other */
    p->a_conjugate = p->b_conjugate = p->swapped = false;
    p->epilogue =
        (xg_epilogue_params){.type = XG_F32,
                             .alpha.f32 = 1.0f,
                             .beta.f32 = direct ? request->problem.epilogue.beta.c32[0] : 0.0f};
    return of;
}

static double rooms(const xg_complex_real *of)
{
    return xg_room_bytes((double)of->a_rows, (double)of->a_stride, XG_F32) +
           xg_room_bytes((double)of->b_rows, (double)of->b_stride, XG_F32) +
           xg_room_bytes((double)of->c_rows, (double)of->c_stride, XG_F32);
}

bool xg_complex_fits(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    if (!kernel->typed[XG_C32] || p->type_c != XG_C32 || p->pointer_arrays || p->groups > 0 ||
        p->epilogue.activation || p->m > SIZE_MOST || p->n > SIZE_MOST || p->k > SIZE_MOST ||
        p->a_stride_m > STRIDE_MOST || p->a_stride_k > STRIDE_MOST || p->b_stride_k > STRIDE_MOST ||
        p->b_stride_n > STRIDE_MOST || p->c_stride_m > STRIDE_MOST)
        return false;
    const xg_complex_real real = xg_complex_real_of(request);
    return kernel->family->candidate(kernel, &real.request, INFINITY).panels <= 1;
}

bool xg_complex_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_complex_real real = xg_complex_real_of(request);
    return kernel->family->applies(kernel, &real.request) && xg_complex_fits(kernel, request);
}

xg_candidate xg_complex_candidate(const xg_kernel *kernel, const xg_request *request,
                                  double most_us)
{
    const xg_costs *const costs = request->target.costs;
    const xg_problem *const p = &request->problem;
    const xg_complex_real real = xg_complex_real_of(request);
    const double read = 8.0 * (double)p->k * ((real.a_rows ? (double)p->m : 0.0) + (double)p->n);
    const double written = 4.0 * ((double)real.a_rows * (double)real.a_stride +
                                  (double)real.b_rows * (double)real.b_stride);
    const double finished = real.c_rows ? 24.0 * (double)p->m * (double)p->n : 0.0;
    xg_candidate of = kernel->family->candidate(kernel, &real.request, most_us);
    of.microseconds += costs->next_launch_us * (real.c_rows ? 2.0 : 1.0) +
                       (read + written + finished) / costs->split_rate;
    of.microseconds = xg_passes_us(costs, of.microseconds, p->batch_count);
    return of;
}

double xg_complex_workspace(const xg_candidate *of, const xg_request *request)
{
    const xg_complex_real real = xg_complex_real_of(request);
    return rooms(&real) + of->kernel->family->workspace(of, &real.request);
}
