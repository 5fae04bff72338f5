/* SPDX-License-Identifier: BSD-3-Clause */
/* Element types and activations: their words, and numbers of them in memory. */
#ifndef XGEMM_BIN_ELEMENT_H
#define XGEMM_BIN_ELEMENT_H

#include "random.h"

#include <xgemm.h>

#include <stdbool.h>

/* A number of any type; im is 0 where it is real. */
typedef struct {
    double re, im;
} scalar;

/* ---- Words ---- */

/* "f32" and so on. */
const char *type_word(xgemm_type type);

/* Of the BLAS's function for products of it, else "GEMM of f16"; of type 0 "GEMM". */
const char *type_product_word(xgemm_type type);

/* The type of such a word; 0: there is none. */
xgemm_type type_of_word(const char *word);

/* "none", "relu", "gelu", "gelu-tanh" or "silu". */
const char *activation_word(xgemm_activation activation);

/* ---- What a type is ---- */

size_t type_bytes(xgemm_type type);
bool type_is_complex(xgemm_type type);
bool type_is_half(xgemm_type type); /* 16 bits */

/* The real numbers that it is made of: F32 of C32, F64 of C64. */
xgemm_type type_part(xgemm_type type);

/* That of alpha and beta, and of the sums: F32 for operands of 16 bits. */
xgemm_type type_of_sums(xgemm_type type);

/* Of a real type: half of the distance from 1 to the next number, and the least subnormal. */
double type_unit(xgemm_type type);
double type_least(xgemm_type type);

/* The least number that rounds to Inf. */
double type_limit(xgemm_type type);

/* ---- Numbers ---- */

/* A part rounded to nearest, to a type or the parts of one. */
double type_round(xgemm_type type, double x);
scalar scalar_round(xgemm_type type, scalar x);
bool scalar_is_zero(scalar x);

/* Uniform over [-1, 1) in each part, to the type's precision or nearly so. */
scalar scalar_random(xgemm_type type, random_source *source);

/* Element number index of memory. */
scalar element_load(xgemm_type type, const void *memory, int64_t index);
void element_store(xgemm_type type, void *memory, int64_t index, scalar value);

double activated(xgemm_activation activation, double x);

#endif
