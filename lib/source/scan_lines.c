/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a scanned file's lines are. */
#include "scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool xg_scan_find_lines(xg_scan *scan)
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

void xg_scan_free(xg_scan *scan)
{
    xg_text_free(&scan->text);
    xg_text_free(&scan->original);
    for (int i = 0; i < scan->header_count; i++) {
        free(scan->headers[i].path);
        xg_text_free(&scan->headers[i].text);
    }
    scan->header_count = 0;
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
