/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host's compiler says of a file that it cannot compile, as one sentence with a line. */
#ifndef XGEMM_SOURCE_MESSAGES_H
#define XGEMM_SOURCE_MESSAGES_H

#include "scan.h"

/*
 * The compiler failed: its messages are in the file "output". They go to the launch's descriptor,
 * unless they are about the call of the kernel, "called", that is added to it. Our own headers are
 * in the folder "shim". Fails with a sentence.
 */
xgemm_status xg_compiler_failed(const xgemm_source_launch *launch, const xg_source_kernel *kernel,
                                const char *called, const char *shim, const char *output,
                                xg_error *error);

#endif
