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
    KEY_BATCH
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
/* All of them. */
#define PROBLEM_ROWS                                                                               \
    ORDER_ROW, TRANSA_ROW, TRANSB_ROW, ALPHA_ROW, BETA_ROW("C"), MATH_ROW, LD_PAD_ROW, BATCH_ROW

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    float alpha, beta;
    xgemm_math math;
    int64_t pad, batch;
} problem_options;

/* What holds where an option is not given. */
problem_options problem_defaults(void);

/* Takes one of the rows above; false when the key is another. Wrong text ends with 2. */
bool problem_option(const command *which, problem_options *options, int key, const char *value);

/* A handle on the device, in their math mode; ends the program as open_device() does. */
xgemm_handle *problem_device(const command *which, const settings *common,
                             const problem_options *options);

/* The product of that size, or the batch of them. */
workload problem_workload(const problem_options *options, shape size);

/* What all of them say, for the "settings" of a JSON result. */
json_t *problem_settings(const problem_options *options);

#endif
