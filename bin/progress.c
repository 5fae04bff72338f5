/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

progress progress_begin(const settings *common, size_t all)
{
    const char *terminal = getenv("TERM");
    const bool able = terminal && strcmp(terminal, "dumb") != 0;
    return (progress){.shown = !common->quiet && able && isatty(STDERR_FILENO), .all = all};
}

void progress_step(progress *line, const char *format, ...)
{
    line->done++;
    if (!line->shown)
        return;
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r\033[K[%zu/%zu] %s", line->done, line->all, text);
    fflush(stderr);
}

void progress_clear(const progress *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
}
