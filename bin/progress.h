/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on a terminal's standard error that says how far the work is. */
#ifndef XGEMM_BIN_PROGRESS_H
#define XGEMM_BIN_PROGRESS_H

#include "options.h"

#include <stddef.h>

typedef struct {
    bool shown;
    size_t all, done;
} progress;

progress progress_begin(const settings *common, size_t all);

/* The next step begins; the text says which. */
void progress_step(progress *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Wipes the line, so that results can be printed; the next step shows it again. */
void progress_clear(const progress *line);

#endif
