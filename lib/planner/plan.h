/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan: the launches, one after the other, that compute a problem. */
#ifndef XGEMM_LIB_PLAN_H
#define XGEMM_LIB_PLAN_H

#include "backend/backend.h"
#include "families/common/args.h"

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
    XG_STEP_FP16_VECTORS,
    XG_STEP_FP16_SPLIT,
    XG_STEP_FP16_PRODUCT
} xg_step_role;

/* Operands that are copied first, aligned; bits. */
enum { XG_COPIES_A = 1, XG_COPIES_B = 2 };

/* How a kernel computes a problem. */
typedef struct {
    int64_t m, n;     /* of C, what the tiles cover; narrow strips are left to "skinny" */
    int64_t k_part;   /* at least k: not split */
    int cluster;      /* blocks that add up their parts of k among them; 0: none do */
    int64_t together; /* products of a batch that each launch computes */
    unsigned copied;  /* XG_COPIES_...: for a kernel that could read them as they lie */
    /* The kernels on FP16 parts compute C and k in panels, of at most that size. */
    int64_t panel_m, panel_n, panel_k, panels;
    int64_t share;      /* of the last tiles a block's or cluster's, in steps of k; 0: not shared */
    int64_t shared;     /* the tiles that are shared so */
    bool strips_inside; /* a kernel on FP16 parts computes the narrow strips, too */
    bool strips_split;  /* and the pass that splits the operands most of them */
    double microseconds; /* predicted, for the whole batch; 0: the kernel has no model */
} xg_shape;

/*
 * A launch. Its arguments are those of the first product, as they were when it was
 * planned: where it runs, pointers that are not in the workspace move with the
 * problem's (xg_step_launch).
 */
typedef struct {
    const xg_program *program;
    xg_step_role role;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t cluster;      /* blocks along x that form a cluster; 0: none */
    bool overlaps, even;   /* see xg_launch */
    int tile[3];           /* of its kernel, along m, n and k, if that has maps; else 0 */
    xg_args args;
    unsigned in_workspace;
    size_t a_offset, b_offset, c_offset, list_offset;
    int64_t a_apart, b_apart, c_apart; /* floats from a product's matrices to the next one's */
    bool a_is_b;                       /* its A is the problem's B */
    bool once;                         /* it serves all products of a pass: not along z */
    int parts;                         /* of FP16, see kernels/fp16_layout.h */
    int64_t sums; /* floats behind FP16 parts: of tiles that are shared, or for strips */
} xg_step;

/* What is to be planned; without padding, so that two can be compared as bytes. */
typedef struct {
    xg_args problem;  /* of the first product */
    int64_t products; /* at least 1; of more, or of lists, the problem's batch steps say where */
    const struct xg_kernel *kernel; /* NULL: chosen */
    size_t workspace_limit;         /* bytes */
    int64_t block_shared;           /* bytes of shared memory that a block may have; 0: any */
    int processors;                 /* multiprocessors of the device */
    int math;                       /* an xgemm_math */
    int64_t architecture;           /* compute capability whose own kernels can run; 0: none */
} xg_request;

typedef struct {
    const struct xg_kernel *kernel; /* NULL when nothing is multiplied */
    int steps;
    xg_step step[XG_PLAN_STEPS];
    size_t workspace_bytes;
    size_t recomputed; /* in the workspace: the count of recomputed elements; 0: there is none */
    xg_shape shape;
    int64_t products;
    int processors;       /* of the device that it is for */
    int64_t architecture; /* whose own kernels can run there; 0: none */
    const float *a, *b;   /* the problem's, when it was planned */
    float *c;
} xg_plan;

/*
 * Plans problems that are not empty. A kernel that is NULL is chosen: by size and
 * layout, from one table, among those that need no more than the workspace.
 */
xgemm_status xg_plan_make(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                          xg_error *error);

/* Whether A, B and C are lists of pointers. */
bool xg_has_lists(const xg_args *problem);

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

/* How often the steps run, one after the other: each time for shape.together products. */
int64_t xg_plan_passes(const xg_plan *plan);

/* A step as a launch, for a problem like the planned one and that pass; its arguments go to *args.
 */
xg_launch xg_step_launch(const xg_plan *plan, int step, const xg_args *problem, int64_t pass,
                         void *workspace, xg_args *args);

/* Enqueues a plan's launches for a problem that differs from the planned one in its pointers alone.
 */
xgemm_status xg_plan_run(const xg_plan *plan, const xg_args *problem, const xg_backend *backend,
                         xg_device *device, void *stream, void *workspace, xg_error *error);

#endif
