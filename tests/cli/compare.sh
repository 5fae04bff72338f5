#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm bench: results beside those of an earlier run, beside float64, in several layouts and math
# modes, and what a GPU's sensors say.
# python3 adds cases where it is there.

topic=compare
fake=$PWD/tests/cuda_fake/.libs/fake_cuda.so
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

bench()
{
    run bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

# earlier FILE CODE: the results in now.json, changed by Python, with d for them and r for the rows.
earlier()
{
    python3 -c '
import json, sys
d = json.load(open("now.json"))
r = d["results"]
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "$1" "$2"
}

# verdicts NAME STATUS WORDS MESSAGE ARGUMENT...: of now.json, beside a baseline.
verdicts()
{
    name=$1
    expected=$2
    words=$3
    pattern=$4
    shift 4
    run bench --from now.json --csv "$@"
    got=$(awk -F, 'NR > 1 { printf("%s%s", NR > 2 ? " " : "", $NF) }' out)
    if ! ended "$expected" "$pattern"; then
        no "$name" "$why"
    elif [ "$got" != "$words" ]; then
        no "$name" "$got instead of $words"
    else
        ok "$name"
    fi
}

# Times that all are spread by 1 %: p1 = 0.99 of the median.
calm='for x in r: x["median_us"], x["p1_us"], x["p99_us"] = 100.0, 99.0, 110.0'

test_baseline()
{
    bench -s 8,16 --kernel reference,auto --json
    cp out now.json
    earlier now.json "$calm"
    verdicts 'baseline: itself' 0 'same same same same' '' --baseline now.json
    earlier old.json 'for x, t in zip(r, (102.5, 97.5, 101.9, 98.2)): x["median_us"], x["p1_us"] = t, 0.99 * t'
    verdicts 'baseline: faster, slower, within noise' 1 'faster slower same same' \
        '^xgemm bench: 1 of 4 results is slower than in old.json' --baseline old.json
    verdicts 'baseline: --noise 3' 0 'same same same same' '' --baseline old.json --noise 3
    verdicts 'baseline: --noise 0 leaves the spreads' 1 'faster slower same same' '1 of 4 results is slower' \
        --baseline old.json --noise 0
    # The spreads are 1 of now.json and the other's, together.
    earlier old.json 'for x, t, p in zip(r, (103, 103, 97, 97), (100.9, 101.1, 94.9, 95.1)): x["median_us"], x["p1_us"] = t, p'
    verdicts 'baseline: spreads together' 1 'same faster same slower' '' --baseline old.json
    # A difference of 100, spreads of 5 and 105: no part of one median is applied to the other.
    cp now.json calm.json
    earlier old.json 'for x in r: x["median_us"], x["p1_us"] = 100.0, 95.0'
    earlier now.json 'for x in r: x["median_us"], x["p1_us"] = 200.0, 95.0'
    verdicts 'baseline: spreads in microseconds' 0 'same same same same' '' --baseline old.json
    cp calm.json now.json
    earlier old.json 'r[0]["median_us"] = 110; r[0]["p1_us"] = 95; r[1]["median_us"] = 90; r[1]["p1_us"] = 80'
    verdicts 'baseline: a spread of its own' 0 'same same same same' '' --baseline old.json
    earlier old.json 'del r[0]; r.append(dict(r[0], m=9)); r.append(dict(r[0], m=10))'
    verdicts 'baseline: rows of one side alone' 0 'new same same same' '' --baseline old.json
    if grep -q '2 results of the baseline were not measured again' err; then
        ok 'baseline: says what was not measured'
    else
        no 'baseline: says what was not measured' "$(first_error)"
    fi
    earlier old.json 'r[1]["kernel"] = "auto:another"'
    verdicts 'baseline: auto is auto' 0 'same same same same' '' --baseline old.json
    earlier old.json 'd["settings"]["transa"] = "T"'
    verdicts 'baseline: of another layout' 1 'new new new new' 'no result is of a case of the baseline' \
        --baseline old.json
    earlier old.json 'd["settings"]["math"] = "tf32"'
    verdicts 'baseline: of another math mode' 1 'new new new new' 'no result' --baseline old.json
    earlier old.json 'r[0]["median_us"], r[0]["p1_us"] = 1e-6, 1e-6; r[1]["median_us"], r[1]["p1_us"] = 1e9, 1e9'
    bench -s 8 --kernel reference,auto --baseline old.json --json
    if ! ended 1 'slower than in old.json'; then
        no 'baseline: measured' "$why"
    else
        json 'baseline: measured' '[x["verdict"] for x in r] == ["slower", "faster"] and r[1]["baseline_us"] == 1e9'
        cp out compared.json
        run bench --from compared.json --json
        if ended 0 '' && cmp -s out compared.json; then ok 'baseline: --from has it'; else no 'baseline: --from has it' "$why"; fi
    fi
    refuses 'baseline: a missing file' 1 'nothing.json.*No such file' bench --from now.json --baseline nothing.json
    refuses 'baseline: another kind of file' 1 'is not what xgemm bench' bench -d cpu -s 8 --baseline devices.json
    refuses 'baseline: the standard input beside --from' 2 '--from and --baseline cannot both' \
        bench --from - --baseline -
    refuses 'baseline: the standard input beside --shapes' 2 '--shapes and --baseline cannot both' \
        bench -d cpu -f - --baseline -
    refuses 'baseline: --noise alone' 2 'noise is for --baseline' bench -d cpu -s 8 --noise 3
    refuses 'baseline: --noise -1' 2 'noise' bench -d cpu -s 8 --noise -1 --baseline now.json
}

test_check()
{
    for options in '' '--order col --transa T' '--beta 0.5 --transb T' '--batch 3 --ld-pad 5' \
        '--data softmax-3:relu' '--alpha -2'; do
        # shellcheck disable=SC2086
        bench -m 33 -n 17 -k 65 --kernel reference --check --json $options
        json "check: $options" '0 < r[0]["error"] < 1e-6 and d["settings"]["check"]'
    done
    run bench -d sim -s 32 --samples 1 --warm 0 --time 0 --kernel naive,tiled16 --check --json
    json 'check: on the simulator' 'all(0 <= x["error"] < 1e-6 for x in r)'
    bench -m 3 -n 3 -k 0 --check --json
    json 'check: no sums' 'r[0]["error"] == 0'
    bench -s 8 --json
    json 'check: not without the option' '"error" not in r[0] and not d["settings"]["check"]'
}

test_sweep()
{
    bench -s 8 --order row,col --transa N,T --transb T --math strict,default --csv
    got=$(cut -d, -f 1-3 out | tr '\n' ' ')
    if [ "$got" = 'order,transa,math row,N,strict row,T,strict col,N,strict col,T,strict row,N,default row,T,default col,N,default col,T,default ' ]; then
        ok 'sweep: every combination'
    else
        no 'sweep: every combination' "$got; $(first_error)"
    fi
    bench -s 8 --transa N,T --json
    json 'sweep: JSON' '[x["transa"] for x in r] == ["N", "T"] and d["settings"]["transa"] is None and d["settings"]["transb"] == "N"'
    cp out swept.json
    run bench --from swept.json --csv
    if [ "$(cut -d, -f 1 out | tr '\n' ' ')" = 'transa N T ' ]; then
        ok 'sweep: --from'
    else
        no 'sweep: --from' "$(head -n 2 out)"
    fi
    if have gnuplot; then
        run bench --from swept.json --plot swept.svg
        if ended 0 '' && grep -q 'SGEMM of several layouts' swept.svg; then ok 'sweep: plot'; else no 'sweep: plot' "$why"; fi
    fi
    run bench --from swept.json --baseline swept.json
    if ended 0 '' && [ "$(grep -c 'same *$' out)" -eq 2 ]; then ok 'sweep: baseline'; else no 'sweep: baseline' "$why"; fi
    run bench -d sim -s 16 --samples 1 --warm 0 --time 0 --math strict,tf32 --kernel all --csv
    tf32=$(awk -F, '$1 == "tf32"' out | wc -l) strict=$(awk -F, '$1 == "strict"' out | wc -l)
    if ended 0 '' && [ "$strict" -gt 10 ] && [ "$tf32" -gt "$strict" ]; then
        ok 'sweep: the kernels of each math mode'
    else
        no 'sweep: the kernels of each math mode' "$strict and $tf32; $why"
    fi
    for wrong in '--transa N,X' '--transa N,N' '--order row,row' '--math strict,' '--transb ,'; do
        # shellcheck disable=SC2086
        refuses "sweep: $wrong" 2 "${wrong%% *}" bench -d cpu -s 8 $wrong
    done
}

test_defaults()
{
    run bench -d sim --samples 1 --warm 0 --time 0 --kernel coalesced --csv
    if ended 0 '' && [ "$(cut -d, -f 1 out | tr '\n' ' ')" = 'm 64 128 ' ]; then
        ok 'defaults: sizes'
    else
        no 'defaults: sizes' "$why"
    fi
}

# A management library that says what it likes.
test_sensors()
{
    mkdir -p fake
    ln -s "$fake" fake/libcuda.so.1
    cat >nvml.c <<'END'
#include <string.h>
#include <stdlib.h>
int nvmlInit_v2(void) { return getenv("NVML_FAILS") != NULL; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
    *device = &nvmlInit_v2;
    return strlen(address) < 7 || getenv("NVML_KNOWS_NONE");
}
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *value)
{
    *value = 1980;
    return device != &nvmlInit_v2 || type != 1;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *value)
{
    *value = 654321;
    return device != &nvmlInit_v2;
}
#ifndef WITHOUT_TEMPERATURE
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *value)
{
    *value = 61;
    return sensor == 0 ? 3 : 0; /* not supported */
}
#endif
END
    set -- bench -d 0 --samples 1 --warm 0 --time 0 -s 16 --kernel naive --json
    LD_LIBRARY_PATH=$work/fake "$XGEMM" "$@" >out 2>err
    if [ -s err ]; then
        skip 'sensors' "no GPU to imitate: $(first_error)"
        return
    fi
    json 'sensors: none' '"clock_mhz" not in r[0] and r[0]["percent_of_roofline"] > 0'
    # shellcheck disable=SC2086 # the compiler's name may have options
    if ! ${CC:-cc} -shared -fPIC -o fake/libnvidia-ml.so.1 nvml.c 2>cc.err; then
        skip 'sensors' 'no compiler'
        return
    fi
    for variable in NVML_FAILS NVML_KNOWS_NONE; do
        env "$variable=1" LD_LIBRARY_PATH="$work/fake" "$XGEMM" "$@" >out 2>err
        json "sensors: $variable" '"clock_mhz" not in r[0] and r[0]["median_us"] > 0'
    done
    LD_LIBRARY_PATH=$work/fake "$XGEMM" "$@" >out 2>err
    json 'sensors: what they say' 'r[0]["clock_mhz"] == 1980 and r[0]["power_w"] == 654.321 and r[0]["temperature_c"] is None'
    # shellcheck disable=SC2086 # the compiler's name may have options
    ${CC:-cc} -shared -fPIC -DWITHOUT_TEMPERATURE -o fake/libnvidia-ml.so.1 nvml.c
    LD_LIBRARY_PATH=$work/fake "$XGEMM" "$@" >out 2>err
    json 'sensors: a library that lacks a function' '"clock_mhz" not in r[0]'
}

# drawn NAME PATTERN...: a picture of old.json has each of these texts.
drawn()
{
    name=$1
    shift
    run bench --from old.json --plot out.svg
    missing=
    for pattern; do
        grep -Eq -e "$pattern" out.svg || missing="$missing \"$pattern\""
    done
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ -n "$missing" ]; then
        no "$name" "there is no$missing"
    else
        ok "$name"
    fi
}

# speeds KERNELS SIZES GFLOPS: into old.json; a size is 64 or (64,32,16).
speeds()
{
    earlier old.json "
d['device']['name'] = 'A card'
d['date'] = '2026-01-02T03:04:05Z'
sizes = [s if isinstance(s, tuple) else (s, s, s) for s in ($2,)]
d['results'] = [dict(r[0], m=m, n=n, k=k, kernel='k%d' % i, median_us=2e-3 * m * n * k / ($3 + i))
                for m, n, k in sizes for i in range($1)]"
}

# lacks NAME PATTERN: the picture that was drawn last.
lacks()
{
    if grep -Eq -e "$2" out.svg; then no "$1" "there is $2"; else ok "$1"; fi
}

# joined NAME LINES: so many lines are in the picture that was drawn last.
joined()
{
    lines=$(grep -c "<path stroke='rgb.*L" out.svg)
    if [ "$lines" -eq "$2" ]; then ok "$1"; else no "$1" "$lines lines instead of $2"; fi
}

test_pictures()
{
    if ! have gnuplot; then
        skip 'pictures' 'no gnuplot'
        return
    fi
    bench -s 8 --kernel reference --json
    cp out now.json
    speeds 3 64,128 1.5
    drawn 'picture: names at the ends, card, date, GFLOP/s' '>k0<' '>k1<' '>k2<' 'A card, 2026-01-02' 'GFLOP/s'
    lacks 'picture: no TFLOP/s' TFLOP
    joined 'picture: lines' 3
    speeds 3 64,128 5000
    drawn 'picture: TFLOP/s' 'TFLOP/s'
    lacks 'picture: round sizes alone' circles
    speeds 2 64,65,128 5000
    drawn 'picture: odd sizes' 'circles: no multiple of 16'
    speeds 8 64,128 5000
    drawn 'picture: eight kernels' '>k0<' '>k7<'
    lacks 'picture: no bars of eight' 'all, at'
    speeds 40 64,128 5000
    drawn 'picture: forty kernels are bars' '>k0<' '>k17<' '>k39<' 'all, at 128'
    speeds 450 64,128 5000
    drawn 'picture: the fastest of many bars' '>k449<' '>400 of 450, at 128<'
    speeds 3 64 5000
    drawn 'picture: one size is bars' '>k0<' '>k2<' '>at 64<' 'A card, 2026-01-02'
    lacks 'picture: one size is no line' 'm = n = k'
    speeds 1 1040,1056 5000
    drawn 'picture: sizes near each other are named' '>1040<' '>1056<'
    cp out.svg sorted.svg
    speeds 1 1056,1040 5000
    drawn 'picture: sizes that fall' '>k0<'
    if cmp -s out.svg sorted.svg; then ok 'picture: sizes in any turn'; else no 'picture: sizes in any turn' 'another picture'; fi
}

test_pictures_of_shapes()
{
    have gnuplot || return 0
    speeds 3 '(64,32,64),(128,64,128)' 5000
    drawn 'picture: shapes with an order' '>k0<' '>k2<' '>m, from 64x32x64 to 128x64x128<' '>64<' 'TFLOP/s'
    joined 'picture: shapes with an order are lines' 3
    speeds 2 '(64,64,32),(64,64,33),(64,64,64)' 1.5
    drawn 'picture: shapes of one dimension' '>k, from 64x64x32 to 64' 'circles: no multiple of 16' 'GFLOP/s'
    joined 'picture: shapes of one dimension are lines' 2
    speeds 40 '(64,64,32),(64,64,48)' 5000
    drawn 'picture: forty kernels of shapes are bars' '>k0<' '>k39<' 'all, at 64x64x48'
    speeds 3 '(64,128,32),(128,64,32),(32,32,256)' 5000
    drawn 'picture: shapes without an order' '>k0<' '>k2<' '>128x64x32<' '>64x128x32<' '>32x32x256<' 'TFLOP/s'
    joined 'picture: shapes without an order are points' 0
    speeds 1 '(64,32,16)' 5000
    drawn 'picture: one shape is bars' '>k0<' '>at 64x32x16<'
    lacks 'picture: one shape is no point' 'm x n x k'
}

# A result is compared with one that is the same in all this.
test_cases()
{
    bench -s 8 --kernel reference --json
    cp out now.json
    for change in m=9 n=9 k=9 batch=2 'order="col"' 'transa="C"' 'transb="T"' 'math="tf32"' \
        'type="f64"' 'type_c="f16"' 'activation="relu"' 'bias="column"' 'bias="row"' 'data="relu"' \
        'kernel="naive"' 'kernel="referenc:"'; do
        earlier old.json "r[0].update($change)"
        verdicts "cases: $change" 1 new 'no result is of a case of the baseline' --baseline old.json
    done
    for change in alpha=2.0 'alpha=[1.0, 1.0]' beta=1.0 ld_pad=4 graph=True; do
        earlier old.json "d['settings'].update($change)"
        verdicts "cases: $change" 1 new 'no result is of a case of the baseline' --baseline old.json
    done
    earlier old.json 'd["device"]["name"] = "another"'
    verdicts 'cases: of another device' 1 new 'old.json has no result of this device, ' --baseline old.json
    earlier now.json 'r[0].update(bias="column")'
    earlier old.json 'r[0].update(bias="row")'
    verdicts 'cases: a bias for each row or column' 1 new 'no result is' --baseline old.json
    earlier now.json 'r[0].update(median_us=0.0)'
    verdicts 'cases: no time at all' 0 same '' --baseline now.json
}

# kept NAME OPTION...: what is read of a file of results is written again.
kept()
{
    name=$1
    shift
    bench --json "$@"
    cp out now.json
    run bench --from now.json --json
    if ! cmp -s now.json out; then no "$name" 'other bytes'; return; fi
    json "$name" '(lambda e: r == e["results"] and d["settings"] == e["settings"] and d["device"] == e["device"])(json.load(open("now.json")))'
}

test_kept()
{
    kept 'kept: complex numbers' -s 8 --type c32 --beta 0,2 --order col --transa C --transb T --check
    kept 'kept: an epilogue' -m 4 -n 5 -k 6 --type bf16 --type-c f32 --bias --bias-per-row \
        --activation gelu --batch 2
    kept 'kept: several of each' -s 4,5 --order row,col --transa N,C --transb T,N --math strict,tf32 \
        --type f32,f64 --data relu,normal
}

run devices --json
cp out devices.json
if have python3; then
    test_baseline
    test_cases
    test_kept
    test_check
    test_sweep
    test_pictures
    test_pictures_of_shapes
else
    skip 'baseline, check and sweep' 'no python3'
fi
test_defaults
test_sensors

finish
