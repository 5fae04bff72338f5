/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of kernels and functions that take any element type (common/args.h). */
#ifndef XGEMM_LIB_TYPED_H
#define XGEMM_LIB_TYPED_H

#include "families/common/args.h"
#include "plan/plan.h"

/* A problem's sizes, strides and epilogue; its pointers are left. */
xg_typed_args xg_typed_args_of(const xg_problem *problem);

/* Which lines ragged groups divide (common/args.h); 0: there are no groups. */
int xg_ragged_lines(const xg_problem *problem);

/* The pointers of a step whose argument begins with those: to the matrices, bias and scalars. */
void xg_point_typed(xg_step *step, const xg_plan *plan, const xg_problem *problem);

/*
 * A step that computes the product by a program with that argument, of "size" bytes, which begins
 * with xg_typed_args, on the operands as they lie; its grid is left to set. NULL: the plan is full,
 * as the error says.
 */
xg_step *xg_add_typed_product(xg_plan *plan, const xg_program *program, const void *args,
                              size_t size, const xg_problem *problem, xg_error *error);

/* Those of an epilogue at that offset of the argument: to bias and scalars. */
void xg_point_epilogue(xg_step *step, size_t argument, const xg_problem *problem);

/* C, and what the epilogue reads: pointers at these offsets of the argument, and regions. */
void xg_step_uses_c(xg_step *step, const xg_plan *plan, const xg_problem *problem, size_t c,
                    size_t epilogue);

/* C = activation(beta * C + bias), of all products of a pass, on a GPU. */
xgemm_status xg_add_finish(xg_plan *plan, const xg_problem *problem, xg_error *error);

/*
 * C = activation(alpha * S + beta * C + bias) of F32, where S is in the workspace, "stride"
 * elements from row to row, the products of a pass one after the other.
 */
xgemm_status xg_add_finish_of(xg_plan *plan, const xg_problem *problem, int64_t sums,
                              int64_t stride, xg_error *error);

/* The same by a function of the host that takes xg_typed_args. */
xgemm_status xg_add_finish_on_host(xg_plan *plan, const xg_problem *problem,
                                   const xg_program *function, xg_error *error);

/*
 * The same after a product that is in C already, alpha and beta with it: C = activation(C + bias).
 */
xgemm_status xg_add_activation(xg_plan *plan, const xg_problem *problem, xg_error *error);

#endif
