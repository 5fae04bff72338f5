#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# An independent suite: the reference BLAS's level-3 testers (Debian's libblas-test) in C,
# xscblat3, xdcblat3, xccblat3 and xzcblat3, and in Fortran, xblat3s, xblat3d, xblat3c and
# xblat3z. Their gemm, by CBLAS's names and by Fortran's, is made libxgemm's by cblas_shim.so.
#
# usage: blas-suite.sh [device]...
#
# The devices (auto, cpu, sim or a CUDA ordinal) are by default those of
# $XGEMM_DEVICE, a list, or else cpu and sim. $XGEMM_CBLAS_SHIM is the shim,
# $XGEMM_BLAS_SIZES lists of sizes instead of those below, of which less than all of
# $XGEMM_TEST_EFFORT takes some.
# Exit status: 0 passed, 1 failed, 77 no libblas-test or no shared library to
# preload, 99 cannot be run.

LC_ALL=C
export LC_ALL

# They take at most nine values of N, none above 65: each run multiplies
# all m, n and k of one list.
sizes='0,1,2,3,7,16,17 0,1,31,32,33,64,65 1,3,7,17,33,65'
[ "${XGEMM_TEST_EFFORT:-100}" -lt 100 ] && sizes=0,1,17,33
SIZES=${XGEMM_BLAS_SIZES:-$sizes}

hard_error()
{
    echo "blas-suite: error: $*" >&2
    exit 99
}

skip()
{
    echo "SKIP: $*"
    exit 77
}

# $1: the tester's name
find_tester()
{
    for tester in $(dpkg -L libblas-test 2>/dev/null | grep "/$1\$") \
        /usr/lib/*/blas/"$1" /usr/lib*/blas/"$1"; do
        [ -x "$tester" ] && return 0
    done
    return 1
}

find_shim()
{
    for shim in ${XGEMM_CBLAS_SHIM:+"$XGEMM_CBLAS_SHIM"} ./.libs/cblas_shim.so \
        ./tests/gemm/.libs/cblas_shim.so; do
        [ -f "$shim" ] && break
    done
    if [ ! -f "$shim" ]; then
        [ -f cblas_shim.la ] || [ -f tests/gemm/cblas_shim.la ] &&
            skip "cblas_shim was built without shared libraries"
        hard_error "no cblas_shim.so; build it or set XGEMM_CBLAS_SHIM"
    fi
    # Testers run in a folder of their own, to which those in Fortran write.
    case $shim in
    /*) ;;
    *) shim=$PWD/$shim ;;
    esac
    # The dynamic linker would split such a name in two.
    case $shim in
    *[:[:space:]]*) hard_error "cannot preload $shim: a space or colon in its name" ;;
    esac
}

# A sanitizer's runtime that the shim needs must be loaded before the shim.
sanitizers()
{
    LD_LIBRARY_PATH=$libraries ldd "$shim" 2>/dev/null |
        sed -n 's/.* => \(.*lib[at]san\.so[^ ]*\) .*/\1/p' | tr '\n' ' '
}

# The values of alpha and beta, and the functions beside gemm.
scalars()
{
    case $type in
    s | d)
        alphas='0.0 1.0 0.7'
        betas='0.0 1.0 1.3'
        others='symm trmm trsm syrk syr2k'
        ;;
    *)
        alphas='(0.0,0.0) (1.0,0.0) (0.7,-0.9)'
        betas='(0.0,0.0) (1.0,0.0) (1.3,-1.1)'
        others='hemm symm trmm trsm herk syrk her2k syr2k'
        ;;
    esac
}

# $1: a routine's name as the tester reads it; $2: T or F
print_routine()
{
    if [ "$language" = c ]; then
        printf '%-12s %s\n' "cblas_$type$1" "$2"
    else
        printf '%-6s %s\n' "$type$1" "$2" | tr '[:lower:]' '[:upper:]'
    fi
}

# $1: sizes, with commas
print_input()
{
    sizes=$(echo "$1" | tr ',' ' ')
    # shellcheck disable=SC2086 # split into the sizes
    set -- $sizes
    scalars
    [ "$language" = c ] || cat <<EOF
'summary'         NAME OF SUMMARY OUTPUT FILE
6                 UNIT NUMBER OF SUMMARY FILE
EOF
    cat <<EOF
'BLAT3.SNAP'      NAME OF SNAPSHOT OUTPUT FILE
-1                UNIT NUMBER OF SNAPSHOT FILE (NOT USED IF .LT. 0)
F                 REWIND SNAPSHOT FILE AFTER EACH RECORD
F                 STOP ON FAILURES
T                 TEST ERROR EXITS
EOF
    [ "$language" = c ] && echo '2                 TEST BOTH LAYOUTS'
    cat <<EOF
16.0              THRESHOLD VALUE OF TEST RATIO
$#                NUMBER OF VALUES OF N
$sizes
3                 NUMBER OF VALUES OF ALPHA
$alphas
3                 NUMBER OF VALUES OF BETA
$betas
EOF
    print_routine gemm T
    for other in $others; do
        print_routine "$other" F
    done
}

fail()
{
    echo "blas-suite: FAIL: $*"
    failed=1
}

# What xgemm_get_device() gives for a device's name; nothing where any will do.
device_number()
{
    case $1 in
    cpu) echo -2 ;;
    sim) echo -3 ;;
    auto) ;;
    *) echo "$1" ;;
    esac
}

# The calls that the tester says it made, in layout $1 if there is one, 0 if they did not pass.
passed_calls()
{
    made=$(sed -n -e "s/^ *$routine  *PASSED THE $1 *COMPUTATIONAL TESTS//" \
        -e 't found' -e d -e ': found' -e 's/[^0-9]//gp' "$work/out")
    echo "${made:-0}"
}

# $1: device; the shim must have had every call that the tester made, on it.
check_calls()
{
    line=$(sed -n "s/^cblas_shim: \([0-9]* calls of $function on device .*\)/\1/p" \
        "$work/err")
    calls=${line%% *}
    number=$(device_number "$1")
    if [ "$language" = c ]; then
        column=$(passed_calls COLUMN-MAJOR)
        row=$(passed_calls ROW-MAJOR)
        [ "$row" -gt 0 ] || fail "row-major tests not passed"
    else
        column=$(passed_calls '')
        row=0
    fi
    [ "${calls:-0}" -gt 0 ] || fail "the shim was not in use"
    [ "$column" -gt 0 ] || fail "column-major tests not passed"
    # The rest are the calls with errors.
    [ "${calls:-0}" -gt $((column + row)) ] || fail "the shim had too few calls: ${calls:-0}"
    [ "${line##* }" = "${number:-${line##* }}" ] || fail "the shim ran on device ${line##* }"
}

check_output()
{
    grep -q "^ *$routine  *PASSED THE TESTS OF ERROR-EXITS" "$work/out" ||
        fail "error exits not passed"
    grep -q '^ *END OF TESTS' "$work/out" || fail "$name did not reach its end"
    grep -E -q 'FAIL|SUSPECT|FATAL|ABANDONED|\*{5}' "$work/out" && fail "$name found a fault"
    grep -v -q '^cblas_shim: [0-9]* calls' "$work/err" && fail "errors were printed"
}

# $1: device, $2: sizes
run()
{
    failed=0
    print_input "$2" >"$work/in"
    (cd "$work" && XGEMM_DEVICE=$1 LD_LIBRARY_PATH=$libraries LD_PRELOAD=$preload \
        "$tester" <in >out 2>err)
    rc=$?
    if [ "$language" = fortran ] && [ -f "$work/summary" ]; then
        cat "$work/summary" >>"$work/out"
        rm "$work/summary"
    fi
    [ "$rc" -eq 0 ] || fail "$name exited with $rc"
    check_output
    check_calls "$1"
    if [ "$failed" -eq 0 ]; then
        echo "PASS: device $1, sizes $2: $line"
    else
        echo "FAIL: device $1, sizes $2; $name printed:"
        head -n 80 "$work/out" "$work/err"
        status=1
    fi
}

find_tester xscblat3 || skip "libblas-test is not installed"
find_shim
work=$(mktemp -d) || hard_error "no temporary directory"
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM

# libxgemm.so, should the shim not say itself where it was built
libraries=${shim%/*}:$PWD/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
preload=$(sanitizers)$shim
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086 # a list
    set -- ${XGEMM_DEVICE:-cpu sim}
fi

status=0
for type in s d c z; do
    for language in c fortran; do
        if [ "$language" = c ]; then
            name=x${type}cblat3
            function=cblas_${type}gemm
            routine=$function
        else
            name=xblat3$type
            function=${type}gemm_
            routine=$(echo "${type}gemm" | tr '[:lower:]' '[:upper:]')
        fi
        find_tester "$name" || hard_error "libblas-test has no $name"
        echo "$name: $tester; shim: $shim"
        for device in "$@"; do
            for sizes in $SIZES; do
                run "$device" "$sizes"
            done
        done
    done
done
exit "$status"
