#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No two places in lib/ and bin/ share ten lines of code, but those of known-duplicates.txt. Blank
# lines, comments, includes and lone braces do not count, nor do indentation and spacing. An entry
# is the number of runs of ten lines that two files (or two places of one) have in common.
#
# usage: check-duplicates.sh [--update]

# shellcheck source=tests/checks/known.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/checks/known.sh"

sources lib bin shim -- c h cu inc >"$work/files"
# shellcheck disable=SC2016 # fields of awk
(cd "$srcdir" && xargs awk '
    # Without comments, of which one may go on.
    function code_of(line,    at)
    {
        if (comment) {
            if (!(at = index(line, "*/")))
                return ""
            line = substr(line, at + 2)
            comment = 0
        }
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
        sub(/\/\/.*/, "", line)
        if (at = index(line, "/*")) {
            line = substr(line, 1, at - 1)
            comment = 1
        }
        gsub(/[ \t]+/, " ", line)
        sub(/^ /, "", line)
        sub(/ $/, "", line)
        return line
    }
    FNR == 1 { comment = 0; count = 0 }
    {
        line = code_of($0)
        if (line == "" || line ~ /^#[ ]*include/ || line ~ /^[{}];?$/)
            next
        recent[count++ % 10] = line
        if (count < 10)
            next
        key = ""
        for (i = 0; i < 10; i++)
            key = key recent[(count + i) % 10] "\n"
        if (!(key in first_file)) {
            first_file[key] = FILENAME
            first_count[key] = count
        } else if (first_file[key] != FILENAME || count - first_count[key] >= 10)
            shared[first_file[key] " and " FILENAME]++
    }
    END { for (pair in shared) print shared[pair], pair }' <"$work/files") |
    compare known-duplicates.txt "${1-}"
