/* SPDX-License-Identifier: BSD-3-Clause */
/* Random products, checked as checking.h does: xgemm verify --random. */
#ifndef XGEMM_BIN_RANDOM_PRODUCTS_H
#define XGEMM_BIN_RANDOM_PRODUCTS_H

#include "checking.h"
#include "problem_options.h"

/* A product and what its operands hold. */
typedef struct {
    workload work;
    values_choice values;
} random_product;

/*
 * The product of a seed: sizes log-uniform up to those of "most", layouts, leading dimensions,
 * alignment, alpha and beta, in one of four cases a batch, and kinds of data: of "kinds", or, where
 * there are none given, of these and what verify has by itself. The type, C's, the epilogue and the
 * mode are those of the options.
 */
random_product random_product_of(const problem_options *options, shape most, const data_list *kinds,
                                 bool given, uint64_t seed);

#endif
