#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The utility on a GPU that the fake driver imitates: what it lists, measures and multiplies there,
# and each call of the driver that fails in turn: the results are the same then, or there are none,
# with a sentence and a status that say so.
#
# Of a command's calls XGEMM_TEST_EFFORT times 10 are tried, and at least 40.

topic='the utility on the fake driver'
export topic
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"
mkdir fake
ln -s "$builddir/tests/cuda_fake/.libs/fake_cuda.so" fake/libcuda.so.1
libraries=${LD_LIBRARY_PATH:-}
LD_LIBRARY_PATH=$work/fake${libraries:+:$libraries}
export LD_LIBRARY_PATH
one_sample='--samples 1 --warm 0 --time 0'

# ---- What it does there ----

# fails_as_a_whole NAME PATTERN: the list is without GPUs, and its status says that something failed.
fails_as_a_whole()
{
    run devices --csv
    if ended 1 "no GPU can be used: .*$2" && [ "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" = 'cpu sim ' ]; then
        ok "devices: $1"
    else
        no "devices: $1" "$why; $(cut -d , -f 1 out | tr '\n' ' ')"
    fi
}

test_devices()
{
    says 'devices: the GPU' '^0 +Fake CUDA device 0 ' devices
    FAKE_CUDA_DEVICES=2 says 'devices: two' '^1 +Fake CUDA device 1 ' devices
    says 'devices: in full' '^PCI address +0000:18:00.0$' devices 0
    FAKE_CUDA_DEVICES=2 refuses 'devices: one of two alone is missing' 77 'no GPU 5; this machine has 2' devices 5
    run devices --json
    json 'devices: JSON' 'd["no_gpu_because"] is None and [x["device_id"] for x in d["devices"]] == ["0", "cpu", "sim"]'
    FAKE_CUDA_FAIL=cuDeviceGetCount:802 fails_as_a_whole 'no count' cuDeviceGetCount
    FAKE_CUDA_INIT=802 fails_as_a_whole 'a driver that fails' 'cuInit failed'
    FAKE_CUDA_INIT=34 says 'devices: a stub' '^no GPU can be used: .*stub' devices
    FAKE_CUDA_INIT=100 LD_DEBUG=libs "$XGEMM" devices >out 2>err
    loads=$(grep -c 'find library=libcuda.so.1' err)
    if [ "$loads" -le 1 ] && grep -q '^no GPU can be used' out; then
        ok 'devices: the driver of no GPU is loaded once'
    else
        no 'devices: the driver of no GPU is loaded once' "$loads times"
    fi
    FAKE_CUDA_FAIL=cuDeviceGetCount:802 says 'devices: 0 without a count' '^PCI address ' devices 0
    FAKE_CUDA_INIT=802 refuses 'devices: 0 of a driver that fails' 1 'cuInit failed' devices 0
    FAKE_CUDA_INIT=100 refuses 'devices: 0 of none' 77 'this machine has none: the CUDA driver finds no GPU' devices 0
    FAKE_CUDA_FAIL=cuDeviceGetName:999 refuses 'devices: one that says no name' 1 'cuDeviceGetName failed' devices 0
    FAKE_CUDA_DEVICES=3 FAKE_CUDA_FAIL=cuDeviceGetName:999:3:1 run devices --csv
    if ended 1 'cuDeviceGetName failed' && [ "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" = '0 2 cpu sim ' ]; then
        ok 'devices: those beside one that fails'
    else
        no 'devices: those beside one that fails' "$why $(cut -d , -f 1 out | tr '\n' ' ')"
    fi
}

# Kernels of each of the driver's ways to be called: residues of complex numbers have maps of their own.
test_residues()
{
    for type in f64 c64; do
        run bench --type "$type" --kernel fp16x3-128x256 --size 64 --check --csv --quiet --samples 1 --warm 0 --time 0
        if ended 0; then ok "residues of $type"; else no "residues of $type" "$why"; fi
    done
}

# Drivers that have all functions of an older CUDA but one, which is named.
test_old_drivers()
{
    set -- multiply "$srcdir/examples/a.npy" "$srcdir/examples/b.npy" -o c.npy
    FAKE_CUDA_VERSION=10020 run "$@"
    if ended 0 'the GPU is not used: .*version 10.2; libxgemm needs 11.0' && grep -q ' cpu ' out; then
        ok 'an old driver: the CPU, with a word'
    else
        no 'an old driver: the CPU, with a word' "$why"
    fi
    FAKE_CUDA_VERSION=10020 run "$@" --quiet
    if ended 0 && [ ! -s err ]; then ok 'an old driver: quiet'; else no 'an old driver: quiet' "$why $(cat err)"; fi
    FAKE_CUDA_INIT=100 run "$@"
    if ended 0 && [ ! -s err ]; then ok 'no GPU: no word'; else no 'no GPU: no word' "$why $(cat err)"; fi
    sed -n '/^#define XG_CU_FUNCTIONS/,/[^\\]$/s/^    X([a-z_0-9]*, \([A-Za-z_0-9]*\),.*/\1/p' \
        "$srcdir/lib/backend/cuda/driver.h" >symbols
    mkdir old
    wrong=
    # shellcheck disable=SC2013 # a symbol is a word
    for symbol in $(cat symbols); do
        [ -z "$wrong" ] || break
        grep -vx "$symbol" symbols | sed 's/.*/int &(void) { return 0; }/' >old.c
        # shellcheck disable=SC2086 # the compiler's name may have options
        ${CC:-cc} -shared -fPIC -w old.c -o old/libcuda.so.1 2>cc.err || wrong=$(head -n 1 cc.err)
        LD_LIBRARY_PATH=$work/old run devices 0
        refused 77 "libcuda.so.1 has no $symbol, which CUDA 11.0 has" || wrong="$symbol: $why"
    done
    if [ -z "$wrong" ] && [ "$(wc -l <symbols)" -gt 30 ]; then
        ok 'a driver that lacks a function'
    else
        no 'a driver that lacks a function' "$wrong"
    fi
}

# A driver that is there, but not what it is linked with: no CPU instead, in silence.
test_broken_driver()
{
    mkdir broken
    echo 'int absent(void) { return 0; }' >absent.c
    # shellcheck disable=SC2086 # the compiler's name may have options
    if ! ${CC:-cc} -shared -fPIC absent.c -o broken/libabsent.so 2>cc.err ||
        ! ${CC:-cc} -shared -fPIC absent.c -o broken/libcuda.so.1 -Wl,--no-as-needed -Lbroken -labsent 2>cc.err; then
        no 'a driver whose dependency is missing' "$(head -n 1 cc.err)"
        return
    fi
    rm broken/libabsent.so
    LD_LIBRARY_PATH=$work/broken${libraries:+:$libraries}
    refuses 'multiply: a dependency of the driver is missing' 1 \
        'the CUDA driver cannot be loaded: libabsent.so' multiply a.npy b.npy -o files/c.npy
    fails_as_a_whole 'a dependency of the driver is missing' 'the CUDA driver cannot be loaded: libabsent.so'
    : >broken/libcuda.so.1
    says 'multiply: an empty driver' ' cpu ' multiply a.npy b.npy -o files/c.npy
    LD_LIBRARY_PATH=$work/fake${libraries:+:$libraries}
}

# Where no GPU is named, it is this one.
test_default_gpu()
{
    says 'occupancy: of the GPU that is here' 'Fake CUDA device 0' occupancy --registers 64 --threads 256
    says 'plan: of the GPU that is here' 'Fake CUDA device 0|^ *64 ' plan -s 64
    says 'explain: of the GPU that is here' 'Fake CUDA device 0' explain naive -m 16 -n 16 -k 16
    FAKE_CUDA_FAIL=cuDeviceGetName:999 refuses 'occupancy: one that says no name' 1 'cuDeviceGetName failed' \
        occupancy -d 0 --registers 64 --threads 256
    FAKE_CUDA_DEVICES=1 refuses 'occupancy: one that is not there' 77 'no GPU 1' occupancy -d 1 --threads 256
}

# A driver that fails has not said that there is no GPU; one that has none, or is too old, has.
test_failing_driver()
{
    for of in 'occupancy --threads 256' 'explain naive -m 16 -n 16 -k 4' 'kernels --resources naive'; do
        for result in 802 999; do
            # shellcheck disable=SC2086 # words
            FAKE_CUDA_INIT=$result refuses "${of%% *}: a driver that fails by $result" 1 'cuInit failed' $of
        done
    done
    FAKE_CUDA_INIT=100 refuses 'occupancy: no GPU' 2 'there is no GPU here' occupancy --threads 256
    FAKE_CUDA_VERSION=10020 refuses 'occupancy: an old driver' 2 'there is no GPU here' occupancy --threads 256
    FAKE_CUDA_INIT=100 says 'explain: no GPU' 'as on an H200' explain naive -m 16 -n 16 -k 4
}

test_resources()
{
    says 'kernels: what the driver says of one' '^naive +9\.0 +[0-9]+ ' kernels --resources naive
    run kernels --resources --csv
    csv 'kernels: of all that run there' "$(kernels_of cuda | wc -l)"
    FAKE_CUDA_CC=80 run kernels --resources --csv
    if ended 0 '' && ! grep -q '^tma-' out && grep -q '^naive,' out; then
        ok 'kernels: of compute capability 8.0'
    else
        no 'kernels: of compute capability 8.0' "$why $(grep '^tma-' out)"
    fi
    mkdir -p 11.8
    ln -sf "$builddir/tests/cuda_fake/.libs/fake_cuda_11_8.so" 11.8/libcuda.so.1
    LD_LIBRARY_PATH=$work/11.8${libraries:+:$libraries}
    FAKE_CUDA_VERSION=11080 run kernels --resources --csv
    LD_LIBRARY_PATH=$work/fake${libraries:+:$libraries}
    if ended 0 '' && ! grep -q '^tma-' out && grep -q '^general,' out && ! [ -s err ]; then
        ok 'kernels: of a driver of CUDA 11.8'
    else
        no 'kernels: of a driver of CUDA 11.8' "$why $(first_error)"
    fi
    run kernels --resources --json naive
    json 'kernels: JSON' 'd["device"]["device_id"] == "0" and [x["name"] for x in d["kernels"]] == ["naive"]'
    refuses 'kernels: of the CPU' 1 'resources is of GPUs; name one with --gpu' kernels --resources -d cpu
    FAKE_CUDA_FAIL=cuFuncGetAttribute:999:2 run kernels --resources naive
    if ended 1 'cuFuncGetAttribute failed'; then ok 'kernels: a failure'; else no 'kernels: a failure' "$why"; fi
}

test_multiply()
{
    gives 'multiply: on the GPU' c.C -d 0 --quiet a.npy b.npy
    gives 'multiply: in Fortran order' c.F -d 0 --quiet a.F b.C --fortran
    echo 39 45 51 57 84 99 114 129 | matrix more.C 2 4 C
    echo 1 1 1 1 1 1 1 1 | matrix ones.C 2 4 C
    echo 1 1 1 1 | matrix bias.C 1 4 C
    gives 'multiply: with C' more.C -d 0 --quiet a.npy b.npy -c ones.C --beta 1
    gives 'multiply: with a bias' more.C -d 0 --quiet a.npy b.npy --bias bias.C
    run multiply -d 0 a.npy b.npy -o files/c.npy --json
    json 'multiply: JSON' 'd["device"]["device_id"] == "0" and r[0]["device_id"] == "0" and r[0]["timing"] == "warm" and r[0]["upload_us"] > 0'
    run multiply -d 0 a.npy b.npy -c ones.C --beta 1 -o files/c.npy --json
    json 'multiply: with C, cold' 'r[0]["timing"] == "cold"'
    rm -f files/d.npy
    FAKE_CUDA_FAIL=cuLaunchKernel:719:1:1 run multiply -d 0 a.npy b.npy -o files/d.npy --kernel naive
    if ended 1 'cuLaunchKernel failed' && ! [ -e files/d.npy ]; then
        ok 'multiply: the product before the one that is timed fails'
    else
        no 'multiply: the product before the one that is timed fails' "$why"
    fi
    FAKE_CUDA_MEMORY=64 run multiply -d 0 a.npy b.npy -o files/d.npy
    if ended 1 'matrices take .* of GPU memory, and .* are free' && ! [ -e files/d.npy ]; then
        ok 'multiply: too little memory'
    else
        no 'multiply: too little memory' "$why"
    fi
}

test_probes()
{
    run probe -d 0 --bytes 16384
    if ended 0 '' && [ "$(grep -c '^timed on Fake CUDA device 0' out)" -eq 8 ]; then
        ok 'probe: all'
    else
        no 'probe: all' "$why $(grep -c '^timed' out) of 8"
    fi
    run probe -d 0 launch
    if ended 0 '' && grep -q '^series  *count  *median_us$' out; then
        ok 'probe: launches have no speed'
    else
        no 'probe: launches have no speed' "$why $(sed -n 4p out)"
    fi
    run probe -d 0 --bytes 16384 --json banks
    json 'probe: JSON' 'd["probe"]["measured"] == "time" and all(p["median_us"] > 0 and p["percent_of_peak"] > 0 and p["sectors"] is None for p in d["points"])'
    run probe -d 0 --bytes 16384 --csv
    if ended 0 '' && [ "$(sed 1d out | cut -d , -f 1 | sort -u | wc -l)" -eq 8 ]; then
        ok 'probe: all, as CSV'
    else
        no 'probe: all, as CSV' "$why"
    fi
    if ! have gnuplot; then
        skip 'probe: pictures' 'no gnuplot'
        return
    fi
    for of in 'host-device --bytes 16384:GB/s' launch:microseconds 'banks --bytes 16384:GB/s'; do
        name=${of%:*}
        # shellcheck disable=SC2086 # words
        run probe -d 0 $name --plot picture.svg
        if ended 0 '' && grep -q "${of##*:}" picture.svg; then
            ok "probe: a picture of ${name%% *}"
        else
            no "probe: a picture of ${name%% *}" "$why"
        fi
    done
}

test_bench()
{
    # shellcheck disable=SC2086 # the options are words
    set -- bench -d 0 $one_sample --json
    run "$@" -s 16 --math tf32,strict --type f32,f16,bf16 --kernel auto
    json 'bench: shares of each peak' 'len(r) == 6 and all(x["percent_of_roofline"] > 0 and x["host_us"] > 0 for x in r)'
    run "$@" -s 16 --check --type bf16 --type-c f32 --bias --activation relu --data relu
    json 'bench: checked, with all that a product has' 'r[0]["error"] < 1e-2 and r[0]["data"] == "relu"'
    FAKE_CUDA_MEMORY=20000 run "$@" -s 32
    json 'bench: fewer sets in little memory' 'r[0]["median_us"] > 0'
    FAKE_CUDA_MEMORY=20000 run "$@" -s 64
    if ended 1 'the matrices take .*, and .* are free'; then ok 'bench: too little memory'; else no 'bench: too little memory' "$why"; fi
    if ! have python3; then
        skip 'bench: progress' 'no python3'
        return
    fi
    # On a terminal the case that runs is shown, and wiped off.
    # shellcheck disable=SC2086 # the options are words
    TERM=xterm python3 -c '
import os, subprocess, sys
ours, terminal = os.openpty()
status = subprocess.call(sys.argv[1:], stderr=terminal, stdout=subprocess.DEVNULL)
os.write(1, os.read(ours, 65536))
sys.exit(status)' "$XGEMM" bench -d 0 $one_sample -s 8,16 --kernel naive >out 2>err </dev/null
    status=$?
    if ended 0 '' && grep -q '\[2/2\] 16 x 16 x 16: naive' out; then
        ok 'bench: progress'
    else
        no 'bench: progress' "$why"
    fi
}

# finds NAME PATTERN ARGUMENT...: verify, of kernels that do nothing.
finds()
{
    name=$1
    pattern=$2
    shift 2
    FAKE_CUDA_IDLE=1 run verify -d 0 "$@"
    if ended 1 "$pattern" && grep -q FAILED out; then ok "$name"; else no "$name" "$why"; fi
}

# Right products are found right, and wrong ones wrong.
test_verify()
{
    set -- -m 3 -n 4 -k 5 --quick
    says 'verify: right' '^naive .* ok$' verify -d 0 "$@" --kernel naive
    finds 'verify: kernels that do nothing' \
        '^xgemm verify: naive, f32, row order, .*alpha = .* elements are wrong, the first at' "$@" --kernel naive
    finds 'verify: doubles' 'general, f64' "$@" --type f64 --kernel general
    finds 'verify: complex numbers' 'general, c32, .*alpha = [0-9.e-]+[+-][0-9.e]+i, ' "$@" --type c32 --kernel general
    finds 'verify: random products' 'this is --random 1 --seed [0-9]+' --random 30 --seed 3 --kernel general
    says 'verify: parts of products, bit by bit' '^auto .* 0 +ok$' verify -d 0 -m 20 -n 20 -k 20 --reproducible
}

# ---- What fails ----

# failing NAME CHECK ARGUMENT...: each call of the driver fails; a run that ends well passes the check.
failing()
{
    name=$1
    check=$2
    shift 2
    FAKE_CUDA_COUNT=$work/count FAKE_CUDA_LEAKS=3 run "$@"
    calls=$(cat count 2>/dev/null)
    tries=$((${XGEMM_TEST_EFFORT:-100} * 10))
    step=$((calls / (tries < 40 ? 40 : tries) + 1))
    wrong=
    ended 0 '' && $check || wrong="without a failure: status $status; $(first_error)"
    call=1
    while [ "$call" -le "${calls:-0}" ] && [ -z "$wrong" ]; do
        FAKE_CUDA_FAIL="*:999:$call:1" run "$@"
        case $status in
        0) $check || wrong="call $call of $calls: another result, and status 0" ;;
        1 | 77) grep -q '^xgemm' err || wrong="call $call of $calls: no sentence" ;;
        *) wrong="call $call of $calls: status $status; $(first_error)" ;;
        esac
        call=$((call + step))
    done
    if [ -z "$wrong" ]; then ok "$name ($calls calls)"; else no "$name" "$wrong"; fi
}

# shellcheck disable=SC2317 # called by failing
is_product() { cmp -s files/c.npy c.C; }
# shellcheck disable=SC2317
is_whole() { [ "$(tail -n 1 out)" = '}' ]; }
# shellcheck disable=SC2317
is_right() { grep -q '"failed": 0' out && is_whole; }
# shellcheck disable=SC2317
has_naive() { grep -q '^naive ' out; }

test_failures()
{
    failing 'each call fails: devices' is_whole devices --json
    failing 'each call fails: kernels' has_naive kernels --resources naive
    failing 'each call fails: multiply' is_product multiply -d 0 a.npy b.npy -o files/c.npy
    failing 'each call fails: multiply with C and a bias' is_whole multiply -d 0 a.npy b.npy -c ones.C \
        --beta 1 --bias bias.C -o files/d.npy --json
    failing 'each call fails: verify' is_right verify -d 0 -m 3 -n 4 -k 2 --quick --kernel naive --json
    # Large matrices, of which few sets fill the cache, and kernels that do nothing.
    FAKE_CUDA_IDLE=1
    export FAKE_CUDA_IDLE
    # shellcheck disable=SC2086 # the options are words
    set -- bench -d 0 $one_sample -s 1024 --kernel naive --json
    failing 'each call fails: bench' is_whole "$@" --check
    failing 'each call fails: bench in a graph' is_whole "$@" --graph
    unset FAKE_CUDA_IDLE
}

run kernels --resources naive
if [ "$status" -ne 0 ]; then
    skip 'the fake driver' "no GPU to imitate: $(first_error)"
else
    make_matrices
    test_devices
    test_residues
    test_old_drivers
    test_broken_driver
    test_default_gpu
    test_failing_driver
    test_resources
    test_multiply
    test_probes
    test_bench
    test_verify
    test_failures
fi
finish
