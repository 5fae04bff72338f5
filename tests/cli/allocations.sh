#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each allocation of a command fails in turn: the result is the same then, or there is none, with a
# sentence and an exit status that say so: that memory was short.

topic=allocations
builddir=$PWD
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"
program=$builddir/.libs/xgemm
[ -x "$program" ] || program=$XGEMM

# What does not differ from run to run.
lasting()
{
    grep -v -e '"date"' -e '_us"' -e '_bytes"' -e '"gflops"' -e '"gbs"' -e '"percent_of_roofline"'
}

# run_failing N ARGUMENT...: with the Nth allocation failing; 0: none, and all are counted.
run_failing()
{
    n=$1
    shift
    env FAIL_ALLOCATION="$n" COUNT_ALLOCATIONS=count LD_PRELOAD=./fail_malloc.so \
        LD_LIBRARY_PATH="$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        "$program" "$@" >out 2>err </dev/null
    status=$?
}

# all_fail NAME ARGUMENT...: of a command that ends with $usual, by default 0.
all_fail()
{
    usual=${usual:-0}
    name=$1
    shift
    run_failing 0 "$@"
    lasting <out >expected
    cp err expected.err
    total=$(cat count)
    wrong=
    [ "$status" -eq "$usual" ] && [ "$total" -gt 0 ] || wrong="without a failure: status $status"
    n=0
    while [ "$n" -lt "$total" ] && [ -z "$wrong" ]; do
        n=$((n + 1))
        run_failing "$n" "$@"
        if [ "$status" -eq 0 ] && ! lasting <out | cmp -s - expected; then
            wrong="allocation $n of $total: another result, and status 0"
        elif [ "$status" -gt 100 ]; then
            wrong="allocation $n of $total: status $status"
        elif [ "$status" -ne 0 ] && ! grep -qi memory err &&
            ! { [ "$status" -eq "$usual" ] && cmp -s err expected.err; }; then
            wrong="allocation $n of $total: status $status; $(first_error)"
        fi
    done
    if [ -z "$wrong" ]; then ok "$name ($total)"; else no "$name" "$wrong"; fi
}

# shellcheck disable=SC2086 # the compiler's name may have options
if ! ${CC:-cc} -shared -fPIC -o fail_malloc.so "$srcdir/tests/cli/fail_malloc.c" -ldl 2>cc.err; then
    skip 'allocations' 'what fails them cannot be built here'
    finish
    exit
fi
make_matrices
raw aa.F.npy "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2, 3), }" 48
printf '%%%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n' >a.mtx
"$XGEMM" bench -d cpu -s 8 --samples 1 --time 1 --json >earlier.json
all_fail 'devices' devices --json
all_fail 'devices of the catalogue' devices --catalog --json H100
all_fail 'kernels' kernels --json
all_fail 'plan' plan --gpu H200 -s 64,1000 --json
all_fail 'plan, CSV' plan --gpu H200 -s 64 --csv
printf '8 8 8\n4 4 4\n' >shapes
all_fail 'plan, sizes of a file' plan --gpu H200 -f shapes --csv
printf '__global__ void k() {}\n' >k.cu
printf 'file k.cu\nblock 32\ngrid 0\n' >launch
usual=2
all_fail 'explain, options of a file, of which the last is refused' explain --source launch
usual=0
all_fail 'occupancy' occupancy --gpu H100 --registers 64 --threads 256 --json
all_fail 'occupancy, a curve' occupancy --gpu H100 --registers 64 --threads 256 --curve threads
all_fail 'multiply' multiply -d cpu a.npy b.npy -o files/c.npy --json
all_fail 'multiply, a batch in Fortran order' multiply -d cpu --cast aa.F.npy b.npy -o files/c.npy --fortran --json
all_fail 'multiply, text' multiply -d cpu a.mtx b.npy -o files/c.npy --json
all_fail 'bench from a file' bench --from earlier.json --baseline earlier.json --json
all_fail 'bench, checked' bench -d cpu -s 8 --samples 1 --time 1 --check --transa N,T --json --quiet
all_fail 'bench, types and data' bench -d cpu -s 4 --samples 1 --time 0 --warm 0 --type f64,bf16,c32 --data relu,softmax-3 --json --quiet
all_fail 'multiply, doubles' multiply -d cpu --cast --type f64 a.npy b.npy -o files/c.npy --json
all_fail 'probe, the list' probe --list --json
if python3 -c 'import zipfile
with zipfile.ZipFile("a.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("a.npy")' 2>/dev/null && "$XGEMM" multiply -d cpu a.npz b.npy -o files/c.npy >/dev/null 2>&1; then
    all_fail 'multiply, an archive' multiply -d cpu a.npz:a b.npy -o files/c.npy --json
fi
all_fail 'verify' verify -d cpu -m 3 -n 4 -k 2 --json --kernel reference
all_fail 'verify, complex doubles' verify -d cpu -m 2 -n 2 -k 2 --quick --type c64 --json --kernel reference
all_fail 'bench' bench -d cpu -s 8 --samples 1 --time 1 --json --quiet
if traces; then
    all_fail 'explain' explain naive -m 16 -n 16 -k 4 --json --gpu H100
else
    skip 'explain' 'this build cannot trace'
fi

# On a GPU that the fake driver imitates.
mkdir fake
ln -s "$builddir/tests/cuda_fake/.libs/fake_cuda.so" fake/libcuda.so.1
LD_LIBRARY_PATH=$work/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
if "$XGEMM" devices 0 >/dev/null 2>&1; then
    all_fail 'the GPU' devices 0 --json
    all_fail 'multiply on the GPU' multiply -d 0 a.npy b.npy -o files/c.npy --json
    # The linker says so of a library that is there, without memory for the path that it found.
    cat >absent_once.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    static int calls;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name && !strcmp(name, "libcuda.so.1") && !calls++ ? "libcuda.so.1.absent" : name, flags);
}
END
    # shellcheck disable=SC2086 # the compiler's name may have options
    ${CC:-cc} -shared -fPIC -w -o absent_once.so absent_once.c -ldl
    LD_PRELOAD=./absent_once.so says 'a driver that is not found once' '^ .* 0  ' multiply a.npy b.npy -o files/c.npy
    all_fail 'bench on the GPU' bench -d 0 -s 8 --kernel naive --samples 1 --warm 0 --time 0 --json --quiet
    all_fail 'verify on the GPU' verify -d 0 -m 3 -n 4 -k 2 --quick --json --kernel naive
else
    skip 'on a GPU' 'this build has no CUDA backend'
fi
finish
