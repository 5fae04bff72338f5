#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The same sources and the same clang make the same PTX, in whatever folder.
#
#   check-clang-reproducible.sh [FOLDER] [--all]
#
# Compiles kernels of the build folder FOLDER (.) again, from a copy of the sources elsewhere, and
# compares: one of each family, or with --all every one, which takes minutes. Exits with 77 where
# there is no PTX, as in a build with nvcc.

LC_ALL=C
export LC_ALL
srcdir=${srcdir:-$(dirname "$0")/../..}
folder=.
all=no
for argument; do
    case $argument in
    --all) all=yes ;;
    *) folder=$argument ;;
    esac
done

# value NAME: what the build folder's Makefile has for that variable.
value() {
    sed -n "s/^$1 = //p" "$folder/Makefile" 2>/dev/null
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
cp -R "$srcdir/lib" "$work/lib" || exit 99

CLANG=$(value CLANG)
CLANG_FLAGS="$(value CLANG_DEVICE_FLAGS) $(value CLANGFLAGS)"
CLANG_TENSOR_FLAGS=$(value CLANG_TENSOR_FLAGS)
AWK=$(value AWK)
PTXAS=
XGEMM_LIB=$work/lib
export CLANG CLANG_FLAGS CLANG_TENSOR_FLAGS AWK PTXAS XGEMM_LIB

count=0
failed=0
last=
for image in "$folder"/lib/probes/*.image "$folder"/lib/families/*/*.image; do
    [ -f "$image" ] || continue
    family=$(basename "$(dirname "$image")")
    [ $all = no ] && [ "$family" = "$last" ] && continue
    last=$family
    base=${image%.image}
    name=${base#"$folder"/}
    archs=
    for ptx in "$base".*.ptx; do
        arch=${ptx%.ptx}
        archs="$archs ${arch##*.}"
    done
    # shellcheck disable=SC2086 # a list of words
    sh "$work/lib/backend/cuda/ptx.sh" "$work/$name.cu" "$work/$name.image" $archs 2>"$work/messages" || {
        cat "$work/messages" >&2
        failed=1
        continue
    }
    count=$((count + 1))
    for ptx in "$base".*.ptx; do
        if ! cmp "$ptx" "$work/${ptx#"$folder"/}" >&2; then
            failed=1
        fi
    done
done
if [ $count -eq 0 ] && [ $failed -eq 0 ]; then
    echo "skipped: no PTX in $folder" >&2
    exit 77
fi
echo "check-clang-reproducible: $count kernels compiled again"
exit $failed
