#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/libcublas-preload.so, preloaded into a program that calls a fake cuBLAS. Without a GPU every
# call is passed on; with the fake driver of the test suite, calls are served, and the products right.

topic=preload
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
fake_driver=$builddir/tests/cuda_fake/.libs/fake_cuda.so
libraries=$builddir/.libs
unset XGEMM_PRELOAD_LOG XGEMM_PRELOAD_OFF

compile()
{
    # shellcheck disable=SC2086 # the compiler's name may have options
    ${CC:-cc} -Wall -Wextra -Werror -fPIC "$@" 2>cc.err || {
        no 'compile' "$(head -n 1 cc.err)"
        finish
        exit 1
    }
}

# calls FOLDER VARIABLE=VALUE...: runs the program with the libraries of a folder; outputs as run's.
calls()
{
    folder=$1
    shift
    env "$@" LD_LIBRARY_PATH="$work/$folder:$work:$libraries" \
        LD_PRELOAD="$builddir/bench/libcublas-preload.so" ./preload_calls >out 2>err
    status=$?
}

# gives NAME CALLS PATTERN: how many calls the fake cuBLAS had, and a line of the log ('' for none).
gives()
{
    if [ "$status" -ne 0 ]; then
        no "$1" "exit status $status; $(first_error)"
    elif [ "$(cat out)" != "$2 calls of the fake" ]; then
        no "$1" "not $2 calls, but: $(cat out)"
    elif [ -z "$3" ] && [ -s err ]; then
        no "$1" "a message: $(first_error)"
    elif [ -n "$3" ] && ! grep -Eq -e "$3" err; then
        no "$1" "no \"$3\" in the log: $(first_error)"
    else
        ok "$1"
    fi
}

# A libcuda.so.1 that cannot be loaded stands in for a machine without a GPU.
mkdir none fake
: >none/libcuda.so.1
# Symbols have versions, as those of the real one do; the tool's have none.
echo 'libcublas.so.13 { global: *; };' >fake_cublas.map
compile -shared -Wl,-soname,libcublas.so.13 -Wl,--version-script=fake_cublas.map \
    "$srcdir/tests/cuda_fake/fake_cublas.c" -o libcublas.so.13
compile -I"$srcdir/include" "$srcdir/tests/cuda_fake/preload_calls.c" -o preload_calls libcublas.so.13 \
    -L"$libraries" -lxgemm

calls none
gives 'no GPU: cuBLAS has all calls' 6 ''
calls none XGEMM_PRELOAD_LOG=1
gives 'the log' 6 ': 0 served by libxgemm .*, 6 passed on to cuBLAS$'
gives 'its shapes' 6 '^ +0 +4 +2 +3 +4 +0 +0 +1$'
gives 'its batches' 6 '^ +0 +2 +2 +3 +4 +0 +0 +2$'

if ! [ -f "$fake_driver" ]; then
    skip 'served' 'no fake driver was built'
elif ! "$XGEMM" kernels --csv naive | grep -q cuda; then
    skip 'served' 'this build has no kernels for GPUs'
else
    # The fake driver, and the one function of the driver that libxgemm itself does not use.
    printf 'int cuCtxGetDevice(int *ordinal);\nint cuCtxGetDevice(int *ordinal)\n{\n%s\n}\n' \
        '    *ordinal = 0; return 0;' >device.c
    compile -shared device.c -o fake/libcuda.so.1 -Wl,--no-as-needed "$fake_driver" \
        -Wl,-rpath,"$(dirname "$fake_driver")"
    calls fake XGEMM_PRELOAD_LOG=1
    gives 'a GPU: calls are served' 2 ': 4 served by libxgemm .*, 2 passed on to cuBLAS$'
    calls fake XGEMM_PRELOAD_OFF=1
    gives 'switched off' 6 ''
fi
finish
