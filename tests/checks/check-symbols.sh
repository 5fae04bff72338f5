#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports exactly the version script's functions, each with
# its version, and these are the functions of the headers. The static library and the
# drop-ins have no names that are not theirs.
#
# XGEMM_LIBRARY is the shared library (./.libs/libxgemm.so), srcdir the top of
# the sources.

library=${XGEMM_LIBRARY:-./.libs/libxgemm.so}
srcdir=${srcdir:-$(dirname "$0")/../..}
map=$srcdir/lib/libxgemm.map
NM=${NM:-nm}
export LC_ALL=C

archive=$(dirname "$library")/libxgemm_core.a
if { [ ! -f "$library" ] && [ ! -f "$archive" ]; } || [ -z "$(command -v "${NM%% *}")" ]; then
    echo "skipped: no $library, or no ${NM%% *}" >&2
    exit 77
fi

work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# The lists $1 and $2 are the same; else $3, with what only one of them has.
same()
{
    if ! cmp -s "$work/$1" "$work/$2"; then
        echo "$3:" >&2
        diff "$work/$1" "$work/$2" | sed -n 's/^[<>]/    &/p' >&2
        failed=1
    fi
}

# name@@VERSION, as the map has them.
sed -n -e 's/^\([A-Z0-9_.]*\) {$/version \1/p' \
    -e 's/^ *\([a-z0-9_]*\);$/\1/p' "$map" |
    awk '$1 == "version" { version = $2; next } { print $1 "@@" version }' |
    sort >"$work/map"

# The same of the library, where it is built; the versions themselves are absolute symbols.
if [ -f "$library" ]; then
    $NM -D --defined-only --with-symbol-versions "$library" >"$work/nm" ||
        $NM -D --defined-only "$library" >"$work/nm" || exit 1
    awk '$2 != "A" { print $3 }' "$work/nm" | sort >"$work/exported"
    same map exported "lib/libxgemm.map (<) and the symbols of $library (>) differ"
fi

sed 's/@@.*//' "$work/map" >"$work/map-names"
cat "$srcdir/include/xgemm.h" "$srcdir"/include/xgemm/*.h | tr '\n' ' ' |
    grep -o 'XGEMM_API [^(#]*(' |
    sed -n 's/^.*[ *]\(xgemm_[a-z0-9_]*\)($/\1/p' | sort >"$work/declared"
same map-names declared "lib/libxgemm.map (<) and the functions of the headers (>) differ"

if [ ! -s "$work/map" ] || grep -qv '@@XGEMM_0\.[12]$' "$work/map"; then
    echo "lib/libxgemm.map has no functions, or versions other than XGEMM_0.1 and XGEMM_0.2" >&2
    failed=1
fi

# Of the drop-ins each exports what it stands in for.
for name in cublas:^cublas blas:gemm; do
    dropin=$(dirname "$library")/libxgemm-${name%:*}.so
    [ -f "$dropin" ] || continue
    $NM -D --defined-only "$dropin" | awk '$3 !~ /^(_?_?asan|__odr_asan)/ { print $3 }' >"$work/dropin"
    if [ ! -s "$work/dropin" ] || grep -v "${name#*:}" "$work/dropin" >&2; then
        echo "$dropin exports names beside ${name#*:} (above), or nothing" >&2
        failed=1
    fi
done

# The static library hides nothing from a program's own names: all that it defines has our prefix.
# What it is made of is there whether or not it is built itself.
if [ -f "$archive" ]; then
    $NM "$archive" >"$work/archive" 2>/dev/null
    awk 'NF == 3 && $2 ~ /^[A-TV-Z]$/ && $3 !~ /^(xg_|xgemm_|DW\.ref\.|__x86\.|_?_?asan|__odr_asan)/ { print $3 }' \
        "$work/archive" | sort -u >"$work/foreign"
    if [ -s "$work/foreign" ] || ! grep -q ' T xgemm_sgemm$' "$work/archive"; then
        echo "$archive defines names without our prefix, or no xgemm_sgemm:" >&2
        sed 's/^/    /' "$work/foreign" >&2
        failed=1
    fi
fi
exit $failed
