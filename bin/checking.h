/* SPDX-License-Identifier: BSD-3-Clause */
/* A product, or a batch of them, checked against a float64 reference. */
#ifndef XGEMM_BIN_CHECKING_H
#define XGEMM_BIN_CHECKING_H

#include "workload.h"

/* What the operands hold. */
typedef enum {
    VALUES_RANDOM,  /* uniform over [-1, 1): the error is held to a bound */
    VALUES_DYADIC,  /* multiples of 2^-7: exact to the bit */
    VALUES_SPECIAL, /* random with Inf, NaN, zeros and subnormals among them */
    VALUES_COUNT,
    VALUES_DATA = VALUES_COUNT /* A and B of named kinds, C as VALUES_RANDOM */
} values_kind;

typedef struct {
    values_kind kind;
    const data_pair *data; /* for VALUES_DATA */
} values_choice;

const char *values_name(const values_choice *values);

typedef struct {
    xgemm_status status; /* of the call */
    size_t elements;     /* compared */
    double worst;        /* largest error as a part of its bound; 1 is the limit */
    double error,
        bound;        /* that error and its bound as parts of |alpha||A||B| + |beta||C| + |bias| */
    size_t wrong;     /* elements outside their bound, or of the wrong kind (NaN, Inf) */
    size_t canaries;  /* elements between rows, or of A and B, that were changed */
    int64_t row, col; /* the first wrong one */
    double got, want;
} check_result;

/*
 * Runs the workload on the handle with fresh values and compares each element, or each part of a
 * complex one, with reference.h's:
 *
 *     |C - C64| <= (t + 4) u (|alpha||A||B| + |beta||C| + |bias|)
 *
 * with the t = k products that a real number is the sum of, 2k of complex ones, and u = 2^-24 for
 * sums in float and 2^-53 in double: the worst case of sums in any order and of the rounding of
 * alpha, beta and the result. To it are added
 *
 *  - what C of another type rounds off once more: 2^-11 |C| for F16, 2^-8 |C| for BF16;
 *  - 2^-10 of the magnitudes where a kernel rounds inputs to TF32;
 *  - with an activation a fifth, for its slope, and 16 u |C|, for its own rounding.
 *
 * NaN and Inf must stand exactly where the reference has them, Inf also where it is beyond C's
 * type. With named kinds of data a kernel of the math mode DEFAULT is allowed what the mode
 * promises: the larger of twice the bound and 2^-20 of the magnitudes, in double 2^-51; of kinds
 * that may overflow, only elements are compared whose sums cannot. Dyadic values with alpha and
 * beta among 0, 1 and -1 and without an activation must be equal to the bit. False when the call
 * itself fails; the sentence is in message.
 */
bool check_product(xgemm_handle *handle, const workload *work, const values_choice *values,
                   uint64_t seed, check_result *result, char *message, size_t message_size);

/* Whether the device's memory has so many bytes free; else the sentence is in message. */
bool check_memory(xgemm_handle *handle, double bytes, char *message, size_t message_size);

#endif
