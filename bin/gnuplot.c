/* SPDX-License-Identifier: BSD-3-Clause */
#include "gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

picture_format picture_format_of(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && strcasecmp(path + length - 4, ".png") == 0 ? PICTURE_PNG : PICTURE_SVG;
}

bool picture_is_possible(const char *path)
{
    const char *folder = strrchr(path, '/');
    const char *ending = strrchr(folder ? folder : path, '.');
    return !ending || strcasecmp(ending, ".svg") == 0 || strcasecmp(ending, ".png") == 0;
}

/*
 * Its standard input from us, its standard output to a file; its messages on trial to nowhere. The
 * user's own settings for gnuplot are left out: the first of its commands is a terminal.
 */
static pid_t start(int output, bool quiet, FILE **commands)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        if (quiet)
            dup2(output, STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        unsetenv("GNUTERM");
        execlp("gnuplot", "gnuplot", "-d", (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    *commands = child > 0 ? fdopen(ends[1], "w") : NULL;
    if (!*commands)
        close(ends[1]);
    return child;
}

/* Its exit status, or 127 where it did not start or ended in another way. */
static int ended(pid_t child)
{
    int status;
    if (child <= 0)
        return 127;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

static void set_terminal(picture_format format, int width, int height, FILE *to)
{
    fprintf(to, "set terminal %s size %d,%d font 'sans,%d' background 'white'\n",
            format == PICTURE_PNG ? "pngcairo" : "svg", width, height,
            format == PICTURE_PNG ? 11 : 14);
}

bool gnuplot_possible(picture_format format, char *message, size_t message_size)
{
    FILE *nowhere = fopen("/dev/null", "we"), *commands = NULL;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    const pid_t child = nowhere ? start(fileno(nowhere), true, &commands) : -1;
    if (commands) {
        set_terminal(format, 100, 100, commands);
        fclose(commands);
    }
    const int status = ended(child);
    signal(SIGPIPE, before);
    if (nowhere)
        fclose(nowhere);
    if (status == 127)
        snprintf(message, message_size,
                 "--plot needs gnuplot, which cannot be started; install it, or leave --plot out");
    else if (status != 0)
        snprintf(message, message_size,
                 "this gnuplot cannot draw %s pictures; name a file that ends in %s",
                 format == PICTURE_PNG ? "PNG" : "SVG", format == PICTURE_PNG ? ".svg" : ".png");
    return status == 0;
}

/* Whether the drawing was written to its end: gnuplot does not say when a disk is full. */
static bool is_complete(int file, picture_format format)
{
    const char *const end = format == PICTURE_PNG ? "IEND" : "</svg>";
    const size_t length = strlen(end);
    char tail[32] = "";
    const off_t size = lseek(file, 0, SEEK_END);
    const off_t from = size > (off_t)sizeof tail ? size - (off_t)sizeof tail : 0;
    const ssize_t count = size > 0 ? pread(file, tail, sizeof tail, from) : 0;
    for (size_t at = 0; count > 0 && at + length <= (size_t)count; at++)
        if (memcmp(tail + at, end, length) == 0)
            return true;
    return false;
}

static const char *draw(int output, picture_format format, int width, int height,
                        gnuplot_commands write, const void *context)
{
    FILE *commands = NULL;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    const pid_t child = start(output, false, &commands);
    if (commands) {
        set_terminal(format, width, height, commands);
        write(context, commands);
        fclose(commands);
    }
    const int status = ended(child);
    signal(SIGPIPE, before);
    return status == 0 && is_complete(output, format) ? NULL : "gnuplot failed";
}

static const char *copy(int from, int to)
{
    char bytes[1 << 14];
    ssize_t count;
    if (lseek(from, 0, SEEK_SET) < 0)
        return strerror(errno);
    while ((count = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, now; done < count; done += now)
            if ((now = write(to, bytes + done, (size_t)(count - done))) < 0)
                return strerror(errno);
    return count < 0 ? strerror(errno) : NULL;
}

const char *gnuplot_draw(int output, picture_format format, int width, int height,
                         gnuplot_commands write, const void *context)
{
    FILE *whole = tmpfile();
    if (!whole)
        return strerror(errno);
    const char *why = draw(fileno(whole), format, width, height, write, context);
    if (!why)
        why = copy(fileno(whole), output);
    fclose(whole);
    return why;
}
