#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libblas.so.3 of libxgemm, for programs that are linked with one: it has all names of the reference
# BLAS, whose routines arrive at the BLAS below whatever their signature; gemm is served or passed on.
# Then the reference BLAS's own testers of all three levels (Debian's libblas-test).

topic=libblas
export topic
# shellcheck source=tests/shim/setup.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/shim/setup.sh"
folder=$builddir/shim/blas/.libs
if ! [ -f "$folder/libblas.so.3" ]; then
    skip 'libblas.so.3' 'it is not built on this system'
    finish
    exit
fi
XGEMM_RUN_LIBRARY=$libraries/libxgemm.so.0
export XGEMM_RUN_LIBRARY

compile -shared "$here/fake_whole.c" -o libfake-whole.so
compile "$here/whole_calls.c" -o whole_calls "$folder/libblas.so.3"
compile -DOWN_XERBLA "$here/whole_calls.c" -o whole_calls_own "$folder/libblas.so.3"

# whole NAME STATUS PATTERN PROGRAM ARGUMENTS...: a program on the fake BLAS.
whole()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    XGEMM_BLAS=/nowhere:$folder/libblas.so.3:$PWD/libfake-whole.so LD_LIBRARY_PATH=$folder "$@" \
        >out 2>&1
    status=$?
    if [ "$status" -ne "$expected" ] || ! grep -q -e "$pattern" out; then
        no "$name" "exit status $status; $(head -n 3 out | tr '\n' ' ')"
    else
        ok "$name"
    fi
}

whole 'every signature' 0 '^0 failed' ./whole_calls
if grep -q "^libxgemm's libblas.so.3: XGEMM_BLAS: /nowhere: cannot open " out &&
    grep -q "^libxgemm's libblas.so.3: XGEMM_BLAS: .*/libblas.so.3: it is this library$" out &&
    [ "$(grep -c XGEMM_BLAS out)" -eq 2 ]; then
    ok 'what XGEMM_BLAS names by mistake'
else
    no 'what XGEMM_BLAS names by mistake' "$(head -n 3 out | tr '\n' ' ')"
fi
whole "the program's xerbla" 0 '^0 failed' ./whole_calls_own
whole 'a routine that the BLAS below lacks' 134 'libfake-whole.so has no routine that was called' \
    ./whole_calls missing

reference=$(for file in /usr/lib/*/blas/libblas.so.3 /usr/lib*/libblas.so.3; do
    [ -f "$file" ] && echo "$file" && break
done)
if have nm && [ -n "$reference" ]; then
    nm -D --defined-only "$folder/libblas.so.3" | awk '{ print $3 }' | sort >own
    # Without what CBLAS calls within itself.
    nm -D --defined-only "$reference" | awk '$2 == "T" && $3 !~ /sub_$/ { print $3 }' |
        sort >names
    comm -23 names own >absent
    if [ -s absent ]; then
        no 'all names' "there is no $(head -n 1 absent)"
    else
        ok 'all names'
    fi
fi

# netlib TESTER [INPUT]: with gemm served, and counted. A folder of drop-ins that lacks the BLAS's.
mkdir dropins
ln -s "$libraries/libxgemm-cublas.so" dropins/
netlib()
{
    for tests in /usr/lib/*/blas /usr/lib*/blas /usr/lib*/*/blas/reference; do
        [ -x "$tests/$1" ] && break
    done
    if ! [ -x "$tests/$1" ] || [ -z "$reference" ]; then
        skip "$1" 'there is no libblas-test'
        return
    fi
    XGEMM_DROPINS=$PWD/dropins XGEMM_BLAS=$reference XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3 \
        "$XGEMM" run --log=log -- env LD_LIBRARY_PATH="$folder" "$tests/$1" \
        <"${2:+$tests/}${2:-/dev/null}" >out 2>err
    status=$?
    cat ./*.out >>out 2>/dev/null
    cat ./*.SUMM >>out 2>/dev/null
    rm -f ./*.out ./*.SUMM
    if [ "$status" -ne 0 ] || grep -Eq 'FAIL|FATAL|SUSPECT' out || ! grep -q PASS out; then
        no "$1" "exit status $status; $(grep -Em 1 'FAIL|FATAL|SUSPECT' out)"
    elif [ "${1#xblat3}" != "$1" ] && ! grep -Eq "served +${1#xblat3}gemm" log; then
        no "$1" "nothing was served: $(head -n 1 log)"
    else
        ok "$1"
    fi
}

for type in s d c z; do
    netlib "xblat1$type"
    netlib "xblat2$type" "${type}blat2.in"
    netlib "xblat3$type" "${type}blat3.in"
done
finish
