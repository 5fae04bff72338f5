#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libxgemm-blas.so below a program that was loaded with RTLD_LOCAL and calls gemm of a fake BLAS: small
# products are passed on; with the simulator as the device, and no least size, all are served.

topic=blas
export topic
# shellcheck source=tests/shim/setup.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/shim/setup.sh"

# calls NAME EXPECTED PATTERN VARIABLE=VALUE...: the program under "xgemm run --log".
calls()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    env "$@" LD_LIBRARY_PATH="${work:?}" "$XGEMM" run --log ./dropins_main ./blas_calls.so \
        "$expected" >out 2>err
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
compile -shared "$here/blas_calls.c" -o blas_calls.so -L. -lfakeblas-0a1b2c
compile "$here/dropins_main.c" -o dropins_main -ldl

calls 'small products stay' passed_on 'passed on +cblas_sgemm +f32 .*too small'
calls 'types without a row stay' passed_on 'passed on +scipy_cblas_dgemm64_ +f64 .*as fast for this type'
calls 'no GPU' passed_on 'passed on +scipy_sgemm_64_ .*there is no GPU' XGEMM_BLAS_LEAST=1 \
    XGEMM_BLAS_DEVICES=99
calls 'switched off' passed_on 'served 0 of 0' XGEMM_SERVE=none XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3
calls 'all is served' served 'served +scipy_cblas_zgemm64_ +c64' XGEMM_BLAS_LEAST=1 XGEMM_BLAS_DEVICES=-3
calls 'with a beta it is not' served 'passed on +dgemm_64_ .*C is added to' XGEMM_BLAS_LEAST=1 \
    XGEMM_BLAS_DEVICES=-3,-3
finish
