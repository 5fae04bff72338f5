/* SPDX-License-Identifier: BSD-3-Clause */
#include "reach.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Edges are chained by index; -1 ends the chain. */
typedef struct {
    char *name;
    int edges; /* the last of those from here */
    bool is_reached;
} symbol;

typedef struct {
    int to, before;
} edge;

struct xg_reach {
    symbol *symbols;
    int symbol_count, symbol_room;
    edge *edges;
    int edge_count, edge_room;
    int *table;   /* of symbols by name: twice their room; 0: none, else the index + 1 */
    int owner;    /* what the lines belong to: a function or an object; 0: the root */
    int function; /* the last; its code goes on after its tables */
    bool is_code;
};

static bool is_symbol(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

/* Where the table has the name, or where it would be. */
static int *entry_of(const xg_reach *r, const char *name, size_t length)
{
    const uint32_t last = 2 * (uint32_t)r->symbol_room - 1;
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < length; i++)
        at = (at ^ (unsigned char)name[i]) * 16777619u;
    for (at &= last; r->table[at]; at = (at + 1) & last) {
        const char *there = r->symbols[r->table[at] - 1].name;
        if (strncmp(there, name, length) == 0 && !there[length])
            break;
    }
    return &r->table[at];
}

static bool enlarge(xg_reach *r)
{
    const int room = r->symbol_room ? 2 * r->symbol_room : 1024;
    symbol *symbols = realloc(r->symbols, (size_t)room * sizeof *symbols);
    r->symbols = symbols ? symbols : r->symbols;
    int *table = symbols ? calloc(2 * (size_t)room, sizeof *table) : NULL;
    if (!table)
        return false;
    free(r->table);
    r->table = table;
    r->symbol_room = room;
    for (int i = 0; i < r->symbol_count; i++)
        *entry_of(r, symbols[i].name, strlen(symbols[i].name)) = i + 1;
    return true;
}

/* -1: no memory. */
static int symbol_named(xg_reach *r, const char *name, size_t length)
{
    if (r->symbol_count == r->symbol_room && !enlarge(r))
        return -1;
    int *entry = entry_of(r, name, length);
    if (!*entry) {
        char *own = strndup(name, length);
        if (!own)
            return -1;
        r->symbols[r->symbol_count] = (symbol){.name = own, .edges = -1};
        *entry = ++r->symbol_count;
    }
    return *entry - 1;
}

static bool add_edge(xg_reach *r, int from, int to)
{
    if (from < 0 || to < 0)
        return false;
    if (r->edge_count == r->edge_room) {
        const int room = r->edge_room ? 2 * r->edge_room : 1024;
        edge *edges = realloc(r->edges, (size_t)room * sizeof *edges);
        if (!edges)
            return false;
        r->edges = edges;
        r->edge_room = room;
    }
    r->edges[r->edge_count] = (edge){to, r->symbols[from].edges};
    r->symbols[from].edges = r->edge_count++;
    return true;
}

xg_reach *xg_reach_new(const char *root)
{
    xg_reach *r = calloc(1, sizeof *r);
    if (r && symbol_named(r, root, strlen(root)) == 0)
        return r;
    xg_reach_free(r);
    return NULL;
}

void xg_reach_free(xg_reach *r)
{
    for (int i = 0; r && i < r->symbol_count; i++)
        free(r->symbols[i].name);
    if (r) {
        free(r->symbols);
        free(r->edges);
        free(r->table);
    }
    free(r);
}

/* All names of the operands, but registers and what follows an @; aarch64's registers do no harm.
 */
static bool take_operands(xg_reach *r, const char *at, const char *end)
{
    while (at < end) {
        const char *from = at;
        while (at < end && is_symbol(*at))
            at++;
        const bool is_name = at > from && (isalpha((unsigned char)*from) || *from == '_');
        const bool is_other = from[-1] == '%' || from[-1] == '@';
        if (is_name && !is_other &&
            !add_edge(r, r->owner, symbol_named(r, from, (size_t)(at - from))))
            return false;
        at += at == from;
    }
    return true;
}

/* Labels of the compiler's own are of the function before, but for data, which is of the root. */
static bool take_label(xg_reach *r, const char *name, size_t length)
{
    if (*name != '.')
        r->owner = symbol_named(r, name, length);
    else if (!r->is_code)
        r->owner = 0;
    if (r->is_code)
        r->function = r->owner;
    return r->owner >= 0;
}

static bool take_alias(xg_reach *r, const char *at)
{
    size_t length = 0;
    while (is_symbol(at[length]))
        length++;
    const char *to = at + length + strspn(at + length, ", \t");
    size_t own = 0;
    while (is_symbol(to[own]))
        own++;
    return own == 0 || add_edge(r, symbol_named(r, at, length), symbol_named(r, to, own));
}

bool xg_reach_take(xg_reach *r, const char *line, size_t length)
{
    const char *const end = line + length, *at = line;
    while (*at == ' ' || *at == '\t')
        at++;
    const char *word = at;
    while (is_symbol(*word))
        word++;
    if (*word == ':' && at == line)
        return take_label(r, line, (size_t)(word - line));
    if (begins(at, ".set\t") || begins(at, ".set "))
        return take_alias(r, word + strspn(word, " \t"));
    if (begins(at, ".section") || begins(at, ".text") || begins(at, ".data") ||
        begins(at, ".bss")) {
        r->is_code = begins(at, ".text") || begins(word + strspn(word, " \t"), ".text");
        r->owner = r->is_code ? r->function : 0;
        return true;
    }
    static const char *const data[] = {".quad", ".long", ".xword", ".word", ".8byte", ".4byte"};
    bool has_operands = isalpha((unsigned char)*at);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        has_operands |= begins(at, data[i]);
    return !has_operands || word == at || take_operands(r, word, end);
}

bool xg_reach_mark(xg_reach *r)
{
    int *waiting = calloc((size_t)r->symbol_count, sizeof *waiting), count = 1;
    if (!waiting)
        return false;
    r->symbols[0].is_reached = true;
    while (count > 0)
        for (int e = r->symbols[waiting[--count]].edges; e >= 0; e = r->edges[e].before) {
            symbol *to = &r->symbols[r->edges[e].to];
            if (!to->is_reached)
                waiting[count++] = r->edges[e].to;
            to->is_reached = true;
        }
    free(waiting);
    return true;
}

bool xg_reach_has(const xg_reach *r, const char *name)
{
    const int at = *entry_of(r, name, strlen(name));
    return at && r->symbols[at - 1].is_reached;
}
