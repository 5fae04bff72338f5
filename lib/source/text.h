/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that grow, files read and written whole. */
#ifndef XGEMM_SOURCE_TEXT_H
#define XGEMM_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Ends in a 0 that is not counted. After memory ran out it has failed, and stays as it was. */
typedef struct {
    char *at;
    size_t length, room;
    bool failed;
} xg_text;

void xg_text_add(xg_text *text, const char *from, size_t length);
void xg_text_print(xg_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As it stands between quotes in C. */
void xg_text_quote(xg_text *text, const char *from);
void xg_text_free(xg_text *text);

/* The whole file; false: errno says why. */
bool xg_text_read(xg_text *text, const char *path);
bool xg_text_write(const xg_text *text, const char *path);

#endif
