/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan: the launches, one after the other, that compute a problem. A family of kernels fills it
 * in (families/family.h); the executor (planner/execute.h) runs it, as often as it is asked to, for
 * problems that differ from the planned one in their pointers alone. So a step keeps its arguments
 * as bytes, and of each pointer what it is relative to.
 */
#ifndef XGEMM_LIB_PLAN_H
#define XGEMM_LIB_PLAN_H

#include "backend/backend.h"
#include "problem/problem.h"

enum { XG_PLAN_STEPS = 8, XG_STEP_POINTERS = 8, XG_ARGUMENTS_BYTES = 240 };

enum { XG_GRID_Y_MAX = 65535, XG_GRID_Z_MAX = 65535 };

/* What a location is relative to: what a call points to, or the workspace. */
typedef enum {
    XG_BASE_NONE,
    XG_BASE_A,
    XG_BASE_B,
    XG_BASE_C,
    XG_BASE_WORKSPACE,
    XG_BASE_BIAS,
    XG_BASE_ALPHA,
    XG_BASE_BETA,
    XG_BASE_OFFSETS
} xg_base;

/* Memory, until a call says where its matrices and its workspace are. */
typedef struct {
    xg_base base;                 /* XG_BASE_NONE: NULL */
    int64_t offset, batch_stride; /* bytes, the second from one product of a batch to the next */
} xg_location;

/* A pointer among a step's arguments. */
typedef struct {
    size_t argument; /* where in the arguments, in bytes */
    xg_location to;
} xg_plan_pointer;

/* A launch. */
typedef struct {
    const xg_program *program;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t cluster;      /* CTAs along x that form a cluster; 0: none */
    bool pdl, spread;      /* see xg_launch */
    bool is_product;       /* multiplies; other steps prepare that, or finish it */
    bool covers_pass; /* one launch computes all products of a pass: the grid's z is not theirs */
    size_t products_argument; /* a 16-bit argument: the products of the pass; 0: there is none */
    size_t arguments_size;
    _Alignas(8) unsigned char arguments[XG_ARGUMENTS_BYTES]; /* pointers not filled in */
    xg_plan_pointer pointers[XG_STEP_POINTERS];
    int pointer_count;
    /* What the step reads and writes, see xg_launch; where each region and tensor begins. */
    xg_region regions[XG_REGIONS_MAX];
    xg_location region_at[XG_REGIONS_MAX];
    xg_tensor tensors[XG_TENSORS_MAX];
    xg_location tensor_at[XG_TENSORS_MAX];
    /* An argument whose lowest byte becomes 1 in all passes of a call but the first; 0: none. */
    size_t later_pass_argument;
} xg_step;

/* A product that is computed in panels: blocks of C and slices of k, one after the other. */
typedef struct xg_panels xg_panels;

typedef struct {
    xg_panels *panels;      /* NULL: the steps compute all of the problem; else they run after the
                               last panel of each product */
    int64_t batch_count;    /* of the problem, */
    int64_t batch_per_pass; /* of which the steps compute so many at a time */
    size_t workspace_bytes;
    size_t recomputed; /* in the workspace: the count of recomputed elements; 0: there is none */
    const void *a, *b; /* of the planned problem; locations are relative to them */
    void *c;
    int step_count;
    xg_step steps[XG_PLAN_STEPS]; /* those beyond the count are nothing */
} xg_plan;

/*
 * Panels of m, n and k: "counts" of them, all of "sizes" but the last ones. Panels of the same
 * kind have a plan in common, whose locations are relative to the panel's own matrices: a kind is
 * whether it is the last one in m, and in n, and in k the first, one between or the last.
 */
enum { XG_PANEL_KINDS = 2 * 2 * 3 };

struct xg_panels {
    int64_t sizes[3], counts[3];
    xg_plan *kinds[XG_PANEL_KINDS]; /* as long as their steps; NULL: it does not occur */
};

/* The kind of a panel, by its number along m, n and k. */
int xg_panel_kind(const xg_panels *panels, const int64_t number[3]);

/* The problem of a panel: beyond the first of k, C is added to. */
xg_problem xg_panel_problem(const xg_panels *panels, const xg_problem *problem,
                            const int64_t number[3]);

/* An empty plan for a problem. Panels are freed by xg_plan_free(). */
void xg_plan_begin(xg_plan *plan, const xg_problem *problem);

/* The bytes up to the end of its last step. */
size_t xg_plan_bytes(const xg_plan *plan);
void xg_plan_free(xg_plan *plan);

/*
 * The next step, its arguments copied from a struct of at most XG_ARGUMENTS_BYTES; NULL, with a
 * sentence, when the plan is full.
 */
xg_step *xg_plan_add(xg_plan *plan, const xg_program *program, const void *arguments, size_t size,
                     xg_error *error);

/* Byte offsets in the workspace of A, B and C, and of a plan's own workspace; -1: the matrix is the
   call's. */
typedef struct {
    int64_t a, b, c, workspace;
} xg_workspace_offsets;

/* The first step that multiplies; the plan has one. */
xg_step *xg_plan_product(xg_plan *plan);

/*
 * Has a step run another program, which takes what the step takes and more: arguments that begin
 * with the step's, filled in by the caller. It has so many CTAs along x, at most INT32_MAX, no
 * cluster, and no dynamic shared memory until the caller says so.
 */
void xg_step_replace(xg_step *step, const xg_program *program, const void *arguments, size_t size,
                     int64_t ctas, int threads);

/* The steps of a plan that was made by itself, without panels, after those of the plan. */
xgemm_status xg_plan_append(xg_plan *plan, const xg_plan *steps, xg_workspace_offsets at,
                            xg_error *error);

/* CTAs along x and y; y is folded into z where it passes the grid's limit. */
xgemm_status xg_step_grid(xg_step *step, int64_t x, int64_t y, int block_x, int block_y,
                          xg_error *error);

/* The argument at that offset is a pointer to the location. */
void xg_step_point(xg_step *step, size_t argument, xg_location to);

/* Region number "index" of the step is that matrix of elements at the location. */
void xg_step_region(xg_step *step, int index, const char *name, xg_location at, int64_t rows,
                    int64_t columns, int64_t row_stride, xg_type type);

/* The regions of the problem's matrices: as they lie, and where the products of a batch are. */
void xg_region_a(xg_step *step, const xg_plan *plan, const xg_problem *part);
void xg_region_b(xg_step *step, const xg_plan *plan, const xg_problem *part);
void xg_region_c(xg_step *step, const xg_plan *plan, const xg_problem *part);

/* That of the workspace, as far as it is reserved; nothing where it is not. */
void xg_region_workspace(xg_step *step, const xg_plan *plan);

/* That of the offsets of ragged groups; nothing where there are none. */
void xg_region_offsets(xg_step *step, const xg_problem *problem);

/* The regions of the bias and of device scalars, as far as there are any. */
void xg_regions_of_epilogue(xg_step *step, const xg_problem *problem);

/*
 * Room for rows x columns elements in the plan's workspace, at a multiple of 256 bytes; false, with
 * a sentence that names what it is for, when its size does not fit the address space.
 */
bool xg_plan_reserve(xg_plan *plan, int64_t rows, int64_t columns, xg_type type, const char *what,
                     int64_t *offset, xg_error *error);

/* The bytes that such room takes, as a number that cannot overflow. */
double xg_room_bytes(double rows, double columns, xg_type type);

/* The problem's matrices, and those of the problem that is a part of it. */
xg_location xg_at_a(const xg_plan *plan, const xg_problem *part);
xg_location xg_at_b(const xg_plan *plan, const xg_problem *part);
xg_location xg_at_c(const xg_plan *plan, const xg_problem *part);

/* The bias, the scalars in device memory and the offsets of groups; of the whole problem. */
xg_location xg_at_bias(void);
xg_location xg_at_alpha(void);
xg_location xg_at_beta(void);
xg_location xg_at_offsets(void);

/* The workspace from a byte on. What is there serves one pass. */
xg_location xg_at_workspace(int64_t offset);

/* How often the steps run, one pass after the other. */
int64_t xg_plan_passes(const xg_plan *plan);

#endif
