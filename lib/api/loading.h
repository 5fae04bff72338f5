/* SPDX-License-Identifier: BSD-3-Clause */
/* The loading of a product's kernels, which not all products wait for. */
#ifndef XGEMM_LIB_LOADING_H
#define XGEMM_LIB_LOADING_H

#include "handle.h"

/* What of a plan's kernels is loading: the PTX of the longest one, and whether that begins now. */
typedef struct {
    size_t bytes; /* 0: nothing is */
    bool is_new;
} xg_loading;

/* Begins to load the kernels of a plan. */
xg_loading xg_loading_begin(xgemm_handle *handle, const xg_cached_plan *plan);

/*
 * While the kernels of a request's plan are loading, in its place the plan of a compact program
 * (xg_family), which is the handle's "compact"; or with XGEMM_REPRODUCIBLE_NONE one of other
 * kernels that are loaded, or will be sooner. A kernel that was named, and a product that is
 * captured into a graph, which would keep what it got, wait for what they are planned for.
 */
void xg_replace_unloaded(xgemm_handle *handle, const xg_request *request, xg_loading loading,
                         const xg_cached_plan **plan);

#endif
