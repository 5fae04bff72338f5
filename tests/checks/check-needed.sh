#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the shared library asks of the dynamic linker: its name, the libraries
# it needs (none of CUDA, and no C++), no search path, no executable stack; and that its objects,
# the utility's and the drop-ins' are marked for IBT and SHSTK.
#
# XGEMM_LIBRARY is the shared library (./.libs/libxgemm.so).

library=${XGEMM_LIBRARY:-./.libs/libxgemm.so}
READELF=${READELF:-readelf}
export LC_ALL=C

if [ ! -f "$library" ] || [ -z "$(command -v "${READELF%% *}")" ]; then
    echo "skipped: no $library, or no ${READELF%% *}" >&2
    exit 77
fi
dynamic=$($READELF -W -d "$library") || exit 1
headers=$($READELF -W -l "$library") || exit 1
symbols=$($READELF -W --dyn-syms "$library") || exit 1
case $symbols in
*__asan_* | *__ubsan_* | *__tsan_*)
    echo "skipped: $library is built with sanitizers" >&2
    exit 77
    ;;
esac

work=$(mktemp) || exit 77
trap 'rm -f "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
complain()
{
    echo "$library: $*" >&2
    failed=1
}

soname=$(echo "$dynamic" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
[ "$soname" = libxgemm.so.0 ] || complain "its SONAME is \"$soname\", not libxgemm.so.0"

for needed in $(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'); do
    case $needed in
    libc.so.* | libm.so.*) ;;
    libc.musl-*.so.*) ;;
    libpthread.so.* | libdl.so.*) ;; # a C library of before 2021 has these apart
    ld-linux*.so.*) ;;
    libopenblas*.so* | libflexiblas.so* | libblis*.so* | libcblas*.so* | libblas*.so*) ;;
    *) complain "it needs $needed" ;;
    esac
done

echo "$dynamic" | grep -Eq '\((RPATH|RUNPATH)\)' && complain "it has an RPATH or a RUNPATH"
echo "$dynamic" | grep -Eq '\(TEXTREL\)' && complain "it has text relocations"
stack=$(echo "$headers" | sed -n 's/^ *GNU_STACK *\(0x[0-9a-f]* *\)*\([RWE ]*\) .*/\2/p' | tr -d ' ')
[ "$stack" = RW ] || complain "its stack's flags are \"$stack\", not RW"

# Where the compiler can mark its code for Intel's control-flow enforcement, all of our objects are
# marked: the linker drops the mark for one that is not. (The C library's own may lack it.)
archive=$(dirname "$library")/libxgemm_core.a
folder=$(dirname "$library")/..
if [ -f "$archive" ] && ${CC:-cc} -fcf-protection -dM -E -x c /dev/null 2>/dev/null |
    grep -q '__CET__ 3'; then
    # shellcheck disable=SC2086 # a tool comes with flags
    find "$folder/bin" "$folder/shim" -name '*.o' -exec $READELF -n "$archive" {} + |
        awk '/^File: / { if (file != "" && !marked) print file; file = $2; marked = 0; files++ }
            /IBT.*SHSTK/ { marked = 1 }
            END { if (!marked) print file; print files + 0 }' >"$work" || exit 99
    [ "$(sed '$!d' "$work")" -gt 100 ] || complain "no objects were found beside $archive"
    sed '$d' "$work" >&2
    [ "$(wc -l <"$work")" -eq 1 ] || complain "the objects above have no note of IBT and SHSTK"
fi
exit $failed
