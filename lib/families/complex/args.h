/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of complex_to_real.cu. */
#ifndef XGEMM_COMPLEX_ARGS_H
#define XGEMM_COMPLEX_ARGS_H

#include "families/common/args.h"

/*
 * A matrix of complex numbers, as lines of contiguous elements, and its real one, which has two
 * lines for each. Of x + iy the first has x and first_y * y, the second second_y * y and
 * second_x * x, side by side; or, with "apart", x alone and y alone.
 */
typedef struct {
    const float *from;
    float *to;                      /* its lines begin at multiples of 16 bytes */
    int64_t count, length;          /* of lines, of elements in each */
    int64_t from_stride, to_stride; /* from line to line; complex elements, floats */
    float first_y, second_y, second_x;
    uint32_t apart;
} xg_complex_operand;

/* The operands, along the grid's z. */
typedef struct {
    xg_complex_operand operands[2];
} xg_complex_args;

#endif
