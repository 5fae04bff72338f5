/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument of the probes' kernels: two arrays, and what each kernel does with them. */
#ifndef XGEMM_PROBES_ARGS_H
#define XGEMM_PROBES_ARGS_H

#include <stdint.h>

/* A result that equals "never", which is NaN, would be stored: the compiler cannot leave it out. */
typedef struct {
    const float *a;
    float *c;
    union {
        struct {
            int64_t count, from_stride, from_offset, to_stride;
        } copy;
        struct {
            int64_t rows, columns, row_stride, column_stride;
            float never;
        } lines;
        struct {
            int64_t count, stride, imaginary_offset; /* the last two of parts alone */
            float re, im;                            /* of the factor */
        } complex_numbers;
        struct {
            int64_t rounds, lane_stride, move;
            float never;
        } banks;
        struct {
            int64_t threads, powers, thread_stride, power_stride;
            int64_t rounds, row, row_stride; /* the last three of shared memory alone */
        } powers;
    };
} xg_probe_args;

#endif
