/* SPDX-License-Identifier: BSD-3-Clause */
#include "scan.h"

#include "parameters.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPACES_MOST = 16, CONDITIONS_MOST = 32 };

/* What is open. */
typedef struct {
    int depth;            /* of braces */
    int device_depth;     /* -1: not in the body of a kernel or of a function of the device */
    bool device_header;   /* after __global__ or __device__, before the body or the semicolon */
    bool kernel_header;   /* after __global__, before the parameters */
    bool template_header; /* after template, before the body or the semicolon */
    int space_count;      /* of namespaces */
} nesting;

/* A condition of the preprocessor: each branch begins with what is open before it. */
typedef struct {
    nesting before, after; /* after the first branch, as after any other where both are right */
    bool has_after;
    bool is_dead;    /* the branch is in no case compiled */
    bool is_decided; /* those that follow are not */
} condition;

/* Where the scanner is in the file. */
typedef struct {
    const char *path, *at;
    int line;
    nesting in;
    char last_name[XG_NAME_MOST];  /* the last identifier */
    char outer_name[XG_NAME_MOST]; /* in a kernel's header the one before < */
    int angles;                    /* that are open there */
    struct {
        int depth; /* of its brace */
        char name[XG_NAME_MOST];
    } spaces[SPACES_MOST]; /* the namespaces that are open */
    condition conditions[CONDITIONS_MOST];
    int condition_count;
    const char *define_end; /* of the last #define */
    bool in_header;
    bool has_host_names; /* host code has variables that are called blockDim and the like */
    xg_text *text;       /* what is written */
    xg_scan *to;
    xg_error *error;
} scanner;

/* What has no model, by the word that it begins with. */
static const struct {
    const char *word, *what;
} refused[] = {
    {"asm", "inline PTX (asm)"},
    {"__asm__", "inline PTX (asm)"},
    {"__asm", "inline PTX (asm)"},
    {"texture", "a texture reference"},
    {"cudaTextureObject_t", "a texture object"},
    {"tex1Dfetch", "a texture fetch"},
    {"tex1D", "a texture fetch"},
    {"tex2D", "a texture fetch"},
    {"tex3D", "a texture fetch"},
    {"cudaSurfaceObject_t", "a surface object"},
};

/* The same in code of the device alone. */
static const char *const allocations[] = {"malloc", "new", "cudaMalloc"};

static void copy(scanner *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        s->line += s->at[i] == '\n';
    xg_text_add(s->text, s->at, count);
    s->at += count;
}

/* Passes over so much of the file, but for its ends of lines. */
static void drop(scanner *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (s->at[i] == '\n') {
            s->line++;
            xg_text_add(s->text, "\n", 1);
        }
    s->at += count;
}

/* "outer::inner::" */
static void join_spaces(const scanner *s, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < s->in.space_count && used < size; i++)
        if (*s->spaces[i].name)
            used += (size_t)snprintf(text + used, size - used, "%s::", s->spaces[i].name);
}

/* After the word namespace: "outer::inner {", "{", or an alias, which opens nothing. */
static void take_space(scanner *s)
{
    const char *const from = xg_lex_skip_space(s->at), *to = from;
    while (xg_lex_is_name(*to) || *to == ':')
        to++;
    if (*xg_lex_skip_space(to) != '{' || s->in.space_count == SPACES_MOST ||
        to - from >= XG_NAME_MOST)
        return;
    s->spaces[s->in.space_count].depth = s->in.depth;
    memcpy(s->spaces[s->in.space_count].name, from, (size_t)(to - from));
    s->spaces[s->in.space_count++].name[to - from] = '\0';
}

/* After __global__: a ( follows a name; whether it is an attribute's. */
static bool take_kernel(scanner *s)
{
    xg_scan *to = s->to;
    static const char *const attributes[] = {"__launch_bounds__", "__attribute__", "__declspec",
                                             "__cluster_dims__", "alignas"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(s->last_name, attributes[i]) == 0)
            return true;
    s->in.kernel_header = false;
    if (s->at < s->define_end) {
        to->has_others = true;
        return false;
    }
    if (to->kernel_count == XG_KERNELS_MOST || !*s->last_name)
        return false;
    const char *const end = xg_lex_closing(s->at);
    const bool is_defined = end && *xg_lex_skip_space(end) == '{';
    xg_source_kernel kernel = {.line = s->in_header ? 0 : s->line,
                               .is_template = s->in.template_header};
    strcpy(kernel.name, s->last_name);
    join_spaces(s, kernel.space, sizeof kernel.space);
    kernel.parameter_count = xg_take_parameters(s->at, kernel.parameters, XG_PARAMETERS_MOST);
    for (int i = 0; i < to->kernel_count; i++) {
        xg_source_kernel *const known = &to->kernels[i];
        if (strcmp(known->name, kernel.name) == 0 && strcmp(known->space, kernel.space) == 0) {
            if (is_defined && !known->is_template)
                *known = kernel; /* declared before, and maybe with other names */
            return false;
        }
    }
    to->kernels[to->kernel_count++] = kernel;
    return false;
}

static xgemm_status refuse(const scanner *s, const char *what)
{
    return xg_fail(s->error, XGEMM_ERROR_NOT_SUPPORTED,
                   "%s:%d: %s; the simulator has no model of it", s->path, s->line, what);
}

static const char *const index_names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

static bool is_index_name(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof index_names / sizeof *index_names; i++)
        if (strlen(index_names[i]) == length && memcmp(index_names[i], at, length) == 0)
            return true;
    return false;
}

/* Whether a "dim3 grid(8), blockDim(32);" declares such a name, in host code or not. */
static bool declares_index_name(const char *text)
{
    for (const char *at = text; (at = strstr(at, "dim3")); at += 4)
        for (const char *end = at + strcspn(at, ";{"), *name = at; name < end; name++) {
            size_t length = 0;
            while (xg_lex_is_name(name[length]))
                length++;
            if (is_index_name(name, length))
                return true;
            name += length;
        }
    return false;
}

/*
 * Whether the name is not the built-in variable, which is a macro in the shim: a member, or what
 * host code calls so.
 */
static bool is_hosts(const scanner *s, size_t length)
{
    const char before = s->text->length > 0 ? s->text->at[s->text->length - 1] : '\0';
    const char two = s->text->length > 1 ? s->text->at[s->text->length - 2] : '\0';
    const bool is_member = before == '.' || (before == '>' && two == '-');
    const bool in_host = s->in.device_depth < 0 && !s->in.device_header && s->at >= s->define_end &&
                         s->has_host_names;
    return (is_member || in_host) && is_index_name(s->at, length);
}

/*
 * At alignas after other words of a declaration, where nvcc takes it: an attribute, which C++ takes
 * there, too. Not of a struct.
 */
static bool take_alignment(scanner *s, size_t length)
{
    static const char *const words[] = {"__shared__", "__constant__", "__device__", "__managed__",
                                        "static",     "extern",       "const",      "volatile"};
    const char *const open = xg_lex_skip_space(s->at + length);
    const char *const end = *open == '(' ? xg_lex_closing(open) : NULL;
    bool follows = false;
    if (length != 7 || memcmp(s->at, "alignas", length) != 0 || !end)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        follows |= strcmp(s->last_name, words[i]) == 0;
    if (!follows)
        return false;
    xg_text_print(s->text, "__attribute__((aligned(xg::alignment<");
    drop(s, (size_t)(open + 1 - s->at));
    copy(s, (size_t)(end - 1 - s->at));
    xg_text_print(s->text, ">())))");
    s->at++;
    return true;
}

static xgemm_status take_word(scanner *s)
{
    size_t length = 0;
    while (xg_lex_is_name(s->at[length]))
        length++;
    for (size_t i = 0; !s->in_header && i < sizeof refused / sizeof *refused; i++)
        if (strlen(refused[i].word) == length && memcmp(s->at, refused[i].word, length) == 0 &&
            (strcmp(refused[i].word, "texture") != 0 || *xg_lex_skip_space(s->at + length) == '<'))
            return refuse(s, refused[i].what);
    const bool allocates = s->in.device_depth >= 0 && !s->in_header;
    for (size_t i = 0; allocates && i < sizeof allocations / sizeof *allocations; i++)
        if (strlen(allocations[i]) == length && memcmp(s->at, allocations[i], length) == 0 &&
            (strcmp(allocations[i], "new") != 0 || *xg_lex_skip_space(s->at + length) != '('))
            return refuse(s, "memory that a kernel allocates");
    if (take_alignment(s, length))
        return XGEMM_OK;
    const size_t kept = length < XG_NAME_MOST ? length : XG_NAME_MOST - 1;
    memcpy(s->last_name, s->at, kept);
    s->last_name[kept] = '\0';
    if (strcmp(s->last_name, "__global__") == 0) {
        s->in.device_header = s->in.kernel_header = true;
        s->angles = 0;
    }
    if (strcmp(s->last_name, "template") == 0)
        s->in.template_header = true;
    if (strcmp(s->last_name, "__device__") == 0)
        s->in.device_header = true;
    if (is_hosts(s, length))
        xg_text_print(s->text, "xg_host_");
    if (strcmp(s->last_name, "__noinline__") == 0) {
        xg_text_print(s->text, "__attribute__((noinline))");
        s->at += length;
    } else {
        copy(s, length);
    }
    if (strcmp(s->last_name, "namespace") == 0)
        take_space(s);
    return XGEMM_OK;
}

/* The number of a header beside the file; -1: it is not there, or there are too many. */
static int header_number(scanner *s, const char *name, int length)
{
    xg_scan *const to = s->to;
    const char *slash = *name == '/' ? NULL : strrchr(s->path, '/');
    const int folder = slash ? (int)(slash - s->path) + 1 : 0;
    xg_text path = {NULL, 0, 0, false};
    int i = 0;
    xg_text_print(&path, "%.*s%.*s", folder, s->path, length, name);
    if (path.failed)
        return -1;
    while (i < to->header_count && strcmp(to->headers[i].path, path.at) != 0)
        i++;
    if (i == to->header_count && i < XG_HEADERS_MOST && access(path.at, R_OK) == 0)
        to->headers[to->header_count++].path = path.at;
    else
        xg_text_free(&path);
    return i < to->header_count ? i : -1;
}

/* After #include: in place of a header beside the file its copy is included. */
static void take_include(scanner *s, const char *name)
{
    const size_t length = strcspn(name, "\"\n");
    const int number = name[length] == '"' ? header_number(s, name, (int)length) : -1;
    if (number < 0) {
        s->to->has_others = true;
        copy(s, 1);
        return;
    }
    xg_text_print(s->text, "#include \"%s%d\"", XG_HEADER_NAME, number);
    s->at = name + length + 1;
}

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

/* Of "#if 0" and "#if 1" the number; else -1. */
static int literal_of(const char *word)
{
    const char *at = word + strcspn(word, " \t\n"), *number = at + strspn(at, " \t");
    const char *rest = number + strspn(number, "01");
    rest += strspn(rest, " \t\r");
    const bool is_literal =
        begins(word, "if") && at == word + 2 && (*number == '0' || *number == '1');
    return is_literal && (*rest == '\n' || *rest == '/' || !*rest) ? *number - '0' : -1;
}

/*
 * At a word of a condition: of its branches the first says what is open after it. Whether the
 * branch that begins is dead.
 */
static bool take_condition(scanner *s, const char *word)
{
    const bool begins_one = begins(word, "if");
    s->condition_count += begins_one;
    condition *const c = &s->conditions[s->condition_count - 1];
    if (s->condition_count < 1 || s->condition_count > CONDITIONS_MOST) {
        s->condition_count -= s->condition_count > 0 && begins(word, "endif");
        return false;
    }
    if (begins_one) {
        const int literal = literal_of(word);
        *c = (condition){.before = s->in, .is_dead = literal == 0, .is_decided = literal == 1};
    } else {
        if (!c->is_dead && !c->has_after)
            c->after = s->in, c->has_after = true;
        s->in = begins(word, "endif") && c->has_after ? c->after : c->before;
        c->is_dead = c->is_decided;
    }
    s->condition_count -= begins(word, "endif");
    return c->is_dead && !begins(word, "endif");
}

/* At a #: a condition, a definition, to the end of its last line, or a header. */
static void take_directive(scanner *s)
{
    const char *word = s->at + 1;
    word += strspn(word, " \t");
    if (begins(word, "include") && word[7 + strspn(word + 7, " \t")] == '"') {
        take_include(s, word + 8 + strspn(word + 7, " \t"));
        return;
    }
    if (begins(word, "if") || begins(word, "el") || begins(word, "endif")) {
        copy(s, take_condition(s, word) ? (size_t)(xg_lex_branch_end(s->at) - s->at) : 1);
        return;
    }
    if (begins(word, "define")) {
        const char *end = word + strcspn(word, "\n");
        while (*end && end[-1] == '\\')
            end += 1 + strcspn(end + 1, "\n");
        s->define_end = end;
    }
    copy(s, 1);
}

static xgemm_status take_launch(scanner *s)
{
    const char *end = xg_lex_closing(s->at);
    const bool nested = s->in.device_depth >= 0;
    if (nested && !s->in_header)
        return refuse(s, "a kernel that launches a kernel");
    if (end && !nested)
        drop(s, (size_t)(end - s->at));
    else
        copy(s, 3);
    return XGEMM_OK;
}

/* In a kernel's header: of k<float>( the kernel's name is k. */
static void take_angle(scanner *s)
{
    if (*s->at == '<' && s->angles++ == 0)
        strcpy(s->outer_name, s->last_name);
    if (*s->at == '>' && s->angles > 0 && --s->angles == 0)
        strcpy(s->last_name, s->outer_name);
}

/* Braces and semicolons: which bodies are the device's. */
static void take_mark(scanner *s)
{
    const char mark = *s->at;
    if (s->in.kernel_header)
        take_angle(s);
    const char *const end =
        mark == '(' && s->in.kernel_header && s->angles == 0 ? xg_lex_closing(s->at) : NULL;
    if (end && take_kernel(s)) {
        copy(s, (size_t)(end - s->at));
        return;
    }
    if (mark == '{') {
        if (s->in.device_header && s->in.device_depth < 0)
            s->in.device_depth = s->in.depth;
        s->in.device_header = s->in.kernel_header = s->in.template_header = false;
        s->in.depth++;
    }
    if (mark == '}' && --s->in.depth <= s->in.device_depth)
        s->in.device_depth = -1;
    if (mark == '}' && s->in.space_count > 0 &&
        s->spaces[s->in.space_count - 1].depth == s->in.depth)
        s->in.space_count--;
    if (mark == ';')
        s->in.template_header = false;
    if (mark == ';' || (mark == '=' && s->angles == 0))
        s->in.device_header = s->in.kernel_header = false;
    copy(s, 1);
}

static xgemm_status scan_all(scanner *s)
{
    xgemm_status status = XGEMM_OK;
    while (*s->at && !status) {
        const char c = *s->at;
        const bool inside_name = xg_lex_is_name(c) && s->text->length > 0 &&
                                 xg_lex_is_name(s->text->at[s->text->length - 1]);
        if (c == '/' && (s->at[1] == '/' || s->at[1] == '*'))
            copy(s, xg_lex_comment(s->at));
        else if (c == 'R' && s->at[1] == '"' && !inside_name)
            copy(s, xg_lex_raw_string(s->at));
        else if (isdigit((unsigned char)c) && !inside_name)
            copy(s, xg_lex_number(s->at));
        else if (c == '"' || c == '\'')
            copy(s, xg_lex_quoted(s->at));
        else if (c == '#' && s->at >= s->define_end)
            take_directive(s);
        else if (strncmp(s->at, "<<<", 3) == 0)
            status = take_launch(s);
        else if (xg_lex_is_name(c) && !inside_name)
            status = take_word(s);
        else
            take_mark(s);
    }
    return status;
}

static xgemm_status scan_header(xg_scan *scan, int number, xg_error *error)
{
    const char *path = scan->headers[number].path;
    xg_text original = {NULL, 0, 0, false};
    if (!xg_text_read(&original, path))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot read %s: %s", path,
                       strerror(errno));
    scanner s = {.path = path,
                 .at = original.at,
                 .line = 1,
                 .in = {.device_depth = -1},
                 .define_end = original.at,
                 .in_header = true,
                 .has_host_names = declares_index_name(original.at),
                 .text = &scan->headers[number].text,
                 .to = scan,
                 .error = error};
    xg_text_print(s.text, "#line 1 \"");
    xg_text_quote(s.text, path);
    xg_text_print(s.text, "\"\n");
    const xgemm_status status = scan_all(&s);
    const bool whole = !s.text->failed;
    xg_text_free(&original);
    if (!status && !whole)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the header %s", path);
    return status;
}

xgemm_status xg_scan_file(const char *path, const char *text, xg_scan *scan, xg_error *error)
{
    enum { LARGEST = 1 << 24 };
    memset(scan, 0, sizeof *scan);
    if (text)
        xg_text_add(&scan->original, text, strlen(text));
    if (scan->original.failed)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the source %s", path);
    if (!text && !xg_text_read(&scan->original, path))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot read %s: %s", path,
                       strerror(errno));
    if (scan->original.length > LARGEST || strlen(scan->original.at) != scan->original.length)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s is no source: too large, or binary",
                       path);
    scanner s = {.path = path,
                 .at = scan->original.at,
                 .line = 1,
                 .in = {.device_depth = -1},
                 .define_end = scan->original.at,
                 .has_host_names = declares_index_name(scan->original.at),
                 .text = &scan->text,
                 .to = scan,
                 .error = error};
    xg_text_add(&scan->text, "", 0);
    xgemm_status status = scan_all(&s);
    for (int i = 0; i < scan->header_count && !status; i++) /* each may add more */
        status = scan_header(scan, i, error);
    if (!status && (scan->text.failed || !xg_scan_find_lines(scan)))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the source %s", path);
    return status;
}
