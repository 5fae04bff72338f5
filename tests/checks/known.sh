# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For the gates that compare what they find with a list of what is known, which may only shrink.
# Sets srcdir and work; findings are lines "COUNT KEY".

srcdir=${srcdir:-$(dirname "$0")/../..}
LC_ALL=C
export LC_ALL
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM

# sources FOLDER... -- EXTENSION...: paths from srcdir of the files that there are, sorted.
sources()
{
    folders=
    while [ "$1" != -- ]; do
        [ -d "$srcdir/$1" ] && folders="$folders $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # a list of words
    (cd "$srcdir" && find $folders -name .libs -prune -o -type f -print) | awk -v extensions="$*" '
        BEGIN { split(extensions, list, " "); for (i in list) wanted[list[i]] = 1 }
        { extension = $0; sub(/.*\./, "", extension); if (extension in wanted) print }' | sort
}

# compare LIST OPTION: findings on stdin; what is new, more or less than the list has fails. With
# --update the list is made of them.
compare()
{
    known=$srcdir/tests/checks/$1
    sort -k 2 >"$work/found"
    if [ "$2" = --update ]; then
        cp "$work/found" "$known"
        echo "$known: $(grep -c . "$known") entries"
        exit 0
    fi
    awk -v list="tests/checks/$1" '
        { count = $1; key = $0; sub(/^[ \t]*[0-9]+[ \t]+/, "", key) }
        FILENAME == ARGV[1] { known[key] = count; next }
        {
            found[key] = 1
            if (count > known[key] + 0) {
                printf "%s: %d, may be %d\n", key, count, known[key]
                failed = 1
            } else if (count < known[key]) {
                printf "%s: %d are left of %d; shorten %s\n", key, count, known[key], list
                failed = 1
            }
        }
        END {
            for (key in known)
                if (!(key in found)) {
                    printf "%s: is no more; take it from %s\n", key, list
                    failed = 1
                }
            exit failed
        }' "$known" "$work/found" >&2
}
