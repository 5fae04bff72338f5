/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a call's types, flags and epilogue, apart from those of its matrices. */
#ifndef XGEMM_LIB_CALL_TYPES_H
#define XGEMM_LIB_CALL_TYPES_H

#include "problem.h"

#include <string.h>

/* Whether the types are known ones, as they are of a call that was checked. */
bool xg_call_has_types(const xgemm_product *call);

/* Types that are known and are multiplied with each other, and flags. */
xgemm_status xg_call_check_types(const xgemm_product *call, xg_error *error);

/* Scalars, activation and bias, of a call whose types were checked. */
xgemm_status xg_call_check_epilogue(const xgemm_product *call, xg_error *error);

/* What a pointer to elements is aligned as: "half", and of complex types that of a part. */
const char *xg_type_part_name(xg_type type);

/* A scalar of the host, which may lie anywhere. */
static inline float xg_float_at(const void *scalar)
{
    float x;
    memcpy(&x, scalar, sizeof x);
    return x;
}

#endif
