/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

npy_report npy_begin_report(const char *path, char *message, size_t message_size)
{
    if (message_size > 0)
        message[0] = '\0';
    return (npy_report){path, message, message_size};
}

/* A path may hold control characters; bytes of a file are escaped before they come here. */
static void blank_control_characters(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void mark_cut(char *text, size_t size)
{
    if (size > 3)
        memcpy(text + size - 4, "...", 4);
}

int npy_refuse(const npy_report *report, const char *format, ...)
{
    va_list arguments;
    int used = 0, more = 0;

    if (report->size == 0)
        return -1;
    if (report->path != NULL)
        used = snprintf(report->message, report->size, "%s: ", report->path);
    if (used >= 0 && (size_t)used < report->size) {
        va_start(arguments, format);
        more = vsnprintf(report->message + used, report->size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    if (used < 0 || more < 0)
        snprintf(report->message, report->size, "the sentence cannot be formatted");
    else if ((size_t)used + (size_t)more >= report->size)
        mark_cut(report->message, report->size);
    blank_control_characters(report->message);
    return -1;
}

npy_shown npy_show(const char *bytes, size_t length)
{
    npy_shown shown;
    size_t used = 0, next;

    for (next = 0; next < length; next++) {
        unsigned char byte = (unsigned char)bytes[next];

        /* Leave room for "\xNN", "..." and the NUL. */
        if (used + 4 + 3 + 1 > sizeof(shown.text))
            break;
        if (byte >= ' ' && byte < 0x7f)
            shown.text[used++] = (char)byte;
        else
            used += (size_t)snprintf(shown.text + used, 5, "\\x%02x", (unsigned)byte);
    }
    strcpy(shown.text + used, next < length ? "..." : "");
    return shown;
}
