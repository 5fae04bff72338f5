/* SPDX-License-Identifier: BSD-3-Clause */
/* An output that is the standard output, where results go too. */
#ifndef XGEMM_BIN_STDOUT_FILE_H
#define XGEMM_BIN_STDOUT_FILE_H

#include "options.h"

/*
 * Where the path (NULL is fine) is the standard output: keeps it for the file, and prints what is
 * for people to the standard error output. Ends the program with 2 when --json or --csv is given
 * too, or when it is a terminal; what says what would be written to it, such as "the matrix".
 */
void stdout_for_file(const command *which, const settings *common, const char *path,
                     const char *what);

#endif
