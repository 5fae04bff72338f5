#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Batches of products in DEFAULT beside cuBLAS, by CUDA graphs: the utility in XGEMM (./xgemm), the
# kernels in KERNELS (auto). A line each: batch m n k layout, then a kernel, its microseconds and how
# many times as fast as cuBLAS it is.
#
#   bench/batches.sh            the list below
#   bench/batches.sh random N   N random batches: m, n, k from 1 to 1024 and 2 to 5000 products,
#                               evenly by logarithm, at most 4 GB of data
set -eu

xgemm=${XGEMM:-./xgemm}
kernels=${KERNELS:-auto}

list() {
  cat << 'END'
10000 16 16 16 N
10000 32 32 32 N
1000 64 64 64 N
1000 100 100 100 N
1000 128 128 128 N
500 256 256 256 N
64 512 512 512 N
64 1000 1000 1000 N
64 1024 1024 1024 N
16 2048 2048 2048 N
8 4096 4096 4096 N
128 2048 2048 64 T
128 2048 64 2048 N
4096 1 128 512 T
256 1 4096 128 T
32 17 513 1025 N
END
}

# Not by rand(), which draws other numbers in each awk, and with some in each run.
random() {
  awk -v count="$1" '
  function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
  function size(most) { return int(exp(draw() * log(most + 1))) }
  BEGIN {
    state = 7
    while (made < count) {
      m = size(1024); n = size(1024); k = size(1024); b = int(2 * exp(draw() * log(2500)))
      if (b * (m * k + k * n + m * n) > 1e9)
        continue
      print b, m, n, k, (draw() < 0.5 ? "N" : "T")
      made++
    }
  }'
}

if [ "${1:-}" = random ]; then random "${2:?number}"; else list; fi |
  while read -r batch m n k transb; do
    for kernel in $(echo "$kernels" | tr , ' '); do
      printf '%s %s %s %s %s ' "$batch" "$m" "$n" "$k" "$transb"
      "$xgemm" bench --kernel "$kernel" --compare cublas --graph -m "$m" -n "$n" -k "$k" \
        --transb "$transb" --batch "$batch" --samples 7 --warm 10 --time 1 --limit 2 --csv --quiet |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
          { printf "%s %.1f %.3f\n", $at["kernel"], $at["median_us"],
              $at["percent_of_cublas"] / 100 }'
    done
  done
