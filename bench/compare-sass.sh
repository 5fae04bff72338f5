#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whether two builds have the same machine code.
#
#   bench/compare-sass.sh OLD NEW
#
# OLD and NEW are build folders with compiled kernels (configure --with-cuda; make
# lib/families/records.c makes nothing else). Kernels are told by their symbols, so that a file
# may have moved; a renamed kernel is told by "OLD=NEW" lines in the file $RENAMED. Prints the
# symbols of which the instructions differ, or that only one build has; exits with 1 if there are
# any. CUOBJDUMP names the disassembler. Registers, addresses and schedules count; the line table and the file's name do not.
set -eu

cuobjdump=${CUOBJDUMP:-cuobjdump}
old=${1:?usage: bench/compare-sass.sh OLD NEW}
new=${2:?usage: bench/compare-sass.sh OLD NEW}
renamed=${RENAMED:-/dev/null}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Instructions of each function of a build: a file for each symbol and architecture.
disassemble() {
    mkdir "$work/$2"
    find "$1/lib" -name '*.fatbin' | while read -r fatbin; do
        "$cuobjdump" -sass "$fatbin" >"$work/sass" || exit 1
        awk -v folder="$work/$2" '
            /^code for / || /arch = / { arch = $3 }
            /Function :/ { file = folder "/" $3 "." arch; printf "" > file; next }
            file != "" && /\/\*[0-9a-f]+\*\// { print > file }
        ' "$work/sass"
    done
}
disassemble "$old" old
disassemble "$new" new

# Renamed symbols, under their new names.
sed 's/#.*//' "$renamed" | while IFS='=' read -r from to; do
    [ -n "$from" ] || continue
    for file in "$work/old/$from".*; do
        [ ! -e "$file" ] || mv "$file" "$work/old/$to.${file##*.}"
    done
done

differ=0 same=0
for name in $( (cd "$work" && ls old new) | grep '\.' | sort -u); do
    if [ ! -f "$work/old/$name" ]; then
        echo "only new: $name"
        differ=$((differ + 1))
    elif [ ! -f "$work/new/$name" ]; then
        echo "only old: $name"
        differ=$((differ + 1))
    elif cmp -s "$work/old/$name" "$work/new/$name"; then
        same=$((same + 1))
    else
        echo "differs: $name ($(diff "$work/old/$name" "$work/new/$name" | grep -c '^[<>]') lines)"
        differ=$((differ + 1))
    fi
done
echo "$same the same, $differ not"
[ "$differ" = 0 ]
