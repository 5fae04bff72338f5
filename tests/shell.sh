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
srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 1
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

# Puts its outputs into the files out and err, its exit status into $status.
run()
{
    "$XGEMM" "$@" >out 2>err </dev/null
    status=$?
}

# refuses NAME STATUS PATTERN ARGUMENT...: a message that matches, and no results.
refuses()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run "$@"
    if [ "$status" -ne "$expected" ]; then
        no "$name" "exit status $status instead of $expected; $(head -n 1 err)"
    elif ! grep -Eq -e "$pattern" err; then
        no "$name" "no \"$pattern\" in the message: $(head -n 1 err)"
    elif [ -s out ]; then
        no "$name" "standard output is not empty"
    else
        ok "$name"
    fi
}

# says NAME PATTERN ARGUMENT...: exit status 0, a match in the output, no messages.
says()
{
    name=$1
    pattern=$2
    shift 2
    run "$@"
    if [ "$status" -ne 0 ]; then
        no "$name" "exit status $status; $(head -n 1 err)"
    elif [ -s err ]; then
        no "$name" "a message: $(head -n 1 err)"
    elif ! grep -Eq -e "$pattern" out; then
        no "$name" "no \"$pattern\" in the output"
    else
        ok "$name"
    fi
}

# finish: what the test ends with.
finish()
{
    echo "$topic: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
