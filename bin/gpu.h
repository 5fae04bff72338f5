/* SPDX-License-Identifier: BSD-3-Clause */
/* --gpu NAME: a GPU that need not be there, and what is said of it. */
#ifndef XGEMM_BIN_GPU_H
#define XGEMM_BIN_GPU_H

#include "options.h"

/*
 * The GPU of that name, from the catalogue; without a name the one that
 * --device says, else GPU 0. Ends the program with 2 when the name is unknown or
 * missing where there is no GPU, with 77 when --device's is not there,
 * with 1 when the driver fails.
 */
xgemm_device gpu_choose(const command *which, const settings *common, const char *name);

/* GPU 0; struct_size 0 when there is none. Ends the program with 1 when the driver fails. */
xgemm_device gpu_first(const command *which);

typedef enum { LIMITERS_IN_A_COLUMN, LIMITERS_IN_A_SENTENCE } limiters_style;

/* XGEMM_LIMITED_BY_... as "warps slots" or "warps, blocks". Static text, until the next call. */
const char *limiters_text(unsigned limiters, limiters_style style);

#endif
