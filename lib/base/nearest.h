/* SPDX-License-Identifier: BSD-3-Clause */
/* The names nearest to one that was asked for and is none; a header alone, for the utility too. */
#ifndef XGEMM_LIB_NEAREST_H
#define XGEMM_LIB_NEAREST_H

#include <stdio.h>
#include <string.h>

/* How many of them, and the most letters of a name that there is. */
enum { XG_NEAREST = 3, XG_NEAREST_LENGTH = 63 };

/* So far, the nearest first, and how far each is from what was asked for. */
typedef struct {
    const char *names[XG_NEAREST];
    int distances[XG_NEAREST];
} xg_nearest;

/*
 * How many letters must be put in, left out or replaced to make one word of the other, of which the
 * second has at most XG_NEAREST_LENGTH: Levenshtein's distance, one row of the table at a time.
 */
static inline int xg_word_distance(const char *a, const char *b)
{
    int row[XG_NEAREST_LENGTH + 1];
    const int columns = (int)strlen(b);
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 1; *a; a++, i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            const int replaced = diagonal + (*a != b[j - 1]);
            const int gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < gap ? replaced : gap;
        }
    }
    return row[columns];
}

/* From a name, or with one more from its beginning: what was asked for may be a part. */
static inline int xg_name_distance(const char *asked, const char *name)
{
    char begin[XG_NEAREST_LENGTH + 1];
    snprintf(begin, sizeof begin, "%.*s", (int)strlen(asked), name);
    const int whole = xg_word_distance(asked, name), part = xg_word_distance(asked, begin) + 1;
    return whole < part ? whole : part;
}

static inline void xg_nearest_consider(xg_nearest *list, const char *asked, const char *name)
{
    const int distance = xg_name_distance(asked, name);
    int place = XG_NEAREST;
    while (place > 0 && (!list->names[place - 1] || distance < list->distances[place - 1]))
        place--;
    for (int i = XG_NEAREST - 1; i > place; i--) {
        list->names[i] = list->names[i - 1];
        list->distances[i] = list->distances[i - 1];
    }
    if (place < XG_NEAREST) {
        list->names[place] = name;
        list->distances[place] = distance;
    }
}

/* The nearest, if it may well have been meant: up to one letter in three is wrong; else NULL. */
static inline const char *xg_nearest_meant(const xg_nearest *list, const char *asked)
{
    const int most = ((int)strlen(asked) + 2) / 3;
    return list->names[0] && list->distances[0] <= most ? list->names[0] : NULL;
}

#endif
