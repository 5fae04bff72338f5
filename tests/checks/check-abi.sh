#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were linked with the last release run with this library: no function is gone, and
# no type, constant or argument is another. What is new is left out. libxgemm-VERSION.abi is the
# release, as abidw writes it (HACKING.md, "Release").
#
# XGEMM_LIBRARY is the shared library (./.libs/libxgemm.so), CC the C compiler, srcdir the top of
# the sources.

library=${XGEMM_LIBRARY:-./.libs/libxgemm.so}
srcdir=${srcdir:-$(dirname "$0")/../..}
LC_ALL=C
export LC_ALL

# The release's structs as assertions in C: what it has is where it was, of the same type. abidiff takes
# a struct that is larger for another, though ours grow at their end; told to leave out private
# types, it left out all of them.
assertions()
{
    awk -v FS="'" '
    # The value of an attribute of the line.
    function value(name,  i) {
        for (i = 1; i < NF; i += 2)
            if ($i ~ " " name "=$")
                return $(i + 1)
    }
    # A type as C writes it.
    function text(id) {
        return id in named ? named[id] : text(base[id]) after[id]
    }
    BEGIN { print "#include <stddef.h>\n#include <xgemm.h>" }
    /<(type|typedef|enum|class)-decl/ { named[value("id")] = value("name") }
    /<(array|pointer|qualified)-type/ { current = value("id"); base[current] = value("type-id") }
    /<pointer-type/ { after[current] = " *" }
    /<qualified-type/ { after[current] = value("const") == "yes" ? " const" : "" }
    /<subrange/ { after[current] = after[current] "[" value("length") "]" }
    /<class-decl/ { record = value("naming-typedef-id") ? value("name") : "" }
    /<data-member/ { offset = value("layout-offset-in-bits") }
    /<var-decl/ && record ~ /^xgemm_/ {
        count++
        owner[count] = record; member[count] = value("name"); at[count] = offset; type[count] = value("type-id")
    }
    END {
        for (i = 1; i <= count; i++) {
            printf "_Static_assert(offsetof(%s, %s) == %d, \"%s.%s is elsewhere\");\n", owner[i], member[i],
                at[i] / 8, owner[i], member[i]
            printf "_Static_assert(__builtin_types_compatible_p(__typeof__(((%s *)0)->%s), %s), \"%s.%s has another type\");\n",
                owner[i], member[i], text(type[i]), owner[i], member[i]
        }
        exit count == 0
    }' "$1"
}

failed=0
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
for release in "$srcdir"/tests/checks/libxgemm-*.abi; do
    # shellcheck disable=SC2086 # a compiler comes with flags
    if ! assertions "$release" >"$work/structs.c" ||
        ! ${CC:-cc} -std=gnu11 -I"$srcdir/include" -fsyntax-only "$work/structs.c"; then
        echo "the structs in include/xgemm are not those of ${release##*/}" >&2
        failed=1
    fi
done
[ $failed -eq 0 ] || exit 1

if ! command -v abidiff >/dev/null; then
    echo "skipped: no abidiff (Debian: abigail-tools)" >&2
    exit 77
fi
if [ ! -f "$library" ] || ! readelf -S "$library" 2>/dev/null | grep -q '\.debug_info'; then
    echo "skipped: no $library with debugging information" >&2
    exit 77
fi
# Another compiler describes the same types in another way.
if ! readelf --debug-dump=info "$library" 2>/dev/null | grep -m 1 DW_AT_producer | grep -q GNU; then
    echo "skipped: $library was not compiled by GCC, as the release was" >&2
    exit 77
fi

for release in "$srcdir"/tests/checks/libxgemm-*.abi; do
    if ! abidiff --headers-dir2 "$srcdir/include" --drop-private-types --no-added-syms "$release" "$library" >&2; then
        echo "$library is not compatible with ${release##*/}" >&2
        failed=1
    fi
done
exit $failed
