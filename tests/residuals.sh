#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How far the model that chooses kernels is off, kernel by kernel, from what the benchmark
# measured:
#
#   xgemm bench --from strict-choice.json --csv | tests/residuals.sh --math strict --gpu H200
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

cat > "$work/measured.csv"
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
    END { print list > (work "/kernels") }' "$work/measured.csv"

if ! [ -s "$work/times.csv" ]; then
  echo "residuals.sh: no kernel's time, but for those of \"auto\"" >&2
  exit 1
fi
"$xgemm" plan --quiet "$@" --csv --kernel "$(cat "$work/kernels")" --shapes "$work/shapes.txt" \
  > "$work/plans.csv"
LC_ALL=C awk -F, '
    NR == 1 {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        next
    }
    {
        print $column["m"] " " $column["n"] " " $column["k"] "," $column["kernel"] "," \
            $column["predicted_us"]
    }' "$work/plans.csv" > "$work/predicted.csv"

LC_ALL=C awk -F, '
    FNR == NR {
        us[$1, $2] = $3 + 0
        if (!($1 in best) || $3 + 0 < best[$1])
            best[$1] = $3 + 0
        next
    }
    ($1, $2) in us {
        by_model = $3 + 0
        off = log(by_model / us[$1, $2])
        count[$2]++
        sum[$2] += off
        squares[$2] += off * off
        if (us[$1, $2] <= 1.15 * best[$1]) {
            near[$2]++
            near_sum[$2] += off
            near_squares[$2] += off * off
        }
        if (!($1 in least) || by_model < least[$1]) {
            least[$1] = by_model
            chosen[$1] = us[$1, $2]
        }
    }
    function spread(n, total, of_squares) {
        n = of_squares / n - (total / n) * (total / n)
        return sqrt(n > 0 ? n : 0)
    }
    END {
        printf "%-24s %8s %8s %6s %8s %8s %6s\n", "kernel", "problems", "by time", "off", "among",
            "by time", "off"
        fflush() # before what sort prints
        for (name in count) {
            n = near[name]
            printf "%-24s %8d %8.3f %6.3f %8d", name, count[name], exp(sum[name] / count[name]),
                spread(count[name], sum[name], squares[name]), n | "sort"
            printf n ? " %8.3f %6.3f\n" : "        -      -\n", n ? exp(near_sum[name] / n) : 0,
                n ? spread(n, near_sum[name], near_squares[name]) : 0 | "sort"
        }
        close("sort")
        for (shape in least) {
            all++
            good += chosen[shape] <= 1.1 * best[shape]
        }
        printf "%d of %d problems within 10 %% of the fastest kernel by the choice (%.1f %%)\n", good, all,
            100 * good / all
    }' "$work/times.csv" "$work/predicted.csv"
