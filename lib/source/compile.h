/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file of CUDA C++ to code that can be loaded, by the host's compiler. */
#ifndef XGEMM_SOURCE_COMPILE_H
#define XGEMM_SOURCE_COMPILE_H

#include "assembly.h"
#include "folder.h"
#include "scan.h"

typedef struct {
    xg_folder folder;
    char object[XG_FOLDER_PATH];   /* in it: what can be loaded */
    char kernel[XG_NAME_MOST];     /* as it is called: "tiled<16>" */
    const xg_source_kernel *found; /* its declaration */
    xg_source_kernel elsewhere;    /* one that the file has from a header: nothing is known of it */
    xg_scan scan;
    xg_code_sites sites;
    char **texts; /* a site's line; by site, may share */
} xg_compiled;

/* Also after a failure the result is to be removed. Messages of the compiler go to the launch's. */
xgemm_status xg_compile(const xgemm_source_launch *launch, xg_compiled *compiled, xg_error *error);
void xg_compiled_remove(xg_compiled *compiled);

#endif
