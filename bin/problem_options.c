/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem_options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD_MOST = 1 << 20 };

problem_options problem_defaults(void)
{
    return (problem_options){.order = XGEMM_ROW_MAJOR,
                             .transa = XGEMM_NO_TRANS,
                             .transb = XGEMM_NO_TRANS,
                             .type = XGEMM_F32,
                             .alpha = {1.0, 0.0},
                             .batch = 1};
}

xgemm_type option_type(const command *which, const char *name, const char *text)
{
    const xgemm_type type = type_of_word(text);
    if (!type)
        usage_error(which, "--%s takes f32, f64, f16, bf16, c32 or c64, not \"%s\"", name, text);
    return type;
}

xgemm_activation option_activation(const command *which, const char *text)
{
    for (int i = XGEMM_ACTIVATION_NONE; i <= XGEMM_SILU; i++)
        if (strcmp(text, activation_word((xgemm_activation)i)) == 0)
            return (xgemm_activation)i;
    usage_error(which, "--activation takes none, relu, gelu, gelu-tanh or silu, not \"%s\"", text);
}

scalar option_scalar(const command *which, const char *name, const char *text)
{
    char re[64];
    const size_t length = strcspn(text, ",");
    if (text[length] == '\0')
        return (scalar){option_real(which, name, text), 0.0};
    if (length == 0 || length >= sizeof re || strpbrk(text + length + 1, ",") ||
        text[length + 1] == '\0')
        usage_error(which, "--%s takes a number or two, \"RE,IM\", not \"%s\"", name, text);
    snprintf(re, sizeof re, "%.*s", (int)length, text);
    return (scalar){option_real(which, name, re), option_real(which, name, text + length + 1)};
}

bool problem_option(const command *which, problem_options *options, int key, const char *value)
{
    switch (key) {
    case KEY_ORDER:
        options->order = option_order(which, value);
        return true;
    case KEY_TRANSA:
        options->transa = option_transpose(which, "transa", value);
        return true;
    case KEY_TRANSB:
        options->transb = option_transpose(which, "transb", value);
        return true;
    case KEY_ALPHA:
        options->alpha = option_scalar(which, "alpha", value);
        return true;
    case KEY_BETA:
        options->beta = option_scalar(which, "beta", value);
        return true;
    case KEY_MATH:
        options->math = option_math(which, value);
        return true;
    case KEY_LD_PAD:
        options->pad = option_integer(which, "ld-pad", value, 0, PAD_MOST);
        return true;
    case KEY_BATCH:
        options->batch = option_integer(which, "batch", value, 1, INT_MAX);
        return true;
    case KEY_TYPE_C:
        options->type_c = option_type(which, "type-c", value);
        return true;
    case KEY_ACTIVATION:
        options->activation = option_activation(which, value);
        return true;
    case KEY_BIAS:
        options->has_bias = true;
        return true;
    case KEY_BIAS_PER_ROW:
        options->bias_per_row = true;
        return true;
    default:
        return false;
    }
}

xgemm_type problem_type_c(const problem_options *options)
{
    return options->type_c ? options->type_c : options->type;
}

/* A part of alpha or beta, which would be Inf or 0 in the type of the sums and is not. */
static void check_part(const command *which, const char *name, double x, xgemm_type type)
{
    const double rounded = type_round(type, x);
    const char *const holds = type_part(type) == XGEMM_F64 ? "double" : "float";
    if (isfinite(x) && !isfinite(rounded))
        usage_error(which, "--%s: %g is beyond what a %s holds", name, x, holds);
    if (x != 0.0 && rounded == 0.0)
        usage_error(which, "--%s: %g is so small that a %s would be 0", name, x, holds);
}

static void check_scalar(const command *which, const char *name, scalar x, xgemm_type type)
{
    const xgemm_type sums = type_of_sums(type);
    check_part(which, name, x.re, sums);
    check_part(which, name, x.im, sums);
    if (x.im != 0.0 && !type_is_complex(type))
        usage_error(which, "--%s has an imaginary part, and %s is real", name, type_word(type));
}

void problem_check(const command *which, const problem_options *options)
{
    const xgemm_type type = options->type, type_c = problem_type_c(options);
    if (type_c != type && !type_is_half(type))
        usage_error(which, "--type-c %s: C of %s operands is %s", type_word(type_c),
                    type_word(type), type_word(type));
    if (type_c != type && type_c != XGEMM_F32 && !type_is_half(type_c))
        usage_error(which, "--type-c %s: C of %s operands is f16, bf16 or f32", type_word(type_c),
                    type_word(type));
    check_scalar(which, "alpha", options->alpha, type);
    check_scalar(which, "beta", options->beta, type);
    if (options->activation && type_is_complex(type))
        usage_error(which, "--activation is a function of real numbers, and %s is complex",
                    type_word(type));
    if (options->bias_per_row && !options->has_bias)
        usage_error(which, "--bias-per-row says what --bias is; give both");
}

xgemm_math problem_math(const problem_options *options)
{
    return type_is_half(options->type) ? XGEMM_MATH_TF32 : options->math;
}

xgemm_handle *problem_device(const command *which, const settings *common,
                             const problem_options *options)
{
    xgemm_handle *handle = open_device(which, common);
    if (xgemm_set_math(handle, problem_math(options)) == XGEMM_OK)
        return handle;
    const int status = failed_call(which, handle);
    xgemm_destroy(handle);
    exit(status);
}

workload problem_workload(const problem_options *options, shape size)
{
    const xgemm_type sums = type_of_sums(options->type);
    workload work =
        workload_of(size, options->order, options->transa, options->transb, options->pad);
    work.type = options->type;
    work.type_c = problem_type_c(options);
    work.alpha = scalar_round(sums, options->alpha);
    work.beta = scalar_round(sums, options->beta);
    work.activation = options->activation;
    work.has_bias = options->has_bias;
    work.bias_per_row = options->bias_per_row;
    workload_repeat(&work, options->batch, 0);
    return work;
}

/* A number, or two in an array where it is not real; null where JSON has none. */
static json_t *scalar_value(scalar x)
{
    if (!isfinite(x.re) || !isfinite(x.im))
        return json_null();
    return x.im == 0.0 ? json_real(x.re) : json_pack("[f, f]", x.re, x.im);
}

json_t *problem_settings(const problem_options *options)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:s, s:s}", "order",
                     order_word(options->order), "transa", transpose_letter(options->transa),
                     "transb", transpose_letter(options->transb), "type", type_word(options->type),
                     "type_c", type_word(problem_type_c(options)), "alpha",
                     scalar_value(options->alpha), "beta", scalar_value(options->beta), "math",
                     math_word(options->math), "ld_pad", (json_int_t)options->pad, "batch",
                     (json_int_t)options->batch, "activation", activation_word(options->activation),
                     "bias",
                     !options->has_bias      ? "none"
                     : options->bias_per_row ? "row"
                                             : "column");
}
