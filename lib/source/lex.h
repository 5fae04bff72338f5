/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings, comments and parentheses of C++, from where they begin. */
#ifndef XGEMM_SOURCE_LEX_H
#define XGEMM_SOURCE_LEX_H

#include <stdbool.h>
#include <stddef.h>

/* Room for a name; longer ones are cut. */
enum { XG_NAME_MOST = 128 };

/* A letter, a digit or _. */
bool xg_lex_is_name(char c);

/* How long a string or character is, from its quote on; R"d(...)d" from the R on; a comment. */
size_t xg_lex_quoted(const char *at);
size_t xg_lex_raw_string(const char *at);
size_t xg_lex_comment(const char *at);

/* How long a number is: 1'000, 0xff'ff, 1.5e-3f. */
size_t xg_lex_number(const char *at);

/* The # of the #else, #elif or #endif that ends a branch which "at" is in; else the text's end. */
const char *xg_lex_branch_end(const char *at);

/* The end of white space and comments. */
const char *xg_lex_skip_space(const char *at);

/* Past where what is opened at "at" is closed: a (, or the <<< of a launch; NULL: nowhere. */
const char *xg_lex_closing(const char *at);

#endif
