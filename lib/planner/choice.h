/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel computes a problem on a GPU, and how: by predicted time. */
#ifndef XGEMM_LIB_CHOICE_H
#define XGEMM_LIB_CHOICE_H

#include "families/kernels.h"

static inline double xg_larger(double a, double b)
{
    return a > b ? a : b;
}

/*
 * The fastest shape by the model, for that kernel. One that the model does not know
 * covers all of C, product after product.
 */
xg_shape xg_shape_of(const xg_kernel *kernel, const xg_request *request);

/*
 * The fastest kernel by the model, of those whose plan needs no more workspace than
 * the request allows, and its shape.
 */
const xg_kernel *xg_choose(const xg_request *request, xg_shape *shape);

/* That of a kernel on FP16 parts, for the first m × n of C. */
xg_shape xg_fp16_shape(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n);

/*
 * The tiles of a kernel on FP16 parts, by clusters of blocks: all, and those that are computed
 * whole. The others are shared, so many blocks of k a cluster (0: none is), which needs so many
 * floats for sums.
 */
typedef struct {
    int64_t tiles, whole, clusters, sums;
} xg_fp16_rounds;

xg_fp16_rounds xg_fp16_rounds_of(const xg_kernel *kernel, int processors, int64_t m, int64_t n,
                                 int64_t share);

/*
 * The blocks of 128 lines of A that are split before a product of m × n; it splits the others
 * itself, while it computes its first tiles, of which there are enough. "whole" says that this is
 * not one panel of several; "share" is the shape's.
 */
int xg_fp16_early_of_a(const xg_kernel *kernel, int processors, const xg_args *problem, int64_t m,
                       int64_t n, int64_t share, bool whole);

/* Whether the product of FP16 parts can compute strips, and how much longer it then takes. */
bool xg_strips_fit_inside(const xg_args *problem);
double xg_fp16_strips_us(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape);

/* The same where the split computes them; less than 0: there are too many for it. */
double xg_fp16_split_strips_us(const xg_kernel *kernel, const xg_request *request,
                               const xg_shape *shape);

/* So many floats at a rate of bytes a microsecond; and the sum over parts, with its launch. */
double xg_floats_us(double floats, double rate);
double xg_sum_us(int64_t parts, double floats);

/* Whether the shape's plan needs no more workspace than the request allows. */
bool xg_has_workspace(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape);

/* Whether its launches can compute a batch: those of xg_steps_pipelined, whose grid's z is free. */
bool xg_batches(const xg_kernel *kernel);

/* Whether the kernel can compute lists of pointers, which the host does not know. */
bool xg_takes_lists(const xg_kernel *kernel);

/*
 * The depth of a part of k when "blocks" tiles are to become about "enough": none
 * shorter than least, all multiples of that many; k when there is one part.
 */
int64_t xg_part_of(int64_t k, int64_t blocks, int64_t enough, int64_t least, int64_t multiple);

/* The longest strip that "skinny" computes in one reading of the large matrix. */
enum { XG_STRIP_MOST = 16 };

/* How "skinny" computes a C, or a strip of one. */
typedef struct {
    int64_t side, lines; /* of C: the short one, and the many along the other */
    bool along_k;        /* one vector, and lines of the matrix along k: skinny1_lines.cu */
    bool across;         /* one vector, and lines side by side: skinny1_across.cu */
    int64_t blocks, groups, part; /* for the lines and for the side, and of k */
    int warps;                    /* across: of a block */
    int cluster;                  /* blocks that add up their parts of k; 0: none do */
} xg_skinny_shape;

/* On a device of so many multiprocessors, and with that compute capability's kernels (0: none). */
xg_skinny_shape xg_skinny_of(const xg_args *problem, int processors, int64_t architecture);

/* Its time without the launch; the large matrix is read once for each strip of a longer side. */
double xg_skinny_us(const xg_args *problem, const xg_request *request);

/* The blocks that share tiles of a kernel with maps, as the shape says; 0: none are shared. */
int64_t xg_sharers_of(const xg_kernel *kernel, const xg_shape *shape, int64_t k);

/* Whether m, n and k, and the steps, are such that a kernel with maps of A and B can count them. */
bool xg_maps_reach(const xg_args *problem);

/*
 * Which operands of so much of C are copied first, aligned, as XG_COPIES_... bits: those that do
 * not lie side by side or, without maps, are not aligned, if the kernel needs that or the shape
 * says so.
 */
unsigned xg_copied(const xg_kernel *kernel, const xg_args *problem, const xg_shape *shape);

#endif
