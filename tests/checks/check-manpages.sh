#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The man pages are well formed and agree with the library: each function of
# the headers stands in a SYNOPSIS with the same prototype and in the list of
# libxgemm(3), each member of a struct and each constant in a page that names the
# struct, each status is explained, each kernel has its subsection in
# xgemm-kernels(7).
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources. Exits with 77
# when nothing is wrong but mandoc or the utility was not there.

LC_ALL=C
export LC_ALL
XGEMM=${XGEMM:-./xgemm}
srcdir=${srcdir:-$(dirname "$0")/../..}

work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
skipped=0

# Fails for each line of the sorted file $1 that the sorted file $2 lacks.
lacks()
{
    comm -23 "$1" "$2" >"$work/lacking"
    if [ -s "$work/lacking" ]; then
        echo "$3:" >&2
        sed 's/^/    /' "$work/lacking" >&2
        failed=1
    fi
}

# References between pages are looked up in a tree of installed pages, which
# -Wall takes to be the system's; hence there they are left out, and looked up
# among our own pages afterwards.
check_form()
{
    for page in "$srcdir"/man/*.[1-9]; do
        section=${page##*.}
        mkdir -p "$work/tree/man$section"
        cp "$page" "$work/tree/man$section/"
    done
    mandoc -Tlint -Wall "$srcdir"/man/*.[1-9] 2>/dev/null |
        grep -v 'referenced manual not found' >"$work/lint"
    MANPATH=$work/tree mandoc -Tlint -Wstyle "$work"/tree/man*/* 2>/dev/null |
        grep 'referenced manual not found' >>"$work/lint"
    if [ -s "$work/lint" ]; then
        cat "$work/lint" >&2
        failed=1
    fi
}

# One prototype a line, from headers on the standard input.
prototypes_of_headers()
{
    grep -v '^#' | tr '\n' ' ' |
        sed 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g' | tr ';' '\n' |
        sed -n 's/.*XGEMM_API  *//p' | sed 's/  */ /g; s/( /(/g; s/ $//'
}

# The same from the SYNOPSIS of man pages, which has .Ft, .Fo, .Fa and .Fc.
prototypes_of_pages()
{
    awk '
        /^\.Sh/ { synopsis = $2 == "SYNOPSIS" }
        !synopsis { next }
        /^\.Ft / { type = substr($0, 5); if (type !~ /\*$/) type = type " " }
        /^\.Fo / { line = type $2 "("; comma = "" }
        /^\.Fa / { text = substr($0, 5); gsub(/"/, "", text); line = line comma text; comma = ", " }
        /^\.Fc/ { print line ")" }' "$@"
}

check_functions()
{
    cat "$srcdir/include/xgemm.h" "$srcdir"/include/xgemm/*.h | prototypes_of_headers |
        sort >"$work/declared"
    prototypes_of_pages "$srcdir"/man/*.3 | sort >"$work/described"
    if ! [ -s "$work/declared" ]; then
        echo "found no functions in $srcdir/include" >&2
        failed=1
    fi
    lacks "$work/declared" "$work/described" "declared, but in no SYNOPSIS with this prototype"
    lacks "$work/described" "$work/declared" "in a SYNOPSIS, but not declared with this prototype"

    # man -k and man FUNCTION go by NAME.
    sed 's/.*\(xgemm_[a-z0-9_]*\)(.*/\1/' "$work/declared" | sort >"$work/functions"
    sed -n 's/^\.Nm \(xgemm_[a-z0-9_]*\).*/\1/p' "$srcdir"/man/*.3 | sort -u >"$work/names"
    lacks "$work/functions" "$work/names" "declared, but in no NAME section"

    sed -n '/^\.Ss Functions/,/^\.Ss Devices/s/^\.Fn \(xgemm_[a-z0-9_]*\).*/\1/p' \
        "$srcdir/man/libxgemm.3" | sort >"$work/listed"
    lacks "$work/functions" "$work/listed" "declared, but not in the list of libxgemm(3)"
}

# "STRUCT MEMBER" of all structs, from headers.
members_of_headers()
{
    sed -n '/^typedef struct {/,/^}/p' "$@" | tr '\n' ' ' |
        sed -e 's,/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/,,g' -e 's/\[[^]]*\]//g' -e 's/typedef/\n&/g' |
        awk '{
            split($0, parts, /[{}]/)
            gsub(/[ ;]/, "", parts[3])
            count = split(parts[2], members, /[,;]/)
            for (i = 1; i <= count; i++) {
                sub(/ *$/, "", members[i])
                sub(/.*[ *]/, "", members[i])
                if (members[i] != "") print parts[3], members[i]
            }
        }'
}

# Each member stands in one of the pages that name its struct; some have .Va instead of .Fa.
check_members()
{
    members_of_headers "$srcdir"/include/xgemm/*.h | sort >"$work/members"
    grep -q '^xgemm_device name$' "$work/members" || {
        echo "found no members of xgemm_device in $srcdir/include" >&2
        failed=1
    }
    cut -d' ' -f1 "$work/members" | sort -u | while read -r struct; do
        awk -v struct="$struct" '
            FNR == 1 { file++ }
            /^\.(Vt|Fa|It Vt) / && $0 ~ struct { named[file] = 1 }
            /(^\.| )(Fa|Va) / { line[++lines] = $0; at[lines] = file }
            END {
                for (i = 1; i <= lines; i++) {
                    if (!named[at[i]]) continue
                    sub(/.*(Fa|Va) /, "", line[i])
                    count = split(line[i], words, " ")
                    for (j = 1; j <= count; j++) print struct, words[j]
                }
            }' "$srcdir"/man/*.3
    done | sort -u >"$work/described"
    lacks "$work/members" "$work/described" "struct and member that no man page with the struct has"

    sed -n 's/^ *\(XGEMM_[A-Z0-9_]*\)\( *=.*\|,.*\|  *\/.*\)*$/\1/p' "$srcdir"/include/xgemm/*.h |
        grep -v 'XGEMM_STATUS_FORCE_INT' | sort -u >"$work/constants"
    grep -ho 'XGEMM_[A-Z0-9_]*' "$srcdir"/man/*.3 | sort -u >"$work/explained"
    lacks "$work/constants" "$work/explained" "constant that no man page has"
}

# man FUNCTION finds each symbol's page, or a link that man.am installs.
check_links()
{
    sed -n 's/^ *\(xgemm_[a-z0-9_]*\);.*/\1/p' "$srcdir/lib/libxgemm.map" | sort >"$work/symbols"
    [ -s "$work/symbols" ] || { echo "found no symbols in lib/libxgemm.map" >&2; failed=1; }
    grep -E '^MAN_LINKS|^[[:space:]]+(link )?xgemm_|\.3' "$srcdir/man/man.am" |
        grep -o 'xgemm_[a-z0-9_]*' | sort -u >"$work/pages"
    lacks "$work/symbols" "$work/pages" "symbol without a page or a link in man.am"
}

check_statuses()
{
    sed -n 's/^ *X(\([A-Z_]*\), *-\{0,1\}[0-9].*/XGEMM_\1/p' "$srcdir/include/xgemm/status.h" |
        sort >"$work/statuses"
    {
        cat "$srcdir/man/libxgemm.3"
        awk '/^\.Sh/ { errors = $2 == "ERRORS" } errors' "$srcdir"/man/*.3
    } | grep -o 'XGEMM_[A-Z_]*' | sort -u >"$work/explained"
    if ! [ -s "$work/statuses" ]; then
        echo "found no statuses in $srcdir/include/xgemm/status.h" >&2
        failed=1
    fi
    lacks "$work/statuses" "$work/explained" "status that no man page explains"
}

check_kernels()
{
    if ! "$XGEMM" kernels --csv >"$work/csv"; then
        echo "$XGEMM kernels --csv failed" >&2
        failed=1
        return
    fi
    sed -e 1d -e 's/,.*//' -e 's/"//g' "$work/csv" | sort >"$work/kernels"
    if ! [ -s "$work/kernels" ]; then
        echo "$XGEMM kernels --csv lists no kernels" >&2
        failed=1
    fi
    # Subsections that are no kernels begin with a capital letter. A build
    # without a BLAS has no kernel blas.
    sed -n 's/^\.Ss \([a-z].*\)/\1/p' "$srcdir/man/xgemm-kernels.7" | sort >"$work/subsections"
    { cat "$work/kernels"; echo blas; } | sort -u >"$work/known"
    lacks "$work/kernels" "$work/subsections" "kernel without a subsection in xgemm-kernels(7)"
    lacks "$work/subsections" "$work/known" "subsection of xgemm-kernels(7) without a kernel"
}

check_functions
check_members
check_links
check_statuses
if command -v mandoc >/dev/null; then
    check_form
else
    echo "skipped: the form of the pages (no mandoc)" >&2
    skipped=77
fi
if [ -x "$XGEMM" ]; then
    check_kernels
else
    echo "skipped: the kernels (no utility $XGEMM)" >&2
    skipped=77
fi

[ $failed -eq 0 ] || exit 1
exit $skipped
