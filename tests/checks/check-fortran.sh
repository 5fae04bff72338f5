#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module: its constants are the headers', each function has as many arguments as in C,
# and a program that uses it is right on the CPU and on the simulator.
#
# FC is the compiler (gfortran), CC the C compiler, XGEMM_LIBRARY the shared library, srcdir the top
# of the sources. Exits with 77 where nothing is wrong and there is no Fortran compiler.

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
library=${XGEMM_LIBRARY:-./.libs/libxgemm.so}
FC=${FC:-gfortran}
CC=${CC:-cc}
export LC_ALL=C
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
module=$srcdir/include/xgemm.f90
failed=0

# The constants, as assertions in C.
{
    echo '#include <xgemm.h>'
    sed -n 's/.*parameter :: \(XGEMM_[A-Z0-9_]*\) = \(-*[0-9]*\)$/_Static_assert(\1 == \2, "\1");/p' "$module"
} >"$work/constants.c"
[ "$(grep -c Static_assert "$work/constants.c")" -ge 12 ] || { echo "no constants in $module" >&2; failed=1; }
# shellcheck disable=SC2086 # a compiler comes with flags
$CC -std=gnu11 -I"$srcdir/include" -fsyntax-only "$work/constants.c" || failed=1

# NAME and the number of its arguments, by the headers and by the module.
cat "$srcdir"/include/xgemm/*.h | tr '\n' ' ' | grep -o 'XGEMM_API [^(#]*([^)]*)' |
    sed -n 's/^.*[ *]\(xgemm_[a-z0-9_]*\)(\(.*\))$/\1 \2/p' |
    awk '{ name = $1; $1 = ""; print name, ($0 ~ /^ *void$/ ? 0 : split($0, parts, ",")) }' | sort >"$work/c"
sed -e :a -e '/&$/{N;s/&\n *//;ta' -e '}' "$module" |
    sed -n 's/^ *\(function\|subroutine\) \(xgemm_[a-z_]*\)(\([^)]*\)) *bind(c).*/\2 \3/p' |
    awk '{ name = $1; $1 = ""; print name, ($0 == "" ? 0 : split($0, parts, ",")) }' | sort >"$work/fortran"
if [ ! -s "$work/fortran" ] || [ -n "$(comm -13 "$work/c" "$work/fortran")" ]; then
    echo "declared otherwise in the headers:" >&2
    comm -13 "$work/c" "$work/fortran" >&2
    failed=1
fi
[ $failed -eq 0 ] || exit 1

if [ -z "$(command -v "${FC%% *}")" ] || [ ! -f "$library" ]; then
    echo "skipped: no ${FC%% *}, or no $library" >&2
    exit 77
fi
if grep -q 'libasan' "$library"; then
    echo "skipped: $library is built with sanitizers" >&2
    exit 77
fi
folder=$(cd "$(dirname "$library")" && pwd)
cd "$work" || exit 99
# shellcheck disable=SC2086
$FC -std=f2008 -Wall -Wextra -Werror -c "$module" -o module.o &&
    $FC -std=f2008 -Wall -Werror "$srcdir/tests/unit/fortran.f90" module.o -L"$folder" -lxgemm -o program || exit 1
for device in cpu sim; do
    XGEMM_DEVICE=$device LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ./program >out 2>&1
    if ! grep -qx right out; then
        cat out >&2
        failed=1
    fi
done
exit $failed
