#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the kernels of this machine's first GPU, and fits the cost models' constants to them:
#
#   bench/tune.sh NAME [FOLDER]        as "make tune GPU=NAME" does it
#
# Run in a build folder with the library, the utility and bench/fit. Tables go to FOLDER (default
# tune-results), about five minutes of the GPU; the constants to FOLDER/NAME.c. To have them used:
# copy that file to lib/tuning/, name it in lib/lib.am and in lib/tuning/tuning.c, and see what
# "bench/choice.sh" says of the choice before and after (HACKING.md, "Add a GPU").
#
# $XGEMM and $FIT name the programs otherwise. With FIT=none the tables are only measured, as on a
# machine that cannot build; bench/fit can be run on them anywhere.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
name=${1:?usage: bench/tune.sh NAME [FOLDER]}
out=${2:-tune-results}
xgemm=${XGEMM:-./xgemm}
fit=${FIT:-bench/fit}
mkdir -p "$out"

# Kernels that have a model, by math mode.
simt=$("$xgemm" kernels --csv |
  sed -nE 's/^((pipelined|tma|sliced|thin|skinny)[^,]*),.*/\1/p' | paste -sd,)
tensor=$("$xgemm" kernels --csv | sed -nE 's/^((fp16|bf16)[^,]*),.*/\1/p' | paste -sd,)

# Shapes of which each is measured with every kernel: squares, a sample of random ones, the weak.
{
  for size in 64 128 256 512 768 1000 1024 1536 2048 3072 4096; do
    echo "$size $size $size"
  done
  grep -v '^#' "$source_dir/bench/random-shapes.txt" | awk 'NR % 4 == 1'
  grep -v '^#' "$source_dir/bench/weak-shapes.txt"
} >"$out/shapes.txt"
awk '$3 >= 64 && $1 * $2 * $3 >= 1e7' "$out/shapes.txt" >"$out/large.txt"

# measure LAYOUT KERNELS SHAPES OPTION...: a table; by replays of graphs, without the host's time.
measure() {
  local layout=$1 kernels=$2 shapes=$3
  shift 3
  "$xgemm" bench --device 0 --quiet --csv --graph --samples 3 --warm 1 --time 1 --limit 1 \
    --transa "${layout:0:1}" --transb "${layout:1:1}" --kernel "$kernels" --shapes "$shapes" "$@" \
    >"$out/$layout${TAG:-}.csv"
}
measure NN "$simt" "$out/shapes.txt" --math strict
measure TN "$simt" "$out/shapes.txt" --math strict
TAG=+1 measure NN "$simt" "$out/shapes.txt" --math strict --ld-pad 1
TAG=-tensor measure NN "$tensor" "$out/large.txt" --math tf32
TAG=-tensor measure TN "$tensor" "$out/large.txt" --math tf32

[ "$fit" != none ] || exit 0
"$xgemm" devices --csv | awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  $column["device_id"] == "0" { print $column["name"]; print $column["multiprocessors"] }' >"$out/gpu"
"$fit" "$(sed -n 1p "$out/gpu")" "$(sed -n 2p "$out/gpu")" "NN=$out/NN.csv" "TN=$out/TN.csv" \
  "NN+1=$out/NN+1.csv" "NN=$out/NN-tensor.csv" "TN=$out/TN-tensor.csv" |
  sed "s/xg_costs_NAME/xg_costs_$name/" >"$out/$name.c"
echo "$out/$name.c is written"
