# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the tests of the drop-ins begin with; $topic is set. To be read by a shell in the build folder.
# Gives "here", "libraries" and compile().

builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
here=$srcdir/tests/shim
libraries=$builddir/.libs
if ! [ -f "$libraries/libxgemm-blas.so" ]; then
    echo "skipped $topic: shared libraries are not built"
    exit 77
fi
unset XGEMM_SERVE XGEMM_RUN_MATH XGEMM_RUN_COUNTERS XGEMM_BLAS_LEAST XGEMM_BLAS_DEVICES XGEMM_BLAS
XGEMM_DROPINS=$libraries
export XGEMM_DROPINS here

# compile ARGUMENTS...: by the C compiler; the test ends where it fails.
compile()
{
    # shellcheck disable=SC2086 # the compiler's name may have options
    ${CC:-cc} -Wall -Wextra -Werror -Wno-cast-function-type -fPIC -I"$srcdir/include" "$@" 2>cc.err || {
        no 'compile' "$(head -n 3 cc.err)"
        finish
        exit 1
    }
}
