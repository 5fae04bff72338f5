#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/fit, on tables of what the model itself predicts.

topic=fit
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

fit=${FIT:-$(dirname "$XGEMM")/bench/fit}

# table FACTOR: a table of bench's columns, its times those of the model, times FACTOR.
table()
{
    "$XGEMM" plan --gpu 'H200 SXM' --csv --math strict --kernel sliced-32x32,tma-128x128,thin-64x128,skinny \
        -m 64,500,2048 -n 100,1024 -k 64,1000 |
        awk -F, -v OFS=, -v factor="$1" '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "predicted_us") us = i }
            NR > 1 { $us = sprintf("%.3f", $us * factor) } { print }' |
        sed 's/predicted_us/median_us/'
}

# off WHEN: by how many per cent all rows are off, before or after.
off()
{
    awk -v when="$1" '$1 == when && $2 == "all" { print $(NF - 1) }' report
}

# check WHAT TEXT PATTERN
check()
{
    if printf '%s\n' "$2" | grep -Eq -- "$3"; then
        ok "$1"
    else
        no "$1" "$2"
    fi
}

# fails WHAT SENTENCE ARGUMENT...
fails()
{
    what=$1 sentence=$2
    shift 2
    if "$fit" "$@" >out 2>report; then
        no "$what" 'exit status 0'
    else
        check "$what" "$(cat report)" "$sentence"
    fi
}

test_model()
{
    table 1 >same.csv
    "$fit" 'H200 SXM' 132 NN=same.csv 2>report >same.c
    check 'the model is its own' "$(off before)" '^0\.0$'
    check 'and stays' "$(off after)" '^0\.0$'
    check 'its file' "$(grep -c 'XG_KERNEL_sliced_32x32' same.c)" '^1$'
    table 1.25 >slower.csv
    "$fit" 'H200 SXM' 132 NN=slower.csv 2>report >slower.c
    check 'a slower GPU' "$(off before)" '^2[0-9]\.'
    check 'is learned' "$(off after)" '^[0-6]\.'
}

test_refusals()
{
    table 1 >same.csv
    fails 'an unknown GPU' 'is not in the catalogue' 'H2000' 132 NN=same.csv
    fails 'no layout' 'is no LAYOUT=FILE' 'H200 SXM' 132 same.csv
    fails 'no file' 'cannot be read' 'H200 SXM' 132 NN=absent.csv
    fails 'no multiprocessors' 'is no number of multiprocessors' 'H200 SXM' none NN=same.csv
    echo 'm,n,k,kernel' >columns.csv
    fails 'a column that is missing' 'has no column' 'H200 SXM' 132 NN=columns.csv
    echo 'm,n,k,kernel,median_us' >empty.csv
    fails 'no rows' "there is no kernel's time in it" 'H200 SXM' 132 NN=empty.csv
}

test_model
test_refusals
finish
