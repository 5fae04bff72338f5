/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that takes the place of another one when it is complete: it is written beside it, and
 * renamed over it. Until then what was there stays as it was; a signal that ends the process, and a
 * failure, leave nothing behind. One at a time.
 */
#ifndef XGEMM_BIN_REPLACEMENT_H
#define XGEMM_BIN_REPLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    int descriptor;  /* to be written to */
    char *target;    /* the path, with a symbolic link resolved */
    char *temporary; /* NULL: there is none */
    mode_t mode;
    char why[160]; /* after a failure: what it was */
} replacement;

/* Makes the file beside the path; false: why not. */
bool replacement_open(replacement *file, const char *path);

/* Renames what was written over the path; false: why not, and it is gone. */
bool replacement_commit(replacement *file);

/* Removes what was written; nothing after a commit. */
void replacement_abandon(replacement *file);

#endif
