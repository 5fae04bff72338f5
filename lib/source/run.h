/* SPDX-License-Identifier: BSD-3-Clause */
/* A compiled kernel, run and traced in a child process. */
#ifndef XGEMM_SOURCE_RUN_H
#define XGEMM_SOURCE_RUN_H

#include "result.h"

/* Runs so many blocks (0: all). The result is to be freed, also after a failure. */
xgemm_status xg_run(const xgemm_source_launch *launch, const xg_compiled *compiled,
                    const xg_image *image, xg_arguments *arguments, int64_t most_blocks,
                    xg_run_result *result, xg_error *error);
void xg_run_result_free(xg_run_result *result);

#endif
