/* SPDX-License-Identifier: BSD-3-Clause */
#include "assembly.h"

#include "operations.h"
#include "reach.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much dynamic shared memory a block can have, with room to see what goes past it. */
enum { DYNAMIC_BYTES = 228 * 1024 };

/* Before each array in shared memory, so that what goes past the one before is seen. */
enum { GAP_BYTES = 1024 };

/* ---- What differs between machines ---- */

#if defined(__x86_64__)
static const char *const load_site[] = {"\tmovl\t$%d, %%edi\n", "\tmovl\t$%d, %%esi\n",
                                        "\tmovl\t$%d, %%edx\n", "\tmovl\t$%d, %%ecx\n"};
#elif defined(__aarch64__)
static const char *const load_site[] = {"\tmov\tw0, %d\n", "\tmov\tw1, %d\n", "\tmov\tw2, %d\n",
                                        "\tmov\tw3, %d\n"};
#else
static const char *const load_site[] = {NULL, NULL, NULL, NULL};
#endif

/* Jumps, also those on a condition, but not those that call a hook. */
static bool is_jump(const char *mnemonic, size_t length)
{
#if defined(__x86_64__)
    return length > 1 && mnemonic[0] == 'j';
#else
    return (length == 1 && *mnemonic == 'b') ||
           (length > 1 && mnemonic[0] == 'b' && mnemonic[1] == '.') ||
           (length > 2 && (memcmp(mnemonic, "cb", 2) == 0 || memcmp(mnemonic, "tb", 2) == 0));
#endif
}

/* The label that a jump leads to: its last operand. */
static const char *target_of(const char *operands)
{
    const char *target = operands;
    for (const char *at = operands; *at && *at != '\n'; at++)
        if (*at == ',')
            target = at + 1 + strspn(at + 1, " \t");
    return target;
}

bool xg_assembly_is_known(void)
{
    return load_site[0] != NULL;
}

/* ---- Hooks ---- */

/* The sanitizer's call, ours, and the argument that the site's number becomes. */
typedef struct {
    const char *name, *ours;
    int argument; /* -1: none */
} hook;

static const hook hooks[] = {
    {"__tsan_read_range", "xg_read_range", 2},
    {"__tsan_write_range", "xg_write_range", 2},
    {"__tsan_read1", "xg_read1", 1},
    {"__tsan_read2", "xg_read2", 1},
    {"__tsan_read4", "xg_read4", 1},
    {"__tsan_read8", "xg_read8", 1},
    {"__tsan_read16", "xg_read16", 1},
    {"__tsan_write1", "xg_write1", 1},
    {"__tsan_write2", "xg_write2", 1},
    {"__tsan_write4", "xg_write4", 1},
    {"__tsan_write8", "xg_write8", 1},
    {"__tsan_write16", "xg_write16", 1},
    {"__tsan_unaligned_read2", "xg_unaligned_read2", 1},
    {"__tsan_unaligned_read4", "xg_unaligned_read4", 1},
    {"__tsan_unaligned_read8", "xg_unaligned_read8", 1},
    {"__tsan_unaligned_read16", "xg_unaligned_read16", 1},
    {"__tsan_unaligned_write2", "xg_unaligned_write2", 1},
    {"__tsan_unaligned_write4", "xg_unaligned_write4", 1},
    {"__tsan_unaligned_write8", "xg_unaligned_write8", 1},
    {"__tsan_unaligned_write16", "xg_unaligned_write16", 1},
    {"__sanitizer_cov_trace_pc", "xg_block", 0},
    {"__tsan_init", "xg_init", -1},
    {"__tsan_vptr_update", "xg_vptr_update", -1},
    {"__tsan_vptr_read", "xg_vptr_read", -1},
    {"__tsan_func_entry", "xg_func_entry", -1},
    {"__tsan_func_exit", "xg_func_exit", -1},
    {"__tsan_memcpy", "xg_memcpy", 3},
    {"__tsan_memmove", "xg_memmove", 3},
    {"__tsan_memset", "xg_memset", 3},
    {"memcpy", "xg_memcpy", 3},
    {"memmove", "xg_memmove", 3},
    {"memset", "xg_memset", 3},
    {"xg_access", "xg_access", 3},
};

static const hook *hook_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (strlen(hooks[i].name) == length && memcmp(hooks[i].name, name, length) == 0)
            return &hooks[i];
    return NULL;
}

/* ---- The pass ---- */

/* A thread-local symbol: where it is defined, if it is. */
typedef struct {
    char *name;
    bool defined;
} local_symbol;

/* A place in the code: the first site after it. */
typedef struct {
    char name[48];
    int site;
} label;

typedef struct {
    xg_text *out;
    const char *shim_folder;
    xg_code_sites *sites;
    xg_reach *reach; /* from the kernel on */
    int file, line;  /* of the user's source, the last that was named */
    int block;       /* the site of the running basic block; -1: none */
    bool skipping;   /* a section that goes */
    bool in_tls;
    local_symbol *locals;
    int local_count, local_room;
    int function;  /* how many there were */
    label *labels; /* of this function */
    int label_count, label_room;
    bool failed; /* memory ran out */
} pass;

static bool is_symbol_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

static void *with_room(pass *p, void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    const int larger = *room ? 2 * *room : 64;
    void *const moved = realloc(array, (size_t)larger * size);
    if (!moved) {
        p->failed = true;
        return NULL;
    }
    *room = larger;
    return moved;
}

static int add_site(pass *p)
{
    xg_code_sites *s = p->sites;
    xg_code_site *moved = with_room(p, s->sites, s->count, &s->room, sizeof *s->sites);
    if (!moved)
        return 0;
    s->sites = moved;
    s->sites[s->count] =
        (xg_code_site){.line = p->line, .file = p->file, .function = p->function, .loop_end = -1};
    return s->count++;
}

/*
 * What stands between quotes, with \\ or \ooo for what is no letter; the end, or NULL: there is
 * none.
 */
static const char *take_quoted(const char *at, char *to, size_t size)
{
    size_t used = 0;
    for (at += strspn(at, " \t"), at += *at == '"'; *at && *at != '"' && *at != '\n';) {
        char c = *at++;
        if (c == '\\' && *at >= '0' && *at <= '7') {
            int digits = 0, value = 0;
            for (; digits < 3 && *at >= '0' && *at <= '7'; digits++)
                value = 8 * value + *at++ - '0';
            c = (char)value;
        } else if (c == '\\' && *at) {
            c = *at++;
        }
        if (used + 1 < size)
            to[used++] = c;
    }
    to[used] = '\0';
    return *at == '"' ? at + 1 : NULL;
}

/* .file NUMBER ["FOLDER"] "NAME" */
static void take_file(pass *p, const char *at)
{
    char name[1024], folder[1024] = "";
    char *after;
    const long number = strtol(at, &after, 10);
    if (after == at || number < 0 || number > 65535)
        return;
    const char *end = take_quoted(after, name, sizeof name);
    if (end && end[strspn(end, " \t")] == '"') {
        memcpy(folder, name, sizeof folder);
        end = take_quoted(end, name, sizeof name);
    }
    if (!end)
        return;
    if (number >= p->sites->file_count) {
        char **moved = realloc(p->sites->files, (size_t)(number + 1) * sizeof *moved);
        if (!moved) {
            p->failed = true;
            return;
        }
        for (int i = p->sites->file_count; i <= number; i++)
            moved[i] = NULL;
        p->sites->files = moved;
        p->sites->file_count = (int)number + 1;
    }
    const bool users = !begins(name, p->shim_folder) && !begins(name, "/usr/") &&
                       !begins(folder, p->shim_folder) && !begins(name, "xgemm-launch") && *name;
    free(p->sites->files[number]);
    p->sites->files[number] = users ? strdup(name) : NULL;
}

/* .loc FILE LINE ... */
static void take_location(pass *p, const char *at)
{
    int file, line;
    if (sscanf(at, "%d %d", &file, &line) == 2 && line > 0 && file >= 0 &&
        file < p->sites->file_count && p->sites->files[file]) {
        p->file = file;
        p->line = line;
    }
}

static local_symbol *local_named(pass *p, const char *name, size_t length)
{
    for (int i = 0; i < p->local_count; i++)
        if (strlen(p->locals[i].name) == length && memcmp(p->locals[i].name, name, length) == 0)
            return &p->locals[i];
    local_symbol *moved =
        with_room(p, p->locals, p->local_count, &p->local_room, sizeof *p->locals);
    if (!moved)
        return NULL;
    p->locals = moved;
    p->locals[p->local_count] = (local_symbol){strndup(name, length), false};
    return &p->locals[p->local_count++];
}

/* A symbol that is used as thread-local: "NAME@tlsgd" or ":tlsdesc:NAME". */
static void note_local(pass *p, const char *line, size_t length)
{
#if defined(__x86_64__)
    static const char *const marks[] = {"@tlsgd",  "@TLSGD",  "@tlsld", "@gottpoff",
                                        "@dtpoff", "@DTPOFF", "@tpoff"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = memmem(line, length, marks[i], strlen(marks[i]));
        const char *from = mark;
        while (from && from > line && (is_symbol_character(from[-1])))
            from--;
        if (mark && from < mark)
            local_named(p, from, (size_t)(mark - from));
    }
#else
    static const char *const marks[] = {":tlsdesc:", ":tlsgd:", ":tlsdesc_lo12:"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = memmem(line, length, marks[i], strlen(marks[i]));
        const char *from = mark ? mark + strlen(marks[i]) : NULL, *end = from;
        while (end && is_symbol_character(*end))
            end++;
        if (from && end > from)
            local_named(p, from, (size_t)(end - from));
    }
#endif
}

static void take_section(pass *p, const char *at)
{
    p->skipping = begins(at, ".debug_") || strstr(at, "tsan") == at;
    p->in_tls = begins(at, ".tbss") || begins(at, ".tdata");
}

static void take_label(pass *p, const char *name, size_t length)
{
    if (length >= sizeof p->labels->name)
        return;
    label *moved = with_room(p, p->labels, p->label_count, &p->label_room, sizeof *p->labels);
    if (!moved)
        return;
    p->labels = moved;
    memcpy(p->labels[p->label_count].name, name, length);
    p->labels[p->label_count].name[length] = '\0';
    p->labels[p->label_count++].site = p->sites->count;
}

/* A jump to a label above: a loop, from the first block there to the running one. */
static void take_jump(pass *p, const char *operands)
{
    size_t length = 0;
    while (is_symbol_character(operands[length]))
        length++;
    for (int i = p->label_count - 1; i >= 0 && length > 0; i--) {
        if (strlen(p->labels[i].name) != length || memcmp(p->labels[i].name, operands, length) != 0)
            continue;
        for (int site = p->labels[i].site; site < p->sites->count; site++)
            if (p->sites->sites[site].is_block) {
                p->sites->sites[site].loop_end = p->sites->count - 1;
                return;
            }
        return;
    }
}

/* An instruction: counted in its block; a call of a hook gets its site. */
static void take_instruction(pass *p, const char *line, size_t length)
{
    const char *at = line;
    size_t word = 0;
    while (isspace((unsigned char)*at))
        at++;
    while (isalnum((unsigned char)at[word]) || at[word] == '.')
        word++;
    const char *operands = at + word;
    while (*operands == ' ' || *operands == '\t')
        operands++;
    const bool calls =
        begins(at, "call") || begins(at, "jmp") || begins(at, "bl\t") || begins(at, "b\t");
    size_t name = 0;
    while (calls && is_symbol_character(operands[name]))
        name++;
    const hook *its = calls ? hook_of(operands, name) : NULL;
    bool is_double = false;
    if (!its && is_jump(at, word))
        take_jump(p, target_of(operands));
    if (!its) {
        const int flops = calls ? xg_flops_of_call(operands, name, &is_double)
                                : xg_flops_of(at, word, operands, &is_double);
        if (p->block >= 0) {
            xg_code_site *block = &p->sites->sites[p->block];
            block->instructions++;
            *(is_double ? &block->flops64 : &block->flops) += flops;
        }
        xg_text_add(p->out, line, length);
        return;
    }
    if (its->argument >= 0) {
        const int site = add_site(p);
        if (its->argument == 0) {
            p->block = site;
            p->sites->sites[site].is_block = true;
        } else if (p->block >= 0)
            p->sites->sites[p->block].instructions++;
        xg_text_print(p->out, load_site[its->argument], site);
    }
    xg_text_add(p->out, line, (size_t)(operands - line));
    xg_text_print(p->out, "%s", its->ours);
    xg_text_add(p->out, operands + name, length - (size_t)(operands + name - line));
}

static void take_line(pass *p, const char *line, size_t length)
{
    const char *at = line;
    while (*at == ' ' || *at == '\t')
        at++;
    if (begins(at, ".file")) {
        take_file(p, at + 5);
        return;
    }
    if (begins(at, ".loc\t") || begins(at, ".loc ")) {
        take_location(p, at + 5);
        return;
    }
    if (begins(at, ".section"))
        take_section(p, at + 8 + strspn(at + 8, " \t"));
    else if (begins(at, ".text") || begins(at, ".data") || begins(at, ".bss"))
        p->skipping = p->in_tls = false;
    if (p->skipping && !begins(at, ".weak")) /* clang's stand between what describes lines */
        return;
    if (begins(at, ".type") && (strstr(at, "@function") || strstr(at, "%function")) &&
        strcspn(at, "\n") > (size_t)(strstr(at, "function") - at)) {
        p->function++;
        p->label_count = 0;
        p->line = p->file = 0; /* until its first line: not that of the function before */
    }
    p->failed |= !xg_reach_take(p->reach, line, length);
    note_local(p, line, length);
    const size_t symbol = strcspn(line, ":\n");
    if (p->in_tls && !isspace((unsigned char)*line) && line[symbol] == ':' && *line != '#') {
        local_symbol *its = local_named(p, line, symbol);
        if (its)
            its->defined = true;
        xg_text_print(p->out, "\t.zero\t%d\n", GAP_BYTES);
    }
    if (line == at && line[symbol] == ':' && *line == '.')
        take_label(p, line, symbol);
    if (at > line && isalpha((unsigned char)*at))
        take_instruction(p, line, length);
    else
        xg_text_add(p->out, line, length);
}

/* Arrays in shared memory that the kernel does not come to, as other kernels', have no size. */
static void hide_others(pass *p)
{
    p->failed |= !xg_reach_mark(p->reach);
    for (int i = 0; i < p->local_count; i++)
        if (p->locals[i].defined && !xg_reach_has(p->reach, p->locals[i].name))
            xg_text_print(p->out, "\t.size\t%s, 0\n", p->locals[i].name);
}

/* The dynamic shared memory, under every name that the source gives it. */
static void define_dynamic(pass *p)
{
    xg_text_print(p->out, "\t.section\t.tbss,\"awT\",%%nobits\n\t.balign\t1024\n");
    for (int i = 0; i <= p->local_count; i++) {
        const char *name = i < p->local_count ? p->locals[i].name : "xg_dynamic";
        if (i < p->local_count && p->locals[i].defined)
            continue;
        xg_text_print(p->out,
                      "\t.globl\t%s\n\t.hidden\t%s\n\t.type\t%s, %%object\n\t.size\t%s, %d\n%s:\n",
                      name, name, name, name, DYNAMIC_BYTES, name);
    }
    xg_text_print(p->out, "\t.zero\t%d\n\t.section\t.note.GNU-stack,\"\",%%progbits\n",
                  DYNAMIC_BYTES);
}

xgemm_status xg_assembly_pass(const char *assembly, const char *shim_folder, xg_text *out,
                              xg_code_sites *sites, xg_error *error)
{
    pass p = {.out = out,
              .shim_folder = shim_folder,
              .sites = sites,
              .reach = xg_reach_new("xg_entry"),
              .block = -1};
    p.failed = !p.reach;
    while (*assembly && !p.failed) {
        const size_t length = strcspn(assembly, "\n");
        take_line(&p, assembly, length + (assembly[length] == '\n'));
        assembly += length + (assembly[length] == '\n');
    }
    if (!p.failed)
        hide_others(&p);
    define_dynamic(&p);
    for (int i = 0; i < p.local_count; i++)
        free(p.locals[i].name);
    free(p.locals);
    free(p.labels);
    xg_reach_free(p.reach);
    if (p.failed || out->failed)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's assembly");
    return XGEMM_OK;
}

void xg_code_sites_free(xg_code_sites *sites)
{
    for (int i = 0; i < sites->file_count; i++)
        free(sites->files[i]);
    free(sites->files);
    free(sites->sites);
    memset(sites, 0, sizeof *sites);
}
