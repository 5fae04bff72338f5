/* SPDX-License-Identifier: BSD-3-Clause */
/* The child process of xg_run(). */
#ifndef XGEMM_SOURCE_CHILD_H
#define XGEMM_SOURCE_CHILD_H

#include "result.h"

/* What the child is told. */
typedef struct {
    const xgemm_source_launch *launch;
    const xg_compiled *compiled;
    const xg_image *image;
    xg_arguments *arguments;
    int64_t most_blocks;
    int seconds;
    int64_t memory_bytes;
    int to; /* the parent reads what is written there */
} xg_child;

/* Runs the kernel, writes an xg_run_result and its arrays, and ends the process. */
_Noreturn void xg_child_main(const xg_child *child);

#endif
