/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured beside cuBLAS: which calls may be served, and what cuBLAS takes for them. */
#ifndef XGEMM_SHIM_MEASURED_H
#define XGEMM_SHIM_MEASURED_H

#include "serve.h"

/* A row of the table in measured.c. */
typedef struct measured measured;

/*
 * The first row of a call in its math mode, or the next after that one; NULL, and why there is
 * none.
 */
const measured *measured_row(const call *c, const measured *after, const char **why);

/*
 * Why a call is passed on by its types, sizes, alignment and math mode alone, which takes no lock
 * and asks nobody; in whatever mode; and by A alone, as it lies, of a cublasLt call whose other
 * operands are not known yet. NULL: decide() has to say.
 */
const char *refused(const call *c, xgemm_math math);
const char *refused_always(const call *c);
const char *refused_operand(xgemm_type type, const void *base, int64_t rows, int64_t columns,
                            int64_t ld);

/* Whether what the row gains is time of the host, of which a captured graph has none. */
bool measured_for_launches(const measured *row);

/* What cuBLAS takes at its best for a call of the row, microseconds. */
double measured_us(const measured *row, const call *c, const xgemm_device *gpu);

/*
 * Why the kernel that would compute a call of the row, in so many microseconds by the cost model,
 * is slower than cuBLAS, which takes other_us; NULL: it is not.
 */
const char *measured_slower(const measured *row, const call *c, const char *kernel, double us,
                            double other_us);

/*
 * What bias, activation and a D that is not C add to a predicted time, microseconds: launches that
 * read and write C. The library below has them in the product.
 */
double beside_us(const call *c, const xgemm_device *gpu);

#endif
