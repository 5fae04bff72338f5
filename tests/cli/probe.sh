#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm probe from outside, on the simulator: what it lists, counts, draws and
# refuses. The examples of xgemm(1) are run as they stand.
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources. Prints one line
# for each case. python3 and gnuplot each add cases.

topic=probe
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

# check NAME COMMAND...: a case that holds when the command does.
check()
{
    name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        no "$name" "exit status $status; $(first_error)"
    fi
}

# refuses_to NAME STATUS PATTERN ARGUMENT...: nothing is printed but the sentence.
refuses_to()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    refuses "$name" "$expected" "^xgemm probe: .*$pattern" probe "$@"
}

# counts PROBE SERIES PARAMETER REQUESTS SECTORS WAVEFRONTS: one row of its CSV.
# shellcheck disable=SC2317 # called through check
counts()
{
    run probe "$1" --device sim --csv
    [ "$status" -eq 0 ] &&
        awk -F, -v series="$2" -v parameter="$3" -v requests="$4" -v sectors="$5" \
            -v wavefronts="$6" '
            $1 == series && $2 == parameter {
                found = $7 == requests && $8 == sectors && $10 == wavefronts
            }
            END { exit !found }' out
}

if ! traces; then
    echo "skipped probe: this build cannot trace"
    exit 77
fi
run probe --list --csv
check 'the list has eight probes' [ "$(wc -l <out)" -eq 9 ]

run probe --list
check 'the list, as text' grep -q '^copy-offset .*offset' out

# Without a name all run that the device has: six on the simulator.
run probe -d sim
check 'all probes' [ "$(grep -c '^counted on the simulator' out)" -eq 6 ]
run probe -d sim --csv
check 'all probes, as CSV' [ "$(sed 1d out | cut -d , -f 1 | sort -u | wc -l)" -eq 6 ]
check 'the same rows as one by one' [ "$(grep -c '^banks,' out)" -eq "$(
    run probe banks -d sim --csv
    sed 1d out | wc -l
)" ]
refuses_to 'all probes of the CPU' 1 'has no probes' -d cpu
refuses_to 'a list of one' 2 'runs nothing' --list banks

check 'copy-offset, aligned' counts copy-offset offset 0 512 2048 ''
check 'copy-offset, misaligned' counts copy-offset offset 1 512 2560 ''
check 'copy-stride 8' counts copy-stride stride 8 128 4096 ''
check 'rows' counts rows-columns rows 128 512 2048 ''
check 'columns' counts rows-columns columns 128 512 16384 ''
check 'pairs of doubles' counts complex-layout interleaved 8 256 4096 ''
check 'split doubles' counts complex-layout split 8 512 4096 ''
check 'pairs part by part' counts complex-layout componentwise 8 512 8192 ''
check 'banks, 16 apart' counts banks stride 16 256 '' 4096
check 'banks, padded' counts banks padded 33 256 '' 256
check 'powers with conflicts' counts powers shared-by-thread 32 128 '' 4096
check 'powers without' counts powers shared-by-power 32 128 '' 128

run probe --device sim banks
check 'text says what it is' grep -q '^counted on the simulator; source-level' out
check 'text has passes' grep -q '^stride  *16  *256  *16.00  *1.00$' out
run probe --device sim --bytes 32768 copy-offset
check 'text has sectors' grep -q '^offset  *1  *256  *5.00  *4.00$' out

# Without a GPU the simulator stands in, and that is said.
if "$XGEMM" devices --csv | grep -q '^0,'; then
    skip "no GPU" "there is one"
else
    run probe banks
    check 'no GPU: text says so' grep -q 'simulator (there is no GPU)' out
    run probe banks --csv
    check 'no GPU: a note beside CSV' grep -q 'there is no GPU' err
    run probe banks --csv --quiet
    check 'no GPU: no note when quiet' [ ! -s err ]
    refuses_to 'no GPU: launch needs one' 77 'needs a GPU' launch
    refuses_to 'no GPU: 0 is not there' 77 '' banks --device 0
fi

refuses_to 'a name that is none' 2 'no probe "bank"; the nearest name is banks; .xgemm probe --list' bank
refuses_to 'a name that is far from all' 2 'no probe "nonsense"; .xgemm probe' nonsense
refuses_to 'two names' 2 'one probe at a time' banks powers
refuses_to 'bytes that are too few' 2 '--bytes takes a whole number from 16384' banks --bytes 1
refuses_to 'bytes that are none' 2 '--bytes takes' banks --bytes many
refuses_to 'a list and bytes' 2 'runs nothing.*--bytes has no effect' --list --bytes 65536
refuses_to 'bytes of no array' 2 'reads no array' launch --bytes 65536
refuses_to 'bytes of no array on the simulator' 2 'banks reads no array .*--bytes has no effect' banks -d sim --bytes 65536
refuses_to 'a plot without a name' 2 'name it' --plot x.svg
refuses_to 'the CPU' 1 'it runs on a GPU or on the simulator, not on the CPU' banks -d cpu
refuses_to 'no transfers on the simulator' 1 'it runs on a GPU' host-device -d sim
refuses_to 'too much for the simulator' 1 'must be 0, ' copy-offset -d sim --bytes 1073741824

if have python3; then
    run probe complex-layout --device sim --json
    check 'JSON' python3 -c '
import json
root = json.load(open("out"))
assert root["command"] == "probe" and root["probe"]["measured"] == "counts"
assert root["probe"]["name"] == "complex-layout" and root["probe"]["unit"] == "bytes"
points = root["points"]
assert len(points) == 6 and points[0]["series"] == "interleaved"
assert points[0]["median_us"] is None and points[0]["sectors"] == 4096
assert points[0]["bytes"] == 131072'
    run probe --list --json
    check 'JSON of the list' python3 -c '
import json
assert len(json.load(open("out"))["probes"]) == 8'
else
    skip JSON "no python3"
fi

if have gnuplot; then
    for probe in copy-offset copy-stride rows-columns complex-layout banks powers; do
        run probe $probe --device sim --plot $probe.svg
        dated "a plot of $probe" $probe.svg "$probe, libxgemm simulator"
    done
    check 'a line for each series' \
        [ "$(grep -c -E '<title>(stride|broadcast|unpadded|padded)<' banks.svg)" -eq 4 ]
    run probe banks --device sim --plot nowhere/x.svg
    check 'a plot that cannot be' [ "$status" -eq 1 ]
else
    skip plots "no gnuplot"
fi

# ---- The examples of the man pages ----

sed -n 's/^\.Dl \(xgemm probe.*\)/\1/p' "$srcdir/man/xgemm.1" >examples
check 'xgemm(1) has examples' [ "$(wc -l <examples)" -ge 3 ]
mkdir bin && ln -s "$XGEMM" bin/xgemm
while read -r line; do
    case $line in
    *--plot*) have gnuplot || continue ;;
    *launch* | *host-device*) continue ;; # these want a GPU
    esac
    PATH=$work/bin:$PATH sh -c "$line" >out 2>err </dev/null
    status=$?
    check "example: $line" [ "$status" -eq 0 ]
done <examples

finish
