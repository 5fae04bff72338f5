#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How good the automatic choice of a kernel is, from what the benchmark measured:
#
#   xgemm bench --device 0 --math strict --csv --kernel auto,... --compare cublas \
#     --shapes bench/random-shapes.txt | bench/choice.sh [SHARE]
#
# For each shape the time of "auto" is set against the fastest of the kernels that
# were named beside it. What was chosen is timed twice, as "auto" and by its name, and
# the lesser counts: of a few microseconds what comes first waits for the host. Prints the
# share of shapes that are within 10 % of it, the worst, and the ratio to cuBLAS where that
# was timed; exits with 1 when the share is below SHARE (0.95).

LC_ALL=C awk -F, -v wanted="${1:-0.95}" '
    NR == 1 {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        shape = $column["m"] " x " $column["n"] " x " $column["k"]
        us = $column["median_us"] + 0
        name = $column["kernel"]
        if (name ~ /^auto/) {
            auto[shape] = us
            chosen[shape] = substr(name, 6)
            cublas[shape] = column["cublas_us"] ? $column["cublas_us"] + 0 : 0
            next
        }
        named[shape, name] = us
        if (!(shape in best) || us < best[shape]) {
            best[shape] = us
            fastest[shape] = name
        }
    }
    END {
        for (shape in auto) {
            if (!(shape in best))
                continue
            count++
            us = auto[shape]
            if ((shape, chosen[shape]) in named && named[shape, chosen[shape]] < us)
                us = named[shape, chosen[shape]]
            loss = us / best[shape]
            if (loss <= 1.1)
                near++
            else
                printf "%.2f  %s: %s %.1f us, %s %.1f us\n", loss, shape, chosen[shape], \
                    us, fastest[shape], best[shape] | "sort -rn"
            if (cublas[shape] > 0) {
                ratios++
                ratio = cublas[shape] / auto[shape]
                sum += log(ratio)
                if (ratio < 0.95)
                    slower++
                if (least == 0 || ratio < least)
                    least = ratio
            }
        }
        close("sort -rn")
        if (count == 0) {
            print "choice.sh: no shape with \"auto\" and a kernel beside it" > "/dev/stderr"
            exit 1
        }
        printf "%d of %d shapes within 10 %% of the fastest kernel (%.1f %%)\n", near, count, \
            100 * near / count
        if (ratios > 0)
            printf "of cuBLAS: geometric mean %.3f, least %.3f, below 0.95: %d of %d\n", \
                exp(sum / ratios), least, slower, ratios
        exit near < wanted * count
    }'
