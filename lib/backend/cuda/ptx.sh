#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A kernel compiled by clang: PTX for each architecture, and assembly that puts them into the
# library as the table that image.h describes.
#
#   ptx.sh KERNEL.cu KERNEL.image ARCHITECTURE...       such as "80 90", or "90a"; the lowest first
#
# Beside the image stay KERNEL.ARCHITECTURE.ptx, to be read; .short, which is in the image (the same,
# by ptx_short.awk); and, with PTXAS, KERNEL.resources: what NVIDIA's assembler reports, which so has
# taken that; its machine code is not kept. From the environment:
# CLANG, CLANG_FLAGS and, of the family tensor, CLANG_TENSOR_FLAGS (xgemm_cuda.m4); PTXAS (empty: none),
# AWK, and XGEMM_LIB, the folder lib of the sources.
set -eu

source=$1
image=$2
shift 2
base=${image%.image}
name=$(basename "$base")
trap 'rm -f "$image.tmp" "$base.ptx.tmp" "$base.report" "$base.cubin"' EXIT
trap 'exit 1' HUP INT TERM

# Which version of PTX clang writes; ptx.awk sets a later one for instructions that need it.
feature_of() {
    case $1 in
    8?) echo +ptx74 ;;
    90) echo +ptx78 ;;
    *) echo +ptx80 ;;
    esac
}

case $source in
*/families/tensor/*) CLANG_FLAGS="$CLANG_FLAGS $CLANG_TENSOR_FLAGS" ;;
esac

rm -f "$base.resources"
table=
code=
for arch; do
    ptx=$base.$arch.ptx
    short=$base.$arch.short
    # shellcheck disable=SC2086 # lists of words
    $CLANG $CLANG_FLAGS -I"$XGEMM_LIB" -include backend/cuda/clang_shim.h --cuda-gpu-arch="sm_$arch" \
        -Xclang -target-feature -Xclang "$(feature_of "$arch")" -S -o "$base.ptx.tmp" "$source"
    LC_ALL=C $AWK -f "$XGEMM_LIB/backend/cuda/ptx.awk" "$base.ptx.tmp" >"$ptx"
    LC_ALL=C $AWK -f "$XGEMM_LIB/backend/cuda/ptx_short.awk" "$ptx" >"$short"
    if [ -n "$PTXAS" ]; then
        $PTXAS -v --gpu-name "sm_$arch" -o "$base.cubin" "$short" >"$base.report" 2>&1 || {
            cat "$base.report" >&2
            exit 1
        }
        LC_ALL=C $AWK -f "$XGEMM_LIB/families/resources.awk" "$base.report" >>"$base.resources"
    fi
    number=${arch%a}
    text=.Lxg_ptx_${name}_$number
    table="    .long $number, $text - xg_image_$name, ${text}_end - $text
$table"
    code="$code$text:
    .incbin \"$short\"
${text}_end:
    .byte 0
"
done
cat >"$image.tmp" <<END
    .balign 8
    .globl xg_image_$name
    .hidden xg_image_$name
    .type xg_image_$name, %object
xg_image_$name:
$table    .long 0, 0, 0
$code    .size xg_image_$name, . - xg_image_$name
END
mv "$image.tmp" "$image"
