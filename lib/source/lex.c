/* SPDX-License-Identifier: BSD-3-Clause */
#include "lex.h"

#include <ctype.h>
#include <string.h>

bool xg_lex_is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t xg_lex_quoted(const char *at)
{
    const char quote = *at;
    size_t i = 1;
    while (at[i] && at[i] != quote && at[i] != '\n')
        i += at[i] == '\\' && at[i + 1] ? 2 : 1;
    return at[i] == quote ? i + 1 : i;
}

size_t xg_lex_raw_string(const char *at)
{
    char end[20] = ")";
    const char *open = strchr(at, '(');
    const size_t length = open ? (size_t)(open - at) - 2 : sizeof end;
    if (length > 16)
        return 2;
    memcpy(end + 1, at + 2, length);
    strcpy(end + 1 + length, "\"");
    const char *close = strstr(open, end);
    return close ? (size_t)(close - at) + strlen(end) : strlen(at);
}

size_t xg_lex_comment(const char *at)
{
    const char *end = at[1] == '/' ? at + strcspn(at, "\n") : strstr(at + 2, "*/");
    if (!end)
        return strlen(at);
    return (size_t)(end - at) + (at[1] == '/' ? 0 : 2);
}

size_t xg_lex_number(const char *at)
{
    size_t i = 0;
    for (; xg_lex_is_name(at[i]) || at[i] == '.' || (at[i] == '\'' && xg_lex_is_name(at[i + 1]));
         i++)
        if (strchr("eEpP", at[i]) && (at[i + 1] == '-' || at[i + 1] == '+'))
            i++;
    return i;
}

const char *xg_lex_branch_end(const char *at)
{
    for (int depth = 0; *at;) {
        at += strcspn(at, "\n");
        at += *at == '\n';
        const char *const mark = at + strspn(at, " \t");
        const char *const word = mark + (*mark == '#') + strspn(mark + (*mark == '#'), " \t");
        if (*mark != '#')
            continue;
        if (depth == 0 && (strncmp(word, "el", 2) == 0 || strncmp(word, "endif", 5) == 0))
            return mark;
        depth += strncmp(word, "if", 2) == 0;
        depth -= strncmp(word, "endif", 5) == 0;
    }
    return at;
}

const char *xg_lex_skip_space(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at))
            at++;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at += xg_lex_comment(at);
        else
            return at;
    }
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (xg_lex_is_name(at[length]))
        length++;
    return length;
}

const char *xg_lex_closing(const char *at)
{
    const bool launch = *at == '<';
    int depth = 0;
    for (at += launch ? 3 : 0; *at; at++) {
        if (*at == '/' && (at[1] == '/' || at[1] == '*'))
            at += xg_lex_comment(at) - 1;
        else if (*at == '"' || *at == '\'')
            at += xg_lex_quoted(at) - 1;
        else if (xg_lex_is_name(*at))
            at += (isdigit((unsigned char)*at) ? xg_lex_number(at) : name_length(at)) - 1;
        else if (*at == '(' || *at == '[' || *at == '{')
            depth++;
        else if (*at == ')' || *at == ']' || *at == '}')
            depth--;
        if (launch && depth == 0 && strncmp(at, ">>>", 3) == 0)
            return at + 3;
        if (depth < 0 || (!launch && depth == 0))
            return launch ? NULL : at + 1;
    }
    return NULL;
}
