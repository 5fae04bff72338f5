/* SPDX-License-Identifier: BSD-3-Clause */
/* The temporary folder of a compilation, which a program that a signal ends does not leave behind.
 */
#ifndef XGEMM_SOURCE_FOLDER_H
#define XGEMM_SOURCE_FOLDER_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum { XG_FOLDER_PATH = 300 }; /* of a file in it */

typedef struct {
    char path[256]; /* empty: there is none */
    int headers;    /* copies of headers that it may have */
    pid_t guard;    /* a child, in whose group compilers are; 0: none */
    int guarded;    /* the stream to it, whose end is that of the program */
} xg_folder;

/* Also after a failure it is to be removed, with what is in it; none where it is all 0. */
xgemm_status xg_folder_make(xg_folder *folder, int headers, xg_error *error);
void xg_folder_remove(xg_folder *folder);

/* The path of a file in it, of those that are removed; and of the copy of a header. */
const char *xg_folder_file(const xg_folder *folder, const char *name, char path[XG_FOLDER_PATH]);
const char *xg_folder_header(const xg_folder *folder, int number, char path[XG_FOLDER_PATH]);

#endif
