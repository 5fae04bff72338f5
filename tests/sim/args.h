/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument of the tests' own kernels. */
#ifndef XGEMM_TESTS_SIM_ARGS_H
#define XGEMM_TESTS_SIM_ARGS_H

#include "families/common/args.h"
#include "families/tensor/args.h"

typedef struct {
    XG_PRODUCT_FIELDS
    int64_t a_batch_stride, c_batch_stride; /* of a batch, along the grid's z */
} xg_test_args;

/* Of sm90_full_range.cu: the product, with the scales of A's rows and B's columns as workspace. */
typedef struct {
    xg_tensor_args product;
    int columns; /* of a tile */
    int special; /* Inf and NaN are to be looked for */
} xg_full_range_args;

#endif
