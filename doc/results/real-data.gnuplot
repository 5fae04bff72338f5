# SPDX-License-Identifier: BSD-3-Clause
# Math mode DEFAULT beside cuBLAS SGEMM by kind of data, from real-data.csv; in doc/results:
#
#   gnuplot real-data.gnuplot     writes h200/real-data.svg
set terminal svg size 900,520 font "sans,13" background "white"
set output "h200/real-data.svg"
table = "h200/real-data.csv"

# rows(both): "kind ratio" of the 4096 TN rows; of A times normal data, or of A times A's own kind.
rows(both) = "< LC_ALL=C awk -F, '$1 == \"T\" && $2 == \"N\" && $3 == 4096 { " . \
    "n = split($7, kind, \":\"); if (n == " . (both ? "2" : "1") . ") " . \
    "print kind[1], $10 / 100 }' " . table
normal = real(system("LC_ALL=C awk -F, '$1 == \"T\" && $2 == \"N\" && $3 == 4096 && $7 == \"normal\" " . \
    "{ print $10 / 100 }' " . table))
kinds = "normal relu triangle hilbert sparse lognormal-1 lognormal-2 lognormal-4 outlier-columns " . \
    "student-t softmax-3 softmax-20 gaussian-kernel planted-subnormal bits planted-nonfinite nonfinite"
place(name) = sum [i = 1:words(kinds)] (word(kinds, i) eq name ? i : 0)

set title "FP32 product of 4096 × 4096 matrices, DEFAULT, H200 (2026-11-26; A · normal 12-01)"
set ylabel "speed, times cuBLAS SGEMM in the same run"
set yrange [0:5.5]
set xrange [0.3:words(kinds) + 0.7]
set xtics rotate by -40 scale 0
set for [i = 1:words(kinds)] xtics add (word(kinds, i) i)
set grid ytics lc rgb "#dddddd"
set key top left horizontal samplen 2 width -4
set rmargin 15
set style fill solid
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lw 2 lc rgb "black" front
set label 1 "cuBLAS" at graph 1.01, first 1 left
set arrow 2 from graph 0, first normal to graph 1, first normal nohead dt 2 lw 2 lc rgb "#444444" front
set label 2 sprintf("normal: %.2f", normal) at graph 1.01, first normal left
plot rows(0) using (place(strcol(1)) - 0.2):2:(0.36) with boxes lc rgb "#4477aa" title "A of this kind, B normal", \
    rows(1) using (place(strcol(1)) + 0.2):2:(0.36) with boxes lc rgb "#ee6677" title "A times the transpose of another"
