#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No source file has more than 500 lines and no C function more than 80, but those of
# known-sizes.txt.
#
# usage: check-sizes.sh [--update]

# shellcheck source=tests/checks/known.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/checks/known.sh"

sources lib bin include tests bench shim -- c h cu inc sh awk py am >"$work/files"
# A function is what stands between braces alone in column 1; the line above has its name.
# shellcheck disable=SC2016 # fields of awk
(cd "$srcdir" && xargs awk '
    function end_of_file()
    {
        if (lines > 500)
            print lines, file ": lines, where 500 are the most"
    }
    FNR == 1 { end_of_file(); file = FILENAME; inside = 0; code = file ~ /\.(c|h|cu|inc)$/ }
    { lines = FNR }
    code && /^[A-Za-z_].*\(/ && !inside { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
        if (name == "START_TEST") { name = $0; gsub(/.*\(|\).*/, "", name) } }
    code && /^{$/ { inside = FNR }
    code && /^}/ && inside {
        if (FNR - inside + 1 > 80)
            print FNR - inside + 1, file ": lines of " name "(), where 80 are the most"
        inside = 0
    }
    END { end_of_file() }' <"$work/files") | compare known-sizes.txt "${1-}"
