#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libxgemm-cublas.so and "xgemm run" on a program that calls a fake cuBLAS, loaded with RTLD_LOCAL.
# Without a GPU every call is passed on; with the fake driver of the test suite all are served that
# libxgemm can compute, and the products are right. The log is there however the program ends.

topic=dropins
export topic
# shellcheck source=tests/shim/setup.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/shim/setup.sh"
fake_driver=$builddir/tests/cuda_fake/.libs/fake_cuda.so

# calls FOLDER EXPECTED ENDING OPTIONS...: the program under "xgemm run"; outputs as run's.
program=cublas_calls.so
with=
with_blocked=
calls()
{
    folder=$1
    expected=$2
    ending=$3
    shift 3
    # shellcheck disable=SC2086 # words
    LD_LIBRARY_PATH="$work/$folder:$work:$libraries" $with_blocked "$XGEMM" run "$@" -- \
        ${with:+"$with"} ./dropins_main "./$program" "$expected" "$ending" >out 2>err
    status=$?
}

# gives NAME STATUS PATTERN [FILE]: the program's end, no failed case, and a line of the log.
gives()
{
    if [ "$status" -ne "$2" ]; then
        no "$1" "exit status $status instead of $2; $(head -n 2 out | tr '\n' ' '); $(first_error)"
    elif ! grep -q ' 0 failed$' out; then
        no "$1" "$(head -n 2 out | tr '\n' ' ')"
    elif [ -n "$3" ] && ! grep -Eq -e "$3" "${4:-err}"; then
        no "$1" "no \"$3\" in the log: $(head -n 3 "${4:-err}" | tr '\n' ' ')"
    elif [ -z "$3" ] && [ -s err ]; then
        no "$1" "a message: $(first_error)"
    else
        ok "$1"
    fi
}

mkdir none fake
: >none/libcuda.so.1
# Symbols have versions, as those of the real ones do; the drop-in's have none.
echo 'libcublas.so.13 { global: *; };' >cublas.map
echo 'libcublasLt.so.13 { global: *; };' >lt.map
compile -shared -Wl,-soname,libcublas.so.13 -Wl,--version-script=cublas.map "$here/fake_cublas.c" \
    -o libcublas.so.13
compile -shared -DFAKE_CUBLASLT -Wl,-soname,libcublasLt.so.13 -Wl,--version-script=lt.map \
    "$here/fake_cublas.c" -o libcublasLt.so.13 libcublas.so.13
compile -shared -pthread "$here/cublas_calls.c" "$here/elements.c" "$here/lt_calls.c" -o cublas_calls.so libcublas.so.13 \
    libcublasLt.so.13 -L"$libraries" -lxgemm -lm
compile -shared "$here/cost_calls.c" -o cost_calls.so libcublas.so.13 libcublasLt.so.13 -L"$libraries" -lxgemm -ldl
compile "$here/dropins_main.c" -o dropins_main -ldl

if have readelf; then
    readelf -W --dyn-syms "$libraries/libxgemm-cublas.so" >symbols
    awk '$5 == "GLOBAL" && $7 != "UND" && $8 !~ /^cublas/ { print $8 }' symbols >others
    readelf -W -d "$libraries/libxgemm-cublas.so" | grep -E 'NEEDED.*(xgemm|cuda|cublas|stdc)' >>others
    if [ -s others ]; then
        no 'nothing of its own in the program' "$(head -n 1 others)"
    else
        ok 'nothing of its own in the program'
    fi
    # The lists of the page, in which braces stand for several names.
    awk 'function expand(name,    end, i, count, parts, before, after) {
             if (!(i = index(name, "{"))) {
                 print name
                 return
             }
             end = index(name, "}")
             before = substr(name, 1, i - 1)
             after = substr(name, end + 1)
             count = split(substr(name, i + 1, end - i - 1), parts, ",")
             for (i = 1; i <= count; i++)
                 expand(before parts[i] after)
         }
         /^## / { is_here = $2 == "Names" }
         is_here && /^    / { for (f = 1; f <= NF; f++) expand($f) }' "$srcdir/doc/dropins.md" | sort >told
    for library in cublas blas; do
        readelf -W --dyn-syms "$libraries/libxgemm-$library.so"
    done | awk '$5 == "GLOBAL" && $7 != "UND" { print $8 }' | sort >names
    if cmp -s told names; then
        ok 'the names that doc/dropins.md tells'
    else
        no 'the names that doc/dropins.md tells' "$(diff told names | sed 1d | head -n 5 | tr '\n' ' ')"
    fi
fi

calls none passed_on ''
gives 'no GPU: all is passed on, and nothing said' 0 ''
calls none passed_on '' --log
gives 'no GPU: the log' 0 '^xgemm run: libxgemm .* served 0 of [1-9][0-9]* calls'
gives 'no GPU: a reason' 0 'passed on +cublasSgemmBatched_64 .*no context of the GPU is current'
gives 'no row of its size' 0 'passed on +cublasZgemmBatched_64 .*cuBLAS is as fast for this size'
calls none passed_on fork --log
gives 'a fork: the log' 0 'cublasSgemmEx'
calls none passed_on exec --log
gives 'another program in its place: the log' 0 'cublasSgemmEx'
calls none passed_on abort --log=log.json --json
gives 'an abort, and its status: the log as JSON' 134 '"function": "cublasLtMatmul"' log.json
if env --block-signal=ABRT true 2>/dev/null; then
    with_blocked='env --block-signal=ABRT'
    calls none passed_on abort --log
    gives 'an abort, started with its signal blocked' 134 'cublasSgemmEx'
    with_blocked=
fi
cp log.json out
json 'the log as JSON, as the schema says' 'd["command"] == "run" and d["kinds"]'

# What is passed on by its types and sizes asks cuBLAS for little; the times are for the reader.
program=cost_calls.so
calls none passed_on ''
gives 'the cost of passing on' 0 ''
sed '$d; s/^/# /' out
calls none passed_on '' --log
gives 'a reason: size of F64' 0 'passed on +cublasDgemm_v2 +f64 .* 4096 .*cuBLAS is as fast for this size'
gives 'a reason: alignment' 0 'passed on +cublasLtMatmul +bf16 .* 4096 .*as fast for aligned operands'
gives 'a reason: size' 0 'passed on +cublasGemmEx +f16 .* 901 .*cuBLAS is as fast for this size'
gives 'a reason: size in TF32' 0 'passed on +cublasSgemm_v2 +f32 +tf32 .*as fast for this size'
export NVIDIA_TF32_OVERRIDE=0
calls none passed_on '' --log
gives 'TF32 that the user forbids' 0 'passed on +cublasSgemm_v2 +f32 +default .* 512 +512 +512'
unset NVIDIA_TF32_OVERRIDE
program=cublas_calls.so

# fails NAME STATUS PATTERN OPTIONS...: how "xgemm run" ends, with a sentence.
fails()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run run "$@"
    if ended "$expected" "$pattern"; then ok "$name"; else no "$name" "$why"; fi
}

fails 'no program' 127 'no-such-program' ./no-such-program
fails 'which program' 2 'which program'
fails 'a full disk' 1 '^xgemm run: the log cannot be written: No space left on device$' --log=/dev/full touch ran
if [ -e ran ]; then no 'a full disk: found first' 'the program ran'; else ok 'a full disk: found first'; fi
fails 'a log that cannot be written' 1 '/nowhere/log' --log=/nowhere/log true
XGEMM_DROPINS=$work/none
fails 'no drop-ins' 1 'not installed' true
XGEMM_DROPINS=$libraries
run run sh -c 'exit 5' --math x
if [ "$status" -eq 5 ]; then
    ok 'options end at the program, whose status comes back'
else
    no 'options end at the program, whose status comes back' "exit status $status; $(first_error)"
fi

# What is ignored is so in the program, too, but for the utility's own choice. SIGXFSZ is the lowest
# bit of the seventh digit from the right.
for ignored in '' ignored; do
    for log in '' --log=log; do
        (
            [ -z "$ignored" ] || trap '' XFSZ
            grep SigIgn /proc/self/status
            "$XGEMM" run ${log:+"$log"} grep SigIgn /proc/self/status
        ) >out 2>err
        sed 's/.*\(.\)......$/\1/' out >digits # the C library sets signals of its own, 32 and 33
        if [ "$(wc -l <out)" -eq 2 ] && [ "$(sort -u digits | wc -l)" -eq 1 ]; then
            ok "SIGXFSZ $ignored in the program $log"
        else
            no "SIGXFSZ $ignored in the program $log" "$(tr '\n' ' ' <out)$(first_error)"
        fi
    done
done

if ! [ -f "$fake_driver" ]; then
    skip 'served' 'no fake driver was built'
elif ! "$XGEMM" kernels --csv naive | grep -q cuda; then
    skip 'served' 'this build has no kernels for GPUs'
else
    # The fake driver, and functions of the driver that libxgemm itself does not use.
    compile -shared "$here/fake_device.c" -o fake/libcuda.so.1 -Wl,--no-as-needed "$fake_driver" \
        -Wl,-rpath,"$(dirname "$fake_driver")"
    export FAKE_CUDA_NAME
    FAKE_CUDA_NAME='NVIDIA H200'
    # Its matrices are not as large as it says.
    FAKE_CUDA_IDLE=1
    export FAKE_CUDA_IDLE
    program=cost_calls.so
    calls fake served '' --log=log
    gives 'a GPU that was measured: odd columns of F16' 0 'served +cublasGemmEx +f16 .* 2049 .*[0-9] +-' log
    gives 'one operand that is not aligned' 0 'served +cublasGemmEx +f16 .* 4096 .*[0-9] +-' log
    gives 'F16 of 1025' 0 'served +cublasGemmEx +f16 .* 1025 ' log
    gives 'small F64' 0 'served +cublasDgemm_v2 +f64 .* 128 ' log
    gives 'F64 by residues' 0 'served +cublasDgemm_v2 +f64 .* 8192 ' log
    gives 'odd F64 by residues' 0 'served +cublasDgemm_v2 +f64 .* 8193 ' log
    gives 'pedantic F64' 0 'passed on +cublasDgemm_v2 +f64 +strict .* 8200 ' log
    gives 'complex by real products' 0 'served +cublasCgemm_v2 +c32 .* 1024 ' log
    gives 'small complex' 0 'served +cublasCgemm_v2 +c32 .* 64 ' log
    gives 'small BF16' 0 'served +cublasGemmEx +bf16 .* 256 ' log
    gives 'pairs of BF16' 0 'served +cublasGemmEx +bf16 .* 4096 ' log
    gives 'the time that is saved' 0 'predicted to save 0\.[0-9]*[1-9]' log
    gives 'F32' 0 'served +cublasSgemm_v2 +f32 +default ' log
    gives 'aligned F16 is passed on' 0 'passed on +cublasGemmEx +f16 .* 4096 .*aligned operands' log
    gives 'an epilogue that takes longer' 0 'passed on +cublasLtMatmul +f32 .*bias and activation' log
    grep -E '^xgemm run: libxgemm .* save|served ' log >log.whole
    for end in fork:0 exec:0 abort:134 kill:137; do
        calls fake served "${end%:*}" --log=log
        gives "a program that ends by ${end%:*}" "${end#*:}" 'predicted to save 0\.[0-9]*[1-9]' log
        grep -E '^xgemm run: libxgemm .* save|served ' log >log.ended
        if cmp -s log.whole log.ended; then
            ok "what was served and saved until ${end%:*}"
        else
            no "what was served and saved until ${end%:*}" "$(diff log.whole log.ended | head -n 3 | tr '\n' ' ')"
        fi
    done
    FAKE_CUDA_CAPTURE=1
    export FAKE_CUDA_CAPTURE
    calls fake served '' --log=log
    gives 'small BF16 in a graph' 0 'passed on +cublasGemmEx +bf16 .* 256 .*in a graph' log
    gives 'F32 in a graph' 0 'served +cublasSgemm_v2 +f32 +default ' log
    unset FAKE_CUDA_CAPTURE
    FAKE_CUDA_NAME='Fake GPU'
    calls fake passed_on ''
    gives 'the cost of passing on, with a GPU' 0 ''
    sed '$d; s/^/# /' out
    compile -shared "$here/fake_xgemm.c" -o libfake-xgemm.so
    printf '#!/bin/sh\nXGEMM_RUN_LIBRARY=%s exec "$@"\n' "$PWD/libfake-xgemm.so" >with_fake
    chmod +x with_fake
    with=./with_fake
    FAKE_MEASURED=1
    export FAKE_MEASURED
    calls fake served ''
    gives 'the cost of serving, without the product' 0 ''
    sed '$d; s/^/# /' out
    unset FAKE_MEASURED
    FAKE_NO_HANDLE=1
    export FAKE_NO_HANDLE
    calls fake passed_on '' --log
    gives 'no handle of libxgemm' 0 'passed on +cublasSgemm_v2 +f32 +default .* the environment is bad *$'
    unset FAKE_CUDA_IDLE FAKE_NO_HANDLE
    with=
    program=cublas_calls.so
    calls fake passed_on '' --log
    gives 'a GPU that was not measured: all is passed on' 0 'nothing was measured on this GPU'
    XGEMM_SERVE=all
    export XGEMM_SERVE
    calls fake served '' --log
    gives 'all is served' 0 'served +cublasZgemmStridedBatched_64 +c64 '
    gives 'a part of the GPU' 0 'passed on +cublasSgemm_v2 .*not take all multiprocessors'
    gives 'PEDANTIC is STRICT' 0 'served +cublasSgemm_v2 +f32 +strict +TN '
    gives 'what cuBLAS alone has' 0 'passed on +cublasSgemm_v2 .*no such compute type or math mode'
    XGEMM_LOG=$PWD/log
    export XGEMM_LOG
    calls fake served '' --log
    gives 'a cancelled thread' 0 'served +cublasSgemm_v2 '
    unset XGEMM_LOG
    calls fake served '' --log --math strict
    gives 'strict for all' 0 'served +cublasLtMatmul +f32 +strict '
    calls fake served '' --log --math tf32
    gives 'TF32 for the default' 0 'served +cublasSgemm_v2 +f32 +tf32 +NN '
    XGEMM_SERVE=none
    calls fake passed_on ''
    gives 'switched off' 0 ''
    XGEMM_SERVE=off
    calls fake passed_on '' --log
    gives 'no switch' 0 'passed on +cublasSgemm_v2 +f32 .*XGEMM_SERVE is neither all nor none'
    gives 'no switch, cublasLt' 0 'passed on +cublasLtMatmul +f32 .*XGEMM_SERVE is neither all nor none'
fi
finish
