#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm explain FILE.cu beside Nsight Compute: the kernels of tests/own, on a GPU:
#
#   bench/own-kernels.sh BUILD-FOLDER > own-kernels.csv
#
# Needs nvcc, ncu, and hardware counters that it may read; the build may be one without CUDA. Each
# kernel has a row of the card's counts and one of the simulator's: requests and sectors of global
# loads, stores and atomics (reductions are atomics here), requests and passes of shared loads and
# stores. A last row says for how many kernels all global counts are equal.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
nvcc=${NVCC:-nvcc}
arch=${XGEMM_OWN_ARCH:-native}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XGEMM_CUDA_HEADERS=$root/lib/backend/sim/cuda
export XGEMM_CUDA_HEADERS

global=l1tex__t
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared
metrics=smsp__sass_inst_executed_op_shared_ld.sum,${shared}_op_ld.sum
metrics=$metrics,smsp__sass_inst_executed_op_shared_st.sum,${shared}_op_st.sum
for op in ld st atom red; do
  metrics=$metrics,${global}_requests_pipe_lsu_mem_global_op_$op.sum
  metrics=$metrics,${global}_sectors_pipe_lsu_mem_global_op_$op.sum
done

# The launches, but for comments.
launches() { grep -v '^#' "$root/tests/own/launches.txt"; }

# A host program for the launches of a file, one after the other.
program() {
  printf '#include "%s/tests/own/%s"\n' "$root" "$1"
  cat << 'CODE'
#include <cstdlib>
#include <cstring>
#include <vector>
template <class T> static T *array(size_t count, int index)
{
    T *memory;
    std::vector<unsigned char> bytes(count * sizeof(T));
    for (size_t i = 0; index && i < bytes.size(); i++)
        bytes[i] = (unsigned char)i;
    if (cudaMalloc(&memory, bytes.size()) || cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice))
        exit(2);
    return memory;
}
int main(int, char **which)
{
    const int number = atoi(which[1]);
CODE
  launches | awk -F ' *; *' -v file="$1" '
    { count++ }
    $2 != file { next }
    {
      printf "    if (number == %d)\n        %s<<<dim3(%s), dim3(%s), %s>>>(", count, $1, $3, $4, $5
      arguments = split($6, argument, " ")
      for (i = 1; i <= arguments; i++) {
        value = argument[i]
        sub(/^[^=]*=/, "", value)
        type = value
        sub(/(\[|:).*/, "", type)
        c_type = type == "uchar" ? "unsigned char" : type == "uint" ? "unsigned" : type
        init = value
        sub(/.*:/, "", init)
        if (value ~ /\[/) {
          size = value
          sub(/^[^[]*\[/, "", size)
          sub(/\].*/, "", size)
          gsub(/x/, " * ", size)
          cast = $1 ~ /^copy_vectors/ ? "(float4 *)" : $1 == "move_structs" && i == 1 ? "(particle *)" : ""
          printf("%s%sarray<%s>(%s, %d)", i > 1 ? ", " : "", cast, c_type, size, init == "index")
        } else
          printf("%s(%s)%s", i > 1 ? ", " : "", c_type, init)
      }
      print ");"
    }'
  echo '    return cudaDeviceSynchronize() != cudaSuccess;'
  echo '}'
}

for file in matmul patterns; do
  program "$file.cu" > "$work/$file.cu"
  "$nvcc" -O3 -arch="$arch" -o "$work/$file" "$work/$file.cu" >&2
done

# What the card counted of launch number $2 in program $1: requests and sectors, three times, and
# requests and passes twice.
card() {
  ncu --clock-control none --csv --metrics "$metrics" "$work/$1" "$2" 2> "$work/errors" |
    awk -F '","' '
      NF > 3 { gsub(/[",]/, "", $NF); value[$(NF - 2)] = $NF }
      function number(name) { return value[name] + 0 }
      function requests(op) { return number("l1tex__t_requests_pipe_lsu_mem_global_op_" op ".sum") }
      function sectors(op) { return number("l1tex__t_sectors_pipe_lsu_mem_global_op_" op ".sum") }
      END {
        w = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
        printf "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", requests("ld"), sectors("ld"), requests("st"), sectors("st"),
          requests("atom") + requests("red"), sectors("atom") + sectors("red"),
          number("smsp__sass_inst_executed_op_shared_ld.sum"), number(w "ld.sum"),
          number("smsp__sass_inst_executed_op_shared_st.sum"), number(w "st.sum")
      }'
}

# The same of the simulator; columns of explain --csv.
simulator() {
  set -- --kernel "$(cut -d ';' -f 1 "$work/launch" | tr -d ' ')" \
    --grid "$(cut -d ';' -f 3 "$work/launch" | tr -d ' ')" --block "$(cut -d ';' -f 4 "$work/launch" | tr -d ' ')" \
    --shared "$(cut -d ';' -f 5 "$work/launch" | tr -d ' ')" "$root/tests/own/$1"
  cut -d ';' -f 6 "$work/launch" | tr ' ' '\n' | grep . > "$work/arguments"
  while IFS= read -r argument; do
    set -- "$@" --arg "$argument"
  done < "$work/arguments"
  "$build/xgemm" explain --csv --quiet "$@" | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      kind = $at["memory"] " " $at["access"]
      requests[kind] += $at["requests"]
      work[kind] += $at["memory"] == "global" ? $at["sectors"] : $at["wavefronts"]
    }
    function pair(kind) { return sprintf("%d,%d", requests[kind], work[kind]) }
    END { print pair("global load") "," pair("global store") "," pair("global atomic") "," pair("shared load") "," pair("shared store") }'
}

echo "kernel,launch,counts,load_requests,load_sectors,store_requests,store_sectors,atomic_requests,atomic_sectors,shared_load_requests,shared_load_passes,shared_store_requests,shared_store_passes"
number=0
equal=0
launches > "$work/launches"
while IFS= read -r line; do
  number=$((number + 1))
  printf '%s\n' "$line" > "$work/launch"
  kernel=$(printf '%s' "$line" | cut -d ';' -f 1)
  file=$(printf '%s' "$line" | cut -d ';' -f 2 | tr -d ' ')
  on_card=$(card "${file%.cu}" "$number" < /dev/null)
  on_simulator=$(simulator "$file" < /dev/null)
  echo "$kernel,$number,card,$on_card"
  echo "$kernel,$number,simulator,$on_simulator"
  if [ "$(echo "$on_card" | cut -d , -f 1-6)" = "$(echo "$on_simulator" | cut -d , -f 1-6)" ]; then
    equal=$((equal + 1))
  fi
done < "$work/launches"
echo "global counts equal,$equal of $number,,,,,,,,,,,"
