# SPDX-License-Identifier: BSD-3-Clause
# What ptxas -v reports, one row a kernel and architecture:
#   XG_RECORD(symbol, compute capability, whether for that one alone, registers,
#             shared, stack, spill stores, spill loads, constant memory)
# Bytes. Spills are of the code, each store and load counted; the room for them is
# part of the stack. Constant bank 0 holds the arguments and is left out.

# The sum of the line's items that match.
function sum(pattern,    parts, i, n, total) {
    n = split($0, parts, ",")
    for (i = 1; i <= n; i++)
        if (parts[i] ~ pattern) {
            sub(/^.*: /, "", parts[i])
            total += parts[i]
        }
    return total + 0
}

# A file's own memory, of each architecture.
/bytes gmem/ { of_file = sum("bytes cmem\\[[1-9]") }

/Compiling entry function/ {
    split($0, quoted, "'")
    symbol = quoted[2]
    arch = quoted[4]
    sub(/^sm_/, "", arch)
    only = arch ~ /a$/
    sub(/[a-z]+$/, "", arch)
    stack = stores = loads = 0
}

# The kernel's, then those of functions that it calls.
/bytes stack frame/ {
    if (sum("stack frame") > stack) stack = sum("stack frame")
    stores += sum("spill stores")
    loads += sum("spill loads")
}

/ Used [0-9]+ registers/ && symbol != "" {
    match($0, /Used [0-9]+/)
    registers = substr($0, RSTART + 5, RLENGTH - 5)
    if (sum("cumulative stack size") > stack) stack = sum("cumulative stack size")
    printf "XG_RECORD(\"%s\", %d, %d, %d, %d, %d, %d, %d, %d)\n", symbol, arch, only, registers,
        sum("bytes smem"), stack, stores, loads, of_file + sum("bytes cmem\\[[1-9]")
    symbol = ""
}
