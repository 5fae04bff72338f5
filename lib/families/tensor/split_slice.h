/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CTA's slice in the split kernel (fp16_split.h): 16 operand rows by a slice of k.
 *
 * In a segment of a slice, 512 k, each thread has eight vec4. A thread, or its warp, reads from
 * shared memory only what it has copied there itself, so that no barrier of the CTA is needed:
 *
 *     K-major: a warp has two rows, vec4 0 to 3 and 4 to 7; each vec4 of a warp is 128 k of a row
 *     MN-major: a warp has 64 k; vec4 r + 4 h of a lane is k = 32 h + 4 (lane / 4) + r of the rows
 *         from 4 (lane % 4) on, so that four vec4 are 4 k of 4 rows, transposed in registers
 */
#ifndef XGEMM_KERNELS_SPLIT_SLICE_H
#define XGEMM_KERNELS_SPLIT_SLICE_H

#include "batched.h"
#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "operand_row.h"
#include "families/common/ptx_sm90.h"

#define ROWS    XG_ROW_GROUP
#define THREADS XG_SPLIT_THREADS
#define WARPS   (THREADS / 32)
#define HELD    2
#define ALL     0xffffffffu
#define WARP    ((int)(threadIdx.x / 32))
#define LANE    ((int)(threadIdx.x % 32))

/* What the threads of a CTA, and the CTAs of a cluster, exchange. */
typedef struct {
    xg_packed_scan inbox[ROWS][XG_SLICES_MOST]; /* from each slice */
    xg_packed_scan by_warp[WARPS][ROWS];
    float scale[ROWS];  /* by which elements are multiplied; 0: Inf or NaN */
    int any_not_finite; /* MN-major: whether any row has Inf or NaN */
    unsigned unused;
    uint64_t arrival;        /* mbarrier: the inbox is full */
    uint64_t strips_arrival; /* the same for strips (split_slice_strip.h) */
    uint64_t more_unused[5];
} xg_split_state; /* of XG_SPLIT_STATE_BYTES */

/* The CTA's slice. */
typedef struct {
    const float *from;
    int64_t stride; /* of rows or of k, whichever is not 1 */
    int rows, k;    /* inside the matrix: at most ROWS and depth; may be 0 */
    int depth;      /* k of the slice in the terms: a multiple of 64; may be 0 */
    int segments, slices;
    int k_major, vec4, realigned, is_a;
    int group;            /* the row group, counting those of B after those of A */
    int first_row;        /* in the operand */
    int first_stored_row; /* its position in its row block */
    char *terms;          /* the slice's first operand tile */
    float4 *vecs;         /* this thread's, in shared memory */
    xg_split_state *state;
} xg_slice;

/* The cluster's number, which is that of the row group that it splits. */
XG_DEVICE int xg_cluster_index(void)
{
    return (int)(blockIdx.z * gridDim.y + blockIdx.y);
}

XG_DEVICE xg_fp16_layout xg_layout_of_split(const xg_tensor_args *p)
{
    return BATCHED ? xg_split_batched_layout_of(p) : xg_split_layout_of(p);
}

/*
 * The cluster's row group: its number among those of A and then of B, and in its matrix. There is
 * none beyond those, and for an operand that an earlier product shares.
 */
typedef struct {
    int is_there, is_a, number, own;
} xg_row_group;

/* "in": the group's number among those of the product. */
XG_DEVICE xg_row_group xg_row_group_at(const xg_tensor_args *p, const xg_fp16_layout *at, int in)
{
    const int a_groups = at->a_blocks * XG_BLOCK_GROUPS, b_groups = at->b_blocks * XG_BLOCK_GROUPS;
    xg_row_group of;
#if BATCHED
    const int a_own = xg_row_blocks(p->m) * XG_BLOCK_GROUPS, product = (int)blockIdx.z;
    of.is_a = in < a_own;
    of.own = of.is_a ? in : in - a_own;
    of.number = (of.is_a ? 0 : a_groups) + of.own;
    const unsigned stride = of.is_a ? p->split.batch.a_stride : p->split.batch.b_stride;
    if (stride)
        of.number += product * (of.is_a ? a_own : xg_row_blocks(p->n) * XG_BLOCK_GROUPS);
    of.is_there = (stride || product == 0) && of.number < a_groups + b_groups;
#else
    (void)p;
    of.number = in;
    of.is_a = of.number < a_groups;
    of.own = of.is_a ? of.number : of.number - a_groups;
    of.is_there = of.number < a_groups + b_groups;
#endif
    return of;
}

XG_DEVICE xg_row_group xg_row_group_of(const xg_tensor_args *p, const xg_fp16_layout *at)
{
    return xg_row_group_at(p, at, BATCHED ? (int)blockIdx.y : xg_cluster_index());
}

/* The arguments with the matrices of the CTA's product. */
XG_DEVICE const xg_tensor_args *xg_split_args_of_product(const xg_tensor_args *p,
                                                         xg_tensor_args *moved)
{
    if (!BATCHED)
        return p;
    *moved = *p;
    moved->a = xg_batched_matrix(p->a, p->split.batch.a_stride, (int)blockIdx.z);
    moved->b = xg_batched_matrix(p->b, p->split.batch.b_stride, (int)blockIdx.z);
    return moved;
}

XG_DEVICE xg_slice xg_slice_of(const xg_tensor_args *p, const xg_fp16_layout *at, xg_row_group of,
                               int held, char *shared)
{
    const int group = of.number, is_a = of.is_a, own = of.own;
    const int room = held ? XG_SEGMENT_K : at->slice_chunks * XG_CHUNK_K;
    const unsigned first_row = (unsigned)own * ROWS, first_k = blockIdx.x * (unsigned)room;
    const int size = (int)(is_a ? p->m : p->n);
    const int64_t row_stride = is_a ? p->a_stride_m : p->b_stride_n,
                  k_stride = is_a ? p->a_stride_k : p->b_stride_k;
    const unsigned tile =
        (unsigned)group / XG_BLOCK_GROUPS * (unsigned)at->k_blocks + first_k / XG_K_BLOCK;
    xg_slice s;
    s.is_a = is_a;
    s.k_major = k_stride == 1;
    s.stride = s.k_major ? row_stride : k_stride;
    s.depth = s.k = room;
    s.rows = ROWS;
    s.group = group;
    s.first_row = (int)first_row;
    s.segments = 1;
    s.slices = at->slices;
    s.from =
        (is_a ? p->a : p->b) + (uint64_t)(s.k_major ? first_row : first_k) * (uint64_t)s.stride;
    s.from += s.k_major ? first_k : first_row;
    s.first_stored_row = group % XG_BLOCK_GROUPS * ROWS;
    s.terms = (char *)p->workspace + (uint64_t)(tile * (unsigned)p->split.terms) * XG_TERM_BYTES;
    s.vecs = (float4 *)(shared + XG_SPLIT_STATE_BYTES) + threadIdx.x;
    s.state = (xg_split_state *)shared;
    if (!held) {
        s.depth = XG_MAX(XG_MIN(room, at->k_blocks * XG_K_BLOCK - (int)first_k), 0);
        s.rows = XG_MAX(XG_MIN(ROWS, size - (int)first_row), 0);
        s.k =
            XG_MAX(XG_MIN(s.depth, (int)p->k - xg_has_last_k(p->k, p->k_blocks) - (int)first_k), 0);
        s.segments = (room + XG_SEGMENT_K - 1) / XG_SEGMENT_K;
        s.vec4 = xg_split_vec4(is_a ? p->a : p->b, s.stride);
        s.realigned = first_row > 0 && s.rows == ROWS && s.k == s.depth &&
                      xg_split_realigns(s.vec4, s.k_major, s.stride, at);
    }
    return s;
}

/* A thread's vec4 of a segment; the first "held" ones are in registers. */
XG_DEVICE float4 *xg_vec_at(const xg_slice *s, int segment, int vec, int held)
{
    return s->vecs + (segment * (8 - held) + vec - held) * THREADS;
}

/*
 * Whether the slice has terms from that k of a segment on. Where not, nothing is copied, scanned or
 * converted: of 64 k most of what a segment takes would be spent on zeros.
 */
XG_DEVICE int xg_slice_reaches(const xg_slice *s, int segment, int k)
{
    return segment * XG_SEGMENT_K + k < s->depth;
}

XG_DEVICE float4 xg_vec_of(const xg_slice *s, const float4 *in, int segment, int vec, int held)
{
    return vec < held ? in[vec] : *xg_vec_at(s, segment, vec, held);
}

#endif
