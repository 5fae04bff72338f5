/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan: the launches, one after the other, that compute a problem. */
#ifndef XGEMM_LIB_PLAN_H
#define XGEMM_LIB_PLAN_H

#include "backend.h"
#include "kernels/args.h"

enum { XG_PLAN_STEPS = 8 };

/* Which pointer of a step's arguments is an offset into the workspace; bits. */
enum {
    XG_A_IN_WORKSPACE = 1,
    XG_B_IN_WORKSPACE = 2,
    XG_C_IN_WORKSPACE = 4,
    XG_LIST_IN_WORKSPACE = 8
};

/* What a step does, and so which matrices its arguments stand for. */
typedef enum {
    XG_STEP_PRODUCT,
    XG_STEP_PACK,
    XG_STEP_PAD,
    XG_STEP_UNPAD,
    XG_STEP_SCALE,
    XG_STEP_REDUCE,
    XG_STEP_FP16_SPLIT,
    XG_STEP_FP16_PRODUCT,
    XG_STEP_FP16_REST
} xg_step_role;

typedef struct {
    const xg_program *program;
    xg_step_role role;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t cluster;      /* blocks along x that form a cluster; 0: none */
    bool overlaps;         /* see xg_launch */
    xg_args args;
    unsigned in_workspace;
    size_t a_offset, b_offset, c_offset, list_offset;
} xg_step;

typedef struct {
    const struct xg_kernel *kernel; /* NULL when nothing is multiplied */
    int steps;
    xg_step step[XG_PLAN_STEPS];
    size_t workspace_bytes;
    double microseconds; /* predicted; 0: the kernel has no model */
    int processors;      /* of the device that it is for */
} xg_plan;

/*
 * Plans a problem that is not empty. A kernel that is NULL is chosen: by size
 * and layout, from one table, among those that need no more than
 * workspace_limit bytes, for a device of that many multiprocessors.
 */
xgemm_status xg_plan_make(const xg_backend *backend, int processors, const struct xg_kernel *kernel,
                          const xg_args *problem, size_t workspace_limit, xg_plan *plan,
                          xg_error *error);

/* One launch over tiles of C. */
xgemm_status xg_steps_single(const struct xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error);

/* The same with the tiles of a column of C along x. */
xgemm_status xg_steps_rows_on_x(const struct xg_kernel *kernel, const xg_args *problem,
                                xg_plan *plan, xg_error *error);

/* Copies to zero-padded matrices, the product, and the way back. */
xgemm_status xg_steps_padded(const struct xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error);

/* A few lines by many, of either kind: the program for the short side, k split to fill the GPU. */
xgemm_status xg_steps_skinny(const struct xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error);

/*
 * The pipelined kernels: operands that do not lie as they need are packed first,
 * narrow strips left over at the edges are "skinny", and k may be split.
 */
xgemm_status xg_steps_pipelined(const struct xg_kernel *kernel, const xg_args *problem,
                                xg_plan *plan, xg_error *error);

/* The parts of A and B in FP16, their products, and the tiles that these do not serve. */
xgemm_status xg_steps_fp16(const struct xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error);

/* A plain function call. */
xgemm_status xg_steps_host(const struct xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error);

/* A step as a launch; its arguments are put into *args. */
xg_launch xg_step_launch(const xg_step *step, void *workspace, xg_args *args);

/* Enqueues a plan's launches. */
xgemm_status xg_plan_run(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                         void *stream, void *workspace, xg_error *error);

#endif
