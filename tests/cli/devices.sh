#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm devices from outside: live devices, the catalogue, one GPU in full, and
# what is refused. Also that a malformed row of the catalogue stops the build.
#
# XGEMM is the utility (./xgemm), srcdir the top of the sources. Prints one line
# for each case; python3, mawk and gawk each add cases where they are there.

topic=devices
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

# prints NAME PATTERN ARGUMENT...: what xgemm devices says.
prints()
{
    name=$1
    pattern=$2
    shift 2
    says "$name" "$pattern" devices "$@"
}

# refuses_to NAME STATUS PATTERN ARGUMENT...: likewise, where it refuses.
refuses_to()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    refuses "$name" "$expected" "$pattern" devices "$@"
}

# ends NAME STATUS ARGUMENT...: runs xgemm devices, and checks its exit status.
ends()
{
    name=$1
    expected=$2
    shift 2
    run devices "$@"
    ended "$expected" '' && return
    no "$name" "$why"
    return 1
}

# holds NAME EXPRESSION ARGUMENT...: of the JSON d, in Python.
holds()
{
    name=$1
    expression=$2
    shift 2
    ends "$name" 0 --json "$@" && json "$name" "$expression"
}

test_live()
{
    gpus=$("$XGEMM" devices --csv | grep -c '^[0-9]')
    prints 'the CPU' '^cpu '
    prints 'the simulator' '^sim '
    prints 'balance in the table' 'balance_flop_per_byte'
    holds 'JSON: devices' 'd["devices"][-1]["device_id"] == "sim" and d["command"] == "devices"'
    holds 'one device by --device' '[x["device_id"] for x in d["devices"]] == ["sim"]' -d sim
    holds 'JSON: no limits of the CPU' 'd["devices"][-2]["warps_per_sm"] is None'
    refuses_to 'a GPU that is not there' 77 "no GPU $((gpus + 7))" $((gpus + 7))
    [ "$gpus" -gt 0 ] || refuses_to 'no GPU at all' 77 'this machine has none' 0
    refuses_to 'a product by digits alone' 77 "catalog 3090' is the GeForce RTX 3090" 3090
    for gpu in $(seq 0 $((gpus - 1))); do
        prints "GPU $gpu in full" '^threads in an SM +[0-9]+' "$gpu"
        holds "GPU $gpu in JSON" 'd["devices"][0]["peak_bandwidth_gbs"] > 0' "$gpu"
    done
}

test_catalog()
{
    rows=$(grep -c '^[^#]' "$srcdir/lib/device/catalog.txt")
    prints 'catalogue' '^A100 SXM4 40GB +8\.0 +108 +1410 +40 +1555 +40\.0 +19\.5 .* 12\.5$' --catalog
    if [ "$(wc -l <"$work/out")" -eq $((rows + 1)) ]; then
        ok 'catalogue: every row'
    else
        no 'catalogue: every row' "$(wc -l <"$work/out") lines for $rows rows and a heading"
    fi
    prints 'catalogue: CSV' '^,H100 SXM5,9\.0,132,80,1980,' --catalog --csv
    if [ "$(sed 's/"[^"]*"/X/g' "$work/out" | awk -F, '{ print NF }' | sort -u | wc -l)" -eq 1 ]; then
        ok 'catalogue: CSV has a column for each field'
    else
        no 'catalogue: CSV has a column for each field' 'rows differ'
    fi
    holds 'catalogue: JSON' "len(d['devices']) == $rows" --catalog
    holds 'catalogue: numbers, not text' \
        'all(x["peak_bandwidth_gbs"] > 0 for x in d["devices"])' --catalog
    refuses_to 'catalogue: no device' 2 'takes no --device' --catalog -d cpu
}

test_named()
{
    prints 'in full: the name' '^name +A100 SXM4 40GB$' A100
    prints 'in full: units' '^memory bandwidth, peak +1555 GB/s$' A100
    prints 'in full: balance' '^balance, FP32 / bandwidth +12\.5 OP/B$' a100
    prints 'in full: limits' '^shared memory in a block +166912 bytes' A100
    prints 'in full: source' '^source +NVIDIA ' A100
    prints 'in full: several words' '^name +A100 PCIe 80GB$' 'a100 pcie 80gb'
    prints 'by compute capability' '^name +H100 SXM5$' sm_90a
    prints 'by compute capability, digits' '^name +H100 SXM5$' --catalog 90
    prints 'by digits of a product' '^name +GeForce RTX 3090$' --catalog 3090
    prints 'one row in CSV' '^,T4,7\.5,40,' T4 --csv
    holds 'one row in JSON' 'len(d["devices"]) == 1 and d["devices"][0]["l2_mib"] == 4' T4
    refuses_to 'unknown' 2 'no GPU "nosuch".*nearest names are "' nosuch
    refuses_to 'unknown: the nearest' 2 '"H100 SXM5"' h1000
    refuses_to 'unknown: where to look' 2 "'xgemm devices --catalog' lists all" nosuch
    refuses_to 'unknown in JSON' 2 'no GPU' nosuch --json
    refuses_to 'unknown compute capability' 2 'capability 9\.9; they have 7\.0, ' sm_99
    for name in cpu sim; do
        refuses_to "$name as a name" 2 "\"$name\" is no GPU's name; --device $name shows" $name
    done
    refuses_to 'an empty name' 2 'names no GPU' ''
    refuses_to 'two names' 2 '"80GB" is one too many' A100 80GB
    refuses_to 'an ordinal and --device' 2 'not both' 0 --device cpu
    refuses_to 'a name and --device' 2 'not both' H100 --device cpu
    prints 'a name and --device auto' '^name +H100' H100 --device auto
}

# Every example of xgemm(1) that is about devices runs.
test_examples()
{
    sed -n 's/^\.Dl xgemm devices *//p' "$srcdir/man/xgemm.1" >"$work/examples"
    if ! [ -s "$work/examples" ]; then
        no 'examples' 'xgemm(1) has none'
        return
    fi
    while read -r arguments; do
        case $arguments in
        *' '[0-9]) [ "$gpus" -gt "${arguments##* }" ] || continue ;;
        esac
        example="example: devices $arguments"
        eval "ends \"\$example\" 0 $arguments" && ok "$example"
    done <"$work/examples"
}

good='X1, NVIDIA X1; 80; 10; 1000; 8; 128; 100; 1.5; 2; 0; 0; 0; somewhere'

# The script's exit status for a catalogue of this one row.
makes()
{
    printf '# head\n\n%s\n' "$1" >"$work/catalog.txt"
    "$awk" -f "$srcdir/lib/device/catalog.awk" "$work/catalog.txt" >"$work/made" 2>"$work/err"
}

# stops NAME PATTERN ROW: with the line's number.
stops()
{
    if makes "$3"; then
        no "$awk: $1" 'exit status 0'
    elif ! grep -Eq "catalog\.txt:$4: .*$2" "$work/err"; then
        no "$awk: $1" "no \"$2\" in the message: $(cat "$work/err")"
    else
        ok "$awk: $1"
    fi
}

test_generator()
{
    awk=$1
    if makes "$good" && grep -q '{"X1,NVIDIA X1", 80, 10, 1000, 8, 128, 100, 1.5,' "$work/made"; then
        ok "$awk: a good row"
    else
        no "$awk: a good row" "$(cat "$work/err")"
    fi
    stops 'too few columns' '12 columns' 'X1; 80; 10; 1000; 8; 128; 100; 1.5; 2; 0; 0; 0' 3
    stops 'too many columns' '14 columns' "$good; more" 3
    stops 'no name' 'name is empty|no name' "; ${good#*; }" 3
    stops 'an empty other name' 'name is empty' "X1, ,X2; ${good#*; }" 3
    stops 'no number' 'MHz is "fast"' 'X1; 80; 10; fast; 8; 128; 100; 1; 2; 0; 0; 0; s' 3
    stops 'a negative number' 'GB/s is "-100"' 'X1; 80; 10; 1; 8; 128; -100; 1; 2; 0; 0; 0; s' 3
    stops 'no SMs' 'SMs is "0"' 'X1; 80; 0; 1000; 8; 128; 100; 1; 2; 0; 0; 0; s' 3
    stops 'a compute capability with a point' 'cc is "8.0"' \
        'X1; 8.0; 10; 1000; 8; 128; 100; 1; 2; 0; 0; 0; s' 3
    stops 'an empty number' 'L2 is ""' 'X1; 80; 10; 1000; 8; 128; 100; ; 2; 0; 0; 0; s' 3
    stops 'no source' 'source is empty' 'X1; 80; 10; 1000; 8; 128; 100; 1; 2; 0; 0; 0; ' 3
    stops 'a quotation mark' 'quotation mark' "X\"1; ${good#*; }" 3
    stops 'a name twice' 'already, in line 3' "$good
x1; ${good#*; }" 4
    stops 'nothing' 'no rows' '# nothing' '[0-9]*'
}

test_live
test_catalog
test_named
test_examples
for one in awk mawk gawk; do
    if have "$one"; then test_generator "$one"; fi
done

finish
