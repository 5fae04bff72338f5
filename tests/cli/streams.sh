#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where the utility takes files: the standard streams and pipes in their place, and for xgemm
# multiply other formats than .npy files of float32. python3 and gnuplot each add cases where they
# are there.

topic=streams
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"

# streams NAME COMMAND: a shell's command line writes C; ./multiply is the utility's part of it.
streams()
{
    rm -f streamed
    if sh -c "$2" >out 2>err </dev/null && cmp -s streamed c.C && ! [ -s out ]; then
        ok "$1"
    else
        no "$1" "$(shown streamed); $(first_error)"
    fi
}

test_multiply_streams()
{
    printf 'exec "%s" multiply -d cpu --quiet "$@"\n' "$XGEMM" >multiply
    chmod +x multiply
    streams 'multiply: A from the standard input' 'cat a.npy | ./multiply - b.npy -o streamed >/dev/null'
    streams 'multiply: A from the standard input, a file' './multiply - b.npy -o streamed <a.npy >/dev/null'
    streams 'multiply: B from the standard input' 'cat b.npy | ./multiply a.npy - -o streamed >/dev/null'
    streams 'multiply: C to the standard output' './multiply a.npy b.npy -o - >streamed'
    streams 'multiply: C to a pipe' './multiply a.npy b.npy -o - | cat >streamed'
    streams 'multiply: from and to pipes' 'cat a.npy | ./multiply - b.npy -o /dev/stdout | cat >streamed'
    streams 'multiply: the second file of a stream' \
        'cat a.npy b.npy | { dd bs=152 count=1 of=/dev/null 2>/dev/null; ./multiply a.npy - -o streamed; } >/dev/null'
    mkfifo pipe
    streams 'multiply: C to a named pipe' 'cat pipe >streamed & ./multiply a.npy b.npy -o pipe >/dev/null; wait'
    streams 'multiply: A from a named pipe' 'cat a.npy >pipe & ./multiply pipe b.npy -o streamed >/dev/null; wait'
    set -- multiply -d cpu
    for to in - /dev/fd/1 /proc/self/fd/1; do
        "$XGEMM" "$@" a.npy b.npy -o $to 2>err | cat >piped
        "$XGEMM" "$@" a.npy b.npy -o $to >streamed 2>>err
        if cmp -s streamed c.C && cmp -s piped c.C && [ "$(grep -c ' 2 *4 *3 .*cpu' err)" -eq 2 ]; then
            ok "multiply: C to $to, the rest to standard error"
        else
            no "multiply: C to $to, the rest to standard error" "$(first_error)"
        fi
    done
    refuses 'multiply: --json beside C by a descriptor' 2 'json and the matrix' "$@" a.npy b.npy -o /dev/fd/1 --json
    "$XGEMM" "$@" a.npy b.npy -o /dev/null >/dev/null 2>err --json
    status=$?
    if ended 0 ''; then ok 'multiply: two outputs to /dev/null'; else no 'multiply: two outputs to /dev/null' "$why"; fi
    refuses 'multiply: two inputs from the standard input' 2 'one input alone' "$@" - - -o c.npy
    refuses 'multiply: --json beside C' 2 'json and the matrix' "$@" a.npy b.npy -o - --json
    refuses 'multiply: --csv beside C' 2 'csv and the matrix' "$@" a.npy b.npy -o - --csv
    refuses 'multiply: beta with C on the standard output' 2 'name the C' "$@" a.npy b.npy -o - --beta 1
    refuses 'multiply: an empty standard input' 1 'xgemm multiply: -: is not a .npy' "$@" - b.npy -o c.npy
    "$XGEMM" multiply -d cpu a.npy b.npy -o - >&- 2>err </dev/null
    status=$?
    if ended 1 'standard output'; then
        ok 'multiply: C to a closed standard output'
    else
        no 'multiply: C to a closed standard output' "$why"
    fi
}

# Other files than .npy files of float32.
# Other types than float32, by --cast.
test_multiply_cast()
{
    raw_of double.npy "'<f8'" '(2, 3)' 0
    printf '%b' '\0000\0000\0000\0000\0000\0000\0360\0077\0000\0000\0000\0000\0000\0000\0000\0100' \
        '\0000\0000\0000\0000\0000\0000\0010\0100\0000\0000\0000\0000\0000\0000\0020\0100' \
        '\0000\0000\0000\0000\0000\0000\0024\0100\0000\0000\0000\0000\0000\0000\0030\0100' >>double.npy
    raw_of half.npy "'>f2'" '(2, 3)' 0
    printf '\074\000\100\000\102\000\104\000\105\000\106\000' >>half.npy
    for type in double half; do
        gives "multiply: --cast of $type" c.C -d cpu --cast $type.npy b.npy
    done
    keeps 'multiply: double without --cast' 1 'A has f64 .double.npy.*--cast converts' double.npy b.npy
    keeps 'multiply: half without --cast' 1 'half.npy: dtype.*--cast converts it' half.npy b.npy
    gives 'multiply: --cast of float32' c.C -d cpu --cast a.npy b.npy
    raw_of whole.npy "'<i4'" '(2, 3)' 24
    keeps 'multiply: --cast of whole numbers' 1 'int32' --cast whole.npy b.npy
}

test_multiply_formats()
{
    echo 1 0 0 1 | matrix eye.npy 2 2 C
    printf '%%%%MatrixMarket matrix array real general\n1 1\nx\n' >nan.mtx
    printf '%%%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n' >a.mtx
    printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n' >two.mtx
    echo 2 4 6 8 10 12 | matrix twice.C 2 3 C
    gives 'multiply: Matrix Market' c.C -d cpu a.mtx b.npy
    gives 'multiply: Matrix Market, coordinates' twice.C -d cpu a.mtx two.mtx
    keeps 'multiply: Matrix Market that is wrong' 1 'nan.mtx: line 3 is "x"' nan.mtx nan.mtx
    keeps 'multiply: no such member' 1 'nothing.npz.*No such file' nothing.npz:a b.npy
    if ! have python3 || "$XGEMM" multiply a.npz b.npy -o c.npy 2>&1 | grep -q 'without zlib'; then
        skip 'multiply: archives' 'no python3, or no zlib'
        return
    fi
    python3 -c '
import zipfile
with zipfile.ZipFile("stored.npz", "w") as z:
    for name in "ab":
        # As NumPy does.
        with z.open(name + ".npy", "w", force_zip64=True) as f:
            f.write(open(name + ".npy", "rb").read())
with zipfile.ZipFile("deflated.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("b.npy"); z.write("a.npy")'
    for archive in stored deflated; do
        gives "multiply: a $archive archive" c.C -d cpu $archive.npz:a $archive.npz:b.npy
        keeps "multiply: a $archive archive, no name" 1 'which of its members. There are .*npy, .*npy' \
            $archive.npz b.npy
        keeps "multiply: a $archive archive, another name" 1 'no such member; there are' $archive.npz:c b.npy
    done
}

# batched FILE FOLD NEW: a batch of so many copies of a matrix.
batched()
{
    python3 -c '
import sys
name, fold, to = sys.argv[1], int(sys.argv[2]), sys.argv[3]
whole = open(name, "rb").read()
head = whole[:128].replace(b"(", b"(%d, " % fold, 1).replace(b" " * len("%d, " % fold) + b"\n", b"\n")
open(to, "wb").write(head + whole[128:] * fold)' "$1" "$2" "$3"
}

test_multiply_batches()
{
    if ! have python3; then
        skip 'multiply: batches' 'no python3'
        return
    fi
    batched a.npy 3 aaa.npy
    batched b.npy 3 bbb.npy
    batched b.npy 2 bb.npy
    batched b.npy 1 b1.npy
    batched c.C 3 ccc.C
    for device in cpu sim; do
        gives "multiply: batches on $device" ccc.C -d $device aaa.npy bbb.npy
        gives "multiply: a batch by a matrix on $device" ccc.C -d $device aaa.npy b.npy
        gives "multiply: a matrix by a batch on $device" ccc.C -d $device a.npy bbb.npy
        gives "multiply: a batch by a batch of one on $device" ccc.C -d $device aaa.npy b1.npy
    done
    keeps 'multiply: batches that do not match' 1 'A has 3 matrices.*B has 2' aaa.npy bb.npy
    keeps 'multiply: a batch and one C' 1 'product is 3 of 2 x 4 and C is 1 of 2 x 4' aaa.npy bbb.npy \
        --beta 1 -c c.C
    run multiply -d cpu aaa.npy bbb.npy -o ccc.npy --json
    json 'multiply: JSON has the batch' 'r[0]["batch"] == 3 and r[0]["m"] == 2'
    run multiply -d cpu aaa.npy bbb.npy -o cccF.npy --fortran
    gives 'multiply: a batch in Fortran order is read again' ccc.C -d cpu eye.npy cccF.npy
}

# ---- Other commands ----

test_shapes()
{
    printf '1 2 3\n4 5 6\n' >shapes.txt
    for input in 'cat shapes.txt |' '<shapes.txt'; do
        sh -c "$input \"$XGEMM\" plan --gpu H200 --csv --shapes - >out 2>err"
        status=$?
        name="plan: --shapes - from $input"
        if ended 0 '' && [ "$(sed 1d out | cut -d, -f 1-3)" = "1,2,3
4,5,6" ]; then
            ok "$name"
        else
            no "$name" "$why $(cat out)"
        fi
    done
    refuses 'plan: --shapes - from nothing' 2 'no line "m n k"' plan --gpu H200 --shapes -
}

test_bench()
{
    run bench -d cpu -s 8,16 --samples 1 --warm 0 --time 0 --json
    cp out earlier.json
    "$XGEMM" bench --from - --csv >out 2>err <earlier.json
    status=$?
    if ended 0 '' && [ "$(wc -l <out)" -eq 3 ]; then ok 'bench: --from -'; else no 'bench: --from -' "$why"; fi
    if ! have gnuplot; then
        skip 'bench: --plot -' 'no gnuplot'
        return
    fi
    for plot in - /dev/stdout; do
        "$XGEMM" bench --from - --plot $plot <earlier.json 2>err | cat >picture
        if grep -q '^</svg>' picture && head -n 1 picture | grep -q '^<?xml' && grep -q gflops err; then
            ok "bench: --plot $plot"
        else
            no "bench: --plot $plot" "$(first_error)"
        fi
    done
    refuses 'bench: --plot - with --json' 2 'json and the picture' bench --from earlier.json --json --plot -
    run bench --from earlier.json --plot picture.PNG
    if ended 0 '' && [ "$(dd if=picture.PNG bs=1 skip=1 count=3 2>/dev/null)" = PNG ]; then
        ok 'bench: a picture as PNG'
    else
        no 'bench: a picture as PNG' "$why"
    fi
}

# explains NAME STATUS PATTERN COMMAND: a shell's command line, whose outputs together match.
explains()
{
    printf 'exec "%s" explain "$@"\n' "$XGEMM" >explain
    chmod +x explain
    sh -c "$4" >out 2>err </dev/null
    status=$?
    if [ "$status" -eq "$2" ] && cat out err | grep -Eq -e "$3"; then
        ok "$1"
    else
        no "$1" "status $status instead of $2, or no \"$3\": $(first_error)"
    fi
}

test_explain()
{
    if ! traces; then
        skip 'explain: from the standard input' 'this build cannot trace'
        return
    fi
    XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
    NVCC=./nvcc
    export XGEMM_CUDA_HEADERS NVCC
    cat >nvcc <<'NVCC'
#!/bin/sh
for file; do :; done
grep -q 'void right' && echo "ptxas info    : Compiling entry function 'right' for 'sm_90'
ptxas info    : Used 77 registers from $file"
NVCC
    chmod +x nvcc
    echo '__global__ void right(float *a) { a[threadIdx.x] = N; }' >right.cu
    echo '__global__ void wrong(float *a) { a[threadIdx.x + 1] = N; }' >wrong.cu
    set -- --block 8 --arg 'a=float[8]' --define N=2
    explains 'explain: a source from the standard input' 0 '<stdin>:1: __global__ void right' \
        "cat right.cu | ./explain - $*"
    explains 'explain: a file as the standard input' 1 'wrong: line 1: .* a\[8\], past the end' "./explain - $* <wrong.cu"
    explains 'explain: its registers by nvcc' 0 'registers: 77 a thread, by nvcc' "./explain $* --gpu H200 - <right.cu"
    explains 'explain: - with --check-only' 0 '^right: no faults' "./explain --check-only $* - <right.cu"
    explains 'explain: - in JSON' 1 '"file": "<stdin>"' "./explain --json $* - <wrong.cu"
    explains 'explain: a page of -, to the standard output' 1 '&lt;stdin&gt;, grid 1' "./explain - $* --html - <wrong.cu"
    explains 'explain: - with --compare' 1 'before: right of <stdin>; after: wrong of <stdin>' \
        "cat right.cu wrong.cu | ./explain - --kernel right --compare wrong $*"
    explains 'explain: - with --diff' 1 'before: right of right.cu; after: wrong of <stdin>' \
        "./explain --diff right.cu - $* <wrong.cu"
    echo 'file -' >launch
    explains 'explain: - of a launch file' 0 'no faults' "./explain --source launch --check-only $* <right.cu"
    explains 'explain: --diff - -' 2 'one file alone can be the standard input; 2 are' './explain --diff - - <right.cu'
    explains 'explain: --source - and -' 2 'one file alone' './explain --source - - <launch'
    explains 'explain: - with an option for products' 2 '-m is for the library.s kernels' './explain - -m 4 <right.cu'
    explains 'explain: an empty standard input' 2 '<stdin> has no kernel' './explain -'
    explains 'explain: a closed standard input' 2 'cannot read <stdin>: Bad file' './explain - <&-'
    explains 'explain: a folder as the standard input' 2 'cannot read <stdin>: Is a directory' './explain - <.'
    explains 'explain: a binary standard input' 2 '<stdin> is no source' './explain - <a.npy'
    explains 'explain: a standard input without end' 2 '<stdin> is no source: too large' 'yes | ./explain -'
    explains 'explain: a message of the compiler' 2 '<stdin>:1:.*error' './explain - <right.cu'
}

make_matrices
test_multiply_streams
test_multiply_cast
test_multiply_formats
test_multiply_batches
test_shapes
test_bench
test_explain

finish
