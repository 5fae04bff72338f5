/* SPDX-License-Identifier: BSD-3-Clause */
#include "stdout_file.h"

#include "replacement.h"

#include <stdlib.h>
#include <unistd.h>

void stdout_for_file(const command *which, const settings *common, const char *path,
                     const char *what)
{
    if (!path || !replacement_is_stdout(path))
        return;
    if (common->format != FORMAT_TEXT)
        usage_error(which, "%s and %s would both go to the standard output; name a file for %s",
                    common->format == FORMAT_JSON ? "--json" : "--csv", what, what);
    if (isatty(STDOUT_FILENO))
        usage_error(which, "%s is nothing to read, and the standard output is a terminal", what);
    if (replacement_keep_stdout(path, common->quiet))
        return;
    exit(failed(which, "the standard output cannot be written to"));
}
