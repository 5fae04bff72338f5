#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were linked with the last release run with this library: no function is gone, and
# no type, constant or argument is another. What is new is left out. libxgemm-VERSION.abi is the
# release, as abidw writes it (HACKING.md, "Release").
#
# XGEMM_LIBRARY is the shared library (./.libs/libxgemm.so), srcdir the top of the sources.

library=${XGEMM_LIBRARY:-./.libs/libxgemm.so}
srcdir=${srcdir:-$(dirname "$0")/../..}
LC_ALL=C
export LC_ALL

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

failed=0
for release in "$srcdir"/tests/checks/libxgemm-*.abi; do
    if ! abidiff --headers-dir2 "$srcdir/include" --drop-private-types --no-added-syms "$release" "$library" >&2; then
        echo "$library is not compatible with ${release##*/}" >&2
        failed=1
    fi
done
exit $failed
