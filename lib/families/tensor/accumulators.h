/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the accumulators of wgmma belong in C when the operand rows of both operands are permuted
 * by xg_stored_row(). A thread's accumulators are in two rows, e = 0 and 1, and for each 16 columns
 * (j) in four neighbouring columns (i): accumulator_of(j, e, i), in columns 16 j + first_column +
 * i. The row in the warp's 16 rows depends on e and on the quad of lanes.
 */
#ifndef XGEMM_TENSOR_ACCUMULATORS_H
#define XGEMM_TENSOR_ACCUMULATORS_H

#include "fp16_layout.h"
#include "families/common/dialect.h"

XG_DEVICE int accumulator_row(int quad, int e)
{
    return (int)xg_row_stored_at((unsigned)(quad + 8 * e));
}

XG_DEVICE int first_column(int lane)
{
    return lane % 4 * 4;
}

/* The accumulator in row e and in column i of vec4 number j. */
XG_DEVICE int accumulator_of(int j, int e, int i)
{
    return 8 * j + 2 * e + i % 2 + i / 2 * 4;
}

/* The row and column, from the warp's first ones on, of a lane's accumulator i. */
XG_DEVICE int element_row(int lane, int i)
{
    return accumulator_row(lane / 4, i / 2 % 2);
}

XG_DEVICE int element_column(int lane, int i)
{
    return first_column(lane) + i / 8 * 16 + i % 2 + i / 4 % 2 * 2;
}

#endif
