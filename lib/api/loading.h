/* SPDX-License-Identifier: BSD-3-Clause */
/* The loading of a product's kernels, which not all products wait for. */
#ifndef XGEMM_LIB_LOADING_H
#define XGEMM_LIB_LOADING_H

#include "handle.h"

/*
 * Begins to load the kernels of a request's plan. With XGEMM_REPRODUCIBLE_NONE: while they are not
 * loaded, in its place a plan of others that are, or will be sooner. A kernel that was named, and a
 * product that is captured into a graph, which would keep what it got, wait for what they are
 * planned for.
 */
void xg_replace_unloaded(xgemm_handle *handle, const xg_request *request,
                         const xg_cached_plan **plan);

#endif
