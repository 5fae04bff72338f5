#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How far the model that chooses kernels is off, kernel by kernel, from what the benchmark
# measured:
#
#   xgemm bench --from strict-choice.json --csv | bench/residuals.sh --math strict --gpu H200
#
# What follows are the options of "xgemm plan" that say what was measured: the mode, the GPU, and
# the transposes. Prints for each kernel how many problems it was timed with; of these how many in
# which it takes at most 1.15 times as long as the fastest; and for both the mean of the predicted
# time by the measured one (geometric), and how far it lies from that (root of the mean square of
# the logarithms). Ends with the share of problems whose fastest kernel by the model is within 10 %
# of the fastest. Where a plan of today splits k another way than the one that was timed, its time
# is another one, too. Batches are not told apart.
set -eu

xgemm=${XGEMM:-./xgemm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

LC_ALL=C awk -F, -v work="$work" '
    NR == 1 {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        name = $column["kernel"]
        if (name ~ /^auto/)
            next
        shape = $column["m"] " " $column["n"] " " $column["k"]
        if (!(shape in shapes))
            print shape > (work "/shapes.txt")
        shapes[shape]
        if (!(name in names))
            list = list (list == "" ? "" : ",") name
        names[name]
        print shape "," name "," $column["median_us"] > (work "/times.csv")
    }
    END { print list > (work "/kernels") }'

if ! [ -s "$work/times.csv" ]; then
  echo "residuals.sh: no kernel's time, but for those of \"auto\"" >&2
  exit 1
fi
# With auto, since a mode has no effect on most kernels, and is refused beside one of them alone.
"$xgemm" plan --quiet "$@" --csv --kernel "auto,$(cat "$work/kernels")" --shapes "$work/shapes.txt" \
  > "$work/plans.csv"
LC_ALL=C awk -F, '
    FNR == NR {
        us[$1, $2] = $3 + 0
        if (!($1 in best) || $3 + 0 < best[$1])
            best[$1] = $3 + 0
        next
    }
    FNR == 1 {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        shape = $column["m"] " " $column["n"] " " $column["k"]
        name = $column["kernel"]
        by_model = $column["predicted_us"] + 0
        if (!((shape, name) in us))
            next
        add("all", name, log(by_model / us[shape, name]))
        if (us[shape, name] <= 1.15 * best[shape])
            add("near", name, log(by_model / us[shape, name]))
        if (!(shape in least) || by_model < least[shape]) {
            least[shape] = by_model
            chosen[shape] = us[shape, name]
        }
    }
    function add(which, name, off) {
        count[which, name]++
        sum[which, name] += off
        squares[which, name] += off * off
        names[name]
    }
    # So many problems, the mean of the times, and how far off.
    function columns(which, name,    n, mean, spread) {
        n = count[which, name]
        if (n == 0)
            return sprintf("%8d %8s %6s", 0, "-", "-")
        mean = sum[which, name] / n
        spread = squares[which, name] / n - mean * mean
        return sprintf("%8d %8.3f %6.3f", n, exp(mean), sqrt(spread > 0 ? spread : 0))
    }
    END {
        printf "%-24s %8s %8s %6s %8s %8s %6s\n", "kernel", "problems", "by time", "off", "among",
            "by time", "off"
        fflush() # before what sort prints
        for (name in names)
            printf "%-24s %s %s\n", name, columns("all", name), columns("near", name) | "sort"
        close("sort")
        for (shape in least) {
            problems++
            good += chosen[shape] <= 1.1 * best[shape]
        }
        printf "%d of %d problems within 10 %% of the fastest kernel by the choice (%.1f %%)\n", good,
            problems, 100 * good / problems
    }' "$work/times.csv" "$work/plans.csv"
