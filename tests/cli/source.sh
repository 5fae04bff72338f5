#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu: kernels as textbooks have them (tests/own), with counts that were worked
# out by hand; what is wrong with kernels that are wrong on purpose; and what cannot be run.

topic=source
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

XGEMM_CUDA_HEADERS=$srcdir/lib/backend/sim/cuda
NVCC=false # which would be asked for registers
export XGEMM_CUDA_HEADERS NVCC
own=$srcdir/tests/own

printf '__global__ void k(float *a) { a[threadIdx.x] = 1.0f; }\n' >first.cu
run explain first.cu --block 32 --arg 'a=float[32]'
if grep -q -e 'no C++ compiler' -e 'x86-64 and aarch64' err; then
    echo "skipped source: $(first_error)"
    exit 77
fi

# launched LINE-OF-LAUNCHES OPTION...: runs a launch of tests/own/launches.txt, by its number.
launched()
{
    grep -v '^#' "$own/launches.txt" | sed -n "$1p" >launch
    shift
    set -- "$own/$(cut -d ';' -f 2 launch | tr -d ' ')" --kernel "$(cut -d ';' -f 1 launch)" "$@"
    set -- "$@" --grid "$(cut -d ';' -f 3 launch | tr -d ' ')"
    set -- "$@" --block "$(cut -d ';' -f 4 launch | tr -d ' ')"
    set -- "$@" --shared "$(cut -d ';' -f 5 launch | tr -d ' ')"
    cut -d ';' -f 6 launch | tr ' ' '\n' | grep . >words
    while IFS= read -r word; do
        set -- "$@" --arg "$word"
    done <words
    run explain "$@"
}

# counts NAME NUMBER MEMORY ACCESS ARRAY: REQUESTS SECTORS (or passes) of all such sites together.
counts()
{
    name="$1: $3 $4 of $5"
    launched "$2" --csv
    if ! ended 0 ''; then
        no "$name" "$why"
        return
    fi
    got=$(awk -F , -v memory="$3" -v access="$4" -v array="$5" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["memory"] == memory && $at["access"] == access && $at["array"] == array {
            requests += $at["requests"]
            work += memory == "global" ? $at["sectors"] : $at["wavefronts"]
        }
        END { print requests + 0, work + 0 }' out)
    if [ "$got" = "$6 $7" ]; then ok "$name"; else no "$name" "$got instead of $6 $7"; fi
}

# 128 x 128: 512 warps, each with 128 steps of the inner product.
test_products()
{
    # A warp has 32 rows: an element of each of 32 rows is 32 sectors; of b one for all.
    counts 'naive, rows' 1 global load a 65536 2097152
    counts 'naive, rows' 1 global load b 65536 65536
    counts 'naive, rows' 1 global store c 512 16384
    # A warp has 32 columns: 32 neighbours of b are 4 sectors, of a it is one element.
    counts 'naive, columns' 2 global load a 65536 65536
    counts 'naive, columns' 2 global load b 65536 262144
    counts 'naive, columns' 2 global store c 512 2048
    # 64 blocks of 8 warps, 8 tiles each; two rows of 16 are 2 sectors each.
    counts 'tiles of 16' 3 global load a 4096 16384
    counts 'tiles of 16' 3 shared load tile_b 65536 65536
    # 16 blocks of 32 warps, 4 tiles each.
    counts 'tiles of 32' 4 global load b 2048 8192
    counts 'tiles of 32' 4 shared store tile_a 2048 2048
    # Four blocks load each tile of a once for four tiles of b.
    counts 'coarsened' 5 global load a 512 2048
    counts 'coarsened' 5 global load b 2048 8192
    # b in column order: with corner turning it is coalesced, and a column of 33 has no conflict.
    counts 'corner turned' 6 global load b 2048 8192
    counts 'corner turned' 6 shared store tile_b 2048 2048
    counts 'column order' 7 global load b 2048 65536
}

# 16 blocks of 8 warps: 128 requests for each access. NVIDIA's best-practices guide has the
# share of the sectors that strides of 2, 4 and 8 use: a half, a quarter, an eighth.
test_strides()
{
    counts 'stride 1' 8 global load from 128 512
    counts 'stride 2' 9 global load from 128 1024
    counts 'stride 4' 10 global store to 128 2048
    counts 'stride 8' 11 global load from 128 4096
    counts 'offset 1' 12 global load from 128 640
    counts 'offset 8' 13 global load from 128 512
    counts 'float4' 14 global load from 128 2048
    counts 'float4' 14 global store to 128 2048
    counts 'half' 15 global load from 128 256
    counts 'an array of structs' 16 global load from 256 4096
    counts 'a struct of arrays' 17 global load x 128 512
    # 96 bytes of red, green and blue for each warp; 125 warps of 4000 pixels.
    counts 'bytes' 18 global load rgb 375 1125
    counts 'bytes' 18 global store grey 125 125
}

# 16 blocks of 8 warps with 4 rows each: 512 requests.
test_transposes()
{
    counts 'transposed store' 19 global store to 512 16384
    counts 'transposed store' 19 global load from 512 2048
    # A column of 32 is in one bank; of 33 each has its own.
    counts 'tile of 32' 20 shared load tile 512 16384
    counts 'tile of 32' 20 global store to 512 2048
    counts 'tile of 33' 21 shared load tile 512 512
}

test_patterns()
{
    # Strides 1 to 16: all 8 warps; 32: 4, 64: 2, 128: 1: 47 requests a block, two loads each.
    counts 'interleaved reduction' 22 shared load part 1520 1520
    counts 'interleaved reduction' 22 shared store part 880 880
    # Strides 128, 64, 32: 4, 2, 1 warps; 16 to 1: one: 12 requests a block.
    counts 'reduction by halves' 23 shared load part 400 400
    counts 'reduction by shuffles' 24 global atomic to 16 16
    # 8 steps of 8 warps; the second load by 32 - s / 32 warps: 8 * 5 + 7 + 6 + 4 = 57 a block.
    counts 'scan' 25 shared load buffers 2064 2064
    # Bytes in order: 32 bins in a row for a warp.
    counts 'histogram' 26 global atomic bins 125 500
    counts 'private histogram' 27 shared atomic own 125 125
    counts 'private histogram' 27 global atomic bins 32 128
    # From an offset of 3 on, 32 floats are in 5 sectors; and two edges of a warp in each block.
    counts 'stencil' 28 global load from 160 672
    # Rows 0, 1, 126, 127 lack 2, 1, 1, 2 of 5 rows: 634 in all, 4 warps in each, 5 columns. Warps
    # inside take 5 + 5 + 4 + 5 + 5 sectors, those at an edge 22: 92 a row. One weight at a time.
    counts 'convolution' 29 global load from 12680 58328
    counts 'convolution' 29 constant load weights 12680 12680
    counts 'coalescing: a' 30 global load a 128 512
    counts 'coalescing: b' 30 global load b 512 2048
    counts 'coalescing: c' 30 global load c 512 8192
    counts 'coalescing: d' 30 global store d 128 512
    counts 'coalescing: e' 30 global store e 128 4096
    counts 'coalescing: shared' 30 shared load own_bc 128 512
    launched 30
    for word in 'a .* coalesced' 'b .* coalesced' 'c .* not coalesced' 'd .* coalesced' \
        'e .* not coalesced'; do
        if grep -Eq "^  (load|store)  *$word" out; then ok "exercise: $word"; else no "exercise: $word" missing; fi
    done
}

# wrong NAME PATTERN LINES-OF-SOURCE OPTION...: exit status 1, and the sentence.
wrong()
{
    name=$1
    pattern=$2
    printf '%s\n' "$3" >wrong.cu
    shift 3
    run explain wrong.cu --check-only "$@"
    if [ "$status" -ne 1 ]; then
        no "$name" "exit status $status; $(first_error)"
    elif grep -Eq -e "$pattern" out; then
        ok "$name"
    else
        no "$name" "no \"$pattern\" but: $(head -n 1 out)"
    fi
}

test_faults()
{
    reversed='__global__ void k(float *a) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[63 - threadIdx.x];
}'
    wrong 'a missing barrier' 'race between lines 3 and 4: .*s\[32\] at line 3' "$reversed" \
        --block 64 --arg 'a=float[64]:random'
    right 'with the barrier' "$(printf '%s' "$reversed" | sed '3s/$/ __syncthreads();/')" \
        --block 64 --arg 'a=float[64]:random'
    wrong 'past the end' \
        'line 2: thread \(3, 0, 0\) of block \(1, 2, 0\) writes a\[99\], past the end of a of 99 elements' \
        '__global__ void k(float *a) {
    a[threadIdx.x + 16 * (blockIdx.x + 2 * blockIdx.y) + 16] = 1.0f; }' \
        --grid 2,3 --block 16 --arg 'a=float[99]'
    wrong 'shared memory that nothing wrote' 'line 5: thread \(32, 0, 0\).* reads s\[32\], shared' \
        '__global__ void k(float *a) {
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1;
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x]; }' --block 64 --arg 'a=float[64]'
    wrong 'a barrier that not all reach' 'wrong.cu:2 is one of 16 of 64 threads that wait' \
        '__global__ void k(float *a) {
    if (threadIdx.x < 16) __syncthreads();
    a[threadIdx.x] = 1; }' --block 64 --arg 'a=float[64]'
    wrong 'two barriers' 'different barriers: .*line 2, .*line 3|different barriers: .*line 3, .*line 2' \
        '__global__ void k(float *a) {
    if (threadIdx.x < 16) __syncthreads();
    else __syncthreads();
    a[threadIdx.x] = 1; }' --block 64 --arg 'a=float[64]'
    wrong 'two blocks' 'another block writes at line 1; nothing orders blocks' \
        '__global__ void k(int *a) { a[threadIdx.x] = blockIdx.x; }' \
        --grid 2 --block 64 --arg 'a=int[64]'
    right 'the same value' '__global__ void k(int *a) { *a = 1; }' \
        --grid 2 --block 64 --arg 'a=int[1]'
    wrong 'no end' 'did not end within 1 seconds; thread \(0, 0, 0\) .* line 1' \
        '__global__ void k(int *a) { while (*a == 0) ; }' --seconds 1 --arg 'a=int[1]'
    wrong 'division by zero' 'crashed \(integer division by zero\)' \
        '__global__ void k(int *a, int d) { *a = 5 / d; }' --arg 'a=int[1]' --arg d=int:0
    wrong 'misaligned' 'a multiple of the access' \
        '__global__ void k(float *a) { *(double *)(a + 1) = 1.0; }' --arg 'a=float[4]'
    wrong 'dynamic shared memory' 'past the end of s of 63 elements' \
        '__global__ void k(float *a) { extern __shared__ float s[]; s[threadIdx.x] = *a; }' \
        --block 64 --shared 252 --arg 'a=float[1]'
    copied='#include <cuda_pipeline.h>
__global__ void k(const float *a, float *c) {
    __shared__ float4 s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], (const float4 *)a + threadIdx.x, 16);
    __pipeline_commit();
    WAIT __syncwarp();
    ((float4 *)c)[threadIdx.x] = s[31 - threadIdx.x]; }'
    wrong 'an asynchronous copy' 's\[124\], which an asynchronous copy has not brought yet' \
        "$(printf '%s' "$copied" | sed 's/WAIT//')" \
        --block 32 --arg 'a=float[128]:index' --arg 'c=float[128]'
    right 'an asynchronous copy' "$(printf '%s' "$copied" | sed 's/WAIT/__pipeline_wait_prior(0);/')" \
        --block 32 --arg 'a=float[128]:index' --arg 'c=float[128]'
    wrong 'a null pointer that the compiler sees' 'line 1: .* writes 4 bytes at a null pointer' \
        '__global__ void k(int *a) { int *p = 0; *p = 1; *a = 2; }' --arg 'a=int[1]'
    wrong 'an array larger than the stack' 'its stack is too large' \
        '__global__ void k(int *a, int n) { volatile char x[1 << 26]; x[n] = 1; *a = x[*a]; }' \
        --arg 'a=int[1]' --arg n=int:0
    wrong 'a static object without end' 'no end before kernel k began' \
        'struct x { x() { for (volatile int i = 0;;) i = i; } } object;
__global__ void k(int *a) { *a = 1; }' --seconds 1 --arg 'a=int[1]'
    wrong 'a race before no end' 'race between lines 2 and 2' \
        '__global__ void k(volatile int *a) {
    a[0] = threadIdx.x;
    if (threadIdx.x == 1) while (a[1] == 0) ; }' --block 2 --seconds 1 --arg 'a=int[2]'
    printf '__device__ void up(int *a) {\n\n    a[0] += threadIdx.x; }\n' >up.cuh
    wrong 'a race in a header' 'race between lines 3 of up.cuh and 3 of up.cuh' '#include "up.cuh"
__global__ void k(int *a) {
    up(a); }' --block 2 --arg 'a=int[1]'
    wrong 'an assertion' 'wrong.cu:2 fails its assertion' \
        '__global__ void k(int *a) {
    assert(*a == 1); }' --arg 'a=int[1]'
}

# Each warp asserts an element of its tile. Pairs of neighbours are one access of A and B.
test_tensor()
{
    while read -r shape type sums bytes; do
        m=${shape%%,*} n=${shape#*,} n=${n%%,*}
        says "WMMA, $shape" "load +a +$bytes B +[0-9]+ +32.00 +8.00 .*tensor.cu:" explain "$own/tensor.cu" \
            --kernel "tiles<$shape>" --grid $((64 / n)),$((64 / m)) --block 32 --arg "a=${type}[64x64]:random" \
            --arg "b=${type}[64x64]:random" --arg "c=${sums}[64x64]:zero" --arg n=int:64
    done <<'END'
16,16,half,rows,rows,float half float 4
16,16,half,rows,columns,float half float 4
32,8,__nv_bfloat16,columns,rows,float bfloat16 float 4
8,32,half,columns,columns,half half half 4
END
}

test_refusals()
{
    printf '__global__ void k(int *a) {\n    asm("nop");\n}\n' >ptx.cu
    refuses 'inline PTX' 2 'ptx.cu:2: inline PTX' explain ptx.cu --arg 'a=int[1]'
    printf '__global__ void k(int *a) {\n    *a = b;\n}\n' >error.cu
    run explain error.cu --arg 'a=int[1]'
    if [ "$status" -eq 2 ] && grep -q 'error.cu:2:' err; then
        ok "the compiler's line"
    else
        no "the compiler's line" "$(first_error)"
    fi
    refuses 'more memory than may be' 2 "arrays take 8.0 MiB; it may have 4.0" explain first.cu \
        --block 32 --arg 'a=float[2097152]' --memory 4
    refuses 'no such kernel' 2 'has no kernel "j"; it has k' explain first.cu --kernel j
    refuses 'no such parameter' 2 'has no parameter "b"; it has a' explain first.cu --arg 'a=int[1]' --arg 'b=int[1]'
    refuses 'no argument' 2 'parameter "a", for which there is no argument' explain first.cu
    refuses 'another type' 2 'elements of 4 bytes, and its argument has elements of 8' \
        explain first.cu --arg 'a=double[32]'
    refuses 'a number that is none of the type' 2 '"n=int:99999999999": int has no such number' \
        explain first.cu --arg n=int:99999999999
    refuses 'a grid that is too high' 2 'a grid of 65536 blocks along y; the most is 65535' \
        explain first.cu --grid 1,65536 --block 32 --arg 'a=float[32]'
    refuses 'a grid that is no number' 2 'each from 1 to 2147483647, not "99999999999"' \
        explain first.cu --grid 99999999999 --arg 'a=float[32]'
    refuses 'a block that is too deep' 2 'a block of 65 threads along z' \
        explain first.cu --block 1,1,65 --arg 'a=float[32]'
    refuses 'a page that cannot be written' 2 'cannot write none/x.html' \
        explain first.cu --block 32 --arg 'a=float[32]' --html none/x.html
    refuses 'a page and JSON' 2 'would both go to the standard output' \
        explain first.cu --block 32 --arg 'a=float[32]' --html - --json
    refuses 'an option of a product' 2 '-m is for the library' explain first.cu -m 3
    refuses 'a plot of a file' 2 '--plot is for the library' explain first.cu --plot x.svg
    refuses 'no file' 2 'cannot read none.cu' explain none.cu
    refuses 'an option of a file' 2 'are for a file' explain tiled16 --grid 2
}

test_forms()
{
    cat >tile.txt <<LAUNCH
# an exercise
file $own/matmul.cu
kernel tiled<16>
grid 2,2
block 16,16
arg a=float[32x32]:random
arg b=float[32x32]:random
arg c=float[32x32]:zero
arg n=int:32
LAUNCH
    says 'a launch file' 'load +a +4 B +64 .*coalesced' explain --source tile.txt
    run explain --source tile.txt --json
    json 'no lines of other kernels' "{l['line'] for l in d['lines']} <= set(range(28, 44))"
    json 'JSON' "d['kernel'] == 'tiled<16>' and d['faults'] == [] and d['trace']['flops'] == 2 * 32 ** 3 and d['trace']['barriers'] == 16 and d['sites'][0]['array'] == 'a'"
    if $XGEMM explain --source - --check-only <tile.txt >out 2>err; then
        ok 'a launch file from the standard input'
    else
        no 'a launch file from the standard input' "$(first_error)"
    fi
    run explain --source tile.txt --compare naive_columns --json
    json 'JSON of a comparison' "d['kernel_before'] == 'tiled<16>' and d['counts'][2]['name'] == 'sectors'"
    says 'a comparison' '^sectors +[0-9]+ +[0-9]+ ' explain --source tile.txt --compare naive_columns
    { cat tile.txt; echo 'gpu H200'; } >with_gpu.txt
    says 'a GPU in the file beside --check-only' 'no faults in' explain --source with_gpu.txt --check-only
    says 'a GPU' 'registers: 40 a thread, as given' explain --source tile.txt --gpu H200 --registers 40
    printf '__global__ void k(double *a) { *a = *a * 1.5 + 2.0; }\n' >double.cu
    says 'the roofline of doubles' 'Roofline: 1290 GFLOP/s in FP64' explain double.cu --arg 'a=double[1]' \
        --gpu 'RTX 4090'
    printf '__global__ void k(int *a) { printf("a is %%d", *a); }\n' >print.cu
    run explain print.cu --arg 'a=int[1]' --json
    if [ "$status" -eq 0 ] && grep -qx 'a is 0' err && ! grep -q 'a is 0' out; then
        ok 'what the kernel prints'
    else
        no 'what the kernel prints' "$(first_error)"
    fi
    cat >nvcc <<'END'
#!/bin/sh
# In place of nvcc: ptxas's report of two kernels, of which one is wanted.
echo "ptxas info    : Compiling entry function '_Z5otherPf' for '${1#-arch=}'"
echo "ptxas info    : Used 99 registers, used 0 barriers"
echo "ptxas info    : Compiling entry function '_Z1kPi' for '${1#-arch=}'"
echo "ptxas info    : Used 23 registers, used 0 barriers"
END
    chmod +x nvcc
    NVCC=./nvcc
    says 'registers by nvcc' 'registers: 23 a thread, by nvcc' explain first.cu --kernel k \
        --block 32 --arg 'a=float[32]' --gpu H200
    NVCC=false
    says 'no nvcc' 'registers: not known' explain first.cu --kernel k --block 32 --arg 'a=float[32]' --gpu H200
    says 'without a word' '' explain --source tile.txt --quiet
    # What the scanner has to pass over, and what a header beside the file has.
    cat >beside.cuh <<'HEADER'
template <class T> __global__ void twice(T *a) { a[threadIdx.x] *= 2; }
HEADER
    cat >forms.cu <<'CODE'
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include "beside.cuh"
#define CHECK(call) do { if (call) printf("asm \"<<<\" %s", cudaGetErrorString(call)); } while (0)
namespace cg = cooperative_groups;
const char *const raw = R"(asm("nop") <<< )"; // asm <<< in a comment
struct point { double x, y; };
__device__ int counter;
template <int A, int B>
__global__ void __launch_bounds__((A * B) / (B + 0), 1)
    sums(const point *__restrict__ from, double *to, unsigned long long n)
{
    extern __shared__ double kept[];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    const point p = from[threadIdx.x];
    double sum = p.x + p.y;
    for (int i = tile.size() / 2; i > 0; i /= 2)
        sum += tile.shfl_down(sum, i);
    if (tile.thread_rank() == 0)
        kept[threadIdx.x / 32] = sum;
    block.sync();
    if (threadIdx.x == 0 && atomicAdd(&counter, 1) < int(n))
        *to = kept[0] + kept[1];
}
int main()
{
    point *p;
    CHECK(cudaMalloc(&p, 64 * sizeof(point)));
    sums<64, 1><<<dim3(1, 1), 64, 2 * sizeof(double)>>>(p, (double *)p, 1);
    twice<<<1, 1>>>((int *)p);
}
CODE
    printf '__constant__ int w[4];\n__global__ void k(int *a) { assert(w[threadIdx.x] == threadIdx.x); *a = 0; }\n' >constant.cu
    says 'what constant memory holds' 'no faults' explain constant.cu --block 4 --arg 'a=int[1]' \
        --arg 'w=int[4]:index' --check-only
    refuses 'too much for it' 2 'w has 16 bytes, and its argument 20' explain constant.cu --arg 'a=int[1]' \
        --arg 'w=int[5]:index'
    says 'CUDA C++ as it is posted' '^sums<64, 1>: no faults' explain forms.cu --kernel 'sums<64, 1>' \
        --block 64 --shared 16 --arg 'from=double[128]:random' --arg 'to=double[1]' --arg n=ulong:1 --check-only
    says 'a kernel of a header' '^twice<int>: no faults' explain forms.cu --kernel 'twice<int>' --block 64 \
        --arg 'a=int[64]' --check-only
    run explain --source tile.txt --gpu H200 --html page.html
    if ! ended 0 '' || ! have python3; then
        skip 'a page' "no python3, or ${why:-no page}"
    elif python3 - <<'CHECK'; then
import html.parser

class page(html.parser.HTMLParser):
    open_tags, shapes, ids = [], 0, set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not any(a in ('src', 'href') for a in attributes), 'it needs something else'
        self.ids.add(attributes.get('id'))
        if tag in ('rect', 'circle', 'polyline'):
            self.shapes += 1
        elif tag != 'meta':
            self.open_tags.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.shapes += 1

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag, self.getpos()

text = open('page.html').read()
p = page()
p.feed(text)
assert p.open_tags == [] and p.shapes > 100 and 'L39' in p.ids
assert 'prefers-color-scheme:dark' in text and '@media print' in text
assert 'tiled&lt;16&gt;' in text and 'load tile_a 1/1' in text and 'GFLOP/s in FP32' in text
CHECK
        ok 'a page'
    else
        no 'a page' 'it is not well formed, or not whole'
    fi
    cat >racing.cu <<'SOURCE'
__global__ void k(float *a) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[63 - threadIdx.x];
}
SOURCE
    run explain racing.cu --block 64 --arg 'a=float[64]:random' --check-only --csv
    if [ "$status" -eq 1 ] && [ "$(head -n 1 out)" = kind,line,other_line,count,text ] &&
        grep -q '^race,' out && [ "$(wc -l <out)" -eq 4 ]; then
        ok 'faults alone, CSV'
    else
        no 'faults alone, CSV' "exit status $status: $(head -n 2 out)"
    fi
    run explain racing.cu --block 64 --arg 'a=float[64]:random' --csv
    if ended 1 '^xgemm explain: k: race between lines' && grep -q '^racing.cu,' out; then ok 'faults beside CSV'; else no 'faults beside CSV' "$why"; fi
    echo '__global__ void k(float *a, float *b) { b[threadIdx.x + 100] = a[threadIdx.x]; }' >stopped.cu
    set -- explain stopped.cu --block 32 --arg 'a=float[32]' --arg 'b=float[32]' --gpu H200
    run "$@" --csv
    if ended 1 'past the end of b' && grep -q ',load,4,not applicable,0,0,' out; then
        ok 'nothing counted: no class'
    else
        no 'nothing counted: no class' "$why$(tail -n 1 out)"
    fi
    run "$@"
    if [ "$(sed -n '/^Advice/,$p' out | tr '\n' ' ')" = 'Advice   none: no request of a warp was counted ' ]; then
        ok 'nothing counted: no advice'
    else
        no 'nothing counted: no advice' "$(tail -n 2 out)"
    fi
    run explain racing.cu --block 64 --arg 'a=float[64]:random' --check-only --json
    if [ "$status" -eq 1 ] && python3 "$srcdir/tests/cli/validate.py" "$srcdir/bin/xgemm.schema.json" out &&
        ! grep -q '"sites"' out && grep -q '"kind": "race"' out; then
        ok 'faults alone, JSON'
    else
        no 'faults alone, JSON' "exit status $status: $(head -n 2 out)"
    fi
    compiler=${CXX-}
    export CXX=nowhere
    refuses 'a compiler that is not there' 2 'CXX names does not run: nowhere' explain "$own/patterns.cu" \
        --kernel convolution --define X=1 --block 32 --arg 'from=float[32x32]'
    if [ "$compiler" ]; then CXX=$compiler; else unset CXX; fi
    says 'a macro' 'no faults' explain "$own/patterns.cu" --kernel convolution --define X=1 --block 32,32 \
        --arg 'from=float[32x32]' --arg 'to=float[32x32]' --arg n=int:32 --check-only
    for twice in 'X=1 --define X=2' 'X --define X' 'X(a)=a --define X=1'; do
        # shellcheck disable=SC2086
        refuses "a macro twice: $twice" 2 '--define has "X" twice' explain "$own/patterns.cu" --define $twice
    done
    for none in '' =1 '(a)=a'; do
        refuses "a macro without a name: $none" 2 'define takes NAME or NAME=VALUE' explain "$own/patterns.cu" --define "$none"
    done
    says 'two macros' 'no faults' explain "$own/patterns.cu" --kernel convolution --define X=1 --define XY=1 --block 32,32 \
        --arg 'from=float[32x32]' --arg 'to=float[32x32]' --arg n=int:32 --check-only
}

test_products
test_strides
test_transposes
test_patterns
test_faults
test_tensor
test_refusals
test_forms
finish
