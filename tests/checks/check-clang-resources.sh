#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Registers, shared memory and spills of the kernels that clang compiled are within what
# clang-resources.csv has, and the table has each kernel.
#
#   check-clang-resources.sh [FOLDER] [--update]
#
# Reads the *.resources below lib of the build folder FOLDER (.). What other versions of the compiler
# and of NVIDIA's assembler make is not known: exits with 77 for them, for a build with nvcc, and for
# one without the assembler. --update writes the table from a complete build.

LC_ALL=C
export LC_ALL
srcdir=${srcdir:-$(dirname "$0")/../..}
table=$srcdir/tests/checks/clang-resources.csv
folder=.
update=no
for argument; do
    case $argument in
    --update) update=yes ;;
    *) folder=$argument ;;
    esac
done
# What a kernel may take more than the table has, so that a change of a line elsewhere does not fail.
registers=4
bytes=32

skip() {
    echo "skipped: $*" >&2
    exit 77
}

# tool NAME: the command that the build folder's Makefile has.
tool() {
    sed -n "s/^$1 = //p" "$folder/Makefile" 2>/dev/null
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
for image in "$folder"/lib/probes/*.image "$folder"/lib/families/*/*.image; do
    [ -f "${image%.image}.resources" ] && cat "${image%.image}.resources"
done >"$work/records"
[ -s "$work/records" ] || skip "no records of kernels that clang compiled in $folder"
clang=$($(tool CLANG) --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
ptxas=$($(tool PTXAS) --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
versions="# clang $clang, ptxas $ptxas"

# The records' columns: symbol, architecture, -, registers, shared, stack, stores, loads, constant.
{
    echo "$versions"
    echo 'kernel,architecture,registers,shared,spill_stores,spill_loads'
    tr -d '"() ' <"$work/records" | sed 's/^XG_RECORD//' |
        awk -F, -v OFS=, '{ print $1, $2, $4, $5, $7, $8 }' | sort
} >"$work/found"
if [ "$update" = yes ]; then
    cp "$work/found" "$table"
    exit
fi
[ "$(sed -n 1p "$table")" = "$versions" ] ||
    skip "the table is of $(sed -n '1s/^# //p' "$table"), the build of ${versions#\# }"

awk -F, -v more="$registers" -v bytes="$bytes" '
    FNR <= 2 { next }
    { kernel = $1 " on sm_" $2 }
    NR == FNR { known[kernel] = 1; r[kernel] = $3; shared[kernel] = $4; stores[kernel] = $5; loads[kernel] = $6; next }
    { found[kernel] = 1 }
    !(kernel in known) { say("is not in the table"); next }
    $3 > r[kernel] + more { say($3 " registers, the table has " r[kernel]) }
    $4 > shared[kernel] { say($4 " bytes of shared memory, the table has " shared[kernel]) }
    $5 > stores[kernel] + bytes { say($5 " bytes of spill stores, the table has " stores[kernel]) }
    $6 > loads[kernel] + bytes { say($6 " bytes of spill loads, the table has " loads[kernel]) }
    function say(what) { print kernel ": " what; failed = 1 }
    END {
        for (kernel in known)
            if (!(kernel in found)) say("is in the table and not in the build")
        exit failed
    }' "$table" "$work/found" >&2 || {
    echo "right? then: $0 $folder --update" >&2
    exit 1
}
