#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libxgemm-blas.so below a program that was loaded with RTLD_LOCAL and calls gemm of a fake BLAS: small
# products are passed on; with the simulator as the device, and no least size, all are served. Then
# the reference BLAS's own testers (Debian's libblas-test), of Fortran's names and of CBLAS.

topic=blas
export topic
# shellcheck source=tests/shim/setup.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/shim/setup.sh"

with=
ending=
# calls NAME EXPECTED PATTERN VARIABLE=VALUE...: the program under "xgemm run --log".
calls()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    env "$@" LD_LIBRARY_PATH="${work:?}" "$XGEMM" run --log ${with:+"$with"} ./dropins_main \
        ./blas_calls.so "$expected" "$ending" >out 2>err
    status=$?
    if [ "$status" -ne 0 ] || ! grep -q ' 0 failed$' out; then
        no "$name" "exit status $status; $(head -n 2 out | tr '\n' ' ')$(first_error)"
    elif ! grep -Eq -e "$pattern" err; then
        no "$name" "no \"$pattern\" in the log: $(head -n 3 err | tr '\n' ' ')"
    else
        ok "$name"
    fi
}

compile -shared "$here/fake_blas.c" -o libfakeblas-0a1b2c.so
compile -shared -pthread "$here/blas_calls.c" -o blas_calls.so -L. -lfakeblas-0a1b2c
compile "$here/dropins_main.c" -o dropins_main -ldl

calls 'small products stay' passed_on 'passed on +cblas_sgemm +f32 .*too small'
calls 'no GPU' passed_on 'passed on +scipy_sgemm_64_ .*(no CUDA driver|finds no GPU|there is no GPU 99|without CUDA kernels)' \
    XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=99
for variable in XGEMM_KERNEL XGEMM_LOG XGEMM_SIM; do
    calls "a bad $variable" passed_on "passed on +sgemm_ .*the environment has $variable=" XGEMM_BLAS_LEAST=1 \
        XGEMM_BLAS_DEVICES=-3 $variable=/nowhere/log
done
calls 'a long reason' passed_on 'passed on +sgemm_ .*XGEMM_KERNEL="\?\?[^"]*\.\.\.$' XGEMM_BLAS_LEAST=1 \
    XGEMM_BLAS_DEVICES=-3 XGEMM_KERNEL="$(printf '\303\244')aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
ending=child
calls 'a child of fork()' served "passed on +sgemm_ .*the process is another's child" XGEMM_BLAS_LEAST=1 \
    XGEMM_BLAS_DEVICES=-3
ending=
calls 'switched off' passed_on 'served 0 of 0' XGEMM_SERVE=none XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3
calls 'all is served' served 'served +scipy_cblas_zgemm64_ +c64' XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3 \
    XGEMM_SERVE=
calls 'a cancelled thread' served 'served 398 of 434 calls' XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3 \
    XGEMM_LOG="$PWD/log"
# The CPU is no device here.
for list in -2 0x -3,-3x GPU-0 -3,,-3 '-3,' 4294967296; do
    calls "no list of devices: $list" passed_on 'passed on +sgemm_ .*XGEMM_BLAS_DEVICES is no list of GPUs' \
        XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=$list
done
calls 'by two devices' served 'served +dgemm_64_ ' XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3,-3

for least in one 1x 1,5 -1 nan; do
    calls "no number of multiply-adds: $least" passed_on 'passed on +sgemm_ .*XGEMM_BLAS_LEAST is no number' \
        XGEMM_BLAS_LEAST=$least XGEMM_BLAS_DEVICES=-3
done
calls 'all sizes' served 'served +sgemm_ ' XGEMM_BLAS_LEAST=0 XGEMM_BLAS_DEVICES=-3
calls 'a number with an exponent' passed_on 'passed on +sgemm_ .*it is too small' XGEMM_BLAS_LEAST=1.5e9 \
    XGEMM_BLAS_DEVICES=-3
calls 'no switch' passed_on 'passed on +sgemm_ .*XGEMM_SERVE is neither all nor none' XGEMM_SERVE=off \
    XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3

# The utility names its own libxgemm for the drop-ins; another is named here.
printf '#!/bin/sh\nXGEMM_RUN_LIBRARY=/nowhere/libxgemm.so.0 exec "$@"\n' >with_none
chmod +x with_none
with=./with_none
calls 'no libxgemm' passed_on 'passed on +sgemm_ .*libxgemm\.so\.0 is not there' XGEMM_BLAS_LEAST=1
# A failure leaves C for the BLAS below; large
# products, of which nobody reads a matrix, are for the time that is predicted.
compile -shared "$here/fake_xgemm.c" -o libfake-xgemm.so
printf '#!/bin/sh\nXGEMM_RUN_LIBRARY=%s exec "$@"\n' "$PWD/libfake-xgemm.so" >with_fake
chmod +x with_fake
with=./with_fake
calls 'no handle' passed_on 'passed on +sgemm_ .* the environment is bad *$' XGEMM_BLAS_LEAST=1 FAKE_NO_HANDLE=1
calls 'a failure after a part of C' passed_on 'passed on +sgemm_ .*libxgemm refused it, or failed' \
    XGEMM_BLAS_LEAST=1
calls 'a GPU that was not measured' passed_on 'passed on +dgemm_ .*nothing was measured' FAKE_LARGE=1
calls 'a large product' served 'served +dgemm_ .* 5000 .*[0-9] *-$' FAKE_LARGE=1 FAKE_MEASURED=1
calls 'much to copy' served 'passed on +dgemm_ .*the CPU is as fast' FAKE_LARGE=1 FAKE_MEASURED=1
with=

# libxgemm's own device, the CPU, is the CPU.
XGEMM_BLAS_LEAST=0
XGEMM_BLAS_DEVICES=-3
export XGEMM_BLAS_LEAST XGEMM_BLAS_DEVICES
run run --log "$XGEMM" multiply --device cpu "$srcdir/examples/a.npy" "$srcdir/examples/b.npy" -o c.npy
if [ "$status" -ne 0 ]; then
    no 'the CPU of libxgemm' "exit status $status; $(first_error)"
elif grep -q 'served 0 of 0' err; then
    skip 'the CPU of libxgemm' 'this build has no BLAS of the system'
elif grep -q 'passed on .*libxgemm computes it on the CPU' err; then
    ok 'the CPU of libxgemm'
else
    no 'the CPU of libxgemm' "$(head -n 3 err | tr '\n' ' ')"
fi
unset XGEMM_BLAS_LEAST XGEMM_BLAS_DEVICES

# A program without a BLAS: of what the user names, what does not open is told of once.
compile "$here/named_calls.c" -o named_calls -ldl
XGEMM_BLAS=/nowhere/libblas.so::$PWD/libfakeblas-0a1b2c.so
export XGEMM_BLAS
run run ./named_calls
if [ "$status" -eq 0 ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -q '^libxgemm-blas: XGEMM_BLAS: /nowhere/libblas.so: cannot open ' err; then
    ok 'what XGEMM_BLAS names by mistake'
else
    no 'what XGEMM_BLAS names by mistake' "exit status $status; $(first_error)"
fi
XGEMM_BLAS=/nowhere/libblas.so
run run --log ./named_calls
if [ "$status" -eq 134 ] && grep -q '^libxgemm-blas: no BLAS of this process has sgemm_; XGEMM_BLAS may name' err; then
    ok 'no BLAS'
else
    no 'no BLAS' "exit status $status; $(first_error)"
fi
unset XGEMM_BLAS

# netlib TYPE TESTER INPUT: its gemm is right where it is served, and the rest of the suite where it is not.
netlib()
{
    for folder in /usr/lib/*/blas /usr/lib*/blas /usr/lib*/*/blas/reference; do
        [ -x "$folder/$2" ] && [ -f "$folder/$3" ] && break
    done
    if ! [ -x "$folder/$2" ]; then
        skip "$2" 'there is no libblas-test'
        return
    fi
    # The testers of CBLAS need a variable that only the reference BLAS has, which lies beside them.
    XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3 "$XGEMM" run --log=log -- env LD_LIBRARY_PATH="$folder" \
        "$folder/$2" <"$folder/$3" >out 2>err
    status=$?
    cat ./*blat3.out >>out 2>/dev/null
    rm -f ./*blat3.out
    if [ "$status" -ne 0 ] || grep -Eq 'FAIL|FATAL|SUSPECT' out; then
        no "$2" "exit status $status; $(grep -Em 1 'FAIL|FATAL|SUSPECT' out)"
    elif ! grep -Eqi "${1}gemm .*PASSED THE .*COMPUTATION" out; then
        no "$2" "no test of gemm: $(head -n 2 out | tr '\n' ' ')"
    elif ! grep -Eq "served +(cblas_)?${1}gemm" log; then
        no "$2" "nothing was served: $(head -n 1 log)"
    else
        ok "$2"
    fi
}

for type in s d c z; do
    netlib "$type" "xblat3$type" "${type}blat3.in"
    netlib "$type" "x${type}cblat3" "${type}in3"
done
finish
