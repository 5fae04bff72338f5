#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of doc/from-cublas.md: that with libxgemm is examples/from-cublas.c and prints, on the
# CPU and on the simulator, what the page says; that with cuBLAS compiles where its headers are.
#
# Runs in the build folder, where examples/from-cublas is. CC is the compiler, srcdir the top of the
# sources.

LC_ALL=C
export LC_ALL
srcdir=${srcdir:-$(dirname "$0")/../..}
page=$srcdir/doc/from-cublas.md
work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# Each block of the page that begins with an #include, and the one without a language.
awk -v work="$work" '
    /^```/ { inside = /^```c$/ ? "c" : /^```$/ && !inside ? "text" : ""; next }
    /^#include <cublas/ && inside == "c" { name = "cublas.c" }
    /^#include <stdio/ && inside == "c" && name == "" { name = "xgemm.c" }
    inside == "" { name = "" }
    inside == "c" && name != "" { print > (work "/" name) }
    inside == "text" { print > (work "/output") }' "$page"

sed 1,2d "$srcdir/examples/from-cublas.c" >"$work/example.c"
if ! diff "$work/example.c" "$work/xgemm.c" >&2; then
    echo "doc/from-cublas.md and examples/from-cublas.c have different programs" >&2
    failed=1
fi

unset XGEMM_KERNEL XGEMM_SIM
for device in cpu sim; do
    if ! XGEMM_DEVICE=$device examples/from-cublas >"$work/$device" ||
        ! diff "$work/output" "$work/$device" >&2; then
        echo "examples/from-cublas does not print what the page says, on $device" >&2
        failed=1
    fi
done

if ! [ -s "$work/cublas.c" ]; then
    echo "doc/from-cublas.md has no program with cuBLAS" >&2
    failed=1
fi
# CC may be several words.
# shellcheck disable=SC2086
if echo '#include <cublas_v2.h>' | ${CC:-cc} -E -x c - >/dev/null 2>&1; then
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only "$work/cublas.c" || failed=1
fi
exit $failed
