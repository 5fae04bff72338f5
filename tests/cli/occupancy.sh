#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm occupancy and xgemm kernels --resources, of GPUs that need not be there.
# python3 and gnuplot each add cases where they are there.

topic=occupancy
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

# gives NAME EXPECTED COLUMN,... ARGUMENT...: these fields of the one row of CSV.
gives()
{
    name=$1
    expected=$2
    wanted=$3
    shift 3
    run occupancy --csv "$@"
    got=$(awk -F, -v wanted="$wanted" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, names, ",") }
        NR == 2 { for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? " " : ""), $at[names[i]] }' out)
    if [ "$status" -eq 0 ] && [ "$got" = "$expected" ] && [ "$(wc -l <out)" -eq 2 ]; then
        ok "$name"
    else
        no "$name" "$wanted: \"$got\" instead of \"$expected\"; $(head -n 1 err)"
    fi
}

# ---- Occupancy ----

test_figures()
{
    for pair in 1024:2 512:4 256:8 64:32; do
        gives "A100, ${pair%:*} threads" "${pair#*:}" blocks --gpu A100 --threads "${pair%:*}"
    done
    gives '8.6, 32 x 32 threads' '1 32 1024' blocks,warps,resident_threads \
        --gpu sm_86 --threads 1024
    gives '8.6, 16 x 16 threads' '6 48 1536' blocks,warps,resident_threads \
        --gpu sm_86 --threads 256
    gives 'A100, 700 threads' '2 44 1400 0.6875 0.68359375 warps' \
        blocks,warps,resident_threads,warp_occupancy,thread_occupancy,limiters \
        --gpu A100 --threads 700
    gives 'each resource' '4 16 32 4 9 registers' \
        blocks,blocks_by_warps,blocks_by_slots,blocks_by_registers,blocks_by_shared,limiters \
        --gpu A100 --threads 128 --registers 128 --shared 16384
    gives 'registers that fit no block' '0 registers' blocks,limiters \
        --gpu A100 --threads 1024 --registers 128
    gives 'clusters' '4' cluster --gpu sm_90 --threads 256 --cluster 4
}

test_text()
{
    says 'text: warps' '^warps +44, 68\.75 %$' occupancy --gpu A100 --threads 700
    says 'text: threads' '^threads +1400, 68\.36 %$' occupancy --gpu A100 --threads 700
    says 'text: what limits' '^  warps +2  limits$' occupancy --gpu A100 --threads 700
    says 'text: idle threads' 'with 672 threads, 3 .*22 warps, 4 threads of the last idle' \
        occupancy --gpu A100 --threads 700
    says 'text: the nearest change' 'limited by registers; at 96 registers, 5\.' \
        occupancy --gpu sm_80 --threads 128 --registers 128
    says 'text: cannot run' 'cannot run, .*131072.*; at 64 registers, 1\.' \
        occupancy --gpu sm_80 --threads 1024 --registers 128
    run occupancy --gpu A100 --threads 700 --json
    json 'JSON' 'd["command"] == "occupancy" and d["results"][0]["warps"] == 44 and
        d["gpu"]["compute_capability"] == "8.0" and "672 threads" in d["text"]'
}

test_refused()
{
    refuses 'no configuration' 2 '--kernel NAME' occupancy --gpu A100
    refuses 'unknown GPU' 2 'nonsense' occupancy --gpu nonsense --threads 64
    refuses 'empty GPU' 2 '^xgemm occupancy: ' occupancy --gpu '' --threads 64
    for threads in 0 -5 1025 99999999999999999999 many 1e3 ''; do
        refuses "\"$threads\" threads" 2 "threads takes a whole number from 1 to 1024, not \"$threads\"" \
            occupancy --gpu A100 --threads "$threads"
    done
    refuses 'registers' 2 'registers takes a whole number from 0 to 255' \
        occupancy --gpu A100 --threads 64 --registers 256
    refuses 'registers below 0' 2 'registers takes a whole number from 0 to 255' \
        occupancy --gpu A100 --threads 64 --registers -1
    refuses 'shared memory' 2 'shared is 166913; .* 166912' \
        occupancy --gpu A100 --threads 64 --shared 166913
    refuses 'shared memory below 0' 2 'shared takes a whole number from 0 ' occupancy --gpu A100 --threads 64 --shared=-1
    refuses 'clusters' 2 'cluster is 2; .* no clusters' \
        occupancy --gpu A100 --threads 64 --cluster 2
    refuses 'large clusters' 2 'cluster is 9; .* 8' occupancy --gpu sm_90 --threads 64 --cluster 9
    refuses 'unknown kernel' 2 'nonsense.*nearest' occupancy --gpu A100 --kernel nonsense
    refuses 'kernel of the CPU' 2 'reference.*CPU' occupancy --gpu A100 --kernel reference
    refuses 'operand' 2 'naive' occupancy --gpu A100 --threads 64 naive
    refuses 'GPU and device' 2 '--gpu.*--device' occupancy --gpu A100 --threads 64 --device 0
    refuses 'not the CPU' 2 '--gpu' occupancy --threads 64 --device cpu
    refuses 'not the simulator' 2 '--gpu' occupancy --threads 64 --device sim
    refuses 'unknown curve' 2 'warps' occupancy --gpu A100 --threads 64 --curve warps
    refuses 'plot of no curve' 2 '--curve' occupancy --gpu A100 --threads 64 --plot out.svg
}

test_curve()
{
    for axis in threads registers shared; do
        run occupancy --gpu A100 --threads 700 --registers 40 --shared 5000 --curve $axis
        widest=$(awk '/limited by/ { next } { if (length > most) most = length } END { print most }' out)
        if [ "$status" -eq 0 ] && [ "$widest" -le 80 ] && grep -q '^100 % |' out &&
            grep -q '|.*@@' out && grep -Eq '(\^ |^ *)(700|40|5000)( \^)?$' out; then
            ok "curve over $axis"
        else
            no "curve over $axis" "exit status $status, $widest columns; $(head -n 1 err)"
        fi
    done
    run occupancy --gpu sm_90 --threads 256 --csv --curve registers
    if [ "$(wc -l <out)" -eq 33 ]; then
        ok 'curve as CSV'
    else
        no 'curve as CSV' "$(wc -l <out) lines instead of 33"
    fi
    curve=$(awk -F, 'NR == 2 || NR == 17 || NR == 33 { printf "%s:%s ", $4, $7 }' out)
    if [ "$curve" = '8:8 128:2 255:1 ' ]; then
        ok 'curve over registers: registers and blocks'
    else
        no 'curve over registers: registers and blocks' "$curve"
    fi
    run occupancy --gpu A100 --threads 256 --csv --curve shared
    if [ "$(awk -F, 'END { print $5, $7 }' out)" = '166912 1' ]; then
        ok 'curve over shared memory: bytes and blocks'
    else
        no 'curve over shared memory: bytes and blocks' "$(tail -n 1 out)"
    fi
    run occupancy --gpu A100 --threads 700 --json --curve threads
    json 'curve as JSON' '[p["blocks"] for p in d["curve"] if p["threads"] in (64, 256, 700, 1024)]
        == [32, 8, 2, 2] and len(d["results"]) == 1'
}

test_plot()
{
    mkdir bare
    ln -s "$(command -v env)" bare/env
    PATH=$work/bare "$XGEMM" occupancy --gpu A100 --threads 64 --curve threads --plot out.svg \
        >out 2>err
    status=$?
    if [ "$status" -eq 1 ] && grep -q gnuplot err && ! [ -s out ] && ! [ -e out.svg ]; then
        ok 'plot without gnuplot'
    else
        no 'plot without gnuplot' "exit status $status; $(head -n 1 err)"
    fi
    if ! have gnuplot; then
        skip 'plot' 'no gnuplot'
        return
    fi
    for axis in threads registers shared; do
        run occupancy --gpu A100 --threads 700 --registers 40 --curve $axis --plot $axis.svg
        if [ "$status" -eq 0 ] && ! [ -s err ] && grep -q '</svg>' $axis.svg &&
            grep -q 'occupancy over' $axis.svg; then
            ok "plot over $axis"
        else
            no "plot over $axis" "exit status $status; $(head -n 1 err)"
        fi
        dated "card and date of $axis" $axis.svg 'A100[^<]*: occupancy over [^<]*'
    done
    # The user's own settings for gnuplot would change the picture, or let it fail.
    mkdir home
    printf 'set terminal nonesuch\nexit status 3\n' >home/.gnuplot
    HOME=$work/home GNUTERM=nonesuch says 'plot beside settings of the user' '^warps' \
        occupancy --gpu A100 --threads 64 --curve threads --plot settings.svg
    refuses 'plot into no folder' 1 'nowhere' \
        occupancy --gpu A100 --threads 64 --curve threads --plot nowhere/out.svg
}

test_without_gpu()
{
    if "$XGEMM" devices --csv 2>/dev/null | grep -q '^[0-9]'; then
        skip 'without a GPU' 'there is one'
        return
    fi
    refuses 'without a GPU: which one' 2 'no GPU here.*--gpu' occupancy --threads 64
    refuses 'without a GPU: GPU 0' 77 '^xgemm occupancy: ' occupancy --threads 64 --device 0
}

# ---- Kernels ----

# No resources are recorded in place of nvcc by a script that compiles nothing (tests/cuda_fake/nvcc.sh),
# or with clang and no ptxas.
nothing_recorded()
{
    grep -q '^NVCC = .*cuda_fake/nvcc\.sh' "$builddir/Makefile" ||
        { grep -Eq '^NVCC = *$' "$builddir/Makefile" && grep -Eq '^PTXAS = *$' "$builddir/Makefile"; }
}

test_kernels()
{
    refuses 'kernels: --gpu alone' 2 '--resources' kernels --gpu A100
    refuses 'kernels: unknown GPU' 2 'nonsense' kernels --resources --gpu nonsense
    if ! "$XGEMM" kernels --csv naive | grep -q cuda; then
        refuses 'kernels: nothing recorded' 1 'without CUDA' kernels --resources --gpu A100
        refuses 'kernel: nothing recorded' 1 'without CUDA' occupancy --gpu A100 --kernel tiled32
        gives 'kernel with registers given' '2' blocks \
            --gpu A100 --kernel tiled32 --registers 32
        return
    fi
    if nothing_recorded; then
        refuses 'kernels: nothing recorded' 1 'no resources of kernel' kernels --resources --gpu A100
        refuses 'kernel: nothing recorded' 1 'no resources of kernel' occupancy --gpu A100 --kernel tiled32
        return
    fi
    # Far in the future, every architecture of this build is older.
    says 'kernels: recorded' '^tiled32 .* 8192 ' kernels --resources --gpu sm_120
    refuses 'kernels: too old a GPU' 1 'not compiled for compute capability 7\.0' \
        kernels --resources --gpu sm_70
    gives 'kernel' 'tiled32 1024 8192' kernel,threads,shared_bytes --gpu sm_120 --kernel tiled32
    gives 'kernel with other threads' 'tiled32 512' kernel,threads \
        --gpu sm_120 --kernel tiled32 --threads 512
    run kernels --resources --csv -q tiled32
    if [ "$status" -eq 0 ] && [ "$(wc -l <out)" -eq 2 ] && ! [ -s err ]; then
        ok 'kernels: with no GPU named'
    else
        no 'kernels: with no GPU named' "exit status $status; $(head -n 1 err)"
    fi
}

run_example()
{
    name="example: $1"
    eval "set -- $1"
    says "$name" . "$@"
}

# The examples of xgemm(1) that need no GPU.
test_examples()
{
    sed -n 's/^\.Dl xgemm \(occupancy .*\)/\1/p; s/^\.Dl xgemm \(kernels --resources .*--gpu .*\)/\1/p' \
        "$srcdir/man/xgemm.1" >examples
    if ! [ -s examples ]; then
        no 'examples' 'none in xgemm(1)'
    fi
    compiled=$("$XGEMM" kernels --csv naive | grep -c cuda)
    if nothing_recorded; then compiled=0; fi
    while read -r line; do
        case $line in
        *--registers* | *--threads*) ;;
        *--kernel* | kernels*)
            if [ "$compiled" -eq 0 ]; then
                skip "example: $line" 'built without CUDA'
                continue
            fi
            ;;
        esac
        case $line in
        *--plot*)
            if ! have gnuplot; then
                skip "example: $line" 'no gnuplot'
                continue
            fi
            ;;
        esac
        run_example "$line"
    done <examples
}

test_figures
test_text
test_refused
test_curve
test_plot
test_without_gpu
test_kernels
test_examples

refuses 'a plot that cannot be written, before the table' 1 'nodir/x.svg|gnuplot' occupancy --gpu H100 --threads 256 \
    --curve registers --plot nodir/x.svg

finish
