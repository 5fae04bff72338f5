/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem_options.h"

#include <limits.h>
#include <stdlib.h>

enum { PAD_MOST = 1 << 20 };

problem_options problem_defaults(void)
{
    return (problem_options){.order = XGEMM_ROW_MAJOR,
                             .transa = XGEMM_NO_TRANS,
                             .transb = XGEMM_NO_TRANS,
                             .alpha = 1.0f,
                             .batch = 1};
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
        options->alpha = (float)option_real(which, "alpha", value);
        return true;
    case KEY_BETA:
        options->beta = (float)option_real(which, "beta", value);
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
    default:
        return false;
    }
}

xgemm_handle *problem_device(const command *which, const settings *common,
                             const problem_options *options)
{
    xgemm_handle *handle = open_device(which, common);
    if (xgemm_set_math(handle, options->math) == XGEMM_OK)
        return handle;
    const int status = failed_call(which, handle);
    xgemm_destroy(handle);
    exit(status);
}

workload problem_workload(const problem_options *options, shape size)
{
    workload work = workload_of(size, options->order, options->transa, options->transb,
                                options->alpha, options->beta, options->pad);
    workload_repeat(&work, options->batch, 0);
    return work;
}

json_t *problem_settings(const problem_options *options)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:s, s:I, s:I}", "order",
                     order_word(options->order), "transa", transpose_letter(options->transa),
                     "transb", transpose_letter(options->transb), "alpha", (double)options->alpha,
                     "beta", (double)options->beta, "math", math_word(options->math), "ld_pad",
                     (json_int_t)options->pad, "batch", (json_int_t)options->batch);
}
