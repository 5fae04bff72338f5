/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first error: "FILE:LINE:COLUMN: error: what". */
typedef struct {
    char line[400];   /* whole */
    const char *what; /* of it, what follows "error: "; NULL: there is none */
    const char *at;   /* where it stands in the messages */
} message;

static void pass_on(int to, const xg_text *messages)
{
    size_t done = 0;
    while (to > 0 && done < messages->length) {
        const ssize_t wrote = write(to, messages->at + done, messages->length - done);
        if (wrote <= 0)
            return;
        done += (size_t)wrote;
    }
}

/* The first line with the word, which compilers and assemblers write differently. */
static bool find_message(const xg_text *messages, const char *word, message *m)
{
    const char *from = messages->at ? strstr(messages->at, word) : NULL;
    m->at = from;
    while (from && from > messages->at && from[-1] != '\n')
        from--;
    snprintf(m->line, sizeof m->line, "%.*s", from ? (int)strcspn(from, "\n") : 0,
             from ? from : "");
    const char *found = strstr(m->line, word);
    m->what = found ? found + strlen(word) : NULL;
    return m->what != NULL;
}

/* What came with the installation: in its headers, or in the call that is added to the file. */
static bool is_ours(const message *m, const char *shim)
{
    return strncmp(m->line, "xgemm-launch", 12) == 0 ||
           (strncmp(m->line, shim, strlen(shim)) == 0 && m->line[strlen(shim)] == '/');
}

/* The line of the user's file that the message before "at" names last; 0: none. */
static int users_line(const xg_text *messages, const char *at, const char *file)
{
    const size_t length = strlen(file);
    int line = 0;
    for (const char *s = messages->at; (s = strstr(s, file)) && s < at; s += length)
        if (s[length] == ':' && strtol(s + length + 1, NULL, 10) > 0)
            line = (int)strtol(s + length + 1, NULL, 10);
    return line;
}

/* "FILE:LINE", from the beginning of a message. */
static int place_length(const char *line)
{
    const char *colon = strchr(line, ':');
    return colon ? (int)(colon - line) + 1 + (int)strspn(colon + 1, "0123456789") : 0;
}

/* Of the compiler, or of clang's assembler, which adds where the instruction came to stand. */
static bool is_about_asm(const message *m)
{
    static const char *const words[] = {"constraint in", "invalid 'asm'", "in asm", "asm operand"};
    const char *what = m->what, *next = strstr(m->at, "error: ");
    const char *note = strstr(m->at, "instantiated into assembly here");
    next = next ? strstr(next + 1, "error: ") : NULL;
    if (note && (!next || note < next))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(what, words[i]))
            return true;
    return false;
}

static xgemm_status inline_ptx(const message *m, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "%.*s: inline PTX (asm); the simulator has no model of it",
                   place_length(m->line), m->line);
}

/* What a static_assert says, which compilers put after different words. */
static bool take_assertion(const char *what, char *sentence, size_t size)
{
    if (strncmp(what, "static assertion failed", 23) != 0 &&
        strncmp(what, "static_assert failed", 20) != 0)
        return false;
    const char *quote = strchr(what, '"'), *colon = strstr(what, "failed: ");
    const char *requirement = strstr(what, "': ");
    const char *from = quote         ? quote + 1
                       : colon       ? colon + strlen("failed: ")
                       : requirement ? requirement + 3
                                     : what;
    snprintf(sentence, size, "%.*s", (int)strcspn(from, "\""), from);
    return true;
}

/* The error is in what calls the kernel: its template's arguments, or its parameters' types. */
static xgemm_status cannot_be_called(const xgemm_source_launch *launch, const xg_source_kernel *k,
                                     const char *called, const char *what, xg_error *error)
{
    char place[400], sentence[400];
    snprintf(place, sizeof place, k->line > 0 ? "%s:%d" : "%s", launch->file, k->line);
    if (take_assertion(what, sentence, sizeof sentence))
        what = sentence;
    else if (k->is_template)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "%s: kernel %s is a template, and %s is none of its kernels; name it with "
                       "its arguments, such as '%s<16>' or '%s<float>'",
                       place, k->name, called, k->name, k->name);
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s: kernel %s cannot be called: %s", place,
                   called, what);
}

/* In a header of ours that the user's file includes: what it says of itself. */
static xgemm_status in_header(const xgemm_source_launch *launch, const message *m, int line,
                              xg_error *error)
{
    static const char directive[] = "#error ";
    char what[300];
    const char *from = m->what;
    if (strncmp(from, directive, strlen(directive)) == 0)
        from += strlen(directive);
    snprintf(what, sizeof what, "%s", *from == '"' ? from + 1 : from);
    what[strcspn(what, *from == '"' ? "\"" : "")] = '\0';
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED, "%s:%d: %s", launch->file, line, what);
}

xgemm_status xg_compiler_failed(const xgemm_source_launch *launch, const xg_source_kernel *kernel,
                                const char *called, const char *shim, const char *output,
                                xg_error *error)
{
    xg_text messages = {NULL, 0, 0, false};
    message m;
    xgemm_status status;
    xg_text_read(&messages, output);
    const bool is_compilers = find_message(&messages, "error: ", &m);
    const int line = is_compilers ? users_line(&messages, m.at, launch->file) : 0;
    const bool ours = is_compilers && is_ours(&m, shim);
    const bool is_call =
        ours && (strncmp(m.line, "xgemm-launch", 12) == 0 || strstr(m.line, "launch.h:"));
    if (!is_call)
        pass_on(launch->messages, &messages);
    if (is_call)
        status = cannot_be_called(launch, kernel, called, m.what, error);
    else if (ours && line > 0)
        status = in_header(launch, &m, line, error);
    else if (is_compilers && is_about_asm(&m))
        status = inline_ptx(&m, error);
    else if (!is_compilers && find_message(&messages, ": Error: ", &m)) /* the assembler's */
        status = inline_ptx(&m, error);
    else
        status = xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s does not compile: %s", launch->file,
                         is_compilers ? m.line : "the compiler failed");
    xg_text_free(&messages);
    return status;
}
