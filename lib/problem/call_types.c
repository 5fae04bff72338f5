/* SPDX-License-Identifier: BSD-3-Clause */
#include "call_types.h"

#include <inttypes.h>
#include <stdint.h>

const char *xg_type_part_name(xg_type type)
{
    return xg_type_name(type == XG_C32 ? XG_F32 : type == XG_C64 ? XG_F64 : type);
}

static bool is_type(xgemm_type type)
{
    return (int)type >= (int)XG_F32 && (int)type < (int)XG_TYPES;
}

bool xg_call_has_types(const xgemm_product *call)
{
    return is_type(call->type_a) && is_type(call->type_b) && is_type(call->type_c) &&
           (!call->bias || is_type(call->type_bias));
}

static xgemm_status check_known(const char *name, xgemm_type type, xg_error *error)
{
    if (is_type(type))
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "%s is %d; it must be XGEMM_F32 (1), XGEMM_F64 (2), XGEMM_F16 (3), XGEMM_BF16 "
                   "(4), XGEMM_C32 (5) or XGEMM_C64 (6)",
                   name, (int)type);
}

/* F32, F16 and BF16, which are computed in FP32. */
static bool is_of_f32(xg_type type)
{
    return xg_type_of_scalars(type) == XG_F32;
}

static xgemm_status check_flags(const xgemm_product *call, xg_error *error)
{
    const unsigned known = XGEMM_POINTER_ARRAYS | XGEMM_DEVICE_SCALARS | XGEMM_HOST_MEMORY;
    if (call->flags & ~known)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "flags is 0x%x, which has bits other than XGEMM_POINTER_ARRAYS (1), "
                       "XGEMM_DEVICE_SCALARS (2) and XGEMM_HOST_MEMORY (4)",
                       call->flags);
    if (call->flags & XGEMM_POINTER_ARRAYS &&
        call->batch_count > PTRDIFF_MAX / (int64_t)sizeof(void *))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "batch_count is %" PRId64
                       ": the bytes of as many pointers do not fit 63 bits",
                       call->batch_count);
    if (call->flags & XGEMM_HOST_MEMORY)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "flags has XGEMM_HOST_MEMORY, which is for xgemm_gemm() alone, and in parts "
                       "of C that are planned one by one");
    return XGEMM_OK;
}

xgemm_status xg_call_check_types(const xgemm_product *call, xg_error *error)
{
    if (call->type_a == XGEMM_F32 && call->type_b == XGEMM_F32 && call->type_c == XGEMM_F32)
        return call->flags ? check_flags(call, error) : XGEMM_OK;
    xgemm_status status = check_known("type_a", call->type_a, error);
    if (!status)
        status = check_known("type_b", call->type_b, error);
    if (!status)
        status = check_known("type_c", call->type_c, error);
    if (status)
        return status;
    const xg_type a = (xg_type)call->type_a, c = (xg_type)call->type_c;
    if (call->type_a != call->type_b)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "A is of %s and B of %s: operands of different types are not multiplied",
                       xg_type_name(a), xg_type_name((xg_type)call->type_b));
    if (a != c && !(xg_type_is_half(a) && is_of_f32(c)))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED, "A and B are of %s and C is of %s; %s",
                       xg_type_name(a), xg_type_name(c),
                       xg_type_is_half(a) ? "it can be of half, bfloat16 or float"
                                          : "it must be of the same type");
    return check_flags(call, error);
}

static xgemm_status check_scalar(const xgemm_product *call, const char *name, const void *scalar,
                                 xg_error *error)
{
    const xg_type type = xg_type_of_scalars((xg_type)call->type_a);
    if (!(call->flags & XGEMM_DEVICE_SCALARS) || (uintptr_t)scalar % xg_type_alignment(type) == 0)
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                   "%s is %p, which is not aligned to the %zu bytes of a %s", name, scalar,
                   xg_type_alignment(type), xg_type_part_name(type));
}

static xgemm_status check_activation(const xgemm_product *call, xg_error *error)
{
    const int activation = (int)call->activation;
    if (activation < XGEMM_ACTIVATION_NONE || activation > XGEMM_SILU)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "activation is %d; it must be XGEMM_ACTIVATION_NONE (0), XGEMM_RELU (1), "
                       "XGEMM_GELU (2), XGEMM_GELU_TANH (3) or XGEMM_SILU (4)",
                       activation);
    if (activation && xg_type_is_complex((xg_type)call->type_c))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "activation is %d and C is of %s: activations are functions of real numbers",
                       activation, xg_type_name((xg_type)call->type_c));
    return XGEMM_OK;
}

static xgemm_status check_bias(const xgemm_product *call, xg_error *error)
{
    const xg_type a = (xg_type)call->type_a;
    if (!call->bias)
        return XGEMM_OK;
    const xgemm_status status = check_known("type_bias", call->type_bias, error);
    if (status)
        return status;
    const xg_type bias = (xg_type)call->type_bias;
    if (is_of_f32(a) ? !is_of_f32(bias) : bias != a)
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED, "the bias is of %s and A and B are of %s; %s",
            xg_type_name(bias), xg_type_name(a),
            is_of_f32(a) ? "it can be of float, half or bfloat16" : "it must be of the same type");
    if ((uintptr_t)call->bias % xg_type_alignment(bias) != 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "bias is %p, which is not aligned to the %zu bytes of a %s", call->bias,
                       xg_type_alignment(bias), xg_type_part_name(bias));
    return XGEMM_OK;
}

xgemm_status xg_call_check_epilogue(const xgemm_product *call, xg_error *error)
{
    if (!call->bias && !call->activation && !(call->flags & XGEMM_DEVICE_SCALARS))
        return XGEMM_OK;
    xgemm_status status = check_scalar(call, "alpha", call->alpha, error);
    if (!status)
        status = check_scalar(call, "beta", call->beta, error);
    if (!status)
        status = check_activation(call, error);
    return status ? status : check_bias(call, error);
}
