#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The utility from outside: what its commands have in common, the environment,
# and verify, kernels and devices. python3 and script (util-linux) each add cases
# where they are there.

topic=utility
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"
TERM=xterm
export TERM
export XGEMM

# ---- General ----

test_general()
{
    says 'help' 'multiply' --help
    says 'help as a command' 'multiply' help
    says 'help of a command' '^Usage: xgemm bench' help bench
    refuses 'help of no command' 2 'no command "nosuch"' help nosuch
    refuses 'help of two commands' 2 'one command' help bench plan
    says 'help, short' 'verify' -h
    says 'version' '^xgemm [0-9]+\.[0-9]+' --version
    says 'version, short' '^xgemm [0-9]' -V
    run
    if [ "$status" -eq 2 ] && grep -q 'multiply' err && ! [ -s out ]; then
        ok 'no command'
    else
        no 'no command' "exit status $status; $(first_error)"
    fi
    refuses 'unknown command' 2 'nonsense.*multiply.*bench.*verify.*kernels.*devices' nonsense
    refuses 'a command with two letters swapped' 2 '"mutliply"; the nearest name is multiply; there are multiply, ' mutliply
    refuses 'help of a command with a letter left out' 2 'nearest name is bench;' help bnch
    refuses 'a command that is far from all' 2 '"nonsense"; there are multiply' nonsense
    refuses 'empty command' 2 'multiply' ''
    refuses 'unknown option before a command' 2 'nonsense' --nonsense
    for command in multiply bench verify kernels devices; do
        says "$command: help" "^Usage: xgemm $command" "$command" --help
        says "$command: help, short" '--device' "$command" -h
        refuses "$command: unknown option" 2 'nonsense' "$command" --nonsense
        refuses "$command: unknown device" 2 'nonsense' "$command" --device nonsense
        refuses "$command: --device without a word" 2 'requires an argument' "$command" --device
        refuses "$command: device too large" 2 '99999999999' "$command" -d 99999999999
        refuses "$command: device with a tail" 2 '0x' "$command" -d 0x
    done
}

# Options that would have no effect.
test_without_effect()
{
    refuses 'twice: -s' 2 'size is given twice' plan --gpu H200 -s 64 -s 65
    refuses 'twice: -m' 2 '-m is given twice' plan --gpu H200 -m 64 -m 64
    refuses 'twice: --kernel' 2 'kernel is given twice' bench -d cpu -s 8 --kernel auto --kernel=blas
    refuses 'twice: -d' 2 'device is given twice' devices -d cpu --device sim
    says 'twice: what has no argument' '^{' devices -q -q --json --json
    for order in '--json --csv' '--csv --json'; do
        # shellcheck disable=SC2086
        refuses "$order" 2 'json and --csv' devices $order
    done
    refuses 'kernels: unknown' 2 'nearest names are tiled16' kernels tild16
    refuses 'kernels -d' 2 'device is for --resources' kernels -d cpu
    refuses 'explain --tile without --dram' 2 'tile.*dram' explain naive --tile 4
    refuses 'explain -d cpu' 2 'on the simulator' explain naive -d cpu
    refuses 'bench --from with --kernel' 2 'from measures nothing.*--kernel' bench --from x.json --kernel auto
    refuses 'bench --from with --seed' 2 'from measures nothing.*--seed' bench --from x.json --seed 1
    refuses 'bench --from with -d' 2 'from measures nothing.*--device' bench --from x.json -d cpu
    refuses 'run --json without --log' 2 'give that, too' run --json true
    refuses 'bench --from with -m' 2 'from measures nothing.*-m' bench --from x.json -m 8
}

# no_room NAME ARGUMENT...: exit status 1 with a full disk as the standard output.
no_room()
{
    name=$1
    shift
    if ! [ -c /dev/full ]; then
        skip "$name" "no /dev/full"
        return
    fi
    "$XGEMM" "$@" >/dev/full 2>err </dev/null
    status=$?
    if ended 1 'standard output|No space'; then ok "$name"; else no "$name" "$why"; fi
}

# A math mode beside one kernel that computes the same in all; not where one may be refused by it.
test_math_of_kernels()
{
    for command in "plan -s 8 -d sim" "plan -s 8 --gpu H200" "verify -d sim -s 8" \
        "bench -d sim -s 8 --samples 1 --time 0 --warm 0" "multiply -d sim a.npy b.npy -o c.npy"; do
        for mode in strict tf32; do
            # shellcheck disable=SC2086
            refuses "${command%% *}: --math $mode of a kernel without tensor cores" 2 \
                '--math is for the kernel auto, .* no effect on tiled16$' $command --kernel tiled16 --math $mode
        done
    done
    refuses 'bench: --math strict,tf32 of a kernel' 2 'no effect on naive' \
        bench -d sim -s 8 --kernel naive --math strict,tf32
    says 'plan: --math default of a kernel' ' naive ' plan -d sim -s 8 --kernel naive --math default
    says 'plan: --math strict of two kernels' ' padded ' plan -d sim -s 8 --kernel naive,padded --math strict
    says 'plan: --math tf32 of a kernel of it' ' fp16x1-128x128 ' \
        plan --gpu H200 -s 64 --kernel fp16x1-128x128 --math tf32
    refuses 'plan: --math strict of a kernel of tensor cores' 1 'does not allow' \
        plan --gpu H200 -s 64 --kernel fp16x3-128x128 --math strict
    for list in auto,auto all,all naive,naive naive,all all,naive naive,auto,naive; do
        refuses "plan: --kernel $list" 2 '--kernel has "(auto|naive)" twice' plan -d sim -s 8 --kernel "$list"
    done
    refuses 'verify: --kernel auto,auto' 2 '"auto" twice' verify -d cpu -s 8 --kernel auto,auto
    refuses 'bench: --kernel auto,auto' 2 '"auto" twice' bench -d cpu -s 8 --kernel auto,auto
}

test_output_lost()
{
    bench='bench -d cpu -s 8 --samples 1 --warm 0 --time 0'
    no_room 'full: help' --help
    no_room 'full: version' --version
    no_room 'full: help of a command' multiply --help
    no_room 'full: multiply' multiply -d cpu a.npy b.npy -o full.npy
    no_room 'full: verify' verify -d cpu --quick -s 5
    no_room 'full: kernels' kernels
    no_room 'full: kernels, JSON' kernels --json
    no_room 'full: devices' devices
    # shellcheck disable=SC2086
    no_room 'full: bench' $bench
    # shellcheck disable=SC2086
    no_room 'full: bench, JSON' $bench --json
    "$XGEMM" multiply -d cpu a.npy b.npy -o closed.npy >&- 2>err </dev/null
    status=$?
    if ended 1 'standard output'; then ok 'closed output'; else no 'closed output' "$why"; fi
    # What nobody reads, once the reader is gone.
    { sleep 1; "$XGEMM" multiply -d cpu a.npy b.npy -o unread.npy 2>err </dev/null; echo $? >unread; } | :
    status=$(cat unread)
    if ended 1 'standard output'; then ok 'output that nobody reads'; else no 'output that nobody reads' "$why"; fi
    # Before the product, and before whatever else is wrong.
    found=$(ls full.npy closed.npy unread.npy 2>/dev/null)
    if [ -z "$found" ]; then ok 'output lost: no product'; else no 'output lost: no product' "$found"; fi
    for command in 'bench -s 8 --kernel' 'plan -s 8 --kernel' 'verify --quick -s 5 --kernel' kernels explain \
        devices 'occupancy --kernel' probe; do
        for format in '' --csv --json; do
            # shellcheck disable=SC2086 # words
            no_room "full: $command${format:+ }$format, found first" $command nonsense $format
        done
    done
}

# ---- The environment ----

test_environment()
{
    set -- multiply a.npy b.npy -o c.npy --csv
    XGEMM_DEVICE=sim
    export XGEMM_DEVICE
    says 'XGEMM_DEVICE=sim' '^2,4,3,[^,]*,sim,' "$@"
    says 'XGEMM_DEVICE=sim and --device cpu' '^2,4,3,[^,]*,cpu,' "$@" -d cpu
    XGEMM_DEVICE=nonsense
    refuses 'XGEMM_DEVICE=nonsense' 2 'XGEMM_DEVICE.*nonsense' "$@"
    refuses 'XGEMM_DEVICE=nonsense, bench' 2 'XGEMM_DEVICE.*nonsense' bench -s 8
    refuses 'XGEMM_DEVICE=nonsense, verify' 2 'XGEMM_DEVICE.*nonsense' verify --quick -s 8
    says 'XGEMM_DEVICE=nonsense and --device cpu' ',cpu,' "$@" -d cpu
    unset XGEMM_DEVICE
    XGEMM_KERNEL=reference
    export XGEMM_KERNEL
    says 'XGEMM_KERNEL=reference' ',reference,' "$@" -d cpu
    says 'XGEMM_KERNEL=reference and --kernel' ',chain,' "$@" -d cpu --kernel chain
    XGEMM_KERNEL=nonsense
    refuses 'XGEMM_KERNEL=nonsense' 2 'XGEMM_KERNEL.*nonsense' "$@" -d cpu
    says 'XGEMM_KERNEL=nonsense and --kernel' ',reference,' "$@" -d cpu --kernel reference
    says 'XGEMM_KERNEL=nonsense and --kernel auto' ',cpu,' "$@" -d cpu --kernel auto
    says 'XGEMM_KERNEL=nonsense, bench' ',reference,' bench -d cpu -s 8 --kernel reference --samples 1 --time 0 --warm 0 --csv
    says 'XGEMM_KERNEL=nonsense, verify' 'reference.*ok$' verify -d cpu -s 4 --quick
    says 'XGEMM_KERNEL=nonsense, plan' ' auto:' plan -d cpu -s 64
    unset XGEMM_KERNEL
}

# logged LINE OPTION...: of a product of 4, to standard error.
logged()
{
    line=$1
    shift
    XGEMM_LOG=stderr run bench -d cpu -s 4 --samples 1 --time 0 --warm 0 "$@"
    if grep -q "^xgemm_gemm .* $line " err; then ok "log: $line"; else no "log: $line" "$(first_error)"; fi
}

test_log()
{
    logged 'type=c32 type_c=c32 beta=0+1i' --type c32 --beta 0,1
    logged 'math=tf32 order=row trans=TC' --math tf32 --transa T --transb C
    logged 'type=bf16 type_c=f32 beta=0 bias=column type_bias=f32 activation=relu' --type bf16 --type-c f32 --bias --activation relu
    logged 'type=f64 type_c=f64 beta=0 bias=row' --type f64 --math strict --bias --bias-per-row
}

# ---- verify ----

test_verify()
{
    says 'verify: the CPU' 'reference .* 0 +ok$' verify -d cpu --quick -s 9,33
    says 'verify: the irregular sizes' ' 0 +ok$' verify -d cpu --quick --kernel reference
    says 'verify: the simulator' 'vectorized .* 0 +ok$' \
        verify -d sim --quick -m 17 -n 5 -k 9 --kernel naive,tiled16,padded,vectorized
    says 'verify: all on the simulator' 'register-tiled-2d .* 0 +ok$' verify -d sim --quick -s 3 --seed 4
    printf '1 2 3\n4 5 6 # the second\n7 8 9\n10 11 12\n' >shapes.txt
    echo '# nothing' >bad.txt
    says 'verify: a file of shapes' ' 0 +ok$' verify -d cpu -f shapes.txt --math strict
    says 'verify: empty matrices' ' 0 +ok$' verify -d cpu --quick -m 0,3 -n 3 -k 0,3
    run verify -d cpu --quick -s 9 --csv
    csv 'verify: CSV' "$(($(kernels_of cpu | wc -l)))"
    run verify -d sim --quick -s 9 --kernel coalesced --json
    json 'verify: JSON' 'd["command"] == "verify" and d["device"] and len(r) == 1 and r[0]["kernel"] == "coalesced" and r[0]["failed"] == 0 and r[0]["cases"] > 0 and r[0]["result"] == "ok"'
    same_members 'verify: JSON has the columns of CSV' results verify -d cpu --quick -s 3
    says 'verify: --data on the CPU' 'reference .* 0 +ok$' verify -d cpu --quick --kernel reference --data all
    says 'verify: --data in all layouts' 'reference .* 0 +ok$' verify -d cpu -m 33 -n 18 -k 65 \
        --kernel reference --data drift:softmax-20,nonfinite,bits:planted-nonfinite
    says 'verify: --data on the simulator' 'fp16x3-128x64 .* 0 +ok$' verify -d sim --quick \
        -m 65 -n 33 -k 70 --kernel vectorized,fp16x3-128x64 --data all
    says 'verify: --data, split on the way' 'fp16x3-fused-128x64 .* 0 +ok$' verify -d sim --quick \
        -m 65 -n 33 -k 70 --kernel fp16x3-fused-128x64 --data all
    says 'verify: --data list' '^relu ' verify --data list
    refuses 'verify: --data list with a type' 2 'so that --type has no effect' verify --data list --type f64
    for list in nonsense relu:nonsense ''; do
        refuses "verify: --data '$list'" 2 'kind.*normal.*softmax-3' verify -d cpu --quick --data "$list"
    done
    refuses 'verify: unknown kernel' 2 'nonsense.*reference' verify -d cpu --quick --kernel nonsense
    refuses 'verify: a kernel that is not for the CPU' 1 'naive.*CPU' verify -d cpu --kernel naive
    refuses 'verify: a bad range' 2 '9:8:1' verify -d cpu -s 9:8:1
    refuses 'verify: an operand' 2 'reference' verify -d cpu reference
    refuses 'verify: a file without shapes' 2 'bad.txt|size' verify -d cpu --quick -f bad.txt
    for size in 1000000000 1099511627776; do
        run verify -d cpu --quick -s "$size" --kernel reference
        if ended 1 ''; then
            ok "verify: the size $size"
        else
            no "verify: the size $size" "$why"
        fi
    done
}

# ---- kernels and devices ----

test_kernels()
{
    says 'kernels' '^naive .*' kernels
    says 'kernels: one' '^tiled16 ' kernels tiled16
    if [ "$(wc -l <out)" -eq 2 ]; then
        ok 'kernels: no other'
    else
        no 'kernels: no other' "$(wc -l <out) lines"
    fi
    run kernels --csv naive vectorized
    csv 'kernels: CSV' 2
    run kernels --csv
    csv 'kernels: CSV of all' $(($(wc -l <out) - 1))
    run kernels --json reference
    json 'kernels: JSON' 'len(d["kernels"]) == 1 and d["kernels"][0]["name"] == "reference"'
    same_members 'kernels: JSON has the columns of CSV' kernels kernels
    refuses 'kernels: unknown' 2 'nonsense' kernels naive nonsense
    refuses 'kernels: resources of an unknown one' 2 'nonsense' kernels --resources nonsense
    for device in cpu sim; do
        refuses "kernels: --resources on $device" 1 'GPU' kernels --resources -d "$device"
    done
}

test_devices()
{
    says 'devices: the CPU' '^cpu ' devices
    says 'devices: the simulator' '^sim ' devices
    says 'devices: --device cpu' '^cpu ' devices -d cpu
    run devices --csv
    csv 'devices: CSV' $((gpus + 2))
    run devices --json
    json 'devices: JSON' '[x["device_id"] for x in d["devices"]][-2:] == ["cpu", "sim"]'
    same_members 'devices: JSON has the columns of CSV' devices devices
    refuses 'devices: one that is not there' 77 "$((gpus + 7))" devices $((gpus + 7))
    refuses 'devices: nonsense' 2 'nonsense' devices nonsense
    refuses 'devices: two' 2 '1' devices 0 1
}

test_no_gpu()
{
    if [ "$gpus" -gt 0 ]; then
        skip 'device 0 without a GPU' "there are $gpus GPUs"
        return
    fi
    cp c.C files/c.npy
    refuses 'no GPU: multiply' 77 '^xgemm multiply: ' multiply -d 0 a.npy b.npy -o files/c.npy
    kept 'no GPU: multiply keeps the output'
    rm -f files/*
    refuses 'no GPU: bench' 77 '^xgemm bench: ' bench --device=0 -s 8
    refuses 'no GPU: verify' 77 '^xgemm verify: ' verify -d0 --quick
    refuses 'no GPU: kernels --resources' 77 '^xgemm kernels: ' kernels --resources -d 0
    refuses 'no GPU: kernels --resources NAME' 77 '^xgemm kernels: ' kernels --resources naive -d 0
    refuses 'no GPU: devices 0' 77 '^xgemm devices: ' devices 0
    refuses 'no GPU: devices --device 0' 77 '^xgemm devices: ' devices -d 0
    says 'no GPU: auto is the CPU' ',cpu,' multiply -d auto a.npy b.npy -o c.npy --csv
    XGEMM_DEVICE=0
    export XGEMM_DEVICE
    refuses 'no GPU: XGEMM_DEVICE=0' 77 '^xgemm multiply: ' multiply a.npy b.npy -o c.npy
    unset XGEMM_DEVICE
}

# ---- Progress ----

# on_terminal ARGUMENT...: with a terminal as the standard error, to the file
# terminal; the standard output to the file out.
on_terminal()
{
    printf '%s\n' "exec \"\$XGEMM\" $* >out" >terminal.sh
    SHELL=/bin/sh script -qec 'sh ./terminal.sh' terminal >/dev/null 2>&1 </dev/null
    status=$?
}

test_progress()
{
    says 'progress: none in a file, verify' 'ok$' verify -d cpu --quick -s 4
    says 'progress: none in a file, bench' 'auto' bench -d cpu -s 4 --samples 1 --warm 0 --time 0
    if ! script --version 2>/dev/null | grep -q util-linux ||
        ! SHELL=/bin/sh script -qec true terminal >/dev/null 2>&1 </dev/null; then
        skip 'progress: on a terminal' 'no script of util-linux, or no terminal to be had'
        return
    fi
    for arguments in 'verify -d cpu --quick -s 4' 'bench -d cpu -s 4 --samples 1 --warm 0 --time 0'; do
        name="progress: on a terminal, ${arguments%% *}"
        on_terminal "$arguments"
        if [ "$status" -ne 0 ]; then
            no "$name" "exit status $status"
        elif ! grep -q '\[1/[0-9]*\].*4 x 4 x 4' terminal; then
            no "$name" "there is none"
        elif grep -q '\[1/' out || tr -cd '\033\r' <out | grep -q .; then
            no "$name" "it is in the standard output"
        else
            ok "$name"
        fi
        on_terminal "$arguments" --quiet
        if [ "$status" -eq 0 ] && ! grep -q '\[1/' terminal; then
            ok "$name, --quiet"
        else
            no "$name, --quiet" "exit status $status, or progress"
        fi
    done
}

gpus=$("$XGEMM" devices --csv | grep -c '^[0-9]')
make_matrices
test_general
test_without_effect
test_math_of_kernels
test_output_lost
test_environment
test_log
test_verify
test_kernels
test_devices
test_no_gpu
test_progress

finish
