/* SPDX-License-Identifier: BSD-3-Clause */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Signals that end the process ---- */

static const int ending[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
enum { ENDING = sizeof ending / sizeof *ending };

static struct sigaction before[ENDING];
static char *_Atomic to_remove;

/*
 * AT_ONCE, DEFERRED while the temporary file is being made and its name is not known yet, or the
 * signal that came meanwhile. Blocking the signals would not do: they would reach other threads,
 * as OpenBLAS's.
 */
enum { AT_ONCE = 0, DEFERRED = -1 };
static atomic_int ending_state;

/* Ends the process as the signal would have. */
static void remove_and_end(int number)
{
    int deferred = DEFERRED;
    if (atomic_compare_exchange_strong(&ending_state, &deferred, number))
        return;
    char *file = to_remove;
    if (file)
        unlink(file);
    signal(number, SIG_DFL);
    raise(number);
}

/* Those that are ignored, as after nohup, stay so. */
static void watch(void)
{
    struct sigaction ours = {.sa_handler = remove_and_end};
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < ENDING; i++)
        sigaddset(&ours.sa_mask, ending[i]);
    for (int i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_DFL)
            sigaction(ending[i], &ours, NULL);
    }
}

static void watch_no_more(void)
{
    to_remove = NULL;
    for (int i = 0; i < ENDING; i++)
        if (before[i].sa_handler == SIG_DFL)
            sigaction(ending[i], &before[i], NULL);
}

/* mkostemp(), after which a signal that ends the process removes the file. */
static int make_watched(char *temporary)
{
    ending_state = DEFERRED;
    watch();
    const int descriptor = mkostemp(temporary, O_CLOEXEC);
    const int error = errno;
    if (descriptor >= 0)
        to_remove = temporary;
    const int came = atomic_exchange(&ending_state, AT_ONCE);
    if (came > 0)
        remove_and_end(came);
    if (descriptor < 0)
        watch_no_more();
    errno = error;
    return descriptor;
}

/* ---- The standard output ---- */

static int kept_stdout = STDOUT_FILENO;

bool replacement_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

bool replacement_keep_stdout(bool quiet)
{
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int other = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
    const bool good = kept >= 0 && other >= 0 && dup2(other, STDOUT_FILENO) >= 0;
    if (quiet && other >= 0)
        close(other);
    if (good)
        kept_stdout = kept;
    else if (kept >= 0)
        close(kept);
    return good;
}

/* By no bytes: a full device, a closed descriptor and a pipe that nobody reads say so at once. */
static bool takes_bytes(int descriptor)
{
    struct pollfd state = {.fd = descriptor, .events = POLLOUT};
    if (write(descriptor, "", 0) < 0)
        return false;
    errno = EPIPE;
    return poll(&state, 1, 0) <= 0 || !(state.revents & POLLERR);
}

bool replacement_stdout_takes_bytes(void)
{
    return takes_bytes(kept_stdout);
}

/* A device is opened for it; a pipe would have to be waited for. */
static bool direct_takes_bytes(const char *path)
{
    struct stat status;
    if (replacement_is_stdout(path))
        return replacement_stdout_takes_bytes();
    if (access(path, W_OK) != 0 || stat(path, &status) != 0)
        return false;
    if (!S_ISCHR(status.st_mode))
        return true;
    const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool takes = descriptor >= 0 && takes_bytes(descriptor);
    const int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = error;
    return takes;
}

/* ---- The file ---- */

/* That a system call failed; false, for the caller to return. */
static bool failed(replacement *file, int error)
{
    snprintf(file->why, sizeof file->why, "%s", strerror(error));
    return false;
}

static mode_t new_file_mode(void)
{
    /* There is no call that reads the umask alone. A strict one harms no other thread. */
    const mode_t mask = umask(077);
    umask(mask);
    return 0666 & ~mask;
}

/* A symbolic link is resolved, so that what it leads to is replaced, and not the link. */
static bool resolve(replacement *file, const char *path)
{
    struct stat status;
    const bool is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    file->target = is_link ? realpath(path, NULL) : strdup(path);
    if (!file->target)
        return failed(file, errno);
    if (lstat(file->target, &status) != 0) {
        file->mode = new_file_mode();
        return errno == ENOENT || failed(file, errno);
    }
    if (S_ISDIR(status.st_mode))
        return failed(file, EISDIR);
    if (!S_ISREG(status.st_mode)) {
        snprintf(file->why, sizeof file->why, "it is neither a file nor a pipe");
        return false;
    }
    file->mode = status.st_mode & 0777;
    return true;
}

/* The bytes of a path up to its last slash, and that. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool create(replacement *file)
{
    static const char name[] = ".xgemm-XXXXXX";
    const size_t folder = folder_length(file->target);
    char *temporary = malloc(folder + sizeof name);
    if (!temporary)
        return failed(file, errno);
    memcpy(temporary, file->target, folder);
    memcpy(temporary + folder, name, sizeof name);
    file->descriptor = make_watched(temporary);
    if (file->descriptor < 0) {
        snprintf(file->why, sizeof file->why, "no temporary file beside it: %s", strerror(errno));
        free(temporary);
        return false;
    }
    file->temporary = temporary;
    return true;
}

/* Whether it is to be written to as it is, and not replaced. */
static bool is_direct(const char *path)
{
    struct stat status;
    return replacement_is_stdout(path) ||
           (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)));
}

static bool open_direct(replacement *file, const char *path)
{
    file->descriptor = replacement_is_stdout(path) ? fcntl(kept_stdout, F_DUPFD_CLOEXEC, 0)
                                                   : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return file->descriptor >= 0 || failed(file, errno);
}

bool replacement_open(replacement *file, const char *path)
{
    *file = (replacement){.descriptor = -1};
    if (is_direct(path))
        return open_direct(file, path);
    if (resolve(file, path) && create(file))
        return true;
    free(file->target);
    file->target = NULL;
    return false;
}

bool replacement_check(replacement *file, const char *path)
{
    *file = (replacement){.descriptor = -1};
    if (is_direct(path))
        return direct_takes_bytes(path) || failed(file, errno);
    const bool good = replacement_open(file, path);
    if (good)
        replacement_abandon(file);
    return good;
}

/* After EINTR it is tried again. */
static int flush_to_disk(int descriptor)
{
    int result;
    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* So that a crash of the system does not undo the renaming; where a folder can be flushed. */
static void flush_folder(const replacement *file)
{
    const size_t length = folder_length(file->target);
    char *folder = length > 0 ? strndup(file->target, length) : strdup(".");
    const int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        flush_to_disk(descriptor);
        close(descriptor);
    }
    free(folder);
}

/* File systems without modes, as FAT and CIFS, refuse one; the file is complete without. */
static bool set_mode(replacement *file)
{
    const bool set = fchmod(file->descriptor, file->mode) == 0;
    return set || errno == EPERM || errno == ENOTSUP || errno == ENOSYS || failed(file, errno);
}

static bool rename_over(replacement *file)
{
    if (rename(file->temporary, file->target) != 0)
        return failed(file, errno);
    watch_no_more();
    free(file->temporary);
    file->temporary = NULL;
    return true;
}

/* A pipe or a device cannot be flushed to a disk, and has no mode of ours. */
static bool complete(replacement *file)
{
    return !file->temporary ||
           (set_mode(file) && (flush_to_disk(file->descriptor) == 0 || failed(file, errno)));
}

bool replacement_commit(replacement *file)
{
    bool good = complete(file);
    /* After EINTR the descriptor is closed, and the data is on the disk already. */
    if (close(file->descriptor) != 0 && errno != EINTR && good)
        good = failed(file, errno);
    file->descriptor = -1;
    if (good && file->temporary && (good = rename_over(file)))
        flush_folder(file);
    replacement_abandon(file);
    return good;
}

void replacement_abandon(replacement *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->temporary) {
        unlink(file->temporary);
        watch_no_more();
    }
    free(file->temporary);
    free(file->target);
    file->descriptor = -1;
    file->temporary = file->target = NULL;
}
