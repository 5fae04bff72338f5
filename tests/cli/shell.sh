# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the command-line tests share; read by them with "." and $topic set.
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources. Prints one line
# for each case. The work happens in an empty folder, which is the current one.

LC_ALL=C
export LC_ALL
unset XGEMM_DEVICE XGEMM_KERNEL XGEMM_SIM

XGEMM=${XGEMM:-./xgemm}
case $XGEMM in
/*) ;;
*/*) XGEMM=$PWD/$XGEMM ;;
*) XGEMM=$(command -v "$XGEMM") ;;
esac
srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd) || exit 1
if ! [ -x "$XGEMM" ]; then
    echo "FAILED ${topic:?}: no program $XGEMM"
    exit 1
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1

passed=0
failed=0
skipped=0

# ---- Cases ----

ok()
{
    printf 'ok %s\n' "$1"
    passed=$((passed + 1))
}

no()
{
    printf 'FAILED %s: %s\n' "$1" "$2"
    failed=$((failed + 1))
}

skip()
{
    printf 'skipped %s: %s\n' "$1" "$2"
    skipped=$((skipped + 1))
}

have()
{
    command -v "$1" >/dev/null 2>&1
}

# Whether kernels are traced: gcc compiles them so, other compilers may not. An explain that fails in
# any other way is one that traces.
traces()
{
    ! "$XGEMM" explain naive -m 1 -n 1 -k 1 2>&1 | grep -q 'no traced kernels'
}

# Puts its outputs into the files out and err, its exit status into $status.
run()
{
    "$XGEMM" "$@" >out 2>err </dev/null
    status=$?
}

first_error()
{
    sed -n '1s/[^[:print:]]/?/g;1p' err
}

# Whether the run ended with $1 and its errors match $2; why not, in $why.
ended()
{
    why=
    if [ "$status" -ne "$1" ]; then
        why="exit status $status instead of $1; $(first_error)"
    elif [ "$1" -ne 0 ] && ! grep -q '^xgemm' err; then
        why="no message of xgemm; $(first_error)"
    elif [ -n "$2" ] && ! grep -Eq -e "$2" err; then
        why="no \"$2\" in the message: $(first_error)"
    fi
    [ -z "$why" ]
}

# Whether it also gave no results; why not, in $why.
refused()
{
    ended "$1" "$2" || return 1
    [ -s out ] || return 0
    why='standard output is not empty'
    return 1
}

# refuses NAME STATUS PATTERN ARGUMENT...: a message of xgemm that matches, and no results.
refuses()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run "$@"
    if refused "$expected" "$pattern"; then ok "$name"; else no "$name" "$why"; fi
}

# says NAME PATTERN ARGUMENT...: exit status 0, a match in the output, no messages.
says()
{
    name=$1
    pattern=$2
    shift 2
    run "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    elif ! grep -Eq -e "$pattern" out; then
        no "$name" "no \"$pattern\" in the output"
    else
        ok "$name"
    fi
}

# right NAME LINES-OF-SOURCE OPTION...: explain runs a kernel of these lines and finds no fault.
right()
{
    accepted=$1
    printf '%s\n' "$2" >right.cu
    shift 2
    says "$accepted" 'no faults' explain right.cu --check-only "$@"
}

# dated NAME FILE TITLE: the picture's title is this, an extended expression, and then a date.
dated()
{
    if grep -Eq ">$3, [0-9]{4}-[0-9]{2}-[0-9]{2}<" "$2"; then
        ok "$1"
    else
        no "$1" "no such title: $(grep -Eo '<text>.*[0-9]{4}-[0-9]{2}.*' "$2")"
    fi
}

# ---- Formats ----

# json NAME CONDITION: the output is JSON as the schema says, of which a condition in Python holds,
# with d for the object and r for its results.
json()
{
    if ! have python3; then
        skip "$1" "no python3"
    elif python3 -c '
import json, sys
sys.path.insert(0, sys.argv[2] + "/tests/cli")
sys.dont_write_bytecode = True
import validate
d = json.load(open("out"))
faults = validate.faults_of(json.load(open(sys.argv[2] + "/bin/xgemm.schema.json")), d)
assert not faults, faults[0]
r = d.get("results", [])
for key, kind in ("schema_version", int), ("xgemm_version", str), ("command", str):
    assert isinstance(d[key], kind), key
assert eval("(" + sys.argv[1] + ")"), "not so: " + sys.argv[1]' "$2" "$srcdir" 2>json.err; then
        ok "$1"
    else
        no "$1" "$(tail -n 1 json.err)"
    fi
}

# csv NAME ROWS: the output has a header and so many rows of as many fields.
csv()
{
    shape=$(awk '{
        quoted = 0
        fields = 1
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) fields++
        }
        if (NR == 1) header = fields
        if (fields != header || fields < 2 || quoted) bad++
    }
    END { print NR - 1, bad + 0 }' out)
    if [ "$shape" = "$2 0" ]; then
        ok "$1"
    else
        no "$1" "rows and rows with a wrong number of fields: $shape instead of $2 0"
    fi
}

# same_members NAME ROWS_KEY ARGUMENT...: a JSON result has CSV's columns.
same_members()
{
    name=$1
    key=$2
    shift 2
    if ! have python3; then
        skip "$name" "no python3"
        return
    fi
    run "$@" --csv
    head -n 1 out >header
    run "$@" --json
    json "$name" "d['$key'] and all(list(x) == open('header').read().strip().split(',') for x in d['$key'])"
}

# kernels_of DEVICE: their names.
kernels_of()
{
    "$XGEMM" kernels --csv | awk -F, -v device="$1" 'NR > 1 && (" " $2 " ") ~ " " device " " {
        print $1
    }'
}

# finish: what the test ends with.
finish()
{
    echo "$topic: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
