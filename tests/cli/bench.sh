#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm bench from outside, on the CPU: sizes, options, what it prints, plots and
# earlier results. python3 and gnuplot each add cases where they are there.

topic=bench
fake=$PWD/tests/cuda_fake/.libs/fake_cuda.so
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
TERM=xterm
export TERM
mkdir files

# One short sample of each.
bench()
{
    run bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

# measures NAME SIZES ARGUMENT...: the sizes, in the order of the rows.
measures()
{
    name=$1
    sizes=$2
    shift 2
    bench --csv "$@"
    got=$(awk -F, 'NR > 1 { printf("%s%sx%sx%s", (NR > 2 ? " " : ""), $1, $2, $3) }' out)
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ "$got" != "$sizes" ]; then
        no "$name" "$got instead of $sizes"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    else
        ok "$name"
    fi
}

# unmeasured NAME STATUS PATTERN ARGUMENT...
unmeasured()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    refuses "$name" "$expected" "$pattern" bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

test_bench_sizes()
{
    measures 'bench: a size' 8x8x8 -s 8
    measures 'bench: a range' '16x16x16 32x32x32 48x48x48' --size 16:48:16
    measures 'bench: a range whose step passes the end' '16x16x16 32x32x32' -s 16:47:16
    measures 'bench: a list' '8x8x8 3x3x3 4x4x4 6x6x6' -s 8,3,4:7:2
    measures 'bench: combinations' '2x3x5 2x4x5 6x3x5 6x4x5' -m 2,6 -n 3:4:1 -k 5
    measures 'bench: -m alone' 7x7x7 -m 7
    measures 'bench: -n and -k' 3x3x4 -n 3 -k 4
    measures 'bench: an empty size' 0x4x4 -m 0 -n 4 -k 4
    printf '# sizes\n\n  1 2 3\n4 5 6 # the second\n\t7\t8\t9\r\n#1 1 1\n10 11 12' >shapes.txt
    measures 'bench: a file of shapes' '1x2x3 4x5x6 7x8x9 10x11x12' --shapes shapes.txt
    measures 'bench: a size and a file' '2x2x2 1x2x3 4x5x6 7x8x9 10x11x12' -f shapes.txt -s 2
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "# 1 2 3 "; print "\n4 5 6" }' >long.txt
    measures 'bench: a long comment in a file' 4x5x6 -f long.txt
    for spec in 48:16:16 16:48:0 16:48:-1 16:48:16:2 16: : ',' '8,' ',8' '' a 8x -8 1e3 1.5 \
        99999999999999999999 1:9223372036854775807; do
        unmeasured "bench: the size '$spec'" 2 'size' -s "$spec"
    done
    unmeasured 'bench: a bad value of -k' 2 '-k.*8x' -m 8 -k 8x
    unmeasured 'bench: a bad value of -k alone' 2 'xgemm bench: -k takes.*8x' -k 8x
    unmeasured 'bench: a bad value of -m' 2 '-m.*9:8' -m 9:8
    unmeasured 'bench: a size without -s' 2 '16' 16
    unmeasured 'bench: a missing file of shapes' 2 'missing.txt.*No such file' -f missing.txt
    unmeasured 'bench: a folder as a file of shapes' 2 'files.*directory' -f files
    for line in '1 2' '1 2 3 4' '1 2 x' '1,2,3' '1 2 -3' '1 2 3x' '1 2 3.5' \
        '1 2 99999999999999999999'; do
        printf '4 5 6\n%s\n' "$line" >bad.txt
        unmeasured "bench: the shape '$line'" 2 'bad.txt:2' -f bad.txt
    done
    echo '# nothing' >bad.txt
    unmeasured 'bench: a file without shapes' 2 '' -f bad.txt
}

test_bench_options()
{
    measures 'bench: all options' 8x9x10 -m 8 -n 9 -k 10 --order col --transa T --transb C \
        --alpha 2 --beta=-1 --math default --ld-pad 3 --rest 1 --limit 1 --seed 7 --kernel reference
    unmeasured 'bench: --compare on the CPU' 1 'compare.*GPU.*CPU' -s 8 --compare cublas
    refuses 'bench: --compare on the simulator' 1 'compare.*GPU.*simulator' \
        bench -d sim -s 8 --compare cublas
    unmeasured 'bench: --graph on the CPU' 1 'graph.*GPU.*CPU' -s 8 --graph
    unmeasured 'bench: --compare other' 2 'cublas.*other' -s 8 --compare other
    unmeasured 'bench: unknown kernel' 2 'nonsense.*reference' -s 8 --kernel reference,nonsense
    unmeasured 'bench: a kernel that is not for the CPU' 1 'naive.*CPU' -s 8 --kernel naive
    unmeasured 'bench: too many shapes' 2 'more than 1000000 shapes' -m 1:10000 -n 1:10000 -k 8
    unmeasured 'bench: no kernel' 2 'kernel' -s 8 --kernel ''
    unmeasured 'bench: --order nonsense' 2 'order.*nonsense' -s 8 --order nonsense
    unmeasured 'bench: --transa nonsense' 2 'transa.*nonsense' -s 8 --transa nonsense
    unmeasured 'bench: --alpha abc' 2 'alpha.*abc' -s 8 --alpha abc
    unmeasured 'bench: --samples 0' 2 'samples' -s 8 --samples 0
    for option in warm rest time limit seed ld-pad; do
        unmeasured "bench: --$option -1" 2 "$option" -s 8 "--$option" -1
        unmeasured "bench: --$option x" 2 "$option" -s 8 "--$option=x"
    done
    for size in 1000000000 1099511627776; do
        bench -s "$size" --kernel reference
        if ended 1 'matrices|bytes'; then
            ok "bench: the size $size"
        else
            no "bench: the size $size" "$why"
        fi
    done
}

# Without sizes: some squares for the device.
test_bench_defaults()
{
    for row in sim:64,128 cpu:256,512,1024; do
        run bench -d "${row%:*}" --samples 1 --warm 0 --time 0 --csv
        found=$(sed -n '2,$s/^\([0-9]*\),\1,\1,auto:.*/\1/p' out | paste -s -d ,)
        if ended 0 '' && [ "$found" = "${row#*:}" ]; then
            ok "bench: default sizes of $row"
        else
            no "bench: default sizes of $row" "$found; $why"
        fi
    done
}

test_bench_output()
{
    bench -s 8,16 --kernel reference,auto
    if ended 0 '' && [ "$(wc -l <out)" -eq 5 ] && grep -q median_us out; then
        ok 'bench: text'
    else
        no 'bench: text' "$why $(wc -l <out) lines"
    fi
    bench -s 8,16 --kernel all --csv
    csv 'bench: CSV' $((2 * $(kernels_of cpu | wc -l)))
    if grep -q '^m,n,k,kernel,median_us,p1_us,p99_us,gflops' out; then
        ok 'bench: CSV has the columns'
    else
        no 'bench: CSV has the columns' "$(head -n 1 out)"
    fi
    bench -s 8,16 --kernel reference --json --seed 5 --beta 2
    json 'bench: JSON' 'd["command"] == "bench" and isinstance(d["device"]["name"], str) and d["settings"]["seed"] == 5 and d["settings"]["beta"] == 2 and [x["m"] for x in r] == [8, 16] and all(x["median_us"] > 0 and x["gflops"] > 0 and 0 < x["p1_us"] <= x["median_us"] <= x["p99_us"] and x["kernel"] == "reference" for x in r)'
    same_members 'bench: JSON has the columns of CSV' results \
        bench -d cpu --samples 1 --warm 0 --time 0 -s 8
    run bench -d sim --samples 1 --warm 0 --time 0 -s 5 --kernel naive,vectorized --csv
    csv 'bench: on the simulator' 2
}

# data_column NAME KINDS ARGUMENT...: the column data, in the order of the rows.
data_column()
{
    name=$1
    kinds=$2
    shift 2
    bench --csv --kernel reference "$@"
    got=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "data") at = i; next }
        { printf("%s%s", (NR > 2 ? " " : ""), at ? $at : "-") }' out)
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ "$got" != "$kinds" ]; then
        no "$name" "$got instead of $kinds"
    else
        ok "$name"
    fi
}

test_bench_data()
{
    run bench --data list --csv
    sed -e 1d -e 's/,.*//' out >kinds
    csv 'bench: --data list' "$(wc -l <kinds)"
    says 'bench: --data help' '^relu ' bench --data help
    refuses 'bench: --data list with sizes' 2 'alone, so that --size has no effect' bench -s 8 --data list
    missing=$(while read -r kind; do
        grep -q "^\\.It Cm $kind\$" "$srcdir/man/xgemm.1" || echo "$kind"
    done <kinds)
    if [ -s kinds ] && [ -z "$missing" ]; then
        ok 'bench: the kinds of data are in xgemm(1)'
    else
        no 'bench: the kinds of data are in xgemm(1)' "missing: $missing"
    fi
    data_column 'bench: no --data' - -s 8
    data_column 'bench: --data' relu -s 8 --data relu
    data_column 'bench: --data of both' relu:relu -s 8 --data relu:relu
    data_column 'bench: --data with a list' 'normal softmax-3:relu normal softmax-3:relu' \
        -s 8,9 --data normal,softmax-3:relu
    data_column 'bench: --data all' \
        "$(awk '{ printf("%s%s %s:%s", (NR > 1 ? " " : ""), $1, $1, $1) }' kinds)" -s 9 --data all
    for layout in '--order col' '--transa T' '--transb T' '--order col --transa T --transb C'; do
        # shellcheck disable=SC2086
        data_column "bench: --data $layout" nonfinite:drift -m 5 -n 35 -k 7 --ld-pad 3 --batch 3 \
            --data nonfinite:drift $layout
    done
    for size in '-m 0 -n 3 -k 3' '-m 3 -n 0 -k 3' '-m 3 -n 3 -k 0'; do
        # shellcheck disable=SC2086
        data_column "bench: --data with $size" outlier-line:planted-nonfinite $size \
            --data outlier-line:planted-nonfinite
    done
    for list in nonsense relu:nonsense nonsense:relu 'relu,' ',relu' '' : relu: relu:relu:relu \
        RELU all:relu relu,normal,relu all,relu:relu; do
        unmeasured "bench: --data '$list'" 2 'kind.*normal.*softmax-3|"relu.*" twice' -s 8 --data "$list"
    done
    unmeasured 'bench: --data without a list' 2 'requires an argument' -s 8 --data
    bench -s 8,16 --kernel reference --data relu,relu:relu --json
    json 'bench: --data, JSON' '[x["data"] for x in r] == ["relu", "relu:relu"] * 2'
    cp out data.json
    run bench --from data.json --csv
    if [ "$(cut -d, -f5 out | tr '\n' ' ')" = 'data relu relu:relu relu relu:relu ' ]; then
        ok 'bench: --from with data'
    else
        no 'bench: --from with data' "$(cut -d, -f5 out | tr '\n' ' ')"
    fi
    refuses 'bench: --from with --data' 2 'from.*data' bench --from data.json --data relu
}

# Rows of Inf and NaN are all recomputed, and nothing of normal data is.
test_bench_recomputed()
{
    on_simulator='bench -d sim --samples 1 --warm 0 --time 0 -m 128 -n 128 -k 64
        --kernel fp16x3-128x64,naive --data normal,nonfinite'
    for batch in '' '--batch 2'; do
        # shellcheck disable=SC2086
        run $on_simulator $batch --csv
        got=$(awk -F, '{ printf("%s%s", (NR > 1 ? " " : ""), $NF) }' out)
        if ended 0 '' && [ "$got" = 'percent_recomputed 0 0 100 0' ]; then
            ok "bench: percent_recomputed $batch"
        else
            no "bench: percent_recomputed $batch" "$why $got"
        fi
    done
    # shellcheck disable=SC2086
    run $on_simulator --json
    json 'bench: percent_recomputed, JSON' '[x["percent_recomputed"] for x in r] == [0, 0, 100, 0]'
    cp out recomputed.json
    run bench --from recomputed.json --json
    json 'bench: --from with percent_recomputed' '[x["percent_recomputed"] for x in r] == [0, 0, 100, 0]'
    grep -v percent_recomputed recomputed.json | sed 's/\("host_us": [^,]*\),/\1/' >older.json
    run bench --from older.json --json
    json 'bench: --from without percent_recomputed' '[x["percent_recomputed"] for x in r] == [None] * 4'
    bench -m 0 -n 3 -k 3 --csv
    if [ "$(sed -n '2s/.*,//p' out)" = 0 ]; then
        ok 'bench: percent_recomputed of nothing'
    else
        no 'bench: percent_recomputed of nothing' "$(tail -n 1 out)"
    fi
}

# A folder of programs that lacks gnuplot.
make_path()
{
    mkdir path
    for program in sh env sed grep ls cat expr dirname basename uname rm mv mkdir; do
        place=$(command -v "$program")
        case $place in /*) ln -s "$place" "path/$program" ;; esac
    done
}

test_bench_without_gnuplot()
{
    name='bench: --plot without gnuplot'
    make_path
    PATH=$work/path "$XGEMM" bench -d cpu -s 8 --plot files/out.svg >out 2>err </dev/null
    status=$?
    if ! ended 1 '^xgemm bench: .*gnuplot'; then
        no "$name" "$why"
    elif [ -s out ]; then
        no "$name" "it measured first"
    elif [ -n "$(ls -A files)" ]; then
        no "$name" "it left a file"
    else
        ok "$name"
    fi
}

# draws NAME ARGUMENT...
draws()
{
    name=$1
    shift
    bench --plot files/out.svg "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    elif ! grep -q '<svg' files/out.svg; then
        no "$name" "no SVG"
    elif [ "$(ls -A files)" != out.svg ]; then
        no "$name" "files beside the plot: $(find files -type f | tr '\n' ' ')"
    else
        ok "$name"
    fi
    rm -f files/*
}

test_bench_plot()
{
    if ! have gnuplot; then
        skip 'bench: --plot' 'no gnuplot'
        return
    fi
    draws 'bench: --plot with squares' -s 8,16 --kernel reference,auto
    draws 'bench: --plot with other shapes' -m 8 -n 4,5 -k 6
    draws 'bench: --plot with one size' -s 8
    draws 'bench: --plot with an empty size' -s 0,8,16
    draws 'bench: --plot with an empty size alone' -s 0
    draws 'bench: --plot with kinds of data' -s 8,16 --kernel reference --data relu,relu:relu
    run bench --from data.json --plot files/out.svg
    if grep -q 'reference, relu:relu' files/out.svg; then
        ok 'bench: --plot has a line for each kind of data'
    else
        no 'bench: --plot has a line for each kind of data' "$(first_error)"
    fi
    rm -f files/*
    bench -s 8 --csv --kernel auto
    awk -F, '{ print $4 }' out >plain
    bench -s 8 --csv --kernel auto --plot files/out.svg
    if [ "$(cat plain)" = "$(awk -F, '{ print $4 }' out)" ]; then
        ok 'bench: --plot does not change the rows'
    else
        no 'bench: --plot does not change the rows' \
            "kernel $(awk -F, 'NR == 2 { print $4 }' out) instead of $(tail -n 1 plain)"
    fi
    rm -f files/*
    bench -s 8 --plot nowhere/out.svg
    if ended 1 'nowhere/out.svg.*No such file'; then
        ok 'bench: --plot without a folder'
    else
        no 'bench: --plot without a folder' "$why"
    fi
    if (ulimit -f 1 && exec "$XGEMM" bench --from earlier.json --plot files/out.svg) >out 2>err; then
        no 'bench: --plot with a limit on the size of files' 'exit status 0'
    elif [ -n "$(ls -A files)" ]; then
        no 'bench: --plot with a limit on the size of files' 'it left a file'
    else
        ok 'bench: --plot with a limit on the size of files'
    fi
    rm -f files/*
    mkfifo pipe.svg
    cat pipe.svg >piped.svg &
    bench -s 8 --plot pipe.svg
    wait
    if ended 0 '' && [ -p pipe.svg ] && grep -q '^</svg>' piped.svg; then
        ok 'bench: --plot writes to a pipe, and replaces none'
    else
        no 'bench: --plot writes to a pipe, and replaces none' "$why"
    fi
}

# stores FILE: the JSON of an earlier run.
stores()
{
    bench -s 8,16 --kernel reference,auto --json
    cp out "$1"
}

# no_results NAME PATTERN FILE: as the JSON of an earlier run.
no_results()
{
    refuses "bench: --from $1" 1 "$2" bench --from "$3"
}

test_bench_from()
{
    stores earlier.json
    json 'bench: JSON to come back to' 'len(r) == 4'
    says 'bench: --from' '^ *16 +16 +16 +reference ' bench --from earlier.json
    says 'bench: --from, CSV' '^16,16,16,reference,' bench --from earlier.json --csv
    csv 'bench: --from, the rows' 4
    run bench --from earlier.json --json
    cp earlier.json earlier
    json 'bench: --from, JSON again' '(lambda e: d["date"] == e["date"] and d["settings"] == e["settings"] and [x["median_us"] for x in r] == [x["median_us"] for x in e["results"]])(json.load(open("earlier")))'
    refuses 'bench: --plot of another format' 2 'x\.pdf.*neither \.svg nor \.png' bench --from earlier.json --plot x.pdf
    refuses 'bench: --from with sizes' 2 'from' bench --from earlier.json -s 8
    refuses 'bench: --from with --graph' 2 'from.*graph' bench --from earlier.json --graph
    no_results 'a missing file' 'missing.json.*No such file' missing.json
    echo '[1, 2' >text.json
    no_results 'JSON that is cut' 'text.json' text.json
    for version in 0 4 99; do
        sed "s/\"schema_version\": 3/\"schema_version\": $version/" earlier.json >text.json
        no_results "schema version $version" "text.json is of schema version $version.*it knows 1 to 3" text.json
    done
    echo '{"schema_version": 99, "rows": []}' >text.json
    no_results 'a schema of other results' 'text.json is of schema version 99' text.json
    grep -v schema_version earlier.json >text.json
    no_results 'a folder' 'cannot read \.: Is a directory' .
    no_results 'no schema version' 'no "schema_version"' text.json
    cat >text.json <<'END'
{"schema_version": 1, "xgemm_version": "0.2.0", "command": "bench", "date": "2026-01-01T00:00:00Z",
 "device": {"ordinal": 0, "name": "H200", "detail": "driver 13.0", "compute_capability": 90,
  "multiprocessors": 132, "memory_bytes": 1073741824, "l2_bytes": 0, "core_clock_mhz": 1980.0,
  "memory_clock_mhz": 0.0, "peak_fp32_gflops": 66908.16, "peak_bandwidth_gbs": 4800.0},
 "results": [{"m": 8, "n": 8, "k": 8, "kernel": "naive", "median_us": 1.0, "p1_us": 1.0, "p99_us": 2.0,
  "gflops": 1.0, "host_us": null, "percent_recomputed": 0.0}]}
END
    run bench --from text.json --json
    json 'bench: --from a file of schema 1' 'd["schema_version"] == 3 and d["device"]["compute_capability"] == "9.0" and d["device"]["memory_gib"] == 1 and d["device"]["l2_mib"] is None and d["device"]["device_id"] == "0" and d["host"] is None'
    sed 's/"schema_version": 3/"schema_version": 2/; s/"device_id"/"device"/' earlier.json >text.json
    run bench --from text.json --json
    json 'bench: --from a file of schema 2' 'd["schema_version"] == 3 and d["device"]["device_id"] in ("sim", "cpu", "0") and "device" not in d["device"] and d["host"]["system"]'
    echo '{"results": 1}' >text.json
    no_results 'JSON without results' 'text.json.*results' text.json
    echo '{"results": [1, {"kernel": 3}]}' >text.json
    no_results 'JSON with other results' 'text.json' text.json
    for size in -5 1e300; do
        echo "{\"results\": [{\"m\": $size, \"n\": 8, \"k\": 8, \"kernel\": \"a\"}]}" >text.json
        no_results "the size $size" 'text.json' text.json
    done
}

# A file of results from elsewhere is drawn; none of its text is run.
test_bench_from_plot()
{
    if ! have gnuplot; then
        skip 'bench: --from with --plot' 'no gnuplot'
        return
    fi
    run bench --from earlier.json --plot files/out.svg
    if ended 0 '' && grep -q '<svg' files/out.svg; then
        ok 'bench: --from with --plot'
    else
        no 'bench: --from with --plot' "$why"
    fi
    rm -f files/*
    echo '{"results": []}' >none.json
    run bench --from none.json --plot files/out.svg
    if [ -e files/out.svg ] && ! [ -s files/out.svg ]; then
        no 'bench: --from without results, with --plot' "exit status $status and an empty file"
    else
        ok 'bench: --from without results, with --plot'
    fi
    rm -f files/*
    row='"n": 8, "k": 8, "median_us": 1, "p1_us": 1, "p99_us": 1'
    # shellcheck disable=SC2016
    for text in '`touch ran`' '\"; system \"touch ran\"; #' '\"\n!touch ran\n#'; do
        cat >hostile.json <<END
{"schema_version": 3, "command": "bench", "settings": {"order": "$text", "transa": "$text", "transb": "$text"},
 "device": {"name": "$text"},
 "results": [{"m": 8, "kernel": "$text", "data": "$text", $row},
  {"m": 16, "kernel": "$text", "data": "$text", $row}]}
END
        run bench --from hostile.json --plot files/out.svg
        if [ -e ran ]; then
            no "bench: --from with $text" 'gnuplot ran it'
        else
            ok "bench: --from with $text"
        fi
        rm -f ran files/*
    done
}

# On a driver that runs kernels on the simulator, and counts what is not given back.
on_fake()
{
    LD_LIBRARY_PATH=$work/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_CUDA_LEAKS=3 \
        "$XGEMM" bench -d 0 --samples 2 --warm 0 --time 0 -s 16 "$@" \
        >out 2>err </dev/null
    status=$?
}

test_bench_graph()
{
    mkdir -p fake
    ln -s "$fake" fake/libcuda.so.1
    on_fake --kernel naive
    if [ "$status" -ne 0 ]; then
        skip 'bench: --graph' "no GPU to imitate: $(first_error)"
        return
    fi
    on_fake --graph --kernel naive,tiled16 --json
    json 'bench: --graph' 'd["settings"]["graph"] == True and [x["kernel"] for x in r] == ["naive", "tiled16"] and all(x["median_us"] > 0 for x in r)'
    on_fake --kernel naive --json
    json 'bench: without --graph' 'd["settings"]["graph"] == False'
    for function in cuStreamCreate cuStreamBeginCapture_v2 cuStreamEndCapture \
        cuGraphInstantiateWithFlags cuGraphUpload cuGraphLaunch cuLaunchKernel:999:3; do
        name=${function%%:*}
        result=${function#"$name"}
        FAKE_CUDA_FAIL=$name${result:-:999} on_fake --graph --kernel naive
        if ended 1 "${name%_v2} failed"; then
            ok "bench: $name fails"
        else
            no "bench: $name fails" "$why"
        fi
    done
}

test_bench_sizes
test_bench_options
test_bench_data
test_bench_recomputed
test_bench_defaults
test_bench_output
test_bench_without_gnuplot
test_bench_from
test_bench_plot
test_bench_from_plot
test_bench_graph

finish
