/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler's assembly of an instrumented kernel, made ready for the simulator: each call of a
 * hook passes the number of its site, and has our name; what is thread-local and defined nowhere is
 * the dynamic shared memory.
 */
#ifndef XGEMM_SOURCE_ASSEMBLY_H
#define XGEMM_SOURCE_ASSEMBLY_H

#include "base/error.h"
#include "text.h"

typedef struct {
    int line;                         /* of the user's source; 0: of none */
    int file;                         /* index of the name in files */
    int flops, flops64, instructions; /* of a basic block */
    bool is_block;
    int function; /* the number of its function */
    int loop_end; /* of a block that a jump from below leads to: its last site; else -1 */
} xg_code_site;

typedef struct {
    xg_code_site *sites;
    int count, room;
    char **files; /* by the compiler's numbers; NULL: no file of the user's */
    int file_count;
} xg_code_sites;

/* Whether this machine's assembly is known. */
bool xg_assembly_is_known(void);

/* Files below shim_folder and /usr are not the user's. */
xgemm_status xg_assembly_pass(const char *assembly, const char *shim_folder, xg_text *out,
                              xg_code_sites *sites, xg_error *error);
void xg_code_sites_free(xg_code_sites *sites);

#endif
