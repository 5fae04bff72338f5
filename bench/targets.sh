#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the library is to reach beside cuBLAS, and what bench/gpu.sh measured:
#
#   bench/targets.sh FOLDER
#
# FOLDER holds the JSON files of bench/gpu.sh; targets of files that are not there are
# left out. XGEMM is the program that reads them (default xgemm). Ratios are cuBLAS's time
# by ours in the same run. Exits with 1 when a target is missed.
set -eu

export LC_ALL=C
folder=${1:?usage: bench/targets.sh FOLDER}
xgemm=${XGEMM:-xgemm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0 met=0

# rows FILE: "m n k ratio us" for each automatic choice that was timed beside cuBLAS.
rows() {
  [ -f "$work/$1" ] || "$xgemm" bench --from "$folder/$1.json" --csv > "$work/$1.csv"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["kernel"] ~ /^auto/ && $column["percent_of_cublas"] {
      print $column["m"], $column["n"], $column["k"], $column["percent_of_cublas"] / 100,
        $column["median_us"] }' "$work/$1.csv"
}

# verdict WHAT MEASURED SENSE ASKED: SENSE is ">=" or "<="; what is not measured says nothing.
verdict() {
  [ -n "$2" ] || return 0
  if awk -v x="$2" -v y="$4" -v sense="$3" 'BEGIN { exit !(sense == ">=" ? x >= y : x <= y) }'; then
    met=$((met + 1)) said=
  else
    missed=$((missed + 1)) said=MISSED
  fi
  printf '%-52s %8.3f  %s %-6s %s\n' "$1" "$2" "$3" "$4" "$said"
}

# of FILE[+FILE] FUNCTION FILTER: the least ratio, or the geometric mean, where m, n, k fit; or
# nothing.
of() {
  for file in $(echo "$1" | tr + ' '); do
    [ ! -f "$folder/$file.json" ] || rows "$file"
  done | awk -v what="$2" '{ m = $1; n = $2; k = $3; square = m == n && n == k }
    '"$3"' { count++; logs += log($4); if (count == 1 || $4 < least) least = $4 }
    END { if (count) print what == "least" ? least : exp(logs / count) }'
}

ratio() { # FILE SIZE ASKED
  verdict "$1 $2" "$(of "$1" least "square && m == $2")" '>=' "$3"
}

least() { # FILE WHAT FILTER ASKED
  verdict "$1: least of $2" "$(of "$1" least "$3")" '>=' "$4"
}

mean() { # FILE WHAT FILTER ASKED
  verdict "$1: geometric mean of $2" "$(of "$1" mean "$3")" '>=' "$4"
}

# near FILE SIZE FILE-OF-NEIGHBOUR NEIGHBOUR: a time beside another one's, by the work.
near() {
  { [ -f "$folder/$1.json" ] && [ -f "$folder/$3.json" ]; } || return 0
  verdict "$1 $2, time by that of $4" "$({ rows "$1" | sed 's/^/1 /'; rows "$3" | sed 's/^/2 /'; } |
    awk -v size="$2" -v beside="$4" '
      $2 != $3 || $3 != $4 { next }
      $1 == 1 && $2 == size { a = $6 / size ^ 3 }
      $1 == 2 && $2 == beside { b = $6 / beside ^ 3 }
      END { if (a && b) print a / b }')" '<=' 1.10
}

# speed FILE WHAT FILTER: the least of the bytes a second that A, B and C take, to what can be read.
speed() {
  [ -f "$folder/$1.json" ] || return 0
  verdict "$1: least of $2, share of ${READ_TBS:=4.48} TB/s" "$(rows "$1" | awk -v read="$READ_TBS" '
    { m = $1; n = $2; k = $3 }
    '"$3"' { x = 4e-6 * (m * k + k * n + m * n) / $5 / read
             if (!count++ || x < least) least = x }
    END { if (count) print least }')" '>=' 0.85
}

echo "math STRICT"
large='m == 2048 || m == 4096 || m == 8192 || m == 16384'
for layout in "" -nt -tn -tt; do
  squares=strict-squares$layout
  mean "$squares" "2048 to 16384" "$large" 1.05
  least "$squares" "2048 to 16384" "$large" 1.0
  for size in 1023 1025 2047 4095 4097 8191 8193; do
    ratio "$squares" "$size" 1.10
  done
  least "$squares" "64 to 1024" \
    'm == 64 || m == 128 || m == 256 || m == 512 || m == 1024' 1.3
  least "strict-ld$layout" "squares, ld + 1" 'square' 1.10
  rested=strict-rested$layout
  mean "$rested" "2048 to 16384" "$large" 1.05
  least "$rested" "2048 to 16384" "$large" 1.0
  for size in 4095 8191 8193; do
    ratio "$rested" "$size" 1.10
  done
done
mean strict-random "random shapes" '1' 1.5
least strict-random "random shapes" '1' 0.95
mean strict-weak "weak shapes" '1' 1.5
least strict-weak "weak shapes" '1' 0.95
speed gemv "GEMV, K-major matrix" 'm * n >= 4096 && k >= 4096'
speed gemv-mn-major "GEMV, MN-major matrix" '1'
ratio batch-64-N 64 1.2
ratio batch-64-T 64 1.2
echo "math DEFAULT"
for layout in "" -nt -tn -tt; do
  burst=default-burst$layout
  least "$burst" "512 and below" 'm <= 512' 1.0
  ratio "$burst" 1024 2.6
  ratio "$burst" 2048 3.7
  ratio "$burst" 4096 4.7
  ratio "$burst" 8192 4.9
  ratio "$burst" 16384 4.2
  near "$burst" 4097 "$burst" 4096
  near "$burst" 8191 "$burst" 8192
done
near default-burst-ld 4096 default-burst 4096
near default-burst-ld 8192 default-burst 8192
ratio default-sustained 4096 4.1
ratio default-sustained 8192 4.3
ratio default-sustained 16384 4.1
mean default-weak+default-weak-tn "weak shapes, k >= 64" 'k >= 64' 2.5
least default-weak+default-weak-tn "weak shapes, k >= 64" 'k >= 64' 1.0
echo "math TF32"
for size in 1024 2048 4096 8192; do
  ratio tf32 "$size" 1.0
done
ratio tf32 4097 2.5
ratio tf32-ld 4096 2.5
echo "$met met, $missed missed"
[ "$missed" -eq 0 ]
