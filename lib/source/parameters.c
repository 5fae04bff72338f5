/* SPDX-License-Identifier: BSD-3-Clause */
#include "parameters.h"

#include "text.h"

#include <ctype.h>
#include <string.h>

/* The name that a parameter declares: its last identifier before what follows names. */
static bool parameter_name(const char *from, const char *end, char *name)
{
    const char *last = NULL;
    size_t length = 0;
    for (const char *at = from; at < end && *at != '[' && *at != '='; at++)
        if (xg_lex_is_name(*at) && (at == from || !xg_lex_is_name(at[-1])) &&
            !isdigit((unsigned char)*at)) {
            last = at;
            for (length = 0; xg_lex_is_name(at[length]); length++)
                ;
        }
    if (!last || length >= XG_NAME_MOST)
        return false;
    memcpy(name, last, length);
    name[length] = '\0';
    return true;
}

/* What stands between "from" and "to", without its comments. */
static void add_plain(xg_text *text, const char *from, const char *to)
{
    while (from < to) {
        const bool is_comment = from[0] == '/' && (from[1] == '/' || from[1] == '*');
        xg_text_add(text, is_comment ? " " : from, 1);
        from += is_comment ? xg_lex_comment(from) : 1;
    }
}

/* Those of "(const float *a, int n)". */
static int split_parameters(const char *at, const char *end, char (*names)[XG_NAME_MOST], int most)
{
    const char *from = xg_lex_skip_space(++at);
    int depth = 0, count = 0;
    if (from == end - 1 || strncmp(from, "void)", 5) == 0)
        return 0;
    for (; at < end; at++) {
        depth += *at == '(' || *at == '<' || *at == '[';
        depth -= (*at == ')' && at < end - 1) || *at == '>' || *at == ']';
        if (depth > 0 || (*at != ',' && at < end - 1))
            continue;
        if (count == most || !parameter_name(from, at, names[count]))
            return -1;
        count++;
        from = at + 1;
    }
    return count;
}

int xg_take_parameters(const char *at, char (*names)[XG_NAME_MOST], int most)
{
    const char *const end = xg_lex_closing(at);
    xg_text plain = {NULL, 0, 0, false};
    int count = -1;
    if (end)
        add_plain(&plain, at, end);
    if (end && !plain.failed)
        count = split_parameters(plain.at, plain.at + plain.length, names, most);
    xg_text_free(&plain);
    return count;
}
