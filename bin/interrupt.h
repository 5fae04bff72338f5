/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM (of timeout and batch systems) or SIGHUP while something is measured: what there
 * is so far is worth printing.
 */
#ifndef XGEMM_BIN_INTERRUPT_H
#define XGEMM_BIN_INTERRUPT_H

#include <stdbool.h>

/*
 * From now on the first of these signals is noted; a second one ends the program as ever, if it
 * does not come at the same time: timeout sends its own to the program and to its process group.
 * Those that are ignored, as after nohup, stay so.
 */
void interrupt_watch(void);

/* Whether one came. */
bool interrupted(void);

/*
 * What the command is to return: the status where no signal was noted. Else the output is closed,
 * and the program ends by that signal.
 */
int interrupt_end(int status);

#endif
