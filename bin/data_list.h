/* SPDX-License-Identifier: BSD-3-Clause */
/* --data LIST: the kinds of data that a command's operands hold. */
#ifndef XGEMM_BIN_DATA_LIST_H
#define XGEMM_BIN_DATA_LIST_H

#include "data.h"
#include "options.h"

enum { DATA_NAME = 64, DATA_LIST_MAX = 128 };

/* The kinds of A and of B. */
typedef struct {
    const data_kind *a, *b;
    char name[DATA_NAME]; /* "relu": of A, where B is normal; "relu:relu": of both */
} data_pair;

typedef struct {
    data_pair pairs[DATA_LIST_MAX];
    int count;
} data_list;

/* The row of a command that takes such a list, and its key. */
enum { KEY_DATA = 610 };
#define DATA_ROW                                                                                   \
    OPTION_ROW(KEY_DATA, "data", "LIST",                                                           \
               "kinds of data, of A or A:B, commas between, or all; list: say which")

/*
 * Pairs "A" or "A:B" with commas between; "all": each kind for A and for both. None for a NULL
 * text. An unknown kind ends the program with 2 and the names.
 */
data_list data_list_from(const command *which, const char *text);

/* Whether the text asks for the kinds to be listed: "list" or "help". */
bool data_list_wanted(const char *text);

/* Prints the kinds, in the format of the settings; gives back the exit status. */
int data_list_print(const command *which, const settings *common);

/* Whether A or B has the trait; C cancels only where both do. */
bool data_pair_has(const data_pair *pair, unsigned trait);

#endif
