#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How much of lib/, bin/ and shim/ the tests reach, by lines and by branches:
#
#   tests/coverage.sh [FOLDER [TEST...]]     as "make coverage" does it, which names the folder "coverage"
#
# Builds there with gcc's --coverage, the CUDA backend for the fake driver; runs "make check", or
# those tests; and prints a line for each part and for each of the files that are covered least, of
# which FOLDER/uncovered.txt has every line and every branch that nothing reached. A folder that was
# built before is built again where it has to be, and counts from 0.
#
# A branch is an outcome of a condition, as gcov counts them. A line or branch of a file that is
# compiled several times is reached if it is in one of them. Kernels, which the simulator compiles
# from .cu and .inc, are not counted, since they would take minutes for seconds; what tests compile
# of their headers is a part of its own. What a process does that is killed by a signal is not
# counted either. A program has more variables then than dropins.sh expects: this test fails.
set -eu

export LC_ALL=C
srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
folder=${1:-coverage}
[ $# -eq 0 ] || shift
mkdir -p "$folder"
cd "$folder"
# Without inlining: gcov counts the outcomes of an inlined function anew at each place. Counters are
# atomic but for the simulator's, which runs under one lock, and the test programs'.
fast="-O1 -g --coverage -fno-inline -DXGEMM_COVERAGE"
flags="$fast -fprofile-update=atomic"
if ! [ -f config.status ]; then
    "$srcdir/configure" --quiet --disable-static --with-cuda=yes \
        NVCC="$srcdir/tests/cuda_fake/nvcc.sh" ${CC:+CC="$CC"} \
        CFLAGS="$flags"
fi
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
make -s -j"$jobs" CFLAGS=-O2 libxgemm_sim_kernels.la libxgemm_traced_kernels.la
make -s -j"$jobs" CFLAGS="$fast" libxgemm_sim.la
make -s -j"$jobs"
make -s -j"$jobs" CFLAGS="$fast" check TESTS= >/dev/null
find . -name '*.gcda' -exec rm -f {} +
status=0
if [ $# -gt 0 ]; then
    make -s check TESTS="$*" || status=$?
else
    make -s -j"$jobs" check || status=$?
fi

# Each object's counts: of the sources that are ours, by their paths below the top.
find . -name '*.gcda' | while read -r counts; do
    ${GCOV:-gcov} --stdout --branch-probabilities --branch-counts "$counts" 2>/dev/null || :
done | awk -v top="$srcdir/" -v folder="$(basename "$srcdir")/" '
    # "   count:  number:text"; count is "-" without code, "#####" or "=====" never.
    /^ *[^ :]+\*?: *[0-9]+:/ {
        split($0, part, ":")
        number = part[2] + 0
        if (number == 0) {
            if ($0 ~ /:Source:/) {
                path = substr($0, index($0, ":Source:") + 8)
                sub(/^(\.\.\/)+/, "", path)
                if (index(path, top) == 1)
                    path = substr(path, length(top) + 1)
                else if (index(path, folder) == 1) # as a compiler cache has it
                    path = substr(path, length(folder) + 1)
                ours = path ~ /^(lib|bin|shim)\//
            }
            next
        }
        count = part[1]
        gsub(/[ *]/, "", count)
        is_code = ours && count != "-"
        if (!is_code)
            next
        where = path ":" number
        branch = 0
        line[where] = path
        text[where] = substr($0, length(part[1]) + length(part[2]) + 3)
        if (count !~ /^[#=]/)
            reached[where] = 1
        next
    }
    /^branch/ && is_code {
        one = where ":" branch++
        outcome[one] = where
        if ($0 !~ /never executed/ && $4 + 0 > 0)
            taken[one] = 1
    }
    function part_of(path) {
        return path ~ /\.(cu|inc)$/ || path ~ /^lib\/(families\/[a-z]*|probes)\/[a-z0-9_]*\.h$/ ? \
            "kernels" : substr(path, 1, index(path, "/") - 1)
    }
    function add(name, lines, hit, branches, took) {
        L[name] += lines; H[name] += hit; B[name] += branches; T[name] += took
    }
    END {
        for (where in line) {
            add(line[where], 1, where in reached, 0, 0)
            add("=" part_of(line[where]), 1, where in reached, 0, 0)
        }
        for (one in outcome) {
            where = outcome[one]
            add(line[where], 0, 0, 1, one in taken)
            add("=" part_of(line[where]), 0, 0, 1, one in taken)
            if (!(one in taken) && where in reached)
                missed[where]++
        }
        for (name in L)
            printf "%s %d %d %d %d\n", name, L[name], H[name], B[name], T[name] > "summary.txt"
        for (where in line)
            if (!(where in reached))
                print where ": never: " text[where] > "uncovered.tmp"
            else if (where in missed)
                print where ": " missed[where] " branches not taken: " text[where] > "uncovered.tmp"
    }'
sort -t: -k1,1 -k2,2n uncovered.tmp >uncovered.txt
rm -f uncovered.tmp

# show PATTERN: rows of the summary as shares.
show() {
    awk -v pattern="$1" '$1 ~ pattern {
        sub(/^=/, "", $1)
        printf "%-36s %6d of %6d lines %6.1f %%   %6d of %6d branches %6.1f %%\n", $1, $3, $2,
            100 * $3 / ($2 ? $2 : 1), $5, $4, 100 * $5 / ($4 ? $4 : 1) }' summary.txt
}
{
    show '^=' | sort
    awk '/^=(lib|bin)/ { L += $2; H += $3; B += $4; T += $5 }
        END { printf "%-36s %6d of %6d lines %6.1f %%   %6d of %6d branches %6.1f %%\n", "lib and bin", H, L, 100 * H / L, T, B, 100 * T / B }' summary.txt
    echo "most lines and branches not reached:"
    awk '!/^=/ { print $2 - $3 + $4 - $5, $1 }' summary.txt | grep -Ev '\.(cu|inc)$' | sort -rn | sed 12q |
        while read -r _ path; do show "^$path\$"; done
} >coverage.txt
cat coverage.txt
exit $status
