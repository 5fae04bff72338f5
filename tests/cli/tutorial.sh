#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of doc/tutorial.md print what the page says. Its blocks "console" have commands after
# "$ ", each followed by lines of its output, in their order; others may be left out, "..." stands for
# a part of a line, and blanks count as one. The page's speeds are those of
# doc/ladder.md and doc/results/.

topic=tutorial
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
page=$srcdir/doc/tutorial.md

if ! traces; then
    echo 'skipped tutorial: this build cannot trace'
    exit 77
fi
# The GPU of this machine, if there is one, is not what the page is about.
XGEMM_DEVICE=cpu
XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
NVCC=false
export XGEMM_DEVICE XGEMM_CUDA_HEADERS NVCC

# Each command with its line in the page and the lines it should print, in files of its own.
awk '
    /^```/ { inside = $0 == "```console"; next }
    !inside { next }
    sub(/^\$ /, "") { print > ("command." ++n); print NR > ("line." n); printf "" > ("expected." n); next }
    { print > ("expected." n) }' "$page"

# Whether the file out has the lines of the file $1; the first that it has not, in $why.
printed()
{
    why=$(awk '
        function squeezed(text) { gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text); return text }
        # Whether text is the pattern, whose "..." stand for anything.
        function fits(text, pattern,  part, parts, i, at)
        {
            parts = split(pattern, part, /\.\.\./)
            if (parts == 1) return text == pattern
            if (substr(text, 1, length(part[1])) != part[1]) return 0
            text = substr(text, length(part[1]) + 1)
            for (i = 2; i < parts; i++) {
                at = index(text, part[i])
                if (!at) return 0
                text = substr(text, at + length(part[i]))
            }
            at = length(text) - length(part[parts])
            return at >= 0 && substr(text, at + 1) == part[parts]
        }
        { line = squeezed($0) }
        line == "" { next }
        FILENAME == "out" { out[++lines] = line; next }
        {
            do at++; while (at <= lines && !fits(out[at], line))
            if (at > lines) { print line; exit }
        }' out "$1")
    [ -z "$why" ]
}

number=0
while [ -e "command.$((number + 1))" ]; do
    number=$((number + 1))
    name="line $(cat line.$number): $(cat command.$number)"
    # shellcheck disable=SC2016 # the command has the variable
    eval "$(sed 's|\./xgemm|"$XGEMM"|; s|\.\./examples|"$srcdir"/examples|' command.$number)" >out 2>err </dev/null
    status=$?
    if [ $status -eq 1 ] && grep -q '^Faults' expected.$number; then status=0; fi # as it should be
    if grep -q 'built without CUDA\|was without CUDA' err; then
        skip "$name" 'this build has no records of nvcc'
    elif grep -q -e 'no C++ compiler' -e 'x86-64 and aarch64' err; then
        skip "$name" 'kernels of CUDA C++ cannot be compiled here'
    elif [ $status -ne 0 ]; then
        no "$name" "exit status $status; $(first_error)"
    elif printed expected.$number; then
        ok "$name"
    else
        no "$name" "it does not print: $why"
    fi
done
if [ $number -ge 20 ]; then ok 'commands'; else no 'commands' "$number in $page"; fi

# ---- Speeds ----

# "`naive` reached 0.50" or "`naive` 0.50", perhaps over the end of a line.
# shellcheck disable=SC2016 # the backquotes are the page's
tr '\n' ' ' <"$page" | grep -Eo '`[a-z0-9-]+`( reached)? [0-9]+\.[0-9]+' |
    sed 's/`\([^`]*\)`.* /\1 /' >speeds
awk -F'|' '$2 ~ /`/ { gsub(/[ `]/, "", $2); gsub(/ /, "", $5); print $2, $5 }' \
    "$srcdir/doc/ladder.md" >ladder
if [ "$(wc -l <speeds)" -lt 8 ]; then
    no 'speeds' "$(wc -l <speeds) of them in $page"
else
    ok 'speeds'
fi
while read -r kernel speed; do
    if grep -qx "$kernel $speed" ladder; then
        ok "speed of $kernel"
    else
        no "speed of $kernel" "$speed, but in doc/ladder.md $(sed -n "s/^$kernel //p" ladder)"
    fi
done <speeds
times=$(awk -F, '$1 $2 $3 $7 == "TN4096normal" { printf "%.2f", $10 / 100 }' \
    "$srcdir/doc/results/h200/real-data.csv")
if tr '\n' ' ' <"$page" | grep -q "At 4096 this was $times times as fast as cuBLAS"; then
    ok 'speed beside cuBLAS'
else
    no 'speed beside cuBLAS' "$times in doc/results/h200/real-data.csv"
fi

finish
