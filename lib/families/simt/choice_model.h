/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of the kernels with tiles: what choice_tiles.c compares shapes by. */
#ifndef XGEMM_LIB_CHOICE_MODEL_H
#define XGEMM_LIB_CHOICE_MODEL_H

#include "planner/choice.h"

/* The measured constants of a kernel. */
typedef struct {
    const char *kernel;
    int blocks_per_sm;
    double per_k, alone, fixed;
    double words;   /* along k, for all of a tile: so much longer */
    double across;  /* what words across k cost, of that */
    double stores;  /* a block's, as k that takes as long */
    double ragged;  /* that much more where C's rows are not aligned, or less */
    bool estimated; /* by its instructions, and not yet timed: it serves by its name alone */
    double wait;    /* more than 0: thin; k that it does not ask for at once takes so long */
    int along_k;    /* operands that are no words along k, either: 1: A, 2: both */
    int step;       /* k is computed up to a multiple of that; 0: to a whole stage */
} xg_speed;

/* NULL: the model does not know the kernel. */
const xg_speed *xg_speed_of(const xg_kernel *kernel);

/* The time of one pass, its launches included; and of as many as the products need. */
double xg_shape_us(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                   const xg_shape *shape);
double xg_passes_us(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                    const xg_shape *shape);

/* A first launch, and what follows it; and so many such passes, of which one follows the other. */
double xg_launched_us(double us);
double xg_repeated_us(double pass_us, int64_t passes);

/* The copies before the product. */
double xg_copies_us(const xg_kernel *kernel, const xg_args *problem, const xg_shape *shape);

/* The strips that m × n leaves of the problem. */
double xg_strips_us(const xg_request *request, int64_t m, int64_t n);

/*
 * Operands, as XG_COPIES_... bits: those of m × n that do not lie as copies by fours across k want
 * them; those that the kernel would copy word by word, or transpose; and what that costs, from 1
 * on, when these are copied first.
 */
unsigned xg_uneven(const xg_kernel *kernel, const xg_args *problem, int64_t m, int64_t n);
unsigned xg_words_of(const xg_speed *s, const xg_kernel *kernel, const xg_args *problem);
double xg_words_factor(const xg_speed *s, const xg_kernel *kernel, const xg_args *problem,
                       unsigned copied);

/* The tiles that one launch computes. */
int64_t xg_tiles_together(const xg_kernel *kernel, const xg_shape *shape);

#endif
