#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm multiply from outside, on the CPU and on the simulator: products, what it
# prints, what it refuses, and that a failure leaves the old output.
# python3 and NumPy each add cases where they are there.

topic=multiply
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"
export XGEMM
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT

# layouts DEVICE: each order of the operands and the output, and each transpose.
layouts()
{
    on=$1
    for a in a.C a.F at.C at.F; do
        for b in b.C b.F bt.C bt.F; do
            set -- -d "$on" "$a" "$b"
            case $a in at.*) set -- "$@" --transa T ;; esac
            case $b in bt.*) set -- "$@" --transb=c ;; esac
            gives "multiply: $a by $b to C order on $on" c.C "$@"
            gives "multiply: $a by $b to Fortran order on $on" c.F "$@" --fortran
        done
    done
}

# irregular DEVICE M N K
irregular()
{
    values "$2" "$4" 7 >x.values
    values "$4" "$3" 5 >y.values
    matrix x.npy "$2" "$4" F <x.values
    matrix y.npy "$4" "$3" C <y.values
    cat x.values y.values | product "$2" "$3" "$4" | matrix xy.npy "$2" "$3" C
    gives "multiply: $2 x $4 by $4 x $3 on $1" xy.npy -d "$1" x.npy y.npy
}

# each_kernel DEVICE: on an irregular size.
each_kernel()
{
    values 19 37 7 >x.values
    values 37 21 5 >y.values
    matrix x.npy 19 37 C <x.values
    matrix y.npy 37 21 F <y.values
    cat x.values y.values | product 19 21 37 | matrix xy.npy 19 21 C
    kernels=$(kernels_of "$1")
    [ -n "$kernels" ] || no "multiply: kernels of $1" "kernels lists none"
    for kernel in $kernels; do
        math=$("$XGEMM" kernels --csv | awk -F, -v kernel="$kernel" '$1 == kernel { print $7 }')
        [ "$math" = tf32 ] || math=default
        gives "multiply: kernel $kernel on $1" xy.npy -d "$1" --math "$math" --kernel "$kernel" \
            x.npy y.npy
        if grep -q -w -e "$kernel" out; then
            ok "multiply: prints kernel $kernel on $1"
        else
            no "multiply: prints kernel $kernel on $1" "$(tail -n 1 out)"
        fi
    done
}

# factors DEVICE
factors()
{
    on=$1
    echo 2 4 6 8 10 12 14 16 >old.values
    matrix old.C 2 4 C <old.values
    matrix old.F 2 4 F <old.values
    echo 18 20 22 24 36.5 43 49.5 56 >half.values
    matrix half.C 2 4 C <half.values
    matrix half.F 2 4 F <half.values
    echo 1 2 3 4 5 6 7 8 | matrix halved.C 2 4 C
    set -- -d "$on" a.npy b.npy --alpha 0.5 --beta -0.5
    gives "multiply: alpha and beta on $on" half.C "$@" -c old.C
    gives "multiply: the output has the order of C on $on" half.F "$@" -c old.F
    gives "multiply: --fortran with a C in C order on $on" half.F "$@" --input-c=old.C --fortran
    gives "multiply: --fortran with a C in Fortran order on $on" half.F "$@" -c old.F --fortran
    for order in C F; do
        cp "old.$order" files/c.npy
        gives "multiply: the output as C in $order order on $on" "half.$order" "$@"
    done
    gives "multiply: alpha 0 on $on" halved.C -d "$on" a.npy b.npy --alpha 0 --beta .5 -c old.C
    cp old.F files/c.npy
    gives "multiply: beta 0 reads no order on $on" c.C -d "$on" a.npy b.npy
    gives "multiply: beta 0 reads no C on $on" c.C -d "$on" a.npy b.npy --beta 0 -c missing.npy
    echo nonsense >files/c.npy
    gives "multiply: beta 0 reads no output on $on" c.C -d "$on" a.npy b.npy --beta 0
}

# empty DEVICE
empty()
{
    echo | matrix 0x3.npy 0 3 C
    echo | matrix 3x0.npy 3 0 F
    echo | matrix 0x4.npy 0 4 C
    echo | matrix 0x0.npy 0 0 C
    echo 0 0 0 0 0 0 0 0 0 0 0 0 | matrix zeros.npy 3 4 C
    echo 2 4 6 8 10 12 14 16 18 20 22 24 | matrix twice.npy 3 4 C
    gives "multiply: no rows on $1" 0x4.npy -d "$1" 0x3.npy b.npy
    gives "multiply: no columns on $1" 3x0.npy -d "$1" b.npy 0x4.npy --transb T --fortran
    gives "multiply: nothing at all on $1" 0x0.npy -d "$1" 0x0.npy 0x0.npy
    gives "multiply: no sums on $1" zeros.npy -d "$1" 3x0.npy 0x4.npy
    gives "multiply: no sums, with beta on $1" twice.npy -d "$1" 3x0.npy 0x4.npy --beta 2 -c b.npy
}

test_multiply()
{
    for device in cpu sim; do
        layouts "$device"
        factors "$device"
        irregular "$device" 1 1 1
        irregular "$device" 1 23 70
        irregular "$device" 33 1 5
        irregular "$device" 17 31 1
        irregular "$device" 35 18 41
        each_kernel "$device"
        empty "$device"
    done
    gives 'multiply: --math strict' c.C -d cpu a.npy b.npy --math strict
}

test_multiply_files()
{
    raw v1.npy "{ 'shape':(2,3),\"fortran_order\":False , 'descr':'<f4'}" 0
    dd if=a.npy bs=128 skip=1 2>/dev/null >a.data
    resized v1.npy 10000 loose.npy
    cat a.data >>loose.npy
    gives 'multiply: a header in another style' c.C -d cpu loose.npy b.npy
    for version in 2 3; do
        {
            printf '\223NUMPY'
            byte "$version"
            printf '\000\166\000\000\000'
            dd if=a.npy bs=1 skip=10 2>/dev/null
        } >version.npy
        gives "multiply: version $version.0" c.C -d cpu version.npy b.npy
    done

    cp a.npy files/c.npy
    gives 'multiply: the output is A' c.C -d cpu files/c.npy b.npy
    cp b.npy files/c.npy
    gives 'multiply: the output is B' c.C -d cpu a.npy files/c.npy
    matrix ones.npy 2 2 C <<'END'
1 1 1 1
END
    echo 2 2 2 2 | matrix twos.npy 2 2 C
    cp ones.npy files/c.npy
    gives 'multiply: one file for everything' twos.npy -d cpu files/c.npy files/c.npy
    gives 'multiply: --quiet' c.C -d cpu --quiet a.npy b.npy

    cp old.C target.npy
    ln -s target.npy link.npy
    chmod 640 target.npy
    run multiply -d cpu a.npy b.npy -o link.npy
    if [ -L link.npy ] && cmp -s target.npy c.C && [ -n "$(find target.npy -perm 640)" ]; then
        ok 'multiply: a link and a mode stay'
    else
        no 'multiply: a link and a mode stay' "exit status $status; $(first_error)"
    fi
}

test_multiply_output()
{
    set -- multiply -d cpu a.npy b.npy -o 'c,"1".npy'
    says 'multiply: text' ' 2 +4 +3 .* cpu ' "$@" --kernel reference
    says 'multiply: CSV' '^m,n,k,kernel,device_id,' "$@" --csv
    csv 'multiply: CSV has a row' 1
    if grep -q '"c,""1"".npy"' out; then
        ok 'multiply: CSV has quotation marks'
    else
        no 'multiply: CSV has quotation marks' "$(tail -n 1 out)"
    fi
    says 'multiply: JSON' '^{' "$@" --json --kernel reference
    json 'multiply: JSON has the result' 'len(r) == 1 and [r[0][x] for x in "mnk"] == [2, 4, 3] and r[0]["kernel"] == "reference" and r[0]["device_id"] == "cpu" and r[0]["kernel_us"] > 0 and r[0]["timing"] == "cold" and d["command"] == "multiply"'
    same_members 'multiply: JSON has the columns of CSV' results "$@"
    long=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "d" }')
    mkdir -p "$long/$long"
    set -- multiply -d cpu a.npy b.npy -o "$long/$long/c.npy"
    says 'multiply: CSV with a long path' "/$long/c.npy\$" "$@" --csv
    latin=$(printf 'c\351.npy')
    run multiply -d cpu a.npy b.npy -o "$latin" --json
    json 'multiply: JSON with a path that is no UTF-8' '"output" in r[0]'
}

test_multiply_usage()
{
    set -- multiply -d cpu a.npy b.npy
    refuses 'multiply: no -o' 2 'output' "$@"
    for output in c.mtx c.npz c.npz:c c.MTX c.NPZ c.Npz:c; do
        refuses "multiply: -o $output" 2 'written as a .npy file' "$@" -o $output
    done
    refuses 'multiply: no operand' 2 'none was named' multiply -d cpu -o c.npy
    refuses 'multiply: a C without beta' 2 'beta is 0; give both' "$@" a.npy b.npy -o c.npy -c b.npy
    refuses 'multiply: one operand' 2 '1 was named' multiply -d cpu a.npy -o c.npy
    refuses 'multiply: an operand without a name' 2 'name of one is empty' multiply a.npy '' -o c.npy
    refuses 'multiply: three operands' 2 '3 were named' "$@" a.npy -o c.npy
    refuses 'multiply: --device 0 with one operand' 2 'two' multiply -d 0 a.npy -o c.npy
    for word in abc '' 1x '1 '; do
        keeps "multiply: --alpha '$word'" 2 'alpha' a.npy b.npy --alpha "$word"
        keeps "multiply: --beta '$word'" 2 'beta' a.npy b.npy --beta "$word"
    done
    keeps 'multiply: an alpha that would become 0' 2 'alpha.*so small' a.npy b.npy --alpha 1e-50
    keeps 'multiply: --transa X' 2 'transa.*X' a.npy b.npy --transa X
    keeps 'multiply: --transb TT' 2 'transb.*TT' a.npy b.npy --transb TT
    keeps 'multiply: a member of the standard input' 2 'archives are not read from the standard input' a.npy -:a
    keeps 'multiply: --math nonsense' 2 'math.*nonsense' a.npy b.npy --math nonsense
    keeps 'multiply: unknown kernel' 2 'nonsense.*nearest names are.*reference' a.npy b.npy --kernel nonsense
    keeps 'multiply: unknown kernel, empty' 2 'kernel' a.npy b.npy --kernel ''
    keeps 'multiply: a kernel that is not for the CPU' 1 'naive.*CPU' a.npy b.npy --kernel naive
    refuses 'multiply: a kernel that is not for the simulator' 1 'reference' \
        multiply -d sim a.npy b.npy -o c.npy --kernel reference
}

test_multiply_shapes()
{
    keeps 'multiply: shapes that do not match' 1 '3 x 4.*2 x 3|2 x 3.*2 x 3' a.npy a.npy
    keeps 'multiply: shapes that do not match, both named' 1 '3 x 4.*b.npy.*2 x 3.*a.npy' b.npy a.npy
    keeps 'multiply: shapes that no longer match' 1 '3 x 2.*a.npy.*3 x 4.*b.npy' \
        a.npy b.npy --transa T
    keeps 'multiply: a C that does not match' 1 '2 x 4.*2 x 3.*a.npy' a.npy b.npy --beta 1 -c a.npy
    run multiply -d cpu a.npy b.npy --beta 1 -o files/new.npy
    if ended 1 'new.npy.*No such file' && [ -z "$(ls -A files)" ]; then
        ok 'multiply: beta without a C'
    else
        no 'multiply: beta without a C' "$why"
    fi
}

# Outputs that cannot be written.
test_multiply_bad_output()
{
    refuses 'multiply: no folder for the output' 1 'nowhere/c.npy.*No such file' \
        multiply -d cpu a.npy b.npy -o nowhere/c.npy
    if [ -e nowhere ]; then no 'multiply: makes no folder' 'there is one'; else ok 'multiply: makes no folder'; fi
    refuses 'multiply: the output is a folder' 1 'directory' multiply -d cpu a.npy b.npy -o files
    refuses 'multiply: the output has no name' 2 'name is empty' multiply -d cpu a.npy b.npy -o ''
    if [ -w /dev/full ]; then
        refuses 'multiply: the output is a full device' 1 '/dev/full.*No space left' \
            multiply -d cpu a.npy b.npy -o /dev/full
    fi
    ln -s nowhere/c.npy dangling.npy
    refuses 'multiply: the output is a link to nothing' 1 'dangling.npy.*No such file' \
        multiply -d cpu a.npy b.npy -o dangling.npy
    mkdir locked
    chmod 500 locked
    if [ -w locked ]; then
        skip 'multiply: a folder that is write-protected' 'root writes everywhere'
    else
        refuses 'multiply: a folder that is write-protected' 1 'Permission denied' \
            multiply -d cpu a.npy b.npy -o locked/c.npy
    fi
}

# An input that another process replaces: the file that was opened is the one that is read.
test_multiply_replaced_input()
{
    name='multiply: inputs that are replaced'
    if ! have perl; then
        skip "$name" 'no perl'
        return
    fi
    values 40 30 3 | matrix small.npy 40 30 C
    values 300 30 3 | matrix large.npy 300 30 C
    values 30 2 5 | matrix right.npy 30 2 C
    for size in small large; do
        run multiply -d cpu $size.npy right.npy -o $size-product.npy
    done
    cp small.npy changing.npy
    perl -e 'for (;;) { for (qw(large small)) { link "$_.npy", "next.npy"; rename "next.npy", "changing.npy" } }' &
    changer=$!
    wrong=
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        run multiply -d cpu changing.npy right.npy -o replaced.npy
        ended 0 '' || wrong="run $i: $why"
        cmp -s replaced.npy small-product.npy || cmp -s replaced.npy large-product.npy ||
            wrong="run $i: neither of the products"
    done
    kill "$changer"
    wait "$changer" 2>/dev/null
    if [ -z "$wrong" ]; then ok "$name"; else no "$name" "$wrong"; fi
    rm -f small.npy large.npy right.npy changing.npy next.npy replaced.npy small-product.npy large-product.npy
}

# Ended while the output is written: what is there is the old file or the new one, and no other.
test_multiply_signals()
{
    name='multiply: ended by a signal, leaves nothing'
    values 2500 1 3 | matrix tall.npy 2500 1 C
    values 1 2500 5 | matrix wide.npy 1 2500 C
    mkdir ended
    seen=0
    for signal in HUP INT TERM HUP INT TERM; do
        # In the background a shell ignores SIGINT, and so would what it starts.
        ( trap - INT; exec "$XGEMM" multiply -d cpu tall.npy wide.npy -o ended/c.npy >out 2>err ) &
        child=$!
        while kill -0 "$child" 2>/dev/null; do
            [ -n "$(find ended -name '.xgemm-*')" ] || continue
            seen=$((seen + 1))
            break
        done
        kill -s "$signal" "$child" 2>/dev/null
        wait "$child"
        left=$(find ended -name '.xgemm-*')
        [ -z "$left" ] || break
    done
    if [ -n "$left" ]; then
        no "$name" "SIG$signal left $left"
    elif [ "$seen" -eq 0 ]; then
        skip "$name" 'the output was never seen as it was written'
    else
        ok "$name"
    fi
    rm -rf ended tall.npy wide.npy
}

# Each signal that ends a process, which reaches another thread while the file is there and its name
# is not known.
test_multiply_signal_to_thread()
{
    name='multiply: ended by a signal to another thread as the output is made'
    # shellcheck disable=SC2086 # the compiler's name may have options
    if ! ${CC:-cc} -shared -fPIC -o signal.so "$srcdir/tests/cli/signal_in_mkostemp.c" -ldl -pthread 2>cc.err ||
        ! LD_PRELOAD=./signal.so "$XGEMM" --version >/dev/null 2>&1; then
        skip "$name" 'the preloaded part cannot be used here'
        return
    fi
    mkdir ended
    wrong=
    # HUP, INT, QUIT, ABRT, USR1, USR2, PIPE, ALRM, TERM, XCPU, VTALRM, PROF, IO and one of real time.
    for number in 1 2 3 6 10 12 13 14 15 24 26 27 29 50; do
        (
            SIGNAL_IN_MKOSTEMP=$number LD_PRELOAD=./signal.so exec "$XGEMM" multiply -d cpu a.npy b.npy \
                -o ended/c.npy
        ) >out 2>err
        status=$?
        left=$(find ended -type f)
        [ "$status" -eq $((128 + number)) ] && [ -z "$left" ] ||
            wrong="signal $number: status $status, left $left"
        rm -rf ended/.xgemm-*
    done 2>/dev/null # where shells name the signals
    if [ -z "$wrong" ]; then ok "$name"; else no "$name" "$wrong"; fi
    rm -rf ended
}

# A file that may not grow beyond one block.
test_multiply_limit()
{
    name='multiply: a limit on the size of files'
    cp c.C files/c.npy
    (
        ulimit -f 1 || exit 99
        XGEMM_LOG=stderr exec "$XGEMM" multiply -d cpu square.npy square.npy -o files/c.npy
    ) >out 2>err </dev/null
    status=$?
    if [ "$status" -eq 99 ]; then
        skip "$name" 'no ulimit -f'
    elif grep -q '^xgemm_gemm' err; then
        no "$name" 'found after the product'
    elif ended 1 'c.npy.*File too large'; then
        kept "$name"
    else
        no "$name" "$why"
        kept "$name: what it leaves"
    fi
    rm -rf files
    mkdir files
}

# Files that nothing may replace are written in place, as one that is mounted, and a file system that
# is too small is found before the product.
test_multiply_mounted()
{
    name='multiply: an output that is mounted'
    run multiply -d cpu a.npy b.npy -o expected.npy
    cp a.npy mounted.npy
    : >mount-point.npy
    values 100 1 3 | matrix tall.npy 100 1 C
    values 1 100 5 | matrix wide.npy 1 100 C
    mkdir small
    cat >in-mounts.sh <<'END'
mount --bind mounted.npy mount-point.npy && mount -t tmpfs -o size=16k none small || exit 99
"$XGEMM" multiply -d cpu a.npy b.npy -o mount-point.npy || exit
XGEMM_LOG=stderr "$XGEMM" multiply -d cpu tall.npy wide.npy -o small/c.npy 2>small.err
echo "$?" >small.status
ls -A small >small.left
END
    unshare -rm sh in-mounts.sh >out 2>err </dev/null
    status=$?
    if ! [ -s small.status ] && [ "$status" -ne 1 ]; then
        skip "$name" "no mounts here: $(first_error)"
        return
    fi
    if [ "$status" -eq 0 ] && cmp -s mounted.npy expected.npy && ! [ -s mount-point.npy ]; then
        ok "$name"
    else
        no "$name" "exit status $status; $(first_error)"
    fi
    name='multiply: an output on a file system that is too small'
    if [ "$(cat small.status)" = 1 ] && grep -q 'small/c.npy.*No space left' small.err &&
        ! grep -q '^xgemm_gemm' small.err && ! [ -s small.left ]; then
        ok "$name"
    else
        no "$name" "$(cat small.status small.left small.err | tr '\n' ' ')"
    fi
}

# ---- NumPy ----

test_numpy()
{
    name='NumPy: its files, and ours'
    if ! have python3 || ! python3 -c 'import numpy' 2>/dev/null; then
        skip "$name" 'no python3 with NumPy'
        return
    fi
    python3 -c '
import os, subprocess, numpy as np
rng = np.random.default_rng(1)
for m, n, k in ((1, 1, 1), (5, 7, 3), (64, 33, 129), (0, 4, 2), (3, 4, 0)):
    for order in "CF":
        a = np.array(rng.random((m, k)) - .5, dtype=np.float32, order=order)
        b = np.array(rng.random((k, n)) - .5, dtype=np.float32)
        np.save("numpy_a.npy", a)
        np.save("numpy_b.npy", b)
        subprocess.run([os.environ["XGEMM"], "multiply", "-d", "cpu", "numpy_a.npy", "numpy_b.npy",
                        "-o", "numpy_c.npy"] + ["--fortran"] * (order == "F"),
                       check=True, stdout=subprocess.DEVNULL)
        c = np.load("numpy_c.npy", allow_pickle=False)
        assert c.dtype == np.float32 and c.shape == (m, n), (c.dtype, c.shape)
        assert c.flags.f_contiguous if order == "F" else c.flags.c_contiguous, order
        assert np.allclose(c, a.astype(float) @ b, rtol=1e-5, atol=1e-5), (m, n, k, order)' 2>err
    status=$?
    if [ "$status" -eq 0 ]; then ok "$name"; else no "$name" "$(tail -n 1 err)"; fi
}

make_matrices
test_multiply
test_multiply_files
test_multiply_output
test_multiply_usage
test_multiply_shapes
test_multiply_bad_output
test_multiply_limit
test_multiply_mounted
test_multiply_replaced_input
test_multiply_signals
test_multiply_signal_to_thread
test_numpy

finish
