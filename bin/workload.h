/* SPDX-License-Identifier: BSD-3-Clause */
/* What bench and verify run: a product, or a batch of them. */
#ifndef XGEMM_BIN_WORKLOAD_H
#define XGEMM_BIN_WORKLOAD_H

#include "data_list.h"
#include "element.h"
#include "options.h"
#include "shapes.h"

typedef struct {
    shape size;
    xgemm_order order;
    xgemm_transpose transa, transb;
    xgemm_type type, type_c; /* of A and B, and of C and the bias */
    scalar alpha, beta;      /* numbers of the type that they have */
    int64_t lda, ldb, ldc;
    int64_t batch; /* products; more than 1: the matrices follow one another */
    int64_t stride_a, stride_b, stride_c;
    bool lists; /* a batch of pointers; the strides say where these point */
    xgemm_activation activation;
    bool has_bias, bias_per_row;
    int shift; /* of matrices, in parts of elements, from memory that is aligned to more: in checks
                */
} workload;

/* One set of operands; with lists A, B and C are arrays of pointers. */
typedef struct {
    const void *a, *b;
    void *c;
    const void *bias;
} buffers;

/*
 * A workload of one product of floats with alpha 1 and beta 0, with tight leading dimensions plus
 * pad elements.
 */
workload workload_of(shape size, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                     int64_t pad);

/* Makes it a batch, with "between" elements from the end of a matrix to the next. */
void workload_repeat(workload *work, int64_t batch, int64_t between);

/* The operations of all its products: 2mnk of real numbers, 8mnk of complex ones. */
double workload_flops(const workload *work);

/* alpha and beta as the library takes them. */
typedef struct {
    _Alignas(16) unsigned char alpha[16], beta[16];
} workload_scalars;

/*
 * What the library is called with. It points to the scalars, which are filled in and must last as
 * long.
 */
xgemm_product workload_product(const workload *work, const buffers *use, workload_scalars *scalars);

/*
 * Elements of each matrix, all of a batch, with what lies between the lines; doubles, since they
 * may be more than any memory holds. Of no bias 0.
 */
typedef struct {
    double a, b, c;
    int64_t bias;
} workload_counts;

workload_counts workload_elements(const workload *work);

/* The bytes of one set; a double, since it may be larger than any memory. */
double workload_bytes(const workload *work);

/*
 * Where an operand's elements are: that of row i of op(A), or column i of op(B), and l of the inner
 * dimension is number first + i * row_stride + l * k_stride.
 */
typedef struct {
    int64_t first, row_stride, k_stride;
} workload_place;

workload_place workload_place_of(const workload *work, bool is_b, int64_t product);

/*
 * Fills one product's A or B with a kind of data, in host memory that starts with product 0. The
 * kinds are made of floats: F16 and BF16 are these rounded, of complex numbers both parts are of
 * the kind, and doubles have random bits after the float's, unless the kind is a fixed one or its
 * sums cancel. False when the host is out of memory.
 */
bool workload_fill(const workload *work, bool is_b, const data_kind *kind, uint64_t seed,
                   void *memory, int64_t product);

#endif
