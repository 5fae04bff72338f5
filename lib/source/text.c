/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(xg_text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->length + more + 1 <= text->room)
        return true;
    const size_t room = 2 * (text->length + more) + 256;
    char *moved = realloc(text->at, room);
    if (!moved) {
        text->failed = true;
        return false;
    }
    text->at = moved;
    text->room = room;
    return true;
}

void xg_text_add(xg_text *text, const char *from, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->at + text->length, from, length);
    text->length += length;
    text->at[text->length] = '\0';
}

void xg_text_print(xg_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void xg_text_quote(xg_text *text, const char *from)
{
    for (; *from; from++) {
        if (*from == '"' || *from == '\\')
            xg_text_add(text, "\\", 1);
        xg_text_add(text, from, 1);
    }
}

void xg_text_free(xg_text *text)
{
    free(text->at);
    *text = (xg_text){NULL, 0, 0, false};
}

bool xg_text_read(xg_text *text, const char *path)
{
    char part[65536];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    xg_text_add(text, "", 0);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        xg_text_add(text, part, got);
    const bool wrong = ferror(file);
    if (fclose(file) != 0 || wrong)
        return false;
    if (text->failed)
        errno = ENOMEM;
    return !text->failed;
}

bool xg_text_write(const xg_text *text, const char *path)
{
    if (text->failed) {
        errno = ENOMEM;
        return false;
    }
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool all = fwrite(text->at, 1, text->length, file) == text->length;
    return fclose(file) == 0 && all;
}
