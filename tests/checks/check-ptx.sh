#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PTX that clang made of the kernels: each has the instructions that it was written for, and no
# array in local memory.
#
# And ptx.awk, which writes it: that it names the version which instructions need, and that it
# refuses a loop which NVIDIA's assembler takes wrong.
#
# Reads the *.ptx below lib of the build folder, $1 or the current one.
# Exits with 77 where there is no PTX, as in a build with nvcc.

LC_ALL=C
export LC_ALL

folder=${1:-.}
# Kernels with an array in local memory: of products with FP16 terms the sums of a full-range tile
# (xg_full_sums), on purpose; of half products two or four bytes; of
# products in FP64 one whose index is no constant in clang's code, or that was (not looked at again);
# of batches of skinny products the scalars that a function takes, which bias and activation call.
known='
dmma_c64_16x64
dmma_c64_32x64
dmma_c64_64x128
dmma_c64_64x16
dmma_c64_64x64
dmma_f64_128x128
dmma_f64_16x64
dmma_f64_32x64
dmma_f64_64x128
dmma_f64_64x16
dmma_f64_64x64
double_reduce_c64
double_reduce_f64
fp16x1_128x128
fp16x1_128x128_batch
fp16x1_128x256
fp16x1_128x256_batch
fp16x3_128x128
fp16x3_128x128_batch
fp16x3_128x256
fp16x3_128x256_batch
fp16x3_128x64
fp16x3_128x64_batch
skinny_batched1_bf16
skinny_batched1_c32
skinny_batched1_c64
skinny_batched1_f16
skinny_batched1_f32
skinny_batched1_f64
skinny_batched4_bf16
skinny_batched4_c32
skinny_batched4_c64
skinny_batched4_f16
skinny_batched4_f32
skinny_batched4_f64
wgmma_bf16_128x128
wgmma_bf16_128x256
wgmma_bf16_128x64
wgmma_f16_128x128
wgmma_f16_128x256
wgmma_f16_128x64
wgmma_ragged_bf16_128x256
wgmma_ragged_bf16_128x64
wgmma_ragged_f16_128x256
wgmma_ragged_f16_128x64
wgmma_sliced_bf16_64x64
wgmma_sliced_f16_64x64
wgmma_split_k_bf16_128x128
wgmma_split_k_bf16_128x64
wgmma_split_k_f16_128x128
wgmma_split_k_f16_128x64
'
failed=0
count=0
tool=${srcdir:?}/lib/backend/cuda/ptx.awk

# ptx CONDITION INSTRUCTION: PTX with a loop that ends by that condition, and one more instruction.
ptx() {
    printf '.version 7.4\n.target sm_90\nLOOP:\nadd.s64 \t%%rd1, %%rd1, -8;\n'
    printf 'setp.%s;\n@%%p1 bra \tLOOP;\n%s;\n' "$1" "$2"
}

if ptx 'lt.u64 	%p1, %rd1, -2' ret | awk -f "$tool" >/dev/null 2>&1; then
    echo "$tool takes a loop whose condition compares unsigned numbers with -2" >&2
    failed=1
fi
for case in '7.4 ret' '7.5 cp.async.ca.shared.global [%r1], [%rd1], 8, outside' \
    '7.4 cp.async.ca.shared.global [%r1], [%rd1], 8, 4' '8.0 barrier.cluster.arrive.release' '8.1 st.async' \
    '8.6 mbarrier.arrive.relaxed.cluster'; do
    version=$(ptx 'gt.u64 	%p1, %rd1, 1' "${case#* }" | awk -f "$tool" | sed -n '1s/^\.version //p')
    if [ "$version" != "${case%% *}" ]; then
        echo "$tool gives version '$version' to ${case#* }, which needs ${case%% *}" >&2
        failed=1
    fi
done

# meant KERNELS INSTRUCTION...: extended regular expressions, each in some line of each PTX.
meant() {
    kernels=$1
    shift
    for ptx in "$folder"/lib/families/*/*.ptx; do
        name=$(basename "$ptx" | sed 's/\.[0-9a]*\.ptx$//')
        echo "$name" | grep -Eqx "$kernels" || continue
        for instruction; do
            if ! grep -Eq "$instruction" "$ptx"; then
                echo "$ptx has no $instruction" >&2
                failed=1
            fi
        done
    done
}

for ptx in "$folder"/lib/probes/*.ptx "$folder"/lib/families/*/*.ptx; do
    [ -e "$ptx" ] || continue
    count=$((count + 1))
    arch=$(basename "$ptx" .ptx)
    name=${arch%.*} arch=${arch##*.}
    if ! sed -n '1,2p' "$ptx" | tr '\n' ' ' | grep -Eq "^\.version [78]\.[0-9] \.target sm_$arch "; then
        echo "$ptx does not begin with the version and sm_$arch" >&2
        failed=1
    fi
    if grep -Eq '^(ld|st)\.local|\[%SP|, %SP,' "$ptx" && ! echo "$known" | grep -qx "$name"; then
        echo "$ptx has an array in local memory" >&2
        failed=1
    fi
done
if [ $count -eq 0 ] && [ $failed -eq 0 ]; then
    echo "skipped: no PTX in $folder" >&2
    exit 77
fi

meant 'fp16x[13]_[0-9]*x[0-9]*(_batch)?|wgmma_.*' 'wgmma\.mma_async\.sync' 'cp\.async\.bulk' \
    'mbarrier\.try_wait' 'setmaxnreg\.inc'
meant 'fp16x[13]_fused_.*' 'wgmma\.mma_async\.sync'
meant 'tma_.*' 'cp\.async\.bulk\.tensor\.2d' 'cvta\.param\.u64'
meant 'bf16x6_.*' 'mma\.sync\.aligned\.m16n8k16.*bf16'
meant 'fp16x3_mma_.*|mma_.*' 'mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.(bf|f)16' 'ldmatrix\.sync\.aligned\.m8n8\.x4' \
    'cp\.async\.cg\.shared\.global'
meant 'residue_(guard_)?128x256' 'wgmma\.mma_async\.sync\.aligned\.m64n256k32\.s32\.s8\.s8' 'cp\.async\.bulk\.tensor' \
    'mbarrier\.try_wait' 'setmaxnreg\.inc'
meant 'dmma_.*' 'mma\.sync\.aligned\.m(16n8k[48]|8n8k4).*f64' 'cp\.async\.c[ag]\.shared\.global'
meant 'ffma_.*' 'fma\.rn\.f32' 'ld\.shared\.v4\.' 'cp\.async\.c[ag]\.shared\.global'
meant 'pipelined_.*|sliced_.*|thin_.*' 'cp\.async\.c[ag]\.shared\.global' 'cp\.async\.wait_group'
meant 'pipelined_[0-9].*|sliced_.*|vectorized' 'ld\.shared\.v4\.' 'fma\.rn\.f32'

exit $failed
