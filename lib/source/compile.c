/* SPDX-License-Identifier: BSD-3-Clause */
#include "compile.h"

#include "messages.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MOST = 128 };

/* NULL ends the words. */
typedef struct {
    const char *words[ARGUMENTS_MOST];
    int count;
} command_line;

static void add(command_line *line, const char *word)
{
    if (line->count < ARGUMENTS_MOST - 1)
        line->words[line->count++] = word;
    line->words[line->count] = NULL;
}

/* Where the headers for CUDA C++ are: those of the installation, or of $XGEMM_CUDA_HEADERS. */
static const char *shim_folder(void)
{
    const char *given = getenv("XGEMM_CUDA_HEADERS");
    return given && *given ? given : XGEMM_CUDA_HEADERS_DIR;
}

/* ---- Running the compiler ---- */

/* Runs it with both outputs in the file, in the guard's group; its exit status, or -1 with errno.
 */
static int run(const command_line *line, pid_t guard, const char *output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, guard);
    errno = posix_spawnp(&child, line->words[0], &actions, &attributes, (char *const *)line->words,
                         environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (errno != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/*
 * The words of the compiler's command, which stay in "text"; whether it runs, and is clang. errno
 * is ECHILD where its end is not known.
 */
static bool try_compiler(char *text, pid_t guard, const char *output, command_line *line,
                         bool *is_clang)
{
    xg_text version = {NULL, 0, 0, false};
    char *rest;
    line->count = 0;
    errno = 0;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        add(line, word);
    if (line->count == 0)
        return false;
    command_line asked = *line;
    add(&asked, "--version");
    const bool runs = run(&asked, guard, output) == 0 && xg_text_read(&version, output);
    *is_clang = runs && strstr(version.at, "clang");
    xg_text_free(&version);
    return runs;
}

static xgemm_status does_not_run(const char *given, xg_error *error)
{
    if (errno == ECHILD)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "the C++ compiler's exit status is lost: this process ignores SIGCHLD, or "
                       "reaps children of others");
    if (given)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "the C++ compiler that $CXX names does not run: %s", given);
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "no C++ compiler runs here: neither c++ nor g++ or clang++");
}

static xgemm_status find_compiler(pid_t guard, const char *output, char *text, size_t size,
                                  command_line *line, bool *is_clang, xg_error *error)
{
    static const char *const names[] = {"c++", "g++", "clang++"};
    const char *const given = getenv("CXX");
    if (given && given[strspn(given, " \t")]) {
        snprintf(text, size, "%s", given);
        return try_compiler(text, guard, output, line, is_clang) ? XGEMM_OK
                                                                 : does_not_run(given, error);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, size, "%s", names[i]);
        if (try_compiler(text, guard, output, line, is_clang))
            return XGEMM_OK;
        if (errno == ECHILD)
            break;
    }
    return does_not_run(NULL, error);
}

/* The options by which accesses stay as they are in the source: as for the library's kernels. */
static void add_tracing(command_line *line, bool is_clang)
{
    static const char *const both[] = {"-x",
                                       "c++",
                                       "-std=gnu++17",
                                       "-S",
                                       "-fPIC",
                                       "-O1",
                                       "-g1",
                                       "-gdwarf-4",
                                       "-w",
                                       "-fno-strict-aliasing",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fsanitize=thread",
                                       "-fsanitize-coverage=trace-pc",
                                       "-fvisibility=hidden",
                                       "-fno-stack-protector",
                                       "-fstack-clash-protection",
                                       "-fno-delete-null-pointer-checks",
                                       "-fmax-errors=20"};
    static const char *const gcc[] = {"-fno-tree-sra",
                                      "-fno-thread-jumps",
                                      "-fno-tree-dominator-opts",
                                      "-fno-reorder-functions",
                                      "-fno-extern-tls-init",
                                      "-fno-reorder-blocks",
                                      "-fno-tree-loop-distribute-patterns",
                                      "--param",
                                      "tsan-instrument-func-entry-exit=0"};
    static const char *const clang[] = {"-fno-finite-loops", "-mllvm",
                                        "-tsan-instrument-func-entry-exit=0", "-mllvm",
                                        "-tsan-instrument-read-before-write=1"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        add(line,
            is_clang && strcmp(both[i], "-fmax-errors=20") == 0 ? "-ferror-limit=20" : both[i]);
    for (size_t i = 0; !is_clang && i < sizeof gcc / sizeof *gcc; i++)
        add(line, gcc[i]);
    for (size_t i = 0; is_clang && i < sizeof clang / sizeof *clang; i++)
        add(line, clang[i]);
}

static xgemm_status does_not_compile(const xgemm_source_launch *launch, const xg_compiled *c,
                                     const char *output, xg_error *error)
{
    return xg_compiler_failed(launch, c->found, c->kernel, shim_folder(), output, error);
}

/* ---- The kernel ---- */

static void list_kernels(const xg_scan *scan, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < scan->kernel_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 scan->kernels[i].name);
}

/* The only one of the file itself, or of all headers; NULL: there are several. */
static const xg_source_kernel *only_kernel(const xg_scan *scan)
{
    const xg_source_kernel *only = NULL;
    for (int i = 0; i < scan->kernel_count; i++) {
        const bool in_header = scan->kernels[i].line == 0;
        if (only && in_header == (only->line == 0))
            return NULL;
        if (!only || !in_header)
            only = &scan->kernels[i];
    }
    return only;
}

/* Whether the name, up to template arguments, is the kernel's: with all, some or no namespaces. */
static bool is_named(const xg_source_kernel *kernel, const char *name)
{
    char whole[2 * XG_NAME_MOST];
    const int length = snprintf(whole, sizeof whole, "%s%s", kernel->space, kernel->name);
    const size_t asked = strlen(name);
    if (asked > (size_t)length || strcmp(whole + length - asked, name) != 0)
        return false;
    return asked == (size_t)length || whole[(size_t)length - asked - 1] == ':';
}

/* As it is called: in its namespaces, and a template has arguments, if only those by default. */
static xgemm_status set_name(xg_compiled *c, const char *asked, xg_error *error)
{
    const xg_source_kernel *k = c->found;
    const char *arguments = strchr(asked, '<');
    const int length = k == &c->elsewhere
                           ? snprintf(c->kernel, sizeof c->kernel, "%s", asked)
                           : snprintf(c->kernel, sizeof c->kernel, "%s%s%s", k->space, k->name,
                                      arguments        ? arguments
                                      : k->is_template ? "<>"
                                                       : "");
    if (length >= (int)sizeof c->kernel || strpbrk(asked, ";{}\n\\\"'#"))
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "\"%s\" is no name of a kernel", asked);
    return XGEMM_OK;
}

static xgemm_status choose_kernel(const xgemm_source_launch *launch, xg_compiled *c,
                                  xg_error *error)
{
    char all[400] = "", name[XG_NAME_MOST];
    const xg_scan *scan = &c->scan;
    if (scan->kernel_count == 0 && !launch->kernel)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s has no kernel (__global__ function)",
                       launch->file);
    list_kernels(scan, all, sizeof all);
    const xg_source_kernel *only = only_kernel(scan);
    if (!launch->kernel && !only)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "%s has several kernels; name one of them: %s", launch->file, all);
    const char *asked = launch->kernel ? launch->kernel : only->name;
    if (!launch->kernel)
        c->found = only;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(asked, "< "), asked);
    for (int i = 0; i < scan->kernel_count && !c->found; i++)
        if (is_named(&scan->kernels[i], strncmp(name, "::", 2) == 0 ? name + 2 : name))
            c->found = &scan->kernels[i];
    if (!c->found && scan->has_others) {
        c->elsewhere.parameter_count = -1;
        snprintf(c->elsewhere.name, sizeof c->elsewhere.name, "%s", name);
        c->found = &c->elsewhere;
    }
    if (!c->found)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "%s has no kernel \"%s\"; it has %s",
                       launch->file, asked, *all ? all : "none");
    return set_name(c, asked, error);
}

/* ---- The steps ---- */

static xgemm_status write_unit(const xgemm_source_launch *launch, xg_compiled *c, const char *path,
                               xg_error *error)
{
    xg_text unit = {NULL, 0, 0, false};
    xg_text_print(&unit, "#line 1 \"");
    xg_text_quote(&unit, launch->file);
    xg_text_print(&unit, "\"\n");
    xg_text_add(&unit, c->scan.text.at, c->scan.text.length);
    xg_text_print(&unit, "\n#line 1 \"xgemm-launch\"\n#include \"launch.h\"\nXG_LAUNCH(%s)\n",
                  c->kernel);
    bool written = xg_text_write(&unit, path);
    for (int i = 0; i < c->scan.header_count && written; i++) {
        char header[XG_FOLDER_PATH];
        written = xg_text_write(&c->scan.headers[i].text, xg_folder_header(&c->folder, i, header));
    }
    xg_text_free(&unit);
    return written ? XGEMM_OK
                   : xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot write %s: %s", path,
                             strerror(errno));
}

/* The folder of the user's file, for the headers beside it. */
static void folder_of(const char *file, char *folder, size_t size)
{
    const char *slash = strrchr(file, '/');
    snprintf(folder, size, "-I%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
}

static xgemm_status to_assembly(const xgemm_source_launch *launch, xg_compiled *c,
                                command_line line, bool is_clang, xg_error *error)
{
    char unit[XG_FOLDER_PATH], assembly[XG_FOLDER_PATH], output[XG_FOLDER_PATH],
        header[XG_FOLDER_PATH];
    char users[XG_FOLDER_PATH * 4], shim[XG_FOLDER_PATH * 4],
        defines[ARGUMENTS_MOST / 2][XG_NAME_MOST];
    xgemm_status status =
        write_unit(launch, c, xg_folder_file(&c->folder, "unit.cpp", unit), error);
    if (status)
        return status;
    add_tracing(&line, is_clang);
    for (int i = 0; i < launch->define_count; i++) {
        if (i == ARGUMENTS_MOST / 2 ||
            snprintf(defines[i], XG_NAME_MOST, "-D%s", launch->defines[i]) >= XG_NAME_MOST)
            return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "too many or too long defines");
        add(&line, defines[i]);
    }
    folder_of(launch->file, users, sizeof users);
    snprintf(shim, sizeof shim, "-I%s", shim_folder());
    snprintf(header, sizeof header, "%s/device.h", shim_folder());
    if (access(header, R_OK) != 0)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "libxgemm's headers for CUDA C++ are not in %s; install them (Debian: "
                       "xgemm), or name their folder by $XGEMM_CUDA_HEADERS",
                       shim_folder());
    add(&line, shim);
    add(&line, users);
    add(&line, "-include");
    add(&line, header);
    add(&line, "-o");
    add(&line, xg_folder_file(&c->folder, "unit.s", assembly));
    add(&line, unit);
    if (run(&line, c->folder.guard, xg_folder_file(&c->folder, "output", output)) != 0)
        return does_not_compile(launch, c, output, error);
    return XGEMM_OK;
}

static xgemm_status pass_assembly(xg_compiled *c, xg_error *error)
{
    char path[XG_FOLDER_PATH];
    xg_text from = {NULL, 0, 0, false}, to = {NULL, 0, 0, false};
    xgemm_status status = XGEMM_OK;
    if (!xg_text_read(&from, xg_folder_file(&c->folder, "unit.s", path)))
        status =
            xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot read %s: %s", path, strerror(errno));
    for (size_t i = 0; i < from.length; i++) /* clang has them in comments */
        if (from.at[i] == '\0')
            from.at[i] = ' ';
    if (!status)
        status = xg_assembly_pass(from.at, shim_folder(), &to, &c->sites, error);
    if (!status && !xg_text_write(&to, xg_folder_file(&c->folder, "traced.s", path)))
        status =
            xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "cannot write %s: %s", path, strerror(errno));
    xg_text_free(&from);
    xg_text_free(&to);
    return status;
}

static xgemm_status to_object(const xgemm_source_launch *launch, xg_compiled *c, command_line line,
                              xg_error *error)
{
    char traced[XG_FOLDER_PATH], output[XG_FOLDER_PATH], runtime[XG_FOLDER_PATH];
    static const char *const options[] = {
        "-shared",     "-fPIC", "-O2", "-w", "-fvisibility=hidden", "-fno-stack-protector",
        "-std=gnu++17"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        add(&line, options[i]);
    snprintf(runtime, sizeof runtime, "%s/runtime.cpp", shim_folder());
    xg_folder_file(&c->folder, "kernel.so", c->object);
    add(&line, "-o");
    add(&line, c->object);
    add(&line, xg_folder_file(&c->folder, "traced.s", traced));
    add(&line, runtime);
    if (run(&line, c->folder.guard, xg_folder_file(&c->folder, "output", output)) != 0)
        return does_not_compile(launch, c, output, error);
    return XGEMM_OK;
}

/* Each site's line of the user's file; of another file it has none. */
static xgemm_status take_texts(const xgemm_source_launch *launch, xg_compiled *c, xg_error *error)
{
    c->texts = calloc((size_t)c->sites.count + 1, sizeof *c->texts);
    bool all = c->texts != NULL;
    for (int i = 0; all && i < c->sites.count; i++) {
        const xg_code_site *site = &c->sites.sites[i];
        const char *file = site->line > 0 ? c->sites.files[site->file] : NULL;
        c->texts[i] = file && strcmp(file, launch->file) == 0 ? xg_scan_line(&c->scan, site->line)
                                                              : strdup("");
        all = c->texts[i] != NULL;
    }
    return all ? XGEMM_OK
               : xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the kernel's lines");
}

xgemm_status xg_compile(const xgemm_source_launch *launch, xg_compiled *c, xg_error *error)
{
    char words[512], output[XG_FOLDER_PATH];
    command_line line;
    bool is_clang = false;
    memset(c, 0, sizeof *c);
    if (!xg_assembly_is_known())
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernels of one's own can be traced on x86-64 and aarch64 only");
    xgemm_status status = xg_scan_file(launch->file, launch->text, &c->scan, error);
    if (!status)
        status = choose_kernel(launch, c, error);
    if (!status)
        status = xg_folder_make(&c->folder, c->scan.header_count, error);
    if (!status)
        status = find_compiler(c->folder.guard, xg_folder_file(&c->folder, "output", output), words,
                               sizeof words, &line, &is_clang, error);
    if (!status)
        status = to_assembly(launch, c, line, is_clang, error);
    if (!status)
        status = pass_assembly(c, error);
    if (!status)
        status = to_object(launch, c, line, error);
    if (!status)
        status = take_texts(launch, c, error);
    return status;
}

void xg_compiled_remove(xg_compiled *c)
{
    xg_folder_remove(&c->folder);
    for (int i = 0; c->texts && i < c->sites.count; i++)
        free(c->texts[i]);
    free(c->texts);
    xg_code_sites_free(&c->sites);
    xg_scan_free(&c->scan);
}
