#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No kernel spills registers into local memory, on any architecture that it was
# compiled for, but those listed here; and each has a record of its resources.
#
# Reads the *.resources below lib of the build folder, $1 or the current one; exits
# with 77 where there are none, as in a build without CUDA.

LC_ALL=C
export LC_ALL
folder=${1:-.}/lib

# Symbol and architecture of those that are accepted. Products of split operands spill outside of
# their main loops: where they recompute elements of C. Those of general/, which have registers to
# spare, save four of them around a subroutine, of a division or an activation.
known='
xg_fp16_split_even 90
xg_fp16x1_128x128 90
xg_fp16x1_128x256 90
xg_fp16x3_128x64 90
xg_fp16x3_128x128 90
xg_fp16x3_128x256 90
xg_fp16x1_128x128_batch 90
xg_fp16x1_128x256_batch 90
xg_fp16x3_128x64_batch 90
xg_fp16x3_128x128_batch 90
xg_fp16x3_128x256_batch 90
xg_general_bf16 90
xg_general_f16 90
xg_general_f64 80
xg_register_tiled_2d 80
'

failed=0
reports=0
for fatbin in "$folder"/probes/*.fatbin "$folder"/families/*/*.fatbin; do
    [ -e "$fatbin" ] || continue
    grep -q 'no code for a GPU' "$fatbin" && continue # tests/cuda_fake/nvcc.sh
    report=${fatbin%.fatbin}.resources
    reports=$((reports + 1))
    if ! grep -q '^XG_RECORD(' "$report" 2>/dev/null; then
        echo "no record of its resources: $fatbin" >&2
        failed=1
    fi
done
if [ $reports -eq 0 ]; then
    echo "skipped: no compiled kernels in $folder" >&2
    exit 77
fi

# The columns: symbol, architecture, -, registers, shared, stack, stores, loads, constant.
spills=$(cat "$folder"/probes/*.resources "$folder"/families/*/*.resources | tr -d '"(),' | sed 's/^XG_RECORD//' |
    awk -v known="$known" '
        BEGIN { n = split(known, lines, "\n"); for (i = 1; i <= n; i++) listed[lines[i]] = 1 }
        $7 + $8 > 0 && !(($1 " " $2) in listed) {
            print $1 " on sm_" $2 ": " $7 " bytes of spill stores, " $8 " of loads"
        }')
if [ -n "$spills" ]; then
    echo "registers spill:" >&2
    echo "$spills" | sed 's/^/    /' >&2
    failed=1
fi

exit $failed
