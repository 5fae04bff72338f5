#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm bench, verify and probe that a signal ends: what was measured until then is written, and the
# process ends by the signal. python3 adds cases where it is there.

topic=interrupt
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

# number SIGNAL: what a process that it ended has as its status.
number()
{
    case $1 in
    HUP) echo 129 ;;
    INT) echo 130 ;;
    TERM) echo 143 ;;
    esac
}

# begin ARGUMENT...: in the background, as if typed: a shell starts there what ignores SIGINT.
begin()
{
    : >out # of the run before, whose rows are not to be counted
    env --default-signal=HUP,INT,TERM "$XGEMM" "$@" >out 2>err </dev/null &
    child=$!
}

# end SIGNAL...: sends them, one after the other.
end()
{
    for signal; do
        kill -s "$signal" "$child" 2>/dev/null
    done
    wait "$child"
    status=$?
}

# rows COUNT: waits for so many lines of output.
rows()
{
    while kill -0 "$child" 2>/dev/null && [ "$(wc -l <out)" -lt "$1" ]; do
        :
    done
}

# whole NAME SIGNAL CODE PATTERN ARGUMENT...: JSON of a run that the signal ends, for which CODE
# holds, once there is the pattern in it: on a busy machine nothing may be measured after a second.
whole()
{
    name=$1
    signal=$2
    code=$3
    pattern=$4
    shift 4
    for seconds in 0.5 5 25; do
        begin "$@" --json
        sleep $seconds
        end "$signal"
        if grep -q -e "$pattern" out; then break; fi
    done
    if [ "$status" -eq "$(number "$signal")" ]; then
        json "$name" "d['interrupted'] and $code"
    else
        no "$name" "exit status $status; $(first_error)"
    fi
}

test_bench()
{
    for signal in INT TERM HUP; do
        begin bench -d cpu -s 16,400:420:1 --kernel reference --time 0 --warm 0 --limit 600 --csv
        rows 2
        end "$signal"
        name="bench: SIG$signal ends it"
        if [ "$status" -eq "$(number "$signal")" ] && [ "$(wc -l <out)" -lt 20 ]; then
            ok "$name"
        else
            no "$name" "exit status $status; $(first_error)"
        fi
        whole "bench: SIG$signal, JSON" "$signal" '0 < len(r) < 997 and r[0]["m"] == 16' '"median_us"' \
            bench -d cpu -s 16:4000:4 --samples 1 --time 0 --warm 0
    done
    run bench -d cpu -s 8 --samples 1 --time 0 --warm 0 --json
    json 'bench: not interrupted' 'd["interrupted"] == False'
}

# It sends its signal twice at the same time: to the program and to its process group.
test_timeout()
{
    have timeout || return 0
    for seconds in 1 5 25; do
        env --default-signal=HUP,INT,TERM timeout $seconds "$XGEMM" bench -d cpu -s 16:4000:4 --samples 1 \
            --time 0 --warm 0 --json >out 2>err
        status=$?
        if grep -q '"median_us"' out; then break; fi
    done
    if [ "$status" -eq 124 ]; then
        json 'bench: timeout' 'd["interrupted"] and len(r) > 0'
    else
        no 'bench: timeout' "exit status $status; $(first_error)"
    fi
}

# As after nohup.
test_ignored()
{
    : >out
    env --default-signal=INT,TERM --ignore-signal=HUP "$XGEMM" bench -d cpu -s 16,400:420:1 \
        --kernel reference --time 0 --warm 0 --limit 600 --csv >out 2>err </dev/null &
    child=$!
    rows 2
    kill -s HUP "$child"
    rows 3
    end TERM
    if [ "$status" -eq 143 ] && [ "$(wc -l <out)" -ge 3 ]; then
        ok 'bench: an ignored signal stays so'
    else
        no 'bench: an ignored signal stays so' "exit status $status; $(first_error)"
    fi
}

test_verify()
{
    for signal in INT TERM HUP; do
        whole "verify --random: SIG$signal" "$signal" \
            'len(r) == 1 and r[0]["cases"] > 0 and r[0]["failed"] == 0 and r[0]["result"] == "stopped"' \
            '"cases"' verify -d cpu --random 1000000000
    done
    whole 'verify: SIGINT' INT \
        'len(r) == 1 and r[0]["cases"] > 0 and r[0]["result"] == "stopped" and r[0]["kernel"] == "reference"' \
        '"cases"' verify -d cpu -s 64:400:1 --kernel reference
    whole 'verify: SIGTERM, types' TERM 'len(r) == 1 and r[0]["type"] == "f64"' '"cases"' \
        verify -d cpu -s 64:400:1 --kernel reference --type f64,f32
    whole 'verify --reproducible: SIGINT' INT 'len(r) == 1 and r[0]["result"] == "stopped"' '"cases"' \
        verify -d cpu -s 32:4000:1 --reproducible
    begin verify -d cpu --random 1000000000 --csv
    sleep 1
    end INT
    if [ "$status" -eq 130 ] && grep -q ',stopped$' out; then
        ok 'verify: CSV'
    else
        no 'verify: CSV' "exit status $status; $(cat out)"
    fi
    run verify -d cpu -s 4 --quick --json
    json 'verify: not interrupted' 'd["interrupted"] == False and r[0]["result"] == "ok"'
}

test_probe()
{
    if ! traces; then
        skip 'probe' 'this build cannot trace'
        return
    fi
    for signal in INT TERM HUP; do
        begin probe -d sim --bytes 1048576 --csv
        rows 2
        end "$signal"
        name="probe: SIG$signal ends it"
        if [ "$status" -eq "$(number "$signal")" ] && [ "$(sed 1d out | cut -d, -f 1 | sort -u | wc -l)" -lt 6 ]; then
            ok "$name"
        else
            no "$name" "exit status $status; $(first_error)"
        fi
    done
    whole 'probe: JSON' INT '0 < len({x["name"] for x in d["points"]}) < 6' '"points"' probe -d sim --bytes 1048576
    whole 'probe: one, JSON' TERM 'len(d["points"]) > 1' '"points"' probe copy-offset -d sim --bytes 1048576
    run probe banks -d sim --json
    json 'probe: not interrupted' 'd["interrupted"] == False'
}

# A second SIGINT, while the picture is drawn, leaves nothing of it. This gnuplot takes its time.
test_interrupted_drawing()
{
    name='interrupt: a second one, as the picture is drawn'
    mkdir slow drawn
    cat >slow/gnuplot <<'END'
#!/bin/sh
trap '' INT
commands=$(cat)
case $commands in
*title*)
    : >drawing
    sleep 1
    ;;
esac
echo '</svg>'
END
    chmod +x slow/gnuplot
    (PATH=$PWD/slow:$PATH exec env --default-signal=INT "$XGEMM" bench -d cpu -s 16 --samples 1 --time 0 \
        --warm 0 --plot drawn/out.svg >out 2>err) &
    child=$!
    while kill -0 "$child" 2>/dev/null && ! [ -e drawing ]; do
        :
    done
    kill -s INT "$child" 2>/dev/null
    sleep 0.2
    kill -s INT "$child" 2>/dev/null
    wait "$child"
    status=$?
    left=$(find drawn -type f)
    if [ "$status" -eq 130 ] && [ -z "$left" ]; then ok "$name"; else no "$name" "status $status, left $left"; fi
}

if ! env --default-signal=INT true 2>/dev/null; then
    skip 'interrupts' 'no env --default-signal'
    finish
    exit
fi
test_bench
test_timeout
test_ignored
test_verify
test_probe
test_interrupted_drawing

finish
