#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every long option that the utility's help shows stands in xgemm(1), under its own command, and
# there are no others there. (The completions take options from the help: tests/cli/completions.sh.)
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources.

LC_ALL=C
export LC_ALL
XGEMM=${XGEMM:-./xgemm}
srcdir=${srcdir:-$(dirname "$0")/../..}
man=$srcdir/man/xgemm.1

if ! [ -x "$XGEMM" ]; then
    echo "skipped: no utility $XGEMM" >&2
    exit 77
fi
if ! [ -r "$man" ]; then
    echo "skipped: no file $man" >&2
    exit 77
fi

work=$(mktemp -d) || exit 77
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# Fails for each line of the sorted file $1 that the sorted file $2 lacks.
lacks()
{
    for word in $(comm -23 "$1" "$2"); do
        echo "$3: $word" >&2
        failed=1
    done
}

# The long options of a help text.
options_of_help()
{
    sed -n 's/^  *\(-[A-Za-z], *\)\{0,1\}\(--[a-z][a-z0-9-]*\).*/\2/p' | sort -u
}

# The man page's long options, each after its place: "global" before the first
# subsection of DESCRIPTION, "common" in "Common options", a command in the
# command's own subsection, else "other".
place='
    function place() {
        if (section != "DESCRIPTION") return "other"
        if (part == "") return "global"
        if (part == "Common options") return "common"
        return part in commands ? part : "other"
    }
    function split_commands(list,  i, n, names) {
        n = split(list, names, " ")
        for (i = 1; i <= n; i++) commands[names[i]] = 1
    }'

options_of_rendered()
{
    backspace=$(printf '\b')
    mandoc -Tascii -O width=200 "$man" | sed "s/.$backspace//g" | awk -v list="$1" "$place"'
        BEGIN { split_commands(list) }
        /^[A-Z]/ { section = $0; part = ""; next }
        /^   [^ ]/ { part = substr($0, 4); next }
        {
            gsub(/[^-a-z0-9]/, " ")
            n = split($0, words, " ")
            for (i = 1; i <= n; i++)
                if (words[i] ~ /^--[a-z]/) print place() " " words[i]
        }'
}

options_of_source()
{
    awk -v list="$1" "$place"'
        BEGIN { split_commands(list) }
        /^\.Sh/ { section = substr($0, 5); part = ""; next }
        /^\.Ss/ { part = substr($0, 5); next }
        {
            gsub(/\\-/, "-")
            flag = 0
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^--[a-z]/) print place() " " $i
                else if (flag && $i ~ /^-[a-z][-a-z0-9]*$/) print place() " -" $i
                if ($i == ".Fl" || $i == "Fl") flag = 1
                else if ($i !~ /^(,|[a-zA-Z]|-[a-z][-a-z0-9]*)$/) flag = 0
            }
        }' "$man"
}

if ! "$XGEMM" --help >"$work/help"; then
    echo "$XGEMM --help failed" >&2
    exit 1
fi
awk '/^Commands:/ { on = 1; next } on && !/^ / { exit } on && /^  [a-z]/ { print $1 }' \
    "$work/help" | sort >"$work/commands"
commands=$(tr '\n' ' ' <"$work/commands")
if [ -z "$commands" ]; then
    echo "$XGEMM --help lists no commands" >&2
    exit 1
fi

if command -v mandoc >/dev/null; then
    options_of_rendered "$commands" >"$work/man"
else
    options_of_source "$commands" >"$work/man"
fi
# The places of the man page's options that hold for a command.
in_man()
{
    for in_place; do
        sed -n "s/^$in_place //p" "$work/man"
    done | sort -u
}

options_of_help <"$work/help" >"$work/shown.global"
in_man global >"$work/man.global"
lacks "$work/shown.global" "$work/man.global" "not in xgemm(1), of xgemm itself"
lacks "$work/man.global" "$work/shown.global" "in xgemm(1) but not in xgemm --help"
in_man common >"$work/man.common"

for command in $commands; do
    if ! "$XGEMM" "$command" --help >"$work/help"; then
        echo "$XGEMM $command --help failed" >&2
        failed=1
        continue
    fi
    options_of_help <"$work/help" >"$work/shown.$command"
    in_man common "$command" >"$work/man.$command"
    case $command in # they refuse --device, as the page says
    run | explain | occupancy) sed -i '/^--device$/d' "$work/man.$command" ;;
    esac
    lacks "$work/shown.$command" "$work/man.$command" "not in xgemm(1), of $command"
    lacks "$work/man.$command" "$work/shown.$command" "in xgemm(1) but not in $command --help"
    if ! grep -q "^\.Ss $command\$" "$man"; then
        echo "no subsection in xgemm(1): $command" >&2
        failed=1
    fi
done

sort -u "$work"/shown.* >"$work/shown"
in_man other >"$work/man.other"
lacks "$work/man.other" "$work/shown" "in an example or elsewhere in xgemm(1), but in no help"

exit $failed
