# SPDX-License-Identifier: BSD-3-Clause
# PTX that clang wrote, as it goes into the library: without comments, and with the version of the
# PTX ISA that its instructions ask for, so that drivers as old as can be take it. clang 19 knows
# versions up to 8.5 and does not look into inline assembly.

function need(version) { if (version > needed) needed = version }

{ sub(/[ \t]*\/\/.*/, ""); sub(/^[ \t]+/, "") }
/^$/ { next }
/^\.version/ { needed = $2 + 0; next }
/mbarrier\.arrive\.relaxed/ { need(8.6) }
/st\.async/ { need(8.1) }
/fence\.proxy\.async/ { need(8.0) }
{ line[++lines] = $0 }

END {
    printf ".version %.1f\n", needed
    for (i = 1; i <= lines; i++)
        print line[i]
}
