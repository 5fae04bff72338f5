#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The project's pages name only what is there: every relative link, and every path in backquotes,
# of README.md, HACKING.md, PACKAGERS.md and doc/; and every page below doc/ that a source names. Of what is distributed, too, as "make distcheck"
# runs this on an unpacked tarball. README.md has at most 120 lines, and doc/results is below 1 MB.
#
# srcdir is the top of the sources. Code blocks are not looked at. A path in backquotes is the first
# word there, if it has a "/" or ends as a page or a script does; from the top, or beside the page.

srcdir=${srcdir:-.}
export LC_ALL=C
cd "$srcdir" || exit 99

failed=0
complain()
{
    echo "$*" >&2
    failed=1
}

# there PATH: whether it exists; the path may have a "*".
there()
{
    # shellcheck disable=SC2086 # a pattern
    set -- $1
    [ -e "$1" ]
}

pages=$(find README.md HACKING.md PACKAGERS.md doc -name '*.md' | sort)
# shellcheck disable=SC2086 # a list of words
names=$(awk '
    FNR == 1 { in_code = 0; folder = FILENAME; if (!sub(/\/[^\/]*$/, "", folder)) folder = "." }
    /^ *```/ { in_code = !in_code; next }
    in_code || /^    / && !/^ *([-*]|[0-9]+\.) / && before ~ /^$/ { next }
    { before = $0 }
    {
        rest = $0
        while (match(rest, /\]\([^)]*\)/)) {
            target = substr(rest, RSTART + 2, RLENGTH - 3)
            rest = substr(rest, RSTART + RLENGTH)
            sub(/#.*/, "", target)
            if (target != "" && target !~ /^[a-z]+:/)
                print FILENAME ":" FNR, folder, "link", target
        }
        rest = $0
        while (match(rest, /`[^`]+`/)) {
            target = substr(rest, RSTART + 1, RLENGTH - 2)
            rest = substr(rest, RSTART + RLENGTH)
            sub(/ .*/, "", target)
            if (target ~ /^[A-Za-z0-9_.*\/-]+$/ && target !~ /^\.?\// &&
                (target ~ /\// || target ~ /\.(md|am|ac|sh)$/))
                print FILENAME ":" FNR, folder, "path", target
        }
    }' $pages) || exit 99
[ -n "$names" ] || complain "no links or paths were found in: $pages"

while read -r at folder kind target; do
    there "$folder/$target" && continue
    [ "$kind" = path ] && there "$target" && continue
    complain "$at: $target is not there"
done <<END
$names
END

for target in $(find lib bin include tests bench shim -type f -exec grep -hoE 'doc/[A-Za-z0-9_/-]+\.md' {} + | sort -u); do
    [ -e "$target" ] || complain "$target is named in a source, and is not there"
done

lines=$(wc -l <README.md)
[ "$lines" -le 120 ] || complain "README.md has $lines lines; at most 120 are wanted"
bytes=$(find doc/results -type f -exec cat {} + | wc -c)
[ "$bytes" -lt 1000000 ] || complain "doc/results has $bytes bytes; less than 1000000 are wanted"
exit $failed
