#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The fuzz programs guided by coverage (libFuzzer), under AddressSanitizer and UBSan:
#
#   tests/fuzz.sh [MINUTES [FOLDER [PROGRAM...]]]     as "make fuzz" does it, 10 minutes each, in "fuzz"
#
# Builds in the folder with clang (or $CLANG). A program, such as tests/unit/npy_fuzz, begins with the
# stored inputs (tests/*/corpus) and with those of earlier runs (FOLDER/NAME/inputs); what fails,
# takes 10 seconds or 2 GiB is in FOLDER/NAME/faults, for "PROGRAM FILE", and the script ends with 1.
# FOLDER/NAME/new has the fewest inputs that reach code which stored ones do not, to be stored.
set -eu

export LC_ALL=C
srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
export srcdir
minutes=${1:-10}
folder=${2:-fuzz}
shift "$(($# < 2 ? $# : 2))"
[ $# -gt 0 ] || set -- tests/gemm/product_fuzz tests/unit/npy_fuzz tests/cli/utility_fuzz
case $minutes in
'' | *[!0-9]* | 0*)
    echo "fuzz.sh: MINUTES is a whole number from 1 on, not \"$minutes\"" >&2
    exit 2
    ;;
esac
mkdir -p "$folder"
cd "$folder"
[ -f config.status ] ||
    "$srcdir/configure" --quiet --disable-static --without-cuda --enable-sanitizers \
        CC="${CLANG:-clang}" CFLAGS="-O1 -g"
# The simulator and its kernels do not guide, and are compiled faster without UBSan.
build() {
    make -s -j"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" "$@" \
        SANITIZE_CFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" \
        SIM_SANITIZE_CFLAGS="-fno-sanitize=fuzzer-no-link,undefined"
}
build libxgemm.la libutility.la
build "$@" CPPFLAGS=-DXGEMM_LIBFUZZER LDFLAGS=-fsanitize=fuzzer

# The utility leaves memory to the end of its process: it is started again after some minutes.
part=5
export OPENBLAS_NUM_THREADS=1 UBSAN_OPTIONS=print_stacktrace=1
TMPDIR=${TMPDIR:-$(test -d /dev/shm && echo /dev/shm || echo /tmp)}
export TMPDIR
status=0
for program; do
    name=$(basename "$program")
    stored=$srcdir/$(dirname "$program")/corpus
    mkdir -p "$name/inputs" "$name/faults"
    leaks=1
    [ "$name" != utility_fuzz ] || leaks=0
    run() {
        ASAN_OPTIONS=detect_leaks=$leaks "$PWD/$program" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
            -artifact_prefix="$PWD/$name/faults/" "$@" >>"$name/log" 2>&1
    }
    for begin in $(seq 0 $part $((minutes - 1))); do
        left=$((minutes - begin))
        run -max_total_time=$((60 * (left < part ? left : part))) -use_value_profile=1 -print_final_stats=1 \
            "$PWD/$name/inputs" "$stored" || status=1
    done
    rm -rf "$name/new"
    cp -R "$stored" "$name/new"
    run -merge=1 -set_cover_merge=1 -use_counters=0 "$PWD/$name/new" "$PWD/$name/inputs" || status=1
    for path in "$stored"/*; do rm -f "$name/new/$(basename "$path")"; done
    awk -v name="$name" '
        /cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /^stat::number_of_executed_units:/ { executions += $2 }
        END { printf "%s: %d executions, %d edges", name, executions, edges }' "$name/log"
    echo ", $(find "$name/faults" -type f | wc -l) faults, $(find "$name/new" -type f | wc -l) new inputs"
done
exit $status
