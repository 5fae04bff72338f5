/* SPDX-License-Identifier: BSD-3-Clause */
/* The best shape of a kernel with tiles. */
#ifndef XGEMM_LIB_CHOICE_TILES_H
#define XGEMM_LIB_CHOICE_TILES_H

#include "choice_model.h"

/* The fastest shape of a kernel with tiles. */
xg_shape xg_tiles_shape(const xg_speed *s, const xg_kernel *kernel, const xg_request *request);

/* All of C and k in one part, so many products at once. */
xg_shape xg_whole_shape(const xg_request *request, int64_t together);

/* The size without a strip that "skinny" would take, where there is one. */
int64_t xg_without_strip(int64_t size, int tile);

#endif
