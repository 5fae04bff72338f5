/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <stddef.h>
#include <string.h>

/* Not <ctype.h>: names are ASCII whatever the locale is. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool divides(char c)
{
    const char l = lower(c);
    return !(l >= 'a' && l <= 'z') && !(l >= '0' && l <= '9') && l != '.' && (unsigned char)l < 128;
}

static void drop_maker(xg_name *name)
{
    if (name->count < 2 || strcmp(name->words[0], "nvidia") != 0)
        return;
    name->count--;
    memmove(name->words, name->words + 1, (size_t)name->count * sizeof *name->words);
}

bool xg_name_read(xg_name *name, const char *text, const char **comma)
{
    int used = 0;
    bool inside = false, fits = true;
    name->count = 0;
    for (; *text && !(comma && *text == ','); text++) {
        const bool gap = divides(*text);
        if (gap ? !inside : !fits)
            continue;
        if (used == XG_NAME_LENGTH) {
            fits = false; /* go on to the comma */
            continue;
        }
        if (!gap && !inside)
            name->words[name->count++] = name->text + used;
        name->text[used++] = gap ? '\0' : lower(*text);
        inside = !gap;
    }
    name->text[used] = '\0';
    if (comma)
        *comma = *text ? text + 1 : NULL;
    drop_maker(name);
    return fits && name->count > 0;
}

bool xg_name_same(const xg_name *a, const xg_name *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return false;
    return true;
}

bool xg_name_has(const xg_name *name, const char *word)
{
    for (int i = 0; i < name->count; i++)
        if (strcmp(name->words[i], word) == 0)
            return true;
    return false;
}
