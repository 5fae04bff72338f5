/* SPDX-License-Identifier: BSD-3-Clause */
#include "scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPACES_MOST = 16 };

/* Where the scanner is in the file. */
typedef struct {
    const char *path, *at;
    int line, depth;      /* of braces */
    int device_depth;     /* -1: not in the body of a kernel or of a function of the device */
    bool device_header;   /* after __global__ or __device__, before the body or the semicolon */
    bool kernel_header;   /* after __global__, before the parameters */
    bool template_header; /* after template, before the body or the semicolon */
    char last_name[XG_NAME_MOST];  /* the last identifier */
    char outer_name[XG_NAME_MOST]; /* in a kernel's header the one before < */
    int angles;                    /* that are open there */
    struct {
        int depth; /* of its brace */
        char name[XG_NAME_MOST];
    } spaces[SPACES_MOST]; /* the namespaces that are open */
    int space_count;
    const char *define_end; /* of the last #define */
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

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void copy(scanner *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        s->line += s->at[i] == '\n';
    xg_text_add(&s->to->text, s->at, count);
    s->at += count;
}

/* Passes over so much of the file, but for its ends of lines. */
static void drop(scanner *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (s->at[i] == '\n') {
            s->line++;
            xg_text_add(&s->to->text, "\n", 1);
        }
    s->at += count;
}

/* A string or character, from its quote on. */
static size_t quoted_length(const char *at)
{
    const char quote = *at;
    size_t i = 1;
    while (at[i] && at[i] != quote && at[i] != '\n')
        i += at[i] == '\\' && at[i + 1] ? 2 : 1;
    return at[i] == quote ? i + 1 : i;
}

/* R"delimiter( ... )delimiter", from the R on. */
static size_t raw_string_length(const char *at)
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

static size_t comment_length(const char *at)
{
    const char *end = at[1] == '/' ? at + strcspn(at, "\n") : strstr(at + 2, "*/");
    if (!end)
        return strlen(at);
    return (size_t)(end - at) + (at[1] == '/' ? 0 : 2);
}

/* The end of white space and comments. */
static const char *skip_space(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at))
            at++;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at += comment_length(at);
        else
            return at;
    }
}

/* Where what is opened at "at" is closed: a (, or the <<< of a launch; NULL: nowhere. */
static const char *closing(const char *at)
{
    const bool launch = *at == '<';
    int depth = 0;
    for (at += launch ? 3 : 0; *at; at++) {
        if (*at == '"' || *at == '\'')
            at += quoted_length(at) - 1;
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

/* The name that a parameter declares: its last identifier before what follows names. */
static bool parameter_name(const char *from, const char *end, char *name)
{
    const char *last = NULL;
    size_t length = 0;
    for (const char *at = from; at < end && *at != '[' && *at != '='; at++)
        if (is_name(*at) && (at == from || !is_name(at[-1])) && !isdigit((unsigned char)*at)) {
            last = at;
            for (length = 0; is_name(at[length]); length++)
                ;
        }
    if (!last || length >= XG_NAME_MOST)
        return false;
    memcpy(name, last, length);
    name[length] = '\0';
    return true;
}

/* The kernel's parameters, from its ( on. */
static void take_parameters(xg_source_kernel *kernel, const char *at)
{
    const char *const end = closing(at);
    const char *from = skip_space(++at);
    int depth = 0;
    if (!end) {
        kernel->parameter_count = -1;
        return;
    }
    if (from == end - 1 || strncmp(from, "void)", 5) == 0)
        return;
    for (; at < end; at++) {
        depth += *at == '(' || *at == '<' || *at == '[';
        depth -= (*at == ')' && at < end - 1) || *at == '>' || *at == ']';
        if (depth > 0 || (*at != ',' && at < end - 1))
            continue;
        if (kernel->parameter_count == XG_PARAMETERS_MOST ||
            !parameter_name(from, at, kernel->parameters[kernel->parameter_count])) {
            kernel->parameter_count = -1;
            return;
        }
        kernel->parameter_count++;
        from = at + 1;
    }
}

/* "outer::inner::" */
static void join_spaces(const scanner *s, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < s->space_count && used < size; i++)
        if (*s->spaces[i].name)
            used += (size_t)snprintf(text + used, size - used, "%s::", s->spaces[i].name);
}

/* After the word namespace: "outer::inner {", "{", or an alias, which opens nothing. */
static void take_space(scanner *s)
{
    const char *const from = skip_space(s->at), *to = from;
    while (is_name(*to) || *to == ':')
        to++;
    if (*skip_space(to) != '{' || s->space_count == SPACES_MOST || to - from >= XG_NAME_MOST)
        return;
    s->spaces[s->space_count].depth = s->depth;
    memcpy(s->spaces[s->space_count].name, from, (size_t)(to - from));
    s->spaces[s->space_count++].name[to - from] = '\0';
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
    s->kernel_header = false;
    if (s->at < s->define_end) {
        to->has_others = true;
        return false;
    }
    if (to->kernel_count == XG_KERNELS_MOST || !*s->last_name)
        return false;
    const char *const end = closing(s->at);
    const bool is_defined = end && *skip_space(end) == '{';
    xg_source_kernel kernel = {.line = s->line, .is_template = s->template_header};
    strcpy(kernel.name, s->last_name);
    join_spaces(s, kernel.space, sizeof kernel.space);
    take_parameters(&kernel, s->at);
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

static xgemm_status take_word(scanner *s)
{
    size_t length = 0;
    while (is_name(s->at[length]))
        length++;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strlen(refused[i].word) == length && memcmp(s->at, refused[i].word, length) == 0 &&
            (strcmp(refused[i].word, "texture") != 0 || *skip_space(s->at + length) == '<'))
            return refuse(s, refused[i].what);
    for (size_t i = 0; s->device_depth >= 0 && i < sizeof allocations / sizeof *allocations; i++)
        if (strlen(allocations[i]) == length && memcmp(s->at, allocations[i], length) == 0 &&
            (strcmp(allocations[i], "new") != 0 || *skip_space(s->at + length) != '('))
            return refuse(s, "memory that a kernel allocates");
    const size_t kept = length < XG_NAME_MOST ? length : XG_NAME_MOST - 1;
    memcpy(s->last_name, s->at, kept);
    s->last_name[kept] = '\0';
    if (strcmp(s->last_name, "__global__") == 0) {
        s->device_header = s->kernel_header = true;
        s->angles = 0;
    }
    if (strcmp(s->last_name, "template") == 0)
        s->template_header = true;
    if (strcmp(s->last_name, "__device__") == 0)
        s->device_header = true;
    if (strcmp(s->last_name, "__noinline__") == 0) {
        xg_text_print(&s->to->text, "__attribute__((noinline))");
        s->at += length;
    } else {
        copy(s, length);
    }
    if (strcmp(s->last_name, "namespace") == 0)
        take_space(s);
    return XGEMM_OK;
}

/* At a #: a definition, to the end of its last line, or a header beside the file. */
static void take_directive(scanner *s)
{
    const char *word = s->at + 1;
    word += strspn(word, " \t");
    if (strncmp(word, "include", 7) == 0 && word[7 + strspn(word + 7, " \t")] == '"')
        s->to->has_others = true;
    if (strncmp(word, "define", 6) == 0) {
        const char *end = word + strcspn(word, "\n");
        while (*end && end[-1] == '\\')
            end += 1 + strcspn(end + 1, "\n");
        s->define_end = end;
    }
    copy(s, 1);
}

static xgemm_status take_launch(scanner *s)
{
    const char *end = closing(s->at);
    if (s->device_depth >= 0)
        return refuse(s, "a kernel that launches a kernel");
    if (end)
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
    if (s->kernel_header)
        take_angle(s);
    const char *const end =
        mark == '(' && s->kernel_header && s->angles == 0 ? closing(s->at) : NULL;
    if (end && take_kernel(s)) {
        copy(s, (size_t)(end - s->at));
        return;
    }
    if (mark == '{') {
        if (s->device_header && s->device_depth < 0)
            s->device_depth = s->depth;
        s->device_header = s->kernel_header = s->template_header = false;
        s->depth++;
    }
    if (mark == '}' && --s->depth <= s->device_depth)
        s->device_depth = -1;
    if (mark == '}' && s->space_count > 0 && s->spaces[s->space_count - 1].depth == s->depth)
        s->space_count--;
    if (mark == ';')
        s->template_header = false;
    if (mark == ';' || (mark == '=' && s->angles == 0))
        s->device_header = s->kernel_header = false;
    copy(s, 1);
}

static xgemm_status scan_all(scanner *s)
{
    xgemm_status status = XGEMM_OK;
    while (*s->at && !status) {
        const char c = *s->at;
        const bool inside_name =
            is_name(c) && s->to->text.length > 0 && is_name(s->to->text.at[s->to->text.length - 1]);
        if (c == '/' && (s->at[1] == '/' || s->at[1] == '*'))
            copy(s, comment_length(s->at));
        else if (c == 'R' && s->at[1] == '"' && !inside_name)
            copy(s, raw_string_length(s->at));
        else if (c == '"' ||
                 (c == '\'' && !(s->to->text.length > 0 && isdigit((unsigned char)s->at[-1]))))
            copy(s, quoted_length(s->at));
        else if (c == '#' && s->at >= s->define_end)
            take_directive(s);
        else if (strncmp(s->at, "<<<", 3) == 0)
            status = take_launch(s);
        else if (is_name(c) && !isdigit((unsigned char)c) && !inside_name)
            status = take_word(s);
        else
            take_mark(s);
    }
    return status;
}

static bool find_lines(xg_scan *scan)
{
    const char *const text = scan->original.at;
    size_t lines = 1;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    scan->line_starts = calloc(lines + 2, sizeof *scan->line_starts);
    if (!scan->line_starts)
        return false;
    scan->line_count = (int)lines;
    for (size_t i = 0, line = 1; text[i]; i++)
        if (text[i] == '\n')
            scan->line_starts[++line] = (int)i + 1;
    scan->line_starts[lines + 1] = (int)scan->original.length + 1;
    return true;
}

xgemm_status xg_scan_file(const char *path, xg_scan *scan, xg_error *error)
{
    enum { LARGEST = 1 << 24 };
    memset(scan, 0, sizeof *scan);
    if (!xg_text_read(&scan->original, path))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot read %s: %s", path,
                       strerror(errno));
    if (scan->original.length > LARGEST || strlen(scan->original.at) != scan->original.length)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s is no source: too large, or binary",
                       path);
    scanner s = {.path = path,
                 .at = scan->original.at,
                 .line = 1,
                 .device_depth = -1,
                 .define_end = scan->original.at,
                 .to = scan,
                 .error = error};
    xg_text_add(&scan->text, "", 0);
    const xgemm_status status = scan_all(&s);
    if (!status && (scan->text.failed || !find_lines(scan)))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the source %s", path);
    return status;
}

void xg_scan_free(xg_scan *scan)
{
    xg_text_free(&scan->text);
    xg_text_free(&scan->original);
    free(scan->line_starts);
    scan->line_starts = NULL;
}

char *xg_scan_line(const xg_scan *scan, int line)
{
    if (line < 1 || line > scan->line_count)
        return strdup("");
    const char *from = scan->original.at + scan->line_starts[line];
    size_t length = (size_t)(scan->line_starts[line + 1] - scan->line_starts[line] - 1);
    while (length > 0 && isspace((unsigned char)*from)) {
        from++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    return strndup(from, length);
}
