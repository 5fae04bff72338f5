/* SPDX-License-Identifier: BSD-3-Clause */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of Linux 5.8, in the headers of C libraries later. */
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

/* ---- Signals that end the process ---- */

/* What each signal did before; a signal that is watched was SIG_DFL. */
static struct sigaction before[NSIG];
static char *_Atomic to_remove;

/*
 * AT_ONCE, DEFERRED while the temporary file is being made and its name is not known yet, or the
 * signal that came meanwhile. Blocking the signals would not do: they would reach other threads,
 * as OpenBLAS's.
 */
enum { AT_ONCE = 0, DEFERRED = -1 };
static atomic_int ending_state;

void replacement_end(int number)
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

/* Whether the process ends by a signal whose action is the default, and it can be handled. */
static bool is_ending(int number)
{
    switch (number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGURG:
    case SIGWINCH:
        return false;
    default:
        return true;
    }
}

/* Those that are ignored, as after nohup, stay so. The C library refuses those that are its own. */
static void watch(void)
{
    struct sigaction ours = {.sa_handler = replacement_end};
    sigfillset(&ours.sa_mask);
    for (int i = 1; i < NSIG; i++)
        if (is_ending(i) && sigaction(i, NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
            sigaction(i, &ours, NULL);
}

static void watch_no_more(void)
{
    to_remove = NULL;
    for (int i = 1; i < NSIG; i++)
        if (is_ending(i) && before[i].sa_handler == SIG_DFL)
            sigaction(i, &before[i], NULL);
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
        replacement_end(came);
    if (descriptor < 0)
        watch_no_more();
    errno = error;
    return descriptor;
}

/* ---- The standard output ---- */

static int kept_stdout = STDOUT_FILENO;
static const char *kept_path; /* as /dev/fd/1, which is another file once it is kept */

/* /dev/null takes two outputs as well as one. */
bool replacement_is_stdout(const char *path)
{
    struct stat file, output;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return true;
    if (kept_path)
        return strcmp(path, kept_path) == 0;
    return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
           file.st_dev == output.st_dev && file.st_ino == output.st_ino &&
           (!S_ISCHR(file.st_mode) || isatty(STDOUT_FILENO));
}

bool replacement_keep_stdout(const char *path, bool quiet)
{
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int other = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
    const bool good = kept >= 0 && other >= 0 && dup2(other, STDOUT_FILENO) >= 0;
    if (quiet && other >= 0)
        close(other);
    if (good) {
        kept_stdout = kept;
        kept_path = path;
    } else if (kept >= 0) {
        close(kept);
    }
    return good;
}

/*
 * Asks for room behind what is there; the size of a file stays. A file system that cannot tell is
 * trusted, and what is no file has room.
 */
static bool has_room(int descriptor, size_t bytes)
{
    struct rlimit limit;
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return true;
    const bool appends = fcntl(descriptor, F_GETFL) & O_APPEND;
    const off_t from = appends ? status.st_size : lseek(descriptor, 0, SEEK_CUR);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)from + bytes) {
        errno = EFBIG;
        return false;
    }
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, from, (off_t)bytes) == 0 ||
           (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

bool replacement_takes_bytes(int descriptor, size_t bytes)
{
    /* By no bytes: a full device, a closed descriptor, a pipe that nobody reads say so at once. */
    struct pollfd state = {.fd = descriptor, .events = POLLOUT};
    if (write(descriptor, "", 0) < 0 || !has_room(descriptor, bytes))
        return false;
    errno = EPIPE;
    return poll(&state, 1, 0) <= 0 || !(state.revents & POLLERR);
}

/* It is opened for it; a pipe would have to be waited for. */
static bool direct_takes_bytes(const char *path, size_t bytes)
{
    struct stat status;
    if (replacement_is_stdout(path))
        return replacement_takes_bytes(kept_stdout, bytes);
    if (access(path, W_OK) != 0 || stat(path, &status) != 0)
        return false;
    if (S_ISFIFO(status.st_mode))
        return true;
    const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool takes = descriptor >= 0 && replacement_takes_bytes(descriptor, bytes);
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

/* The bytes of a path up to its last slash, and that. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* For the caller to free; NULL: the host is out of memory. */
static char *folder_of(const char *path)
{
    const size_t length = folder_length(path);
    return length > 0 ? strndup(path, length) : strdup(".");
}

/* Whether files can be made in the path's folder, but neither renamed nor removed: chattr +a. */
static bool keeps_names(const char *path)
{
    struct statx about;
    char *const folder = folder_of(path);
    const bool keeps = folder && statx(AT_FDCWD, folder, 0, 0, &about) == 0 &&
                       about.stx_attributes & STATX_ATTR_APPEND;
    free(folder);
    return keeps;
}

/*
 * Whether the system would let another file take the place of this one: not where it is mounted, as
 * a file in a container, nor where it is made immutable, nor in a folder that may not be written
 * to or keeps its names, nor another user's file in a folder as /tmp.
 */
static bool can_be_replaced(const char *path, const struct stat *file)
{
    const unsigned long long fixed =
        STATX_ATTR_MOUNT_ROOT | STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND;
    struct statx about;
    struct stat in;
    char *const folder = folder_of(path);
    const uid_t user = geteuid();
    bool can = folder && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 &&
               stat(folder, &in) == 0;
    if (can && in.st_mode & S_ISVTX && user != 0)
        can = user == in.st_uid || user == file->st_uid;
    free(folder);
    return can && !keeps_names(path) &&
           (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &about) != 0 ||
            !(about.stx_attributes & fixed));
}

/* The name, of no file yet, to which symbolic links lead; NULL: errno says why. */
static char *end_of_links(const char *path)
{
    enum { LINKS_MOST = 40 }; /* the system's limit */
    char to[PATH_MAX];
    char *at = strdup(path);
    for (int i = 0; at && i <= LINKS_MOST; i++) {
        const ssize_t length = readlink(at, to, sizeof to - 1);
        if (length < 0)
            return at;
        const size_t folder = *to == '/' ? 0 : folder_length(at);
        char *const next = malloc(folder + (size_t)length + 1);
        if (next)
            snprintf(next, folder + (size_t)length + 1, "%.*s%.*s", (int)folder, at, (int)length,
                     to);
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

/*
 * A symbolic link is resolved, so that what it leads to is replaced or made, and not the link. The
 * system says first whether it may be followed: not another user's in /tmp.
 */
static bool resolve(replacement *file, const char *path)
{
    struct stat status;
    const bool is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    const bool leads_nowhere = is_link && stat(path, &status) != 0;
    if (leads_nowhere && errno != ENOENT)
        return failed(file, errno);
    file->target = leads_nowhere ? end_of_links(path)
                   : is_link     ? realpath(path, NULL)
                                 : strdup(path);
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
    file->stays = !can_be_replaced(file->target, &status);
    return true;
}

/* A file without a name, which gets the target's when it is complete. */
static bool create_unnamed(replacement *file)
{
    char *const folder = folder_of(file->target);
    file->descriptor = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    file->unnamed = file->descriptor >= 0;
    if (!file->unnamed)
        snprintf(file->why, sizeof file->why,
                 "no file in its folder can be renamed, or made "
                 "without a name: %s",
                 strerror(errno));
    free(folder);
    return file->unnamed;
}

static bool create(replacement *file)
{
    static const char name[] = ".xgemm-XXXXXX";
    if (keeps_names(file->target))
        return create_unnamed(file);
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
    file->descriptor = replacement_is_stdout(path)
                           ? fcntl(kept_stdout, F_DUPFD_CLOEXEC, 0)
                           : open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    return file->descriptor >= 0 || failed(file, errno);
}

bool replacement_open(replacement *file, const char *path)
{
    *file = (replacement){.descriptor = -1};
    if (is_direct(path))
        return open_direct(file, path);
    if (resolve(file, path) && (file->stays ? open_direct(file, file->target) : create(file)))
        return true;
    free(file->target);
    file->target = NULL;
    return false;
}

/* Where the system forbids that and tells nobody before, the empty file is left, and named. */
static bool can_be_removed(replacement *file)
{
    if (!file->temporary || unlink(file->temporary) == 0)
        return true;
    snprintf(file->why, sizeof file->why, "%s, which was made beside it, cannot be removed: %s",
             file->temporary + folder_length(file->temporary), strerror(errno));
    return false;
}

bool replacement_check(replacement *file, const char *path, size_t bytes)
{
    bool good;
    *file = (replacement){.descriptor = -1};
    if (is_direct(path))
        return direct_takes_bytes(path, bytes) || failed(file, errno);
    if (!resolve(file, path))
        good = false;
    else if (file->stays)
        good = direct_takes_bytes(file->target, bytes) || failed(file, errno);
    else
        good = create(file) && (has_room(file->descriptor, bytes) || failed(file, errno)) &&
               can_be_removed(file);
    replacement_abandon(file);
    return good;
}

/*
 * False: the data are lost, and errno says why. After EINTR it is tried again; any other failure is
 * of a file system that cannot flush, where the file is as complete as it gets.
 */
static bool flush_to_disk(int descriptor)
{
    int result;
    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
}

/* So that a crash of the system does not undo the renaming; where a folder can be flushed. */
static void flush_folder(const replacement *file)
{
    char *const folder = folder_of(file->target);
    const int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        flush_to_disk(descriptor);
        close(descriptor);
    }
    free(folder);
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

/* The name, of a file that had none. */
static bool give_name(replacement *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->descriptor);
    return linkat(AT_FDCWD, path, AT_FDCWD, file->target, AT_SYMLINK_FOLLOW) == 0 ||
           failed(file, errno);
}

/*
 * A pipe or a device has no mode of ours. Nor has a file where a file system refuses one, as FAT
 * and CIFS do: it is complete without.
 */
static bool complete(replacement *file)
{
    if (file->temporary || file->unnamed)
        (void)fchmod(file->descriptor, file->mode);
    return flush_to_disk(file->descriptor) || failed(file, errno);
}

bool replacement_commit(replacement *file)
{
    const bool is_new = file->temporary || file->unnamed;
    bool good = complete(file) && (!file->unnamed || give_name(file));
    /* After EINTR the descriptor is closed, and the data is on the disk already. */
    if (close(file->descriptor) != 0 && errno != EINTR && good)
        good = failed(file, errno);
    file->descriptor = -1;
    if (good && file->temporary)
        good = rename_over(file);
    if (good && is_new)
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
