/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include "copy.h"
#include "decide.h"
#include "measured.h"
#include "shim/library.h"
#include "shim/options.h"
#include "shim/product.h"

/* ---- What the caller asked for, in libxgemm's words ---- */

xgemm_type type_of(int cuda)
{
    switch (cuda) {
    case CUDA_32F:
        return XGEMM_F32;
    case CUDA_64F:
        return XGEMM_F64;
    case CUDA_16F:
        return XGEMM_F16;
    case CUDA_16BF:
        return XGEMM_BF16;
    case CUDA_C32F:
        return XGEMM_C32;
    case CUDA_C64F:
        return XGEMM_C64;
    default:
        return (xgemm_type)0;
    }
}

xgemm_transpose transpose_of(int operation)
{
    switch (operation) {
    case CUBLAS_N:
        return XGEMM_NO_TRANS;
    case CUBLAS_T:
        return XGEMM_TRANS;
    case CUBLAS_C:
        return XGEMM_CONJ_TRANS;
    default:
        return (xgemm_transpose)0;
    }
}

static bool is_double(xgemm_type type)
{
    return type == XGEMM_F64 || type == XGEMM_C64;
}

/* What the handle's mode allows. TENSOR_OP would round FP32 to FP16, which is coarser than TF32. */
static bool mode_allows(xgemm_type type, int mode, xgemm_math *math)
{
    const bool rounds = type == XGEMM_F32 || type == XGEMM_C32;
    switch (mode & ~CUBLAS_MATH_NO_REDUCED_SUMS) {
    case CUBLAS_MATH_DEFAULT:
        *math = XGEMM_MATH_DEFAULT;
        return true;
    case CUBLAS_MATH_PEDANTIC:
        *math = XGEMM_MATH_STRICT;
        return true;
    case CUBLAS_MATH_TENSOR_OP:
    case CUBLAS_MATH_TF32:
        *math = rounds && !options.without_tf32 ? XGEMM_MATH_TF32 : XGEMM_MATH_DEFAULT;
        return true;
    default:
        return false;
    }
}

bool math_allowed(xgemm_type type, int compute, int mode, xgemm_math *math)
{
    if (!type || !mode_allows(type, mode, math))
        return false;
    switch (compute) {
    case CUBLAS_32F:
        return !is_double(type);
    case CUBLAS_64F:
        return is_double(type);
    case CUBLAS_32F_PEDANTIC:
    case CUBLAS_64F_PEDANTIC:
        *math = XGEMM_MATH_STRICT;
        return is_double(type) == (compute == CUBLAS_64F_PEDANTIC);
    case CUBLAS_32F_FAST_16F:
    case CUBLAS_32F_FAST_16BF:
    case CUBLAS_32F_FAST_TF32:
        if (*math != XGEMM_MATH_STRICT && !options.without_tf32)
            *math = XGEMM_MATH_TF32;
        return type == XGEMM_F32 || type == XGEMM_C32;
    default:
        return false;
    }
}

/* ---- The user's choice ---- */

/* Strict is for all; tf32 is for what was neither stricter nor coarser. */
static xgemm_math math_of(const call *c)
{
    const xgemm_type type = c->product.type_a;
    if (options.math == XGEMM_MATH_STRICT)
        return XGEMM_MATH_STRICT;
    if (options.math == XGEMM_MATH_TF32 && c->math == XGEMM_MATH_DEFAULT && type == XGEMM_F32)
        return XGEMM_MATH_TF32;
    return c->math;
}

/* ---- Calls ---- */

/* What cuBLAS checks, or does in no time, stays with it: errors are its own. */
static const char *not_ours(const call *c)
{
    const xgemm_product *p = &c->product;
    if (options.mistake)
        return options.mistake;
    if (c->refusal)
        return c->refusal;
    if (!p->type_a || !p->type_b || !p->type_c)
        return "libxgemm has no such type";
    if (!p->alpha || !p->beta || !p->transa || !p->transb || p->m < 0 || p->n < 0 || p->k < 0 ||
        p->batch_count < 0 || p->lda < 1 || p->ldb < 1 || p->ldc < 1)
        return "an argument is invalid";
    if (p->m == 0 || p->n == 0 || p->k == 0 || p->batch_count == 0 ||
        (!(p->flags & XGEMM_DEVICE_SCALARS) && is_zero(p->type_a, p->alpha)))
        return "nothing is multiplied";
    return NULL;
}

/* A product that failed while it was computed is an error: C may have been written. */
static bool run_locked(const state *s, const call *c, int *status)
{
    if (library.set_math(s->xgemm, c->math) || library.set_stream(s->xgemm, c->stream))
        return false;
    if (c->source && !copy_source(c))
        return false; /* D may be written, which cublasLt then does, too */
    const xgemm_status done = library.gemm(s->xgemm, &c->product);
    *status = done ? CUBLAS_EXECUTION_FAILED : CUBLAS_SUCCESS;
    return done == XGEMM_OK || done == XGEMM_ERROR_LAUNCH || done == XGEMM_ERROR_DRIVER;
}

static bool run(state *s, const call *c, int *status)
{
    pthread_mutex_lock(&s->lock);
    const bool is_served = run_locked(s, c, status);
    pthread_mutex_unlock(&s->lock);
    return is_served;
}

/* Whether the call's stream is captured into a graph. The driver is asked without a lock. */
static bool is_captured(const call *c)
{
    typedef int is_capturing(void *stream, int *status);
    static real_function real = {REAL_DRIVER, "cuStreamIsCapturing", NULL};
    is_capturing *const ask_driver = REAL(is_capturing, &real);
    int status = 0;
    return ask_driver && ask_driver(c->stream, &status) == 0 && status != 0;
}

static bool serve_in(state *s, const call *c, int *status)
{
    if (!s->xgemm) {
        count_passed_on(c, s->why);
        return false;
    }
    pthread_mutex_lock(&s->lock);
    const decision *d = decide(s, c);
    const bool wanted = d && d->is_served, asks = wanted && d->for_launches;
    counters_kind *const kind = d ? d->kind : NULL;
    bool is_served = wanted && !asks && run_locked(s, c, status);
    pthread_mutex_unlock(&s->lock);
    const bool in_graph = asks && is_captured(c);
    if (asks && !in_graph)
        is_served = run(s, c, status);
    if (in_graph)
        count_passed_on(c, "in a graph cuBLAS is as fast");
    else if (wanted && !is_served)
        count_passed_on(c, "libxgemm refused it");
    else
        counters_count(kind);
    return is_served;
}

/* A thread that is cancelled while it has a lock would keep it; it ends later. */
bool serve(const call *c, int *status)
{
    if (real_depth || options.serves_none)
        return false;
    call with_math = *c;
    const char *why = not_ours(c);
    with_math.math = math_of(c);
    if (!why)
        why = refused(c, with_math.math);
    if (why) {
        count_passed_on(&with_math, why);
        return false;
    }
    int cancelled;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    state *s = state_of(c->handle);
    const bool is_served = s && serve_in(s, &with_math, status);
    if (!s)
        count_passed_on(&with_math, "no context of the GPU is current");
    pthread_setcancelstate(cancelled, NULL);
    return is_served;
}

/* ---- Handles of cuBLAS ---- */

typedef int stream_get(void *handle, void **stream);
typedef int mode_get(void *handle, int *mode);

/* What the handle of a cuBLAS function says, asked in turn while the call may be served. */
static const char *ask(call *c, int compute)
{
    static real_function get_stream = {REAL_CUBLAS, "cublasGetStream_v2", NULL};
    static real_function get_pointer_mode = {REAL_CUBLAS, "cublasGetPointerMode_v2", NULL};
    static real_function get_math_mode = {REAL_CUBLAS, "cublasGetMathMode", NULL};
    static const char invalid[] = "the handle is invalid";
    const xgemm_type type = c->product.type_a;
    int pointers, mode;
    const char *why = type ? refused_always(c) : NULL;
    if (why)
        return why;
    mode_get *const mode_of = REAL(mode_get, &get_math_mode);
    if (!c->handle || !mode_of || mode_of(c->handle, &mode))
        return invalid;
    if (type && !math_allowed(type, compute, mode, &c->math))
        return "libxgemm has no such compute type or math mode";
    why = type ? refused(c, math_of(c)) : NULL;
    if (why)
        return why;
    stream_get *const stream_of = REAL(stream_get, &get_stream);
    mode_get *const pointers_of = REAL(mode_get, &get_pointer_mode);
    if (!stream_of || !pointers_of || stream_of(c->handle, &c->stream) ||
        pointers_of(c->handle, &pointers))
        return invalid;
    if (!takes_all_multiprocessors(c->handle))
        return "it may not take all multiprocessors";
    if (pointers != CUBLAS_POINTERS_HOST && pointers != CUBLAS_POINTERS_DEVICE)
        return "the pointer mode is not known";
    if (pointers == CUBLAS_POINTERS_DEVICE)
        c->product.flags |= XGEMM_DEVICE_SCALARS;
    return NULL;
}

bool serve_cublas(const char *function, void *handle, int compute, const xgemm_product *product,
                  int *status)
{
    if (real_depth || options.serves_none)
        return false;
    call c = {.function = function, .handle = handle, .product = *product};
    c.refusal = ask(&c, compute);
    return serve(&c, status);
}
