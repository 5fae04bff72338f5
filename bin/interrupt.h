/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT while something is measured: what there is so far is worth printing. */
#ifndef XGEMM_BIN_INTERRUPT_H
#define XGEMM_BIN_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT is noted; a second ends the program as ever. One that is ignored
 * stays so. */
void interrupt_watch(void);

/* Whether it came. */
bool interrupted(void);

/* Ends the program as the SIGINT that was noted would have; returns where none was. */
void interrupt_end(void);

#endif
