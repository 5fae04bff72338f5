#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A kernel is its .cu file, in kernels.am, a row of lib/families/kernels.def with its programs, and a
# paragraph of xgemm-kernels(7): that these agree.

LC_ALL=C
export LC_ALL
srcdir=${srcdir:-$(dirname "$0")/../..}
cd "$srcdir" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# differ WHAT LEFT RIGHT: complains of lines that only one of two sorted files has.
differ()
{
    comm -3 "$2" "$3" >"$work/differ"
    if [ -s "$work/differ" ]; then
        echo "$1:" >&2
        sed 's/^/    /' "$work/differ" >&2
        failed=1
    fi
}

def=lib/families/kernels.def
find lib -name '*.cu' | sed 's|.*/||; s|\.cu$||' | sort >"$work/files"
awk '/^KERNELS/ { on = 1 } on { print } on && !/\\$/ { on = 0 }' lib/kernels.am |
    sed -n 's|.*/\([^/ ]*\)\.cu.*|\1|p' | sort >"$work/listed"
sed -n 's/^XG_PROGRAM\(_SM90\)\{0,1\}(\(.*\))$/\2/p' "$def" | sort >"$work/programs"
differ "files in lib/, and programs of kernels.am" "$work/files" "$work/listed"
differ "programs of kernels.am, and of kernels.def" "$work/listed" "$work/programs"

# Names of rows, and of the subsections of the manual that are named like them.
sed -n 's/^XG_KERNEL_ROW(.*\.name = "\([^"]*\)".*/\1/p' "$def" | sort >"$work/names"
sed -n 's/^\.Ss \([a-z0-9][a-z0-9-]*\)$/\1/p' man/xgemm-kernels.7 |
    sort >"$work/described"
differ "kernels of kernels.def, and of xgemm-kernels(7)" "$work/names" "$work/described"

# Every program that a row names is there.
grep -o 'xg_program_[a-z0-9_]*' "$def" | sed 's/xg_program_//' | sort -u >"$work/used"
printf 'reference\nchain\nblas\n' | sort - "$work/programs" >"$work/known"
comm -23 "$work/used" "$work/known" >"$work/unknown"
if [ -s "$work/unknown" ]; then
    echo "kernels.def names programs that it does not declare: $(tr '\n' ' ' <"$work/unknown")" >&2
    failed=1
fi
exit $failed
