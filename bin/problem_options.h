/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that say which product: layouts, factors, mode, batch. A command has some of them. */
#ifndef XGEMM_BIN_PROBLEM_OPTIONS_H
#define XGEMM_BIN_PROBLEM_OPTIONS_H

#include "options.h"
#include "workload.h"

#include <jansson.h>

/* Beyond the keys of the commands themselves. */
enum {
    KEY_ORDER = 512,
    KEY_TRANSA,
    KEY_TRANSB,
    KEY_ALPHA,
    KEY_BETA,
    KEY_MATH,
    KEY_LD_PAD,
    KEY_BATCH,
    KEY_TYPE,
    KEY_TYPE_C,
    KEY_ACTIVATION,
    KEY_BIAS,
    KEY_BIAS_PER_ROW
};

/* Rows for a command's table. */
#define ORDER_ROW    OPTION_ROW(KEY_ORDER, "order", "row|col", "layout of the matrices; default row")
#define TRANSA_ROW   OPTION_ROW(KEY_TRANSA, "transa", "N|T|C", "transpose A")
#define TRANSB_ROW   OPTION_ROW(KEY_TRANSB, "transb", "N|T|C", "transpose B")
#define ALPHA_ROW    OPTION_ROW(KEY_ALPHA, "alpha", "X", "factor of the product; default 1")
#define BETA_ROW(of) OPTION_ROW(KEY_BETA, "beta", "X", "factor of " of "; default 0")
#define MATH_ROW     OPTION_ROW(KEY_MATH, "math", "MODE", "default, strict or tf32")
#define LD_PAD_ROW   OPTION_ROW(KEY_LD_PAD, "ld-pad", "N", "elements added to each leading dimension")
#define BATCH_ROW                                                                                  \
    OPTION_ROW(KEY_BATCH, "batch", "N", "products at once, one after another in memory; default 1")
#define TYPES_ROW                                                                                  \
    OPTION_ROW(KEY_TYPE, "type", "LIST",                                                           \
               "of the elements: f32, f64, f16, bf16, c32, c64, with commas between; default f32")
#define TYPE_C_ROW                                                                                 \
    OPTION_ROW(KEY_TYPE_C, "type-c", "TYPE", "of C's elements; default as A's and B's")
#define ACTIVATION_ROW                                                                             \
    OPTION_ROW(KEY_ACTIVATION, "activation", "NAME",                                               \
               "applied to C: relu, gelu, gelu-tanh or silu; default none")
#define BIAS_ROW OPTION_ROW(KEY_BIAS, "bias", NULL, "add a bias, an element for each column of C")
#define BIAS_PER_ROW_ROW                                                                           \
    OPTION_ROW(KEY_BIAS_PER_ROW, "bias-per-row", NULL, "the bias has one for each row of C")
#define EPILOGUE_ROWS ACTIVATION_ROW, BIAS_ROW, BIAS_PER_ROW_ROW
/* All of them. */
#define PROBLEM_ROWS                                                                               \
    ORDER_ROW, TRANSA_ROW, TRANSB_ROW, ALPHA_ROW, BETA_ROW("C"), MATH_ROW, TYPES_ROW, TYPE_C_ROW,  \
        LD_PAD_ROW, BATCH_ROW, EPILOGUE_ROWS

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    xgemm_type type, type_c; /* type_c 0: as type */
    scalar alpha, beta;      /* as they were given; problem_workload() rounds them to the type */
    xgemm_math math;
    int64_t pad, batch;
    xgemm_activation activation;
    bool has_bias, bias_per_row;
} problem_options;

/* Values of options; each ends the program with 2 and a sentence when the text is none. */
xgemm_type option_type(const command *which, const char *name, const char *text);
xgemm_activation option_activation(const command *which, const char *text);

/* A real number, or "RE,IM". */
scalar option_scalar(const command *which, const char *name, const char *text);

/* What holds where an option is not given. */
problem_options problem_defaults(void);

/* Takes one of the rows above, but for TYPES_ROW, which is a sweep's; false when the key is
 * another. Wrong text ends with 2. */
bool problem_option(const command *which, problem_options *options, int key, const char *value);

/*
 * Ends the program with 2 and a sentence where the options do not go together: C of a type that
 * products of this type do not have, alpha or beta beyond the type, an activation of complex
 * numbers.
 */
void problem_check(const command *which, const problem_options *options);

/* The type of C. */
xgemm_type problem_type_c(const problem_options *options);

/*
 * The math mode for the handle. For 16-bit operands it is TF32 whatever was asked for: no mode
 * changes what is computed, and this one allows all kernels.
 */
xgemm_math problem_math(const problem_options *options);

/* A handle on the device, in that mode; ends the program as open_device() does. */
xgemm_handle *problem_device(const command *which, const settings *common,
                             const problem_options *options);

/* The product of that size, or the batch of them. */
workload problem_workload(const problem_options *options, shape size);

/* What all of them say, for the "settings" of a JSON result. */
json_t *problem_settings(const problem_options *options);

#endif
