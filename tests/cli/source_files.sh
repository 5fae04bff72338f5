#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu: the page that it writes, and that it leaves nothing else behind.

topic='files of a source'
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
NVCC=false # which would be asked for registers
export XGEMM_CUDA_HEADERS NVCC topic

# page NAME STATUS TEXT... -- OPTION...: of page.cu, with each of these texts.
page()
{
    name=$1
    expected=$2
    shift 2
    : >texts
    while [ "$1" != -- ]; do
        echo "$1" >>texts
        shift
    done
    shift
    run explain page.cu --html page.html "$@"
    missing=$(while read -r text; do grep -qF -e "$text" page.html || echo "$text"; done <texts)
    if [ "$status" -eq "$expected" ] && [ -z "$missing" ]; then
        ok "$name"
    else
        no "$name" "status $status; no $missing; $(first_error)"
    fi
}

test_pages()
{
    cat >page.cu <<'SOURCE'
__global__ void beyond(float *a)
{
    a[threadIdx.x] = a[threadIdx.x + 1]; /* "the next", & no barrier */
}
__global__ void fine(const float *a, float *b)
{
    b[threadIdx.x] = a[threadIdx.x];
}
__constant__ float table[64];
__global__ void scattered(float *sums, const int *at)
{
    __shared__ float part[1024];
    part[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    atomicAdd(&part[at[threadIdx.x] * 32 % 1024], 1.0f);
    __syncthreads();
    atomicAdd(&sums[at[threadIdx.x] * 8], part[threadIdx.x * threadIdx.x % 64 * 16]);
}
SOURCE
    page 'a page of faults' 1 'race between lines 3 and 3' 'reads a[32], past the end of a of 32 elements' \
        '&quot;the next&quot;, &amp; no barrier' -- --kernel beyond --block 32 --arg 'a=float[32]'
    page 'a page without advice' 0 'No faults.' 'None: accesses are coalesced' 'No GPU was named' \
        -- --kernel fine --block 32 --arg 'a=float[32]' --arg 'b=float[32]'
    page 'a page of atomics, with faults' 1 'shared memory that no thread of the block has written' \
        'atomics on part meet in their banks: 32.0 passes' \
        'atomics on sums of a warp touch 32.0 sectors' '32.0 different words of the constant table' \
        'line 17: bank conflicts on part: 8.0 passes a request where 1.0 would do' \
        "% of a multiprocessor's warps fit" \
        -- --kernel scattered --block 32 --arg 'sums=float[256]' --arg 'at=int[32]:index' \
        --arg 'table=float[64]' --gpu H200 --shared 100000 --registers 32
    cp page.cu written.cu
    cat >replaces <<'REPLACES'
#!/bin/sh
$COMPILER "$@" || exit
sed 's,^,// later: ,' written.cu >page.cu
REPLACES
    chmod +x replaces
    COMPILER=${CXX:-c++}
    CXX=./replaces
    export COMPILER CXX
    page 'a page of a file that is replaced meanwhile' 0 \
        '"code">    b[threadIdx.x] = a[threadIdx.x];' \
        -- --kernel fine --block 32 --arg 'a=float[32]' --arg 'b=float[32]'
    CXX=$COMPILER
    mv written.cu page.cu
    refuses 'a page of a folder that is not there' 2 'cannot write none/page.html' explain page.cu \
        --kernel fine --block 32 --arg 'a=float[32]' --arg 'b=float[32]' --html none/page.html
}

# soon COMMAND...: whether it succeeds within ten seconds.
soon()
{
    n=0
    while ! "$@" 2>/dev/null && [ "$n" -lt 100 ]; do
        n=$((n + 1))
        sleep 0.1
    done
    [ "$n" -lt 100 ]
}

is_ended()
{
    ! tr -d '\0' <"/proc/$1/cmdline" | grep -q .
}

# interrupted NAME SIGNAL TEXT FILE OPTION...: the signal once the file has the text.
interrupted()
{
    name=$1
    signal=$2
    text=$3
    file=$4
    shift 4
    rm -f out err compiling
    "$XGEMM" explain endless.cu --block 1 --arg 'a=int[1]' "$@" >out 2>err </dev/null &
    program=$!
    soon grep -q "$text" "$file" || no "$name" "no $text: $(first_error)"
    [ "$(find temporary -name 'xgemm-*')" ] || no "$name" 'no temporary folder'
    kill -s "$signal" "$program"
    wait "$program" 2>/dev/null
    if ! soon rmdir temporary; then
        no "$name" "left behind: $(find temporary | tr '\n' ' ')"
    elif [ -s compiling ] && ! soon is_ended "$(cat compiling)"; then
        no "$name" 'the compiler goes on'
    else
        ok "$name"
    fi
    mkdir -p temporary
}

test_signals()
{
    mkdir temporary
    TMPDIR=$work/temporary
    COMPILER=${CXX:-c++}
    export TMPDIR COMPILER
    printf '%s\n' '__global__ void k(int *a) { printf("begun\n"); while (*a == 0) ; }' >endless.cu
    for signal in TERM HUP KILL; do
        interrupted "$signal while the kernel runs" $signal begun err
    done
    cat >slow <<'SLOW'
#!/bin/sh
[ "$2" ] || exec $COMPILER "$1"
echo $$ >compiling
exec sleep 100
SLOW
    chmod +x slow
    CXX=./slow
    export CXX
    for signal in TERM HUP KILL; do
        interrupted "$signal while it is compiled" $signal '[0-9]' compiling
    done
    CXX=$COMPILER
    unset TMPDIR
}

if ! traces; then
    echo "skipped $topic: this build cannot trace"
    exit 77
fi
test_pages
test_signals
finish
