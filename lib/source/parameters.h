/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of a kernel's parameters. */
#ifndef XGEMM_SOURCE_PARAMETERS_H
#define XGEMM_SOURCE_PARAMETERS_H

#include "lex.h"

/*
 * Of the declaration, from its ( on: how many there are, at most "most"; -1: they cannot be told
 * apart.
 */
int xg_take_parameters(const char *at, char (*names)[XG_NAME_MOST], int most);

#endif
