#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What every command prints with --json is as bin/xgemm.schema.json says, whose faults are found.
# python3 is needed; its module jsonschema checks again where it is there.

topic=json
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"

schema=$srcdir/bin/xgemm.schema.json
covered=

# valid ARGUMENT...: the result of a command that succeeds; it is kept as COMMAND.json.
valid()
{
    run "$@" --json
    name="$*"
    covered="$covered $1"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif ! python3 "$srcdir/tests/cli/validate.py" "$schema" out 2>faults; then
        no "$name" "$(head -n 3 faults | tr '\n' ';')"
    else
        ok "$name"
        cp out "$1.json"
    fi
}

test_results()
{
    valid multiply -d cpu a.npy b.npy -o c.npy
    valid multiply -d sim a.npy b.npy -o c.npy --kernel naive --math default --beta 2
    valid bench -d cpu -s 8,9 --samples 1 --time 0 --warm 0
    valid bench -d cpu -s 8 --samples 1 --time 0 --warm 0 --data relu,normal:softmax-3 --batch 3
    cp bench.json earlier.json
    valid bench --from earlier.json
    sed 's/"command": "bench"/"command": "plan"/' earlier.json >other.json
    refuses 'bench: --from of another command' 1 'is not what xgemm bench --json prints' bench --from other.json
    valid bench -d cpu -s 8 --samples 1 --time 0 --warm 0 --type f16,c64 --alpha 2 --check
    valid bench -d cpu -s 8 --samples 1 --time 0 --warm 0 --type c64 --alpha 2,1 --beta inf
    valid bench --data list
    valid plan --gpu H200 -s 64,4096 --kernel all
    valid plan --gpu 'RTX 3090' -s 64 --batch 4
    valid plan -d cpu -s 64
    valid plan --gpu H200 -s 64 --type f64,bf16 --kernel all --batch 2
    valid plan -d sim -s 64
    valid plan -s 4 --alpha 0
    # Sizes of 0: where nothing is launched, no number says how many products a launch has.
    for sizes in '-s 0' '-m 0 -n 3 -k 2' '-m 3 -n 2 -k 0'; do
        # shellcheck disable=SC2086
        set -- $sizes
        valid plan --gpu H200 "$@"
        valid plan -d cpu "$@" --batch 2
        valid bench -d cpu --samples 1 --time 0 --warm 0 --check "$@"
        valid verify -d cpu --kernel reference "$@"
    done
    run plan --gpu H200 -s 0 --json
    json 'plan: no launch' 'd["plans"][0]["together"] is None and d["plans"][0]["launches"] == 0'
    matrix none.npy 0 2 C </dev/null
    matrix flat.npy 2 0 C </dev/null
    valid multiply -d cpu flat.npy none.npy -o c.npy
    valid multiply -d sim none.npy flat.npy -o c.npy
    cp bench.json none.json
    valid bench --from none.json
    refuses 'explain: sizes of 0' 2 'whole number from 1' explain naive -m 0
    valid verify -d cpu -m 3 -n 4 -k 2 --kernel reference
    valid verify -d cpu -m 3 -n 4 -k 2 --kernel reference --type f64,c32 --bias
    valid verify --data list
    valid kernels
    valid devices
    valid devices -d sim
    valid devices --catalog
    valid devices --catalog H100
    valid occupancy --gpu H100 --threads 256
    run occupancy --gpu H100 --threads 256 --json
    json 'occupancy: without registers' 'r[0]["registers"] is None and r[0]["registers_allocated"] is None and r[0]["shared_allocated"] > 0'
    valid occupancy --gpu H100 --threads 256 --registers 64 --shared 1024 --cluster 2 --curve shared
    valid probe --list
    if traces; then
        valid explain naive -m 16 -n 16 -k 4
        valid explain tiled16 -m 16 -n 16 -k 16 --gpu H100
        valid explain auto -m 64 -n 64 -k 64 --gpu A100
        valid explain general -m 9 -n 9 -k 9 --type c64 --alpha 1,2 --gpu H100
        valid probe -d sim
        valid probe banks -d sim
        valid probe copy-offset -d sim
    else
        skip 'explain, probe: JSON' 'this build cannot trace'
        covered="$covered explain"
    fi
    # Commands that need CUDA in the build.
    run kernels --resources --gpu sm_90 naive
    [ "$status" -ne 0 ] || valid kernels --resources --gpu sm_90
    run occupancy --gpu H100 --kernel naive
    [ "$status" -ne 0 ] || valid occupancy --gpu H100 --kernel naive
    # What run prints is a file of its own: tests/shim/dropins.sh.
    for command in $("$XGEMM" --help | awk '/^Commands:/ { on = 1; next } on && !/^  [a-z]/ { exit } on { print $1 }'); do
        case " $covered run " in
        *" $command "*) ;;
        *) no "$command: --json" 'no case of this test' ;;
        esac
    done
}

# faulty NAME CODE PATTERN: the result of a command, changed by Python, is found to be wrong.
faulty()
{
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(d, open("faulty.json", "w"))' "$1.json" "$2"
    if python3 "$srcdir/tests/cli/validate.py" "$schema" faulty.json 2>faults; then
        no "fault: $2" 'it was not found'
    elif ! grep -Eq -e "$3" faults; then
        no "fault: $2" "$(head -n 1 faults)"
    else
        ok "fault: $2"
    fi
}

# The schema with a name of two types.
test_names()
{
    name='a name has one type'
    python3 "$srcdir/tests/cli/validate.py" "$schema" 2>faults
    if [ -s faults ]; then no "$name" "$(head -n 1 faults)"; else ok "$name"; fi
    name='a name of two types is found'
    sed 's/"device_id"/"device"/' "$schema" >two.json
    python3 "$srcdir/tests/cli/validate.py" two.json 2>faults
    if grep -q 'device is object and string' faults; then
        ok "$name"
    else
        no "$name" "$(head -n 1 faults)"
    fi
}

test_faults()
{
    faulty devices 'd["devices"][0]["compute_capability"] = 90' 'compute_capability is 90'
    faulty devices 'd["devices"][0]["compute_capability"] = "90"' "compute_capability is '90'"
    faulty devices 'del d["devices"][0]["name"]' 'devices.0..name is missing'
    faulty devices 'd["devices"][0]["memory_bytes"] = 1' 'memory_bytes is not in the schema'
    faulty multiply 'd["device"]["ordinal"] = -2' 'device.ordinal is not in the schema'
    faulty plan 'd["plans"][0]["m"] = 64.5' 'm is 64.5'
    faulty plan 'd["plan"] = d.pop("plans")' 'plans is missing'
    faulty multiply 'd["results"][0]["gflops"] = "1"' "gflops is '1'"
    faulty multiply 'd["schema_version"] = 1' 'schema_version is 1'
    faulty multiply 'd["command"] = "add"' "command is 'add'"
    faulty multiply 'del d["command_line"]' 'command_line is missing'
    ! traces || faulty explain 'd["sites"][0]["sectors"] = True' 'sectors is True'
}

test_command_line()
{
    latin=$(printf 'c\351.npy')
    run multiply a.npy -d cpu b.npy -o "$latin" --json
    json 'the command line, as it was' 'd["command_line"][1:6] == ["multiply", "a.npy", "-d", "cpu", "b.npy"] and d["host"]["logical_cpus"] > 0'
}

if ! have python3; then
    skip 'JSON and its schema' 'no python3'
    finish
    exit
fi
make_matrices
test_results
test_names
test_faults
test_command_line

finish
