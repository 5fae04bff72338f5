# SPDX-License-Identifier: BSD-3-Clause
# PTX that clang wrote, as it goes into the library: without comments, and with the version of the
# PTX ISA that its instructions ask for, so that drivers as old as can be take it. clang 19 knows
# versions up to 8.5 and does not look into inline assembly.
#
# Fails at a loop that NVIDIA's assembler would take wrong: with "x -= 8; while (x < -2)", unsigned,
# ptxas of CUDA 13.0 takes x as signed where it unrolls the loop, and does steps that are not the
# loop's. clang writes such a loop where it unrolls one for a number of steps that is not known.

function need(version) { if (version > needed) needed = version }

{ sub(/[ \t]*\/\/.*/, ""); sub(/^[ \t]+/, "") }
/^$/ { next }
/^\.version/ { needed = $2 + 0; next }
# By the "PTX ISA notes" of each instruction in NVIDIA's manual.
/barrier\.cluster\.(arrive|wait)/ { need(7.8) }
/barrier\.cluster\.(arrive|wait)\.(release|relaxed|acquire)/ { need(8.0) }
/cp\.async\.bulk|elect\.sync|setmaxnreg|wgmma\./ { need(8.0) }
/fence\.(proxy\.async|mbarrier_init)/ { need(8.0) }
/mbarrier\.arrive\.(expect_tx|release)/ { need(8.0) }
/cp\.async\.c[ag]\.shared\.global[^;]*\], *[0-9]+, *(%p|[a-z])/ { need(7.5) }
/st\.async/ { need(8.1) }
/mbarrier\.arrive\.relaxed/ { need(8.6) }

# The conditions of loops.
/^\.visible|^\.func/ { split("", before); split("", wraps) }
/^[$A-Za-z_].*:$/ { before[substr($1, 1, length($1) - 1)] = 1 }
/^setp\./ { wraps[$2] = /^setp\.[a-z][a-z]\.u[0-9]+[ \t].*, -[0-9]+;$/ ? $0 : "" }
/^@.*[ \t]bra[ \t]/ {
    predicate = $1 ","
    sub(/^@!?/, "", predicate)
    to = $NF
    sub(/;$/, "", to)
    if (wraps[predicate] != "" && to in before) {
        print "a loop that ends by \"" wraps[predicate] "\", which ptxas takes wrong" > "/dev/stderr"
        failed = 1
    }
}
{ line[++lines] = $0 }

END {
    if (failed)
        exit 1
    printf ".version %.1f\n", needed
    for (i = 1; i <= lines; i++)
        print line[i]
}
