/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm run: starts a program with the drop-ins preloaded. */
#include "commands.h"
#include "replacement.h"
#include "run_child.h"
#include "run_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ME (&command_run)

/* The statuses that shells and env(1) have for a program that cannot be run. */
enum { STATUS_CANNOT_RUN = 126, STATUS_NOT_FOUND = 127 };

enum { KEY_MATH = 256, KEY_LOG };

static const option_row rows[] = {
    {KEY_MATH, "math", "MODE", "what cuBLAS's default math means: default, strict or tf32"},
    {KEY_LOG, "log", "[=FILE]", "at the end say what was served (to standard error)"},
};

/* Those that are there are preloaded. */
static const char *const dropins[] = {"libxgemm-cublas.so", "libxgemm-blas.so"};
enum { DROPINS = sizeof dropins / sizeof *dropins };

typedef struct {
    settings common;
    xgemm_math math;
    bool is_logged;
    const char *log_name; /* NULL: standard error */
    bool log_is_last;     /* the word before the program is --log */
    char **program;
} request;

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO}, .math = XGEMM_MATH_DEFAULT};
    const char *value;
    for (int key; (key = option_next_leading(ME, argc, argv, &r.common, &value)) != -1;) {
        if (key == KEY_MATH) {
            r.math = option_math(ME, value);
        } else {
            r.is_logged = true;
            r.log_name = value;
        }
    }
    if (r.common.device != XGEMM_DEVICE_AUTO)
        usage_error(ME, "the program chooses its device; --device has no meaning");
    if (r.common.format != FORMAT_TEXT && !r.is_logged)
        usage_error(ME, "--json and --csv are forms of what --log writes; give that, too");
    if (optind == argc)
        usage_error(ME, "which program?");
    r.log_is_last = strcmp(argv[optind - 1], "--log") == 0;
    r.program = argv + optind;
    return r;
}

/* ---- The environment ---- */

/* Puts the file FOLDER/NAME into the path, whole, if there is such a one. */
static bool is_in(const char *folder, const char *name, char path[PATH_MAX])
{
    char there[PATH_MAX];
    const int length = snprintf(there, sizeof there, "%s/%s", folder, name);
    return *folder && length > 0 && length < PATH_MAX && access(there, R_OK) == 0 &&
           realpath(there, path);
}

/* The folder that the environment names for the drop-ins, or NULL. */
static const char *named_folder(void)
{
    const char *named = getenv("XGEMM_DROPINS");
    return named && *named ? named : NULL;
}

/* A drop-in: of the folder named, beside the utility, as in a build, or where it is installed. */
static bool find_dropin(const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    if (named_folder())
        return is_in(named_folder(), name, path);
    return is_in(own, name, path) || is_in(DROPINS_DIR, name, path);
}

/* The file of the library that this utility runs with, so that the drop-ins load the same one. */
static bool find_libxgemm(char path[PATH_MAX])
{
    Dl_info about;
    const char *(*const version)(void) = xgemm_version;
    void *address;
    memcpy(&address, &version, sizeof address);
    return dladdr(address, &about) && strstr(about.dli_fname, ".so") &&
           realpath(about.dli_fname, path);
}

/* Adds a file to the list; the dynamic linker would part a name at these. */
static void preload(char **list, const char *path)
{
    char *longer;
    if (strpbrk(path, ": "))
        usage_error(ME, "a library whose name has a colon or a blank cannot be preloaded: %s",
                    path);
    if (asprintf(&longer, "%s%s%s", *list, **list ? ":" : "", path) < 0)
        exit(failed(ME, "the host is out of memory"));
    free(*list);
    *list = longer;
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1))
        exit(failed(ME, "the host is out of memory"));
}

/* The drop-ins that are there, as a list to preload; one that is missing is said. */
static char *list_dropins(const request *r)
{
    const char *const folder = named_folder() ? named_folder() : DROPINS_DIR;
    char path[PATH_MAX], *list = strdup("");
    int missing = 0, last = 0;
    if (!list)
        exit(failed(ME, "the host is out of memory"));
    for (int i = 0; i < DROPINS; i++) {
        if (find_dropin(dropins[i], path)) {
            preload(&list, path);
        } else {
            missing++;
            last = i;
        }
    }
    if (missing == DROPINS)
        exit(failed(ME, "the drop-ins are not installed: there is no %s/%s%s", folder, dropins[0],
                    named_folder() ? ", where XGEMM_DROPINS has them" : ""));
    if (missing && !r->common.quiet)
        failed(ME, "without %s, which is not in %s", dropins[last], folder);
    return list;
}

static void prepare(const request *r)
{
    char path[PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    char *list = list_dropins(r);
    if (find_libxgemm(path))
        set("XGEMM_RUN_LIBRARY", path);
    if (before && *before) {
        char *all;
        if (asprintf(&all, "%s:%s", list, before) < 0)
            exit(failed(ME, "the host is out of memory"));
        free(list);
        list = all;
    }
    set("LD_PRELOAD", list);
    set("XGEMM_RUN_MATH", math_word(r->math));
    free(list);
}

/* ---- The program ---- */

/* In place of this one; returns if it cannot be run. */
static int become(void *context)
{
    const request *const r = context;
    char **const program = r->program;
    signal(SIGXFSZ, sigxfsz_before); /* ignoring it is the utility's own choice */
    signal(SIGCHLD, sigchld_before);
    execvp(program[0], program);
    const int why = errno;
    if (r->log_name || !r->log_is_last)
        failed(ME, "%s: %s", program[0], strerror(why));
    else
        failed(ME, "%s: %s (a file for the log is --log=%s)", program[0], strerror(why),
               program[0]);
    return why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

static int run_logged(request *r)
{
    char name[64];
    const int standard = r->log_name ? STDOUT_FILENO : STDERR_FILENO;
    const int to =
        r->log_name && !replacement_is_stdout(r->log_name)
            ? open(r->log_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666)
            : fcntl(standard, F_DUPFD_CLOEXEC, 0);
    if (to < 0)
        return failed(ME, "%s: %s", r->log_name ? r->log_name : "standard error", strerror(errno));
    if (!replacement_takes_bytes(to, 1))
        return failed(ME, "the log cannot be written: %s", strerror(errno));
    counters *counts = run_log_create(name, sizeof name);
    if (!counts)
        return failed(ME, "there is no memory for the log: %s", strerror(errno));
    set(COUNTERS_VARIABLE, name);
    const int ended = run_child(become, r);
    if (ended < 0 && errno == ECHILD)
        return failed(ME, "the program's end is not known: %s", strerror(errno));
    if (ended < 0)
        return failed(ME, "a process cannot be started: %s", strerror(errno));
    const int printed = run_log_print(ME, &r->common, counts, to);
    const int status = run_end_like(ended);
    return status ? status : printed;
}

static int run(int argc, char **argv)
{
    request r = parse(argc, argv);
    prepare(&r);
    return r.is_logged ? run_logged(&r) : become(&r);
}

const command command_run = {
    "run", "PROGRAM [ARGUMENT]...",    "start a program with cuBLAS's products served by libxgemm",
    rows,  sizeof rows / sizeof *rows, run,
    true};
