/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include "scan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *xg_folder_file(const xg_folder *folder, const char *name, char path[XG_FOLDER_PATH])
{
    snprintf(path, XG_FOLDER_PATH, "%s/%s", folder->path, name);
    return path;
}

const char *xg_folder_header(const xg_folder *folder, int number, char path[XG_FOLDER_PATH])
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", XG_HEADER_NAME, number);
    return xg_folder_file(folder, name, path);
}

/* Whether it is gone. */
static bool remove_all(const xg_folder *folder)
{
    static const char *const files[] = {"unit.cpp", "unit.s", "traced.s", "kernel.so", "output"};
    char path[XG_FOLDER_PATH];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(xg_folder_file(folder, files[i], path));
    for (int i = 0; i < folder->headers; i++)
        unlink(xg_folder_header(folder, i, path));
    return rmdir(folder->path) == 0 || errno == ENOENT;
}

/* What the guard says of the folder that it makes. */
typedef struct {
    char path[sizeof((xg_folder *)NULL)->path];
    int error; /* errno; 0: it is there */
} made_folder;

/*
 * The guard makes the folder, and removes it where a signal ends the program: a library has no
 * signal handlers. The stream from the program ends with it; then the guard ends the compiler,
 * which may take a moment.
 */
_Noreturn static void guard(xg_folder *folder, int program)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    made_folder made = {.error = 0};
    sigset_t all;
    char none;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    if (!mkdtemp(folder->path))
        made.error = errno;
    memcpy(made.path, folder->path, sizeof made.path);
    if (send(program, &made, sizeof made, 0) == sizeof made)
        (void)!read(program, &none, 1);
    kill(-getpid(), SIGTERM);
    for (int i = 0; i < 500 && !made.error && !remove_all(folder); i++)
        nanosleep(&moment, NULL);
    _exit(0);
}

/* What it says; false: errno says why not. */
static bool hear(int from, made_folder *made)
{
    ssize_t got;
    do
        got = read(from, made, sizeof *made);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        errno = ECHILD;
    return got == sizeof *made;
}

static bool start_guard(xg_folder *folder)
{
    made_folder made;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        guard(folder, ends[1]);
    }
    const int error = errno;
    close(ends[1]);
    folder->path[0] = '\0';
    if (child < 0) {
        close(ends[0]);
        errno = error;
        return false;
    }
    folder->guard = child;
    folder->guarded = ends[0];
    if (!hear(ends[0], &made))
        return false;
    if (!made.error)
        memcpy(folder->path, made.path, sizeof folder->path);
    errno = made.error;
    return !made.error;
}

xgemm_status xg_folder_make(xg_folder *folder, int headers, xg_error *error)
{
    const char *const given = getenv("TMPDIR"), *const below = given && *given ? given : "/tmp";
    const int length = snprintf(folder->path, sizeof folder->path, "%s/xgemm-XXXXXX", below);
    folder->headers = headers;
    errno = ENAMETOOLONG;
    if (length < (int)sizeof folder->path && start_guard(folder))
        return XGEMM_OK;
    folder->path[0] = '\0';
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "no temporary directory can be made in %s: %s",
                   below, strerror(errno));
}

void xg_folder_remove(xg_folder *folder)
{
    if (*folder->path)
        remove_all(folder);
    folder->path[0] = '\0';
    if (folder->guard == 0)
        return;
    kill(folder->guard, SIGKILL);
    close(folder->guarded);
    while (waitpid(folder->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    folder->guard = 0;
}
