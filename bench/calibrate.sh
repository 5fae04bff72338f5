#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The simulator's counts beside Nsight Compute's, kernel by kernel, on a GPU:
#
#   bench/calibrate.sh BUILD-FOLDER > calibration.csv
#
# Needs ncu, and hardware counters that it may read. Per request of a warp:
# sectors of global loads and stores, passes of shared loads and stores; and how
# many requests there were, which differ where nvcc merges accesses.
set -eu

cd "$1"
sizes=${XGEMM_CALIBRATE_SIZES:-256 1024}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

global=l1tex__t
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared
metrics=${global}_requests_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,${global}_sectors_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,${global}_requests_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,${global}_sectors_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,smsp__sass_inst_executed_op_shared_ld.sum,${shared}_op_ld.sum
metrics=$metrics,smsp__sass_inst_executed_op_shared_st.sum,${shared}_op_st.sum

# zeros N FILE: an N x N float32 matrix.
zeros() {
  header=$(printf "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" "$1" "$1")
  printf '\223NUMPY\001\000\166\000%-117s\n' "$header" > "$2"
  head -c $((4 * $1 * $1)) /dev/zero >> "$2"
}

# What the card counted: "requests per_request" of the four kinds, for the launch of the kernel.
card() {
  ./libtool --mode=execute ncu --clock-control none --csv --metrics "$metrics" \
    --kernel-name "regex:^xg_$1\$" ./xgemm multiply "$work/a.npy" "$work/a.npy" \
    -o "$work/c.npy" --kernel "$2" --transb "$3" --device 0 --quiet 2>/dev/null |
    awk -F '","' '
      NF > 3 { gsub(/[",]/, "", $NF); value[$(NF - 2)] = $NF }
      function pair(a, b) { return value[a] + 0 ? sprintf("%d %.3f", value[a], value[b] / value[a]) : "0 0" }
      END {
        g = "l1tex__t_"; w = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
        for (i = split("ld st", op, " "); i > 0; i--) {
          out_g[i] = pair(g "requests_pipe_lsu_mem_global_op_" op[i] ".sum",
                          g "sectors_pipe_lsu_mem_global_op_" op[i] ".sum")
          out_s[i] = pair("smsp__sass_inst_executed_op_shared_" op[i] ".sum", w op[i] ".sum")
        }
        print out_g[1], out_g[2], out_s[1], out_s[2]
      }'
}

# The same of the simulator; columns of explain --csv.
simulator() {
  ./xgemm explain "$1" -m "$2" -n "$2" -k "$2" --transb "$3" --csv --quiet |
    awk -F , -v kernel="$1" '
      NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
      {
        kind = $at["memory"] " " $at["access"]
        requests[kind] += $at["requests"]
        work[kind] += $at["memory"] == "global" ? $at["sectors"] : $at["wavefronts"]
      }
      function pair(kind) { return requests[kind] ? sprintf("%d %.3f", requests[kind], work[kind] / requests[kind]) : "0 0" }
      END { print pair("global load"), pair("global store"), pair("shared load"), pair("shared store") }'
}

echo "kernel,transb,n,counts,global_load_requests,sectors,global_store_requests,sectors,shared_load_requests,passes,shared_store_requests,passes"
for n in $sizes; do
  zeros "$n" "$work/a.npy"
  for kernel in naive coalesced tiled16 tiled32 tiled16-colmajor corner-turned coarsened \
    register-tiled-1d register-tiled-2d vectorized; do
    case $kernel in
      *colmajor | corner-turned) transb=T ;;
      *) transb=N ;;
    esac
    symbol=$(echo "$kernel" | tr - _)
    echo "$kernel,$transb,$n,card,$(card "$symbol" "$kernel" "$transb" | tr ' ' ,)"
    echo "$kernel,$transb,$n,simulator,$(simulator "$kernel" "$n" "$transb" | tr ' ' ,)"
  done
done
