/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that takes the place of another one when it is complete: it is written beside it, and
 * renamed over it. Until then what was there stays as it was; a signal that ends the process, and a
 * failure, leave nothing behind. One at a time. Where a symbolic link leads to no file, it is made
 * there.
 *
 * "-", the standard output, and pipes and character devices are written to as they are; so is a
 * file that the system lets nobody replace.
 */
#ifndef XGEMM_BIN_REPLACEMENT_H
#define XGEMM_BIN_REPLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    int descriptor;  /* to be written to */
    char *target;    /* the path, with a symbolic link resolved */
    char *temporary; /* NULL: there is none, as for what is written to as it is */
    bool unnamed;    /* it gets its name when it is complete, where nothing can be renamed */
    bool stays;      /* it cannot be replaced */
    mode_t mode;
    char why[160]; /* after a failure: what it was */
} replacement;

/* Whether the path is the standard output: "-", /dev/stdout, or another name of what that is. */
bool replacement_is_stdout(const char *path);

/*
 * Whether so many bytes can be written to it, at least 1, as far as can be seen without; false:
 * errno says why.
 */
bool replacement_takes_bytes(int descriptor, size_t bytes);

/*
 * Keeps the standard output for a replacement of the path, which is it and lasts: what the program
 * prints goes to the standard error output from now on, or nowhere. False: the system has no
 * descriptor left.
 */
bool replacement_keep_stdout(const char *path, bool quiet);

/* Makes the file beside the path; false: why not. A pipe is waited for until somebody reads it. */
bool replacement_open(replacement *file, const char *path);

/*
 * Whether replacement_open() could, and there is room for so many bytes, at least 1; false: why
 * not. Nothing is left behind, no pipe is opened.
 */
bool replacement_check(replacement *file, const char *path, size_t bytes);

/* Renames what was written over the path; false: why not, and it is gone. */
bool replacement_commit(replacement *file);

/*
 * Removes what is being written and ends the process by the signal; for a handler of a signal,
 * whose own are left alone here.
 */
void replacement_end(int number);

/* Removes what was written; nothing after a commit. */
void replacement_abandon(replacement *file);

#endif
