#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# NumPy's own tests of linalg, einsum and matmul, and SciPy's of linalg, as they are and under "xgemm run"
# with products served that libxgemm can compute, by the simulator: the same tests pass and fail.
#
# For the system's Python, and $PYTHON's if that is another, such as a virtual environment's with PyPI's
# wheels; skipped where there is no NumPy or pytest. With XGEMM_TEST_EFFORT below 100, of linalg and einsum products
# of at least a thousand multiply-adds, of the arrays' tests matmul and dot, and of SciPy's those of BLAS, half a
# minute; else all, which takes ten.

topic=python
export topic
# shellcheck source=tests/shim/setup.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/shim/setup.sh"
XGEMM_BLAS_DEVICES=-3
XGEMM_BLAS_LEAST=1000
OPENBLAS_NUM_THREADS=1 # its threads wait for each other in a loop where other programs have the cores
export XGEMM_BLAS_DEVICES XGEMM_BLAS_LEAST OPENBLAS_NUM_THREADS
all=no
[ "${XGEMM_TEST_EFFORT:-100}" -lt 100 ] || all=yes

# outcomes FILE COMMAND...: a line for each test of $modules that $chosen names, all if that is empty, in
# order of names; the command runs pytest.
chosen=
outcomes()
{
    file=$1
    shift
    # shellcheck disable=SC2086 # a list
    "$@" -m pytest -q -rA -p no:cacheprovider ${chosen:+-k "$chosen"} --pyargs ${modules:?} >"$file.all" 2>&1
    sed -n 's/^\(PASSED\|FAILED\|ERROR\|XFAIL\|XPASS\) \([^ ]*\).*/\1 \2/p' "$file.all" | sort >"$file"
}

# same NAME PYTHON LEAST MODULES...
same()
{
    name="$3: $1"
    python=$2
    XGEMM_BLAS_LEAST=$4
    shift 4
    modules=$*
    outcomes without "$python"
    outcomes with "$XGEMM" run --log=log -- "$python"
    if ! grep -q '^PASSED' without; then
        skip "$name" "its tests do not run: $(tail -n 1 without.all)"
    elif ! cmp -s without with; then
        no "$name" "$(diff without with | sed -n 2p); $(tail -n 1 with.all)"
    elif grep -q ' served 0 of' log; then
        no "$name" "nothing was served: $(head -n 1 log)"
    else
        ok "$name"
        sed -n '1s/^xgemm run: libxgemm [^ ]*/#/p' log
    fi
}

has()
{
    "$1" -c "import importlib.util as u; exit(not (u.find_spec('pytest') and u.find_spec('$2')))" 2>/dev/null
}

seen=
for python in /usr/bin/python3 "${PYTHON:-python3}"; do
    real=$("$python" -c 'import sys; print(sys.prefix, sys.executable)' 2>/dev/null)
    case $seen in *"<$real>"*) continue ;; esac
    seen="$seen<$real>"
    if ! has "$python" numpy; then
        skip "$python" 'it has no NumPy, or no pytest'
        continue
    fi
    core=$("$python" -c 'import numpy; print("core" if numpy.__version__ < "2" else "_core")')
    least=1000
    [ $all = no ] || least=1
    same 'linalg and einsum' "$python" NumPy $least numpy.linalg "numpy.$core.tests.test_einsum"
    # A test of dot that is left out fills 8 GiB.
    [ $all = yes ] || chosen='(MatMul or Matmul or TestDot) and not huge'
    same 'matmul' "$python" NumPy 1 "numpy.$core.tests.test_multiarray"
    chosen=
    if ! has "$python" scipy; then
        skip "SciPy: $python" 'it has no SciPy'
    elif [ $all = yes ]; then
        same 'linalg' "$python" SciPy 1000 scipy.linalg
    else
        same 'linalg.blas' "$python" SciPy 1 scipy.linalg.tests.test_blas
    fi
done
finish
