/* SPDX-License-Identifier: BSD-3-Clause */
/* A program as a child, in whose place this process takes signals. */
#ifndef XGEMM_BIN_RUN_CHILD_H
#define XGEMM_BIN_RUN_CHILD_H

/*
 * Calls "become" in a child, which ends with what that returns, and waits for its end: a status as
 * of waitpid(), or -1 with errno. Signals that end a process reach the child instead.
 */
int run_child(int (*become)(void *context), void *context);

/* Ends as the child did, if a signal ended that; else its exit status. */
int run_end_like(int status);

#endif
