/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the page of a user's own kernel. */
#ifndef XGEMM_BIN_EXPLAIN_PAGE_H
#define XGEMM_BIN_EXPLAIN_PAGE_H

#include "explain_source.h"

#include <stdio.h>

/* The text, with what HTML gives a meaning to written otherwise. */
void page_text(FILE *to, const char *text);

/* A drawing for each access: which sectors or banks the threads of a warp go to. */
void page_accesses(FILE *to, const xgemm_source_report *report);

/* The roofline, if a GPU was named. */
void page_roofline(FILE *to, const source_request *r, const xgemm_source_report *report);

#endif
