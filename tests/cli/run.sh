#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm run from outside: how it begins and ends, its environment, the log, and signals. What it
# serves is for tests/shim. perl and env (coreutils) each add cases where they are there.

topic=run
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
unset XGEMM_DROPINS XGEMM_RUN_COUNTERS

# ends NAME STATUS PATTERN ARGUMENT...: run, by an exit status and what is printed there.
ends()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run run "$@"
    if [ "$status" -eq "$expected" ] && { [ -z "$pattern" ] || grep -Eq -e "$pattern" out err; }; then
        ok "$name"
    else
        no "$name" "status $status; $(first_error)"
    fi
}

# reads NAME PATTERN FILE
reads()
{
    if grep -Eq -e "$2" "$3"; then ok "$1"; else no "$1" "$(head -n 2 "$3" | tr '\n' ' ')"; fi
}

test_program()
{
    ends 'the exit status' 7 '' -- sh -c 'exit 7'
    ends 'a mode' 0 '^XGEMM_RUN_MATH=tf32$' --math tf32 -- env
    XGEMM_KERNEL=naive ends 'a kernel for the program' 0 '^XGEMM_KERNEL=naive$' -- env
    ends 'no such program' 127 'none: No such file or directory$' -- ./none
    ends 'no such program, with a log' 127 'none: No such file or directory$' --log -- ./none
    ends 'a file after --log' 127 'log.txt: No such file.*is --log=log.txt\)$' --log log.txt true
    echo 'no program' >text
    ends 'what cannot be run' 126 'Permission denied' -- ./text
    ends 'a file that is there after --log' 126 'Permission denied.*is --log=./text\)$' --log ./text true
}

test_log()
{
    ends 'the exit status beside a log' 7 '^xgemm run: libxgemm ' --log -- sh -c 'exit 7'
    ends 'a log that cannot be written' 1 'none/log: No such file' --log=none/log -- true
    for to in - /dev/stdout both; do
        (exec "$XGEMM" run --log=$to -- echo printed) >both 2>err
        if [ "$(sed -n '1p; 2s/ libxgemm .*//p' both | tr '\n' ' ')" = 'printed xgemm run: ' ] && ! [ -e ./- ]; then
            ok "--log=$to behind the program's output"
        else
            no "--log=$to behind the program's output" "$(head -n 2 both | tr '\n' ' ')$(first_error)"
        fi
    done
}

# A run in a run: without a log of its own it counts for the outer one's.
test_nested()
{
    # shellcheck disable=SC2016 # of the inner shell
    run run --log=outer -- sh -c 'echo "$XGEMM_RUN_COUNTERS"; "$0" run -- sh -c "echo \$XGEMM_RUN_COUNTERS"' "$XGEMM"
    if [ "$(grep -c '^/proc/' out)" -eq 2 ] && [ "$(sort -u out | wc -l)" -eq 1 ]; then
        ok 'a run in a run: the same log'
    else
        no 'a run in a run: the same log' "$(tr '\n' ' ' <out)$(first_error)"
    fi
    # shellcheck disable=SC2016
    run run --log=outer -- sh -c 'echo "$XGEMM_RUN_COUNTERS"; "$0" run --log=inner -- sh -c "echo \$XGEMM_RUN_COUNTERS"' "$XGEMM"
    if [ "$(sort -u out | grep -c '^/proc/')" -eq 2 ] && [ -s inner ]; then
        ok 'a run in a run: a log of its own'
    else
        no 'a run in a run: a log of its own' "$(tr '\n' ' ' <out)$(first_error)"
    fi
}

test_dropins()
{
    mkdir -p none 'a blank' half
    : >'a blank/libxgemm-blas.so'
    XGEMM_DROPINS=none ends 'no drop-ins' 1 'there is no none/libxgemm-cublas.so, where XGEMM_DROPINS' -- true
    XGEMM_DROPINS="a blank" ends 'a name with a blank' 2 'a colon or a blank' -- true
    preloaded=$(LD_PRELOAD=libm.so.6 "$XGEMM" run -- env 2>&1 | sed -n 's/^LD_PRELOAD=//p')
    case $preloaded in
    *libxgemm-*:libm.so.6) ok 'beside what was preloaded' ;;
    *) no 'beside what was preloaded' "$preloaded" ;;
    esac
    cublas=${preloaded%%:*}
    ln -s "$cublas" half/libxgemm-cublas.so
    XGEMM_DROPINS=half run run -- env
    reads 'a folder with one: it is said' '^xgemm run: without libxgemm-blas.so, which is not in half$' err
    reads 'a relative folder: its file, absolute' "^LD_PRELOAD=$(readlink -f "$cublas")\$" out
    XGEMM_DROPINS=half says 'a folder with one: --quiet' '^LD_PRELOAD=/' run -q -- env
}

# ---- Signals ----

# The program: says that it is there, has a signal that it is asked for as its status 9, and ends.
cat >program <<'END'
trap 'exit 9' "$1"
: >started
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.1
done
END

# begin SIGNAL [COMMAND...]: the program in the background, under a log, until it is there.
begin()
{
    signal=$1
    shift
    rm -f started log
    "$@" "$XGEMM" run --log=log -- sh ./program "$signal" 2>err &
    started=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -e started ] || sleep 0.2
    done
}

# passed_on NAME: the program had it, and the log is there.
passed_on()
{
    wait "$started"
    status=$?
    if [ "$status" -eq 9 ] && [ -s log ]; then ok "$1"; else no "$1" "status $status; $(first_error)"; fi
}

test_signals()
{
    ends 'ended by a signal' 143 '^xgemm run: libxgemm ' --log -- sh -c 'kill -TERM $$'
    # Those that this test's parent ignores (nohup) are not ignored in the program.
    defaults=
    if env --default-signal true 2>/dev/null; then defaults='env --default-signal'; fi
    # All that end a process, of which a shell may not know some.
    for signal in TERM HUP USR1 USR2 ALRM VTALRM PROF IO PWR XCPU XFSZ STKFLT PIPE ABRT SYS TRAP RTMIN RTMIN+7 RTMAX; do
        sh -c "trap : $signal" 2>/dev/null || continue
        # shellcheck disable=SC2086 # words
        begin "$signal" $defaults
        kill -s "$signal" "$started"
        passed_on "$signal is passed on"
    done
    env --default-signal=INT true 2>/dev/null || {
        skip 'INT and QUIT' 'no env --default-signal'
        return
    }
    for signal in INT QUIT; do
        begin $signal env --default-signal=INT,QUIT
        kill -s "$signal" "$started"
        passed_on "$signal that is sent to it is passed on"
    done
    begin USR1 env --block-signal=USR1
    kill -s USR1 "$started"
    passed_on 'one that is blocked from the start is passed on'
}

# An alarm that was set before, as timeouts of perl are.
test_alarm()
{
    run_by='alarm 1; exec @ARGV'
    perl -e "$run_by" "$XGEMM" run --log=log -- sh -c 'sleep 3; echo still-running' >out 2>err
    status=$?
    if [ "$status" -eq 142 ] && [ -s log ] && ! [ -s out ]; then
        ok 'an alarm ends the program'
    else
        no 'an alarm ends the program' "status $status; $(cat out)$(first_error)"
    fi
}

# Typed on the terminal of a run of a program, which counts what it gets.
test_keys()
{
    cat >keys.py <<'END'
import os, pty, sys, time
log, utility = "log", sys.argv[1]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(utility, [utility, "run", "--log=log", "--", sys.executable, "-c", """
import signal, time
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
open("started", "w").close()
end = time.monotonic() + 1.5
while time.monotonic() < end:
    time.sleep(0.1)
raise SystemExit(20 + len(got))
"""])
for _ in range(100):
    if os.path.exists("started"):
        break
    time.sleep(0.1)
os.write(terminal, b"\x03")
try:
    while os.read(terminal, 1000):
        pass
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    rm -f started log
    python3 keys.py "$XGEMM" >out 2>err
    if [ "$(cat out)" = 21 ] && [ -s log ]; then
        ok "a terminal's key reaches the program once"
    else
        no "a terminal's key reaches the program once" "$(cat out)$(first_error)"
    fi
}

# ---- A parent that ignores SIGCHLD ----

test_children()
{
    # shellcheck disable=SC2016 # of perl
    ignoring='$SIG{CHLD} = "IGNORE"; exec @ARGV'
    perl -e "$ignoring" "$XGEMM" run --log=log -- sh -c 'exit 7' >out 2>err
    status=$?
    if [ "$status" -eq 7 ] && [ -s log ]; then
        ok 'SIGCHLD ignored: the status'
    else
        no 'SIGCHLD ignored: the status' "status $status; $(first_error)"
    fi
    # The program gets what it would get without the utility: bit 16 of the signals that it ignores.
    for log in '' --log=log; do
        perl -e "$ignoring" "$XGEMM" run ${log:+"$log"} -- sed -n 's/^SigIgn:.*\(.\)....$/\1/p' /proc/self/status >out 2>err
        case $(cat out) in
        [13579bdf]) ok "SIGCHLD ignored: in the program, too $log" ;;
        *) no "SIGCHLD ignored: in the program, too $log" "$(cat out)$(first_error)" ;;
        esac
    done
    if traces && have c++; then
        echo '__global__ void kernel() {}' >kernel.cu
        XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda perl -e "$ignoring" "$XGEMM" explain kernel.cu \
            --check-only >out 2>err
        reads 'SIGCHLD ignored: the compiler' 'no faults' out
    fi
    if have gnuplot; then
        if perl -e "$ignoring" "$XGEMM" occupancy --gpu sm_90 --threads 256 --curve registers --plot curve.svg \
            >out 2>err && [ -s curve.svg ]; then
            ok 'SIGCHLD ignored: gnuplot'
        else
            no 'SIGCHLD ignored: gnuplot' "$(first_error)"
        fi
    fi
}

refuses 'no program' 2 'which program' run
refuses 'a device' 2 'device has no meaning' run -d cpu -- true
refuses 'an unknown mode' 2 'math takes' run --math nonsense -- true
"$XGEMM" run -- true 2>err || {
    skip 'run' "no drop-ins: $(first_error)"
    finish
    exit
}
test_program
test_log
test_nested
test_dropins
test_signals
if have perl; then
    test_alarm
    test_children
else
    skip 'alarms and children' 'no perl'
fi
if have python3; then test_keys; else skip 'keys' 'no python3'; fi

finish
