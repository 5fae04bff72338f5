/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of products, in a form in which they can be compared. */
#ifndef XGEMM_LIB_DEVICE_NAMES_H
#define XGEMM_LIB_DEVICE_NAMES_H

#include <stdbool.h>

enum { XG_NAME_LENGTH = 63, XG_NAME_WORDS = XG_NAME_LENGTH / 2 + 1 };

/* Words in lower case; what is neither a letter, a digit nor a point divides them. */
typedef struct {
    int count;
    char text[XG_NAME_LENGTH + 1]; /* the words, a zero after each */
    const char *words[XG_NAME_WORDS];
} xg_name;

/*
 * The words up to the end of the text or the comma, without a leading "nvidia";
 * false if there are none, or they are too long for any product.
 */
bool xg_name_read(xg_name *name, const char *text, const char **comma);

bool xg_name_same(const xg_name *a, const xg_name *b);

/* Whether a word stands in the name. */
bool xg_name_has(const xg_name *name, const char *word);

#endif
