/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A family of kernels, and a kernel of it. The planner (planner/planner.h) knows families by this
 * alone: it asks for a kernel's candidate, takes the fastest, and has that one built. To add a
 * kernel or a family: HACKING.md.
 */
#ifndef XGEMM_LIB_FAMILY_H
#define XGEMM_LIB_FAMILY_H

#include "costs.h"
#include "plan/plan.h"

typedef struct xg_family xg_family;

/* Operands that a kernel reads as they are; others are copied first (transform/pack.cu). */
typedef enum {
    XG_ANY_OPERANDS,
    XG_MN_MAJOR,          /* MN-major, aligned to 16 bytes */
    XG_A_OF_EITHER_MAJOR, /* the same, and an aligned K-major A */
    XG_OPERANDS_OF_EITHER_MAJOR
} xg_operand_layout;

/* A row of kernels.def. */
typedef struct xg_kernel {
    int id; /* XG_KERNEL_... of kernels.h: its number in the table */
    const char *name, *summary;
    const xg_family *family;
    /* By which operands are K-major (XG_A, XG_B): of kernels that read both majors. Else: [0]. */
    const xg_program *programs[4];
    const xg_program *batched; /* of all products of a batch in one launch; NULL: not this way */
    /* By the type of the operands, of kernels that take others than F32; programs[0] is F32's. */
    const xg_program *typed[XG_TYPES];
    int tile_m, tile_n, tile_k;
    int block_x, block_y;
    int shared_bytes;
    double flop_per_byte; /* of global memory, as the tile's size has it */
    xg_operand_layout operands;
    int tensor_products;     /* of FP16 or BF16 on tensor cores in place of one of FP32: 1: TF32's
                                accuracy, more: FP32's; 0: CUDA cores */
    int fp16_terms;          /* that the split makes of an operand; 0: there is none */
    int slices;              /* of tile_k, in kernels with sliced-K; 0: there are none */
    int cluster;             /* CTAs that compute neighbouring tiles together; 0: none */
    bool reduces_in_cluster; /* split-K by pairs of CTAs that add up in shared memory */
    bool tensor_maps;        /* TMA: one product; stream-K in place of split-K */
    bool rows_on_x;          /* the grid's x counts tiles along m */
    bool pads_operands;      /* reads and writes copies of whole tiles */
    bool copies_half;        /* 16-bit operands are copied to floats first */
    bool before_sm90; /* on compute capability 9.0 it runs by name alone: wgmma's are there */
    /* Bits 1 << type: an element is one chain of sums in ascending k, in all tiles alike, unless k
       is split: for XGEMM_REPRODUCIBLE_ELEMENT. */
    unsigned chains;
} xg_kernel;

/* What a plan is for. */
typedef struct {
    bool host;                /* not a GPU: functions of the host */
    int multiprocessors;      /* that a launch is to fill */
    int compute_capability;   /* whose own kernels can run; 0: none */
    int64_t shared_per_block; /* bytes; 0: not known */
    uint64_t left_out;        /* bits 1 << id: kernels that are not to be chosen */
    const xg_costs *costs;
    bool predicts; /* the constants give times, and not only an order of kernels */
} xg_target;

/* What is to be planned. */
typedef struct {
    xg_problem problem; /* not empty; k > 0, alpha != 0 */
    xg_target target;
    const xg_kernel *kernel; /* NULL: any */
    xgemm_math math;
    bool by_element;        /* an element's bits depend on its row and column alone */
    size_t workspace_limit; /* bytes; SIZE_MAX: none */
} xg_request;

/*
 * How a kernel is to compute a problem. A family uses the fields that concern it; the others are
 * as xg_candidate_begin() sets them.
 */
typedef struct {
    const xg_kernel *kernel;
    int64_t m, n;           /* of C, that tiles cover; the strips that are left go to gemv/ */
    int64_t k_per_split;    /* at least k: no split-K */
    int cluster;            /* CTAs that share what they read, or add up their splits; 0: none */
    bool splits_in_cluster; /* of half/: the latter */
    int64_t batch_per_pass; /* products that each launch computes */
    unsigned copied;        /* XG_A, XG_B: copied first, though the kernel could do without */
    int64_t panel_m, panel_n, panel_k, panels; /* see plan/plan.h; panels 0 or 1: all at once */
    int64_t stream_k_iterations;               /* of a CTA or cluster; 0: no stream-K */
    int64_t split_tiles;        /* the last ones, which stream-K or split-K computes */
    bool strips_in_product;     /* the kernel computes the strips, too, */
    bool strips_in_split;       /* and the split of the operands most of them */
    int tile_m, tile_n, tile_k; /* of a program with others than the kernel's; 0: the kernel's */
    double microseconds;        /* predicted, for the whole batch; 0: there is no model */
} xg_candidate;

/*
 * The least k of kernels of FP32 that multiply two FP16 terms of each element: in shorter sums the
 * terms' own rounding shows, and plain FP32 computes them.
 */
enum { XG_FP16_LEAST_K = 64 };

/* Covers all of C and k by one launch a product. */
xg_candidate xg_candidate_begin(const xg_kernel *kernel, const xg_request *request);

/* A member "candidate" for a family without a cost model. */
xg_candidate xg_only_candidate(const xg_kernel *kernel, const xg_request *request, double most_us);

/* What a search still has to be faster than: the best so far, if any, and "most_us". */
double xg_bound_us(const xg_candidate *best, double most_us);

/* What a search returns that found nothing faster than "most_us": its time is INFINITY. */
xg_candidate xg_slow_candidate(const xg_kernel *kernel, const xg_request *request);

/* The tiles that several CTAs compute by stream-K; 0: none. */
static inline int64_t xg_stream_k_tiles(const xg_candidate *of)
{
    return of->stream_k_iterations > 0 ? of->split_tiles : 0;
}

struct xg_family {
    const char *name;
    /* Whether the kernel can be chosen for the request, apart from its program and math mode. */
    bool (*applies)(const xg_kernel *, const xg_request *);
    /*
     * The fastest way by the cost model; without a model, the only one. If all ways take longer
     * than "most_us", it may be any, or one that takes INFINITY. By element k is not split.
     */
    xg_candidate (*candidate)(const xg_kernel *, const xg_request *, double most_us);
    /* A lower bound of the time of every candidate, found much sooner. NULL: 0. */
    double (*least_us)(const xg_kernel *, const xg_request *);
    /* The workspace of a candidate in bytes, exactly what build() reserves (below 2^53). */
    double (*workspace)(const xg_candidate *, const xg_request *);
    /* Adds the candidate's launches to an empty plan. */
    xgemm_status (*build)(const xg_candidate *, const xg_request *, xg_plan *, xg_error *);
    /*
     * Has a plan's product computed, with the same bits, by a program that the driver translates
     * soon; false: there is none, and the plan is as it was. If the plan counts recomputed
     * elements, the program counts them, too, but only the plan as it was computes them; then beta
     * is 0, so that C is not read. NULL: never.
     */
    bool (*make_compact)(const xg_candidate *, const xg_request *, xg_plan *);
    /* Whether one launch can compute a batch, and one of pointer arrays to operands of the type.
       NULL: never. */
    bool (*batches)(const xg_kernel *);
    bool (*takes_pointer_arrays)(const xg_kernel *, xg_type operands);
    /* Whether it computes ragged groups of operands of the type. NULL: never. */
    bool (*takes_groups)(const xg_kernel *, xg_type operands);
    /* Its kernels for F32 compute the whole epilogue, as all kernels for other types do: scalars on
       the device, bias, activation. Where they do not, the planner has bias and activation computed
       by a launch after the product. */
    bool finishes;
};

extern const xg_family xg_family_ladder, xg_family_simt, xg_family_gemv, xg_family_batched,
    xg_family_tensor, xg_family_general, xg_family_host;

/*
 * Adds a step of the kernel's first program, whose argument is xg_product_args, for one product;
 * its grid is left to set. NULL: the plan is full, as the error says.
 */
xg_step *xg_add_plain_product(const xg_kernel *kernel, xg_plan *plan, const xg_problem *p,
                              xg_error *error);

/* The first fields of a kernel's argument (common/args.h), but for the pointers. */
#define XG_PRODUCT_ARGS_OF(p)                                                                      \
    .m = (p)->m, .n = (p)->n, .k = (p)->k, .a_stride_m = (p)->a_stride_m,                          \
    .a_stride_k = (p)->a_stride_k, .b_stride_k = (p)->b_stride_k, .b_stride_n = (p)->b_stride_n,   \
    .c_stride_m = (p)->c_stride_m, .alpha = (p)->epilogue.alpha.f32,                               \
    .beta = (p)->epilogue.beta.f32

static inline double xg_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double xg_smaller(double a, double b)
{
    return a < b ? a : b;
}

/*
 * Tiles, or CTAs, of a pass: those of one product times the products, but at most 2^52, so that a
 * double holds the number. No GPU computes so many.
 */
static inline int64_t xg_of_pass(int64_t of_product, int64_t products)
{
    const int64_t most = INT64_C(1) << 52;
    return of_product > 0 && products > most / of_product ? most : of_product * products;
}

/* The CTAs that compute neighbouring tiles together: of a cluster, or one. */
static inline int xg_cluster_size(const xg_kernel *kernel)
{
    return kernel->cluster ? kernel->cluster : 1;
}

/* The products of a batch that the z of one grid counts. */
static inline int64_t xg_products_of_grid(const xg_problem *problem)
{
    return problem->batch_count < XG_GRID_Z_MAX ? problem->batch_count : XG_GRID_Z_MAX;
}

/* The time of a batch of which each pass begins when the one before has ended. */
double xg_passes_us(const xg_costs *costs, double pass_us, int64_t passes);

#endif
