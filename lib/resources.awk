# SPDX-License-Identifier: BSD-3-Clause
# What ptxas -v reports, one row a kernel and architecture:
#   XG_RECORD(symbol, compute capability, whether for that one alone, registers,
#             shared, stack, spill stores, spill loads, constant memory)
# Bytes; constant bank 0 holds the arguments and is left out.

/Compiling entry function/ {
    split($0, quoted, "'")
    symbol = quoted[2]
    arch = quoted[4]
    sub(/^sm_/, "", arch)
    only = arch ~ /a$/
    sub(/[a-z]+$/, "", arch)
    stack = stores = loads = 0
}

/bytes stack frame/ {
    split($0, parts, ",")
    stack = parts[1] + 0
    stores = parts[2] + 0
    loads = parts[3] + 0
}

/ Used [0-9]+ registers/ && symbol != "" {
    constant = 0
    n = split($0, parts, ",")
    for (i = 1; i <= n; i++)
        if (parts[i] ~ /bytes cmem\[[1-9][0-9]*\]/) constant += parts[i]
    printf "XG_RECORD(\"%s\", %d, %d, %d, %d, %d, %d, %d, %d)\n", symbol, arch, only, used(),
        shared(), stack, stores, loads, constant
    symbol = ""
}

function used() {
    match($0, /Used [0-9]+/)
    return substr($0, RSTART + 5, RLENGTH - 5) + 0
}

function shared(    parts, i, n) {
    n = split($0, parts, ",")
    for (i = 1; i <= n; i++)
        if (parts[i] ~ /bytes smem/) return parts[i] + 0
    return 0
}
