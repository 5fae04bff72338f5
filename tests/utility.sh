#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The utility from outside: what it prints, writes and exits with, on the CPU
# and on the simulator.
# python3, NumPy, gnuplot and script (util-linux) each add cases where they are there.

topic=utility
# shellcheck source=tests/shell.sh
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
TERM=xterm
export TERM XGEMM
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
mkdir files

first_error()
{
    sed -n '1s/[^[:print:]]/?/g;1p' err
}

# Whether the run ended with $1 and its errors match $2; why not, in $why.
ended()
{
    why=
    if [ "$status" -ne "$1" ]; then
        why="exit status $status instead of $1; $(first_error)"
    elif [ "$1" -ne 0 ] && ! grep -q '^xgemm' err; then
        why="no message of xgemm; $(first_error)"
    elif [ -n "$2" ] && ! grep -Eq -e "$2" err; then
        why="no \"$2\" in the message: $(first_error)"
    fi
    [ -z "$why" ]
}

# refuses NAME STATUS PATTERN ARGUMENT...: a message, and no results.
refuses()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run "$@"
    if ! ended "$expected" "$pattern"; then
        no "$name" "$why"
    elif [ -s out ]; then
        no "$name" "standard output is not empty"
    else
        ok "$name"
    fi
}

# works NAME PATTERN ARGUMENT...: exit status 0, a match in the output, no messages.
works()
{
    name=$1
    pattern=$2
    shift 2
    run "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    elif ! grep -Eq -e "$pattern" out; then
        no "$name" "no \"$pattern\" in the output"
    else
        ok "$name"
    fi
}

# ---- Matrices ----

# matrix FILE ROWS COLUMNS C|F: from values on standard input, row by row, a
# file as NumPy writes it. For 0 and normal numbers that float32 holds exactly.
matrix()
{
    printf '%b' "$(awk -v rows="$2" -v columns="$3" -v order="$4" -v q="'" '
        function byte(v) { return sprintf("\\0%03o", v) }
        function encoded(v,  sign, exponent, bits) {
            if (v == 0) return byte(0) byte(0) byte(0) byte(0)
            if (v < 0) { sign = 128; v = -v }
            for (exponent = 127; v >= 2; exponent++) v /= 2
            for (; v < 1; exponent--) v *= 2
            bits = (v - 1) * 8388608
            return byte(bits % 256) byte(int(bits / 256) % 256) \
                byte(int(bits / 65536) + exponent % 2 * 128) byte(sign + int(exponent / 2))
        }
        { for (i = 1; i <= NF; i++) value[count++] = $i }
        END {
            dict = "{" q "descr" q ": " q "<f4" q ", " q "fortran_order" q ": " \
                (order == "F" ? "True" : "False") ", " q "shape" q ": (" rows ", " columns "), }"
            while ((length(dict) + 11) % 64) dict = dict " "
            printf "\\0223NUMPY\\0001\\0000%s\\0000%s\\0012", byte(length(dict) + 1), dict
            for (i = 0; i < rows * columns; i++)
                printf "%s", encoded(order == "F" ? value[i % rows * columns + int(i / rows)] \
                                                  : value[i])
        }')" >"$1"
}

# values ROWS COLUMNS SEED: row by row, none of them 0.
values()
{
    awk -v rows="$1" -v columns="$2" -v seed="$3" 'BEGIN {
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                print (seed * i + 3 * j + i * j) % 11 - 5.5
    }'
}

# turned ROWS COLUMNS: the values of the transpose.
turned()
{
    awk -v rows="$1" -v columns="$2" '
        { for (i = 1; i <= NF; i++) value[count++] = $i }
        END {
            for (j = 0; j < columns; j++)
                for (i = 0; i < rows; i++) print value[i * columns + j]
        }'
}

# product M N K: the values of A B, from those of A and then B.
product()
{
    awk -v m="$1" -v n="$2" -v k="$3" '
        { for (i = 1; i <= NF; i++) value[count++] = $i }
        END {
            for (i = 0; i < m; i++)
                for (j = 0; j < n; j++) {
                    sum = 0
                    for (l = 0; l < k; l++) sum += value[i * k + l] * value[m * k + l * n + j]
                    print sum
                }
        }'
}

# byte N
byte()
{
    printf '%b' "$(printf '\\0%o' "$1")"
}

# raw FILE DICT COUNT: any header, with the escapes of printf, and zeros.
raw()
{
    printf '%b\n' "$2" >dict
    length=$(($(wc -c <dict)))
    {
        printf '\223NUMPY\001\000'
        byte $((length % 256))
        byte $((length / 256))
        cat dict
        [ "$3" -eq 0 ] || dd if=/dev/zero bs="$3" count=1 2>/dev/null
    } >"$1"
}

# raw_of FILE DESCR SHAPE COUNT
raw_of()
{
    raw "$1" "{'descr': $2, 'fortran_order': False, 'shape': $3, }" "$4"
}

# resized FILE BYTES NEW: the first bytes of a file.
resized()
{
    dd if="$1" of="$3" bs="$2" count=1 2>/dev/null
}

# Of the order and the values that a file holds, for a message.
shown()
{
    if ! [ -f "$1" ]; then
        echo "no file"
        return
    fi
    dd if="$1" bs=128 count=1 2>/dev/null | tr -cd '[:print:]' | tr -s ' ' | cut -c 1-80
    dd if="$1" bs=128 skip=1 count=1 2>/dev/null | od -An -v -t f4 | tr -s ' \n' ' '
}

make_matrices()
{
    small_c='38 44 50 56 83 98 113 128'
    echo 1 2 3 4 5 6 | tee a.values | matrix a.C 2 3 C
    matrix a.F 2 3 F <a.values
    turned 2 3 <a.values | tee at.values | matrix at.C 3 2 C
    matrix at.F 3 2 F <at.values
    echo 1 2 3 4 5 6 7 8 9 10 11 12 | tee b.values | matrix b.C 3 4 C
    matrix b.F 3 4 F <b.values
    turned 3 4 <b.values | tee bt.values | matrix bt.C 4 3 C
    matrix bt.F 4 3 F <bt.values
    echo "$small_c" | matrix c.C 2 4 C
    echo "$small_c" | matrix c.F 2 4 F
    cp a.C a.npy
    cp b.C b.npy
    values 20 20 7 | matrix square.npy 20 20 C
}

# gives NAME WANTED ARGUMENT...: multiply writes this very file, and no other.
gives()
{
    name=$1
    wanted=$2
    shift 2
    run multiply "$@" -o files/c.npy
    if ! ended 0 ''; then
        no "$name" "$why"
    elif ! cmp -s files/c.npy "$wanted"; then
        no "$name" "$(shown files/c.npy) instead of $(shown "$wanted")"
    elif [ "$(ls -A files)" != c.npy ]; then
        no "$name" "files beside the output: $(find files -type f | tr '\n' ' ')"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    else
        ok "$name"
    fi
    rm -rf files
    mkdir files
}

# keeps NAME STATUS PATTERN ARGUMENT...: multiply fails, and the old output stays.
keeps()
{
    cp c.C files/c.npy
    refuses_quietly "$@"
    rm -rf files
    mkdir files
}

refuses_quietly()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    run multiply -d cpu "$@" -o files/c.npy
    if ! ended "$expected" "$pattern"; then
        no "$name" "$why"
    elif [ -s out ]; then
        no "$name" "standard output is not empty"
    else
        kept "$name"
    fi
}

# Whether the folder has the old output and nothing else.
kept()
{
    if [ "$(ls -A files)" != c.npy ]; then
        no "$1" "beside the old output is left: $(find files -type f | tr '\n' ' ')"
    elif ! cmp -s files/c.npy c.C; then
        no "$1" "the old output was changed"
    else
        ok "$1"
    fi
}

# ---- Formats ----

# json NAME CONDITION: the output is JSON of which a condition in Python holds,
# with d for the object and r for its results.
json()
{
    if ! have python3; then
        skip "$1" "no python3"
    elif python3 -c '
import json, sys
d = json.load(open("out"))
r = d.get("results", [])
for key, kind in ("schema_version", int), ("xgemm_version", str), ("command", str):
    assert isinstance(d[key], kind), key
assert eval(sys.argv[1]), "not so: " + sys.argv[1]' "$2" 2>json.err; then
        ok "$1"
    else
        no "$1" "$(tail -n 1 json.err)"
    fi
}

# csv NAME ROWS: the output has a header and so many rows of as many fields.
csv()
{
    shape=$(awk '{
        quoted = 0
        fields = 1
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) fields++
        }
        if (NR == 1) header = fields
        if (fields != header || fields < 2 || quoted) bad++
    }
    END { print NR - 1, bad + 0 }' out)
    if [ "$shape" = "$2 0" ]; then
        ok "$1"
    else
        no "$1" "rows and rows with a wrong number of fields: $shape instead of $2 0"
    fi
}

# same_members NAME ROWS_KEY ARGUMENT...: a JSON result has CSV's columns.
same_members()
{
    name=$1
    key=$2
    shift 2
    if ! have python3; then
        skip "$name" "no python3"
        return
    fi
    run "$@" --csv
    head -n 1 out >header
    run "$@" --json
    json "$name" "d['$key'] and all(list(x) == open('header').read().strip().split(',') for x in d['$key'])"
}

# ---- General ----

test_general()
{
    works 'help' 'multiply' --help
    works 'help, short' 'verify' -h
    works 'version' '^xgemm [0-9]+\.[0-9]+' --version
    works 'version, short' '^xgemm [0-9]' -V
    run
    if [ "$status" -eq 2 ] && grep -q 'multiply' err && ! [ -s out ]; then
        ok 'no command'
    else
        no 'no command' "exit status $status; $(first_error)"
    fi
    refuses 'unknown command' 2 'nonsense.*multiply.*bench.*verify.*kernels.*devices' nonsense
    refuses 'empty command' 2 'multiply' ''
    refuses 'unknown option before a command' 2 'nonsense' --nonsense
    for command in multiply bench verify kernels devices; do
        works "$command: help" "^Usage: xgemm $command" "$command" --help
        works "$command: help, short" '--device' "$command" -h
        refuses "$command: unknown option" 2 'nonsense' "$command" --nonsense
        refuses "$command: unknown device" 2 'nonsense' "$command" --device nonsense
        refuses "$command: --device without a word" 2 'requires an argument' "$command" --device
        refuses "$command: device too large" 2 '99999999999' "$command" -d 99999999999
        refuses "$command: device with a tail" 2 '0x' "$command" -d 0x
    done
}

# no_room NAME ARGUMENT...: exit status 1 with a full disk as the standard output.
no_room()
{
    name=$1
    shift
    if ! [ -c /dev/full ]; then
        skip "$name" "no /dev/full"
        return
    fi
    "$XGEMM" "$@" >/dev/full 2>err </dev/null
    status=$?
    if ended 1 'standard output|No space'; then ok "$name"; else no "$name" "$why"; fi
}

test_output_lost()
{
    bench='bench -d cpu -s 8 --samples 1 --warm 0 --time 0'
    no_room 'full: help' --help
    no_room 'full: version' --version
    no_room 'full: help of a command' multiply --help
    no_room 'full: multiply' multiply -d cpu a.npy b.npy -o full.npy
    no_room 'full: verify' verify -d cpu --quick -s 5
    no_room 'full: kernels' kernels
    no_room 'full: kernels, JSON' kernels --json
    no_room 'full: devices' devices
    # shellcheck disable=SC2086
    no_room 'full: bench' $bench
    # shellcheck disable=SC2086
    no_room 'full: bench, JSON' $bench --json
    "$XGEMM" multiply -d cpu a.npy b.npy -o closed.npy >&- 2>err </dev/null
    status=$?
    if ended 1 'standard output'; then ok 'closed output'; else no 'closed output' "$why"; fi
}

# ---- multiply ----

# layouts DEVICE: each order of the operands and the output, and each transpose.
layouts()
{
    on=$1
    for a in a.C a.F at.C at.F; do
        for b in b.C b.F bt.C bt.F; do
            set -- -d "$on" "$a" "$b"
            case $a in at.*) set -- "$@" --transa T ;; esac
            case $b in bt.*) set -- "$@" --transb=c ;; esac
            gives "multiply: $a by $b to C order on $on" c.C "$@"
            gives "multiply: $a by $b to Fortran order on $on" c.F "$@" --fortran
        done
    done
}

# irregular DEVICE M N K
irregular()
{
    values "$2" "$4" 7 >x.values
    values "$4" "$3" 5 >y.values
    matrix x.npy "$2" "$4" F <x.values
    matrix y.npy "$4" "$3" C <y.values
    cat x.values y.values | product "$2" "$3" "$4" | matrix xy.npy "$2" "$3" C
    gives "multiply: $2 x $4 by $4 x $3 on $1" xy.npy -d "$1" x.npy y.npy
}

# kernels_of DEVICE
kernels_of()
{
    "$XGEMM" kernels --csv | awk -F, -v device="$1" 'NR > 1 && (" " $2 " ") ~ " " device " " {
        print $1
    }'
}

# each_kernel DEVICE: on an irregular size.
each_kernel()
{
    values 19 37 7 >x.values
    values 37 21 5 >y.values
    matrix x.npy 19 37 C <x.values
    matrix y.npy 37 21 F <y.values
    cat x.values y.values | product 19 21 37 | matrix xy.npy 19 21 C
    kernels=$(kernels_of "$1")
    [ -n "$kernels" ] || no "multiply: kernels of $1" "kernels lists none"
    for kernel in $kernels; do
        math=$("$XGEMM" kernels --csv | awk -F, -v kernel="$kernel" '$1 == kernel { print $7 }')
        [ "$math" = tf32 ] || math=default
        gives "multiply: kernel $kernel on $1" xy.npy -d "$1" --math "$math" --kernel "$kernel" \
            x.npy y.npy
        if grep -q -w -e "$kernel" out; then
            ok "multiply: prints kernel $kernel on $1"
        else
            no "multiply: prints kernel $kernel on $1" "$(tail -n 1 out)"
        fi
    done
}

# factors DEVICE
factors()
{
    on=$1
    echo 2 4 6 8 10 12 14 16 >old.values
    matrix old.C 2 4 C <old.values
    matrix old.F 2 4 F <old.values
    echo 18 20 22 24 36.5 43 49.5 56 >half.values
    matrix half.C 2 4 C <half.values
    matrix half.F 2 4 F <half.values
    echo 1 2 3 4 5 6 7 8 | matrix halved.C 2 4 C
    set -- -d "$on" a.npy b.npy --alpha 0.5 --beta -0.5
    gives "multiply: alpha and beta on $on" half.C "$@" -c old.C
    gives "multiply: the output has the order of C on $on" half.F "$@" -c old.F
    gives "multiply: --fortran with a C in C order on $on" half.F "$@" --input-c=old.C --fortran
    gives "multiply: --fortran with a C in Fortran order on $on" half.F "$@" -c old.F --fortran
    for order in C F; do
        cp "old.$order" files/c.npy
        gives "multiply: the output as C in $order order on $on" "half.$order" "$@"
    done
    gives "multiply: alpha 0 on $on" halved.C -d "$on" a.npy b.npy --alpha 0 --beta .5 -c old.C
    cp old.F files/c.npy
    gives "multiply: beta 0 reads no order on $on" c.C -d "$on" a.npy b.npy
    gives "multiply: beta 0 reads no C on $on" c.C -d "$on" a.npy b.npy -c missing.npy
    echo nonsense >files/c.npy
    gives "multiply: beta 0 reads no output on $on" c.C -d "$on" a.npy b.npy --beta 0
}

# empty DEVICE
empty()
{
    echo | matrix 0x3.npy 0 3 C
    echo | matrix 3x0.npy 3 0 F
    echo | matrix 0x4.npy 0 4 C
    echo | matrix 0x0.npy 0 0 C
    echo 0 0 0 0 0 0 0 0 0 0 0 0 | matrix zeros.npy 3 4 C
    echo 2 4 6 8 10 12 14 16 18 20 22 24 | matrix twice.npy 3 4 C
    gives "multiply: no rows on $1" 0x4.npy -d "$1" 0x3.npy b.npy
    gives "multiply: no columns on $1" 3x0.npy -d "$1" b.npy 0x4.npy --transb T --fortran
    gives "multiply: nothing at all on $1" 0x0.npy -d "$1" 0x0.npy 0x0.npy
    gives "multiply: no sums on $1" zeros.npy -d "$1" 3x0.npy 0x4.npy
    gives "multiply: no sums, with beta on $1" twice.npy -d "$1" 3x0.npy 0x4.npy --beta 2 -c b.npy
}

test_multiply()
{
    for device in cpu sim; do
        layouts "$device"
        factors "$device"
        irregular "$device" 1 1 1
        irregular "$device" 1 23 70
        irregular "$device" 33 1 5
        irregular "$device" 17 31 1
        irregular "$device" 35 18 41
        each_kernel "$device"
        empty "$device"
    done
    gives 'multiply: --math strict' c.C -d cpu a.npy b.npy --math strict
}

test_multiply_files()
{
    raw v1.npy "{ 'shape':(2,3),\"fortran_order\":False , 'descr':'<f4'}" 0
    dd if=a.npy bs=128 skip=1 2>/dev/null >a.data
    resized v1.npy 10000 loose.npy
    cat a.data >>loose.npy
    gives 'multiply: a header in another style' c.C -d cpu loose.npy b.npy
    for version in 2 3; do
        {
            printf '\223NUMPY'
            byte "$version"
            printf '\000\166\000\000\000'
            dd if=a.npy bs=1 skip=10 2>/dev/null
        } >version.npy
        gives "multiply: version $version.0" c.C -d cpu version.npy b.npy
    done

    cp a.npy files/c.npy
    gives 'multiply: the output is A' c.C -d cpu files/c.npy b.npy
    cp b.npy files/c.npy
    gives 'multiply: the output is B' c.C -d cpu a.npy files/c.npy
    matrix ones.npy 2 2 C <<'END'
1 1 1 1
END
    echo 2 2 2 2 | matrix twos.npy 2 2 C
    cp ones.npy files/c.npy
    gives 'multiply: one file for everything' twos.npy -d cpu files/c.npy files/c.npy
    gives 'multiply: --quiet' c.C -d cpu --quiet a.npy b.npy

    cp old.C target.npy
    ln -s target.npy link.npy
    chmod 640 target.npy
    run multiply -d cpu a.npy b.npy -o link.npy
    if [ -L link.npy ] && cmp -s target.npy c.C && [ -n "$(find target.npy -perm 640)" ]; then
        ok 'multiply: a link and a mode stay'
    else
        no 'multiply: a link and a mode stay' "exit status $status; $(first_error)"
    fi
}

test_multiply_output()
{
    set -- multiply -d cpu a.npy b.npy -o 'c,"1".npy'
    works 'multiply: text' ' 2 +4 +3 .* cpu ' "$@" --kernel reference
    works 'multiply: CSV' '^m,n,k,kernel,device,' "$@" --csv
    csv 'multiply: CSV has a row' 1
    if grep -q '"c,""1"".npy"' out; then
        ok 'multiply: CSV has quotation marks'
    else
        no 'multiply: CSV has quotation marks' "$(tail -n 1 out)"
    fi
    works 'multiply: JSON' '^{' "$@" --json --kernel reference
    json 'multiply: JSON has the result' 'len(r) == 1 and [r[0][x] for x in "mnk"] == [2, 4, 3] and r[0]["kernel"] == "reference" and r[0]["device"] == "cpu" and r[0]["kernel_us"] > 0 and d["command"] == "multiply"'
    same_members 'multiply: JSON has the columns of CSV' results "$@"
    long=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "d" }')
    mkdir -p "$long/$long"
    set -- multiply -d cpu a.npy b.npy -o "$long/$long/c.npy"
    works 'multiply: CSV with a long path' "/$long/c.npy\$" "$@" --csv
    latin=$(printf 'c\351.npy')
    run multiply -d cpu a.npy b.npy -o "$latin" --json
    json 'multiply: JSON with a path that is no UTF-8' '"output" in r[0]'
}

test_multiply_usage()
{
    set -- multiply -d cpu a.npy b.npy
    refuses 'multiply: no -o' 2 'output' "$@"
    refuses 'multiply: no operand' 2 'two' multiply -d cpu -o c.npy
    refuses 'multiply: one operand' 2 'two' multiply -d cpu a.npy -o c.npy
    refuses 'multiply: three operands' 2 'two' "$@" a.npy -o c.npy
    refuses 'multiply: --device 0 with one operand' 2 'two' multiply -d 0 a.npy -o c.npy
    for word in abc '' 1x '1 '; do
        keeps "multiply: --alpha '$word'" 2 'alpha' a.npy b.npy --alpha "$word"
        keeps "multiply: --beta '$word'" 2 'beta' a.npy b.npy --beta "$word"
    done
    keeps 'multiply: --transa X' 2 'transa.*X' a.npy b.npy --transa X
    keeps 'multiply: --transb TT' 2 'transb.*TT' a.npy b.npy --transb TT
    keeps 'multiply: --math nonsense' 2 'math.*nonsense' a.npy b.npy --math nonsense
    keeps 'multiply: unknown kernel' 2 'nonsense.*auto.*reference' a.npy b.npy --kernel nonsense
    keeps 'multiply: unknown kernel, empty' 2 'kernel' a.npy b.npy --kernel ''
    keeps 'multiply: a kernel that is not for the CPU' 1 'naive.*CPU' a.npy b.npy --kernel naive
    refuses 'multiply: a kernel that is not for the simulator' 1 'reference' \
        multiply -d sim a.npy b.npy -o c.npy --kernel reference
}

# Files that are none of ours, each as A and as B.
refuse_file()
{
    keeps "multiply: $1" 1 "$2" "$3" b.npy
    keeps "multiply: $1, as B" 1 "$2" a.npy "$3"
}

test_multiply_bad_files()
{
    refuse_file 'a missing file' 'missing.npy.*No such file' missing.npy
    refuse_file 'a folder' 'files/*: .*directory' files
    keeps 'multiply: a missing C' 1 'missing.npy.*No such file' a.npy b.npy --beta 1 -c missing.npy
    mkfifo pipe.npy
    refuse_file 'a pipe' 'pipe.npy.*regular' pipe.npy
    : >nothing.npy
    refuse_file 'an empty file' 'nothing.npy.*not a .npy' nothing.npy
    echo 'no matrix at all' >text.npy
    refuse_file 'a text file' 'text.npy.*not a .npy' text.npy
    for bytes in 6 8 9 60 127; do
        resized a.npy "$bytes" cut.npy
        refuse_file "a header cut after $bytes bytes" 'cut.npy.*truncated' cut.npy
    done
    for bytes in 128 151; do
        resized a.npy "$bytes" cut.npy
        refuse_file "data cut after $bytes bytes" 'cut.npy.*truncated.* 24 bytes' cut.npy
    done
    { cat a.npy && echo; } >more.npy
    refuse_file 'a byte too much' 'more.npy.*1 extra' more.npy
    chmod 000 text.npy
    if [ -r text.npy ]; then
        skip 'multiply: an unreadable file' 'root reads every file'
    else
        refuse_file 'an unreadable file' 'text.npy.*Permission denied' text.npy
    fi
}

test_multiply_bad_types()
{
    while read -r descr word bytes; do
        raw_of type.npy "'$descr'" '(2, 3)' $((bytes * 6))
        refuse_file "dtype $descr" "type.npy.*$descr.*$word" type.npy
    done <<'END'
<f8 float64 8
<f2 float16 2
>f4 big-endian 4
<c8 complex64 8
<i4 int32 4
|b1 bool 1
END
    raw_of type.npy "[('x', '<f4')]" '(2, 3)' 24
    refuse_file 'a structured dtype' 'type.npy.*structured' type.npy
    while read -r count shape; do
        raw_of shape.npy "'<f4'" "$shape" 24
        refuse_file "shape $shape" "shape.npy.*$count dimension" shape.npy
    done <<'END'
0 ()
1 (6,)
3 (1, 2, 3)
4 (1, 2, 3, 1)
END
}

test_multiply_hostile_files()
{
    while read -r word shape; do
        raw_of shape.npy "'<f4'" "$shape" 24
        refuse_file "shape $shape" "shape.npy.*$word" shape.npy
    done <<'END'
negative (-2, -3)
too.large (9223372036854775807, 9223372036854775807)
too.large (4611686018427387904, 4)
too.large (99999999999999999999999, 0)
too.large (0, 9223372036854775807)
truncated (100000000, 100000000)
malformed (2.0, 3)
malformed (2, 3
malformed (2, x)
malformed [2, 3]
malformed (0x2, 3)
END
    raw hostile.npy '' 24
    refuse_file 'a header without a dict' 'malformed' hostile.npy
    raw hostile.npy "{'descr': '<f4', 'shape': (2, 3), }" 24
    refuse_file 'a key that is missing' 'lacks.*fortran_order' hostile.npy
    raw hostile.npy "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" 24
    refuse_file 'a key twice' 'repeats.*descr' hostile.npy
    raw hostile.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}" 24
    refuse_file 'a key that is unknown' 'unknown key' hostile.npy
    raw hostile.npy "{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 3), }" 24
    refuse_file 'a fortran_order that is no bool' 'fortran_order' hostile.npy
    raw_of hostile.npy '((((((((((((((((' '(2, 3)' 24
    refuse_file 'brackets without an end' 'bracket' hostile.npy
    raw_of hostile.npy "'<f4\\0000'" '(2, 3)' 24
    refuse_file 'a NUL in the header' 'x00' hostile.npy
    raw_of hostile.npy "'\\0033[31m\\0007'" '(2, 3)' 24
    refuse_file 'control characters in the header' 'x1b.*x07' hostile.npy
    {
        printf '\223NUMPY\002\000\377\377\377\377'
        dd if=a.npy bs=1 skip=10 2>/dev/null
    } >hostile.npy
    refuse_file 'a header of 4 GiB' 'absurdly long' hostile.npy
    for version in 0 4; do
        {
            printf '\223NUMPY'
            byte "$version"
            dd if=a.npy bs=1 skip=7 2>/dev/null
        } >hostile.npy
        refuse_file "version $version.0" "version $version.0" hostile.npy
    done
}

test_multiply_shapes()
{
    keeps 'multiply: shapes that do not match' 1 '3 x 4.*2 x 3|2 x 3.*2 x 3' a.npy a.npy
    keeps 'multiply: shapes that do not match, both named' 1 '3 x 4.*b.npy.*2 x 3.*a.npy' b.npy a.npy
    keeps 'multiply: shapes that no longer match' 1 '3 x 2.*a.npy.*3 x 4.*b.npy' \
        a.npy b.npy --transa T
    keeps 'multiply: a C that does not match' 1 '2 x 4.*2 x 3.*a.npy' a.npy b.npy --beta 1 -c a.npy
    run multiply -d cpu a.npy b.npy --beta 1 -o files/new.npy
    if ended 1 'new.npy.*No such file' && [ -z "$(ls -A files)" ]; then
        ok 'multiply: beta without a C'
    else
        no 'multiply: beta without a C' "$why"
    fi
}

# Outputs that cannot be written.
test_multiply_bad_output()
{
    refuses 'multiply: no folder for the output' 1 'nowhere/c.npy.*No such file' \
        multiply -d cpu a.npy b.npy -o nowhere/c.npy
    if [ -e nowhere ]; then no 'multiply: makes no folder' 'there is one'; else ok 'multiply: makes no folder'; fi
    refuses 'multiply: the output is a folder' 1 'directory' multiply -d cpu a.npy b.npy -o files
    refuses 'multiply: the output has no name' 1 'cannot be written' multiply -d cpu a.npy b.npy -o ''
    refuses 'multiply: the output is a pipe' 1 'regular' multiply -d cpu a.npy b.npy -o pipe.npy
    ln -s nowhere/c.npy dangling.npy
    refuses 'multiply: the output is a link to nothing' 1 'dangling.npy.*No such file' \
        multiply -d cpu a.npy b.npy -o dangling.npy
    mkdir locked
    chmod 500 locked
    if [ -w locked ]; then
        skip 'multiply: a folder that is write-protected' 'root writes everywhere'
    else
        refuses 'multiply: a folder that is write-protected' 1 'Permission denied' \
            multiply -d cpu a.npy b.npy -o locked/c.npy
    fi
}

# A file that may not grow beyond one block.
test_multiply_limit()
{
    name='multiply: a limit on the size of files'
    cp c.C files/c.npy
    (
        ulimit -f 1 || exit 99
        exec "$XGEMM" multiply -d cpu square.npy square.npy -o files/c.npy
    ) >out 2>err </dev/null
    status=$?
    if [ "$status" -eq 99 ]; then
        skip "$name" 'no ulimit -f'
    elif ended 1 'c.npy.*File too large'; then
        kept "$name"
    else
        no "$name" "$why"
        kept "$name: what it leaves"
    fi
    rm -rf files
    mkdir files
}

# ---- The environment ----

test_environment()
{
    set -- multiply a.npy b.npy -o c.npy --csv
    XGEMM_DEVICE=sim
    export XGEMM_DEVICE
    works 'XGEMM_DEVICE=sim' '^2,4,3,[^,]*,sim,' "$@"
    works 'XGEMM_DEVICE=sim and --device cpu' '^2,4,3,[^,]*,cpu,' "$@" -d cpu
    XGEMM_DEVICE=nonsense
    refuses 'XGEMM_DEVICE=nonsense' 2 'XGEMM_DEVICE.*nonsense' "$@"
    refuses 'XGEMM_DEVICE=nonsense, bench' 2 'XGEMM_DEVICE.*nonsense' bench -s 8
    refuses 'XGEMM_DEVICE=nonsense, verify' 2 'XGEMM_DEVICE.*nonsense' verify --quick -s 8
    works 'XGEMM_DEVICE=nonsense and --device cpu' ',cpu,' "$@" -d cpu
    unset XGEMM_DEVICE
    XGEMM_KERNEL=reference
    export XGEMM_KERNEL
    works 'XGEMM_KERNEL=reference' ',reference,' "$@" -d cpu
    works 'XGEMM_KERNEL=reference and --kernel' ',blas,|there is no kernel' "$@" -d cpu \
        --kernel "$(kernels_of cpu | tail -n 1)"
    XGEMM_KERNEL=nonsense
    refuses 'XGEMM_KERNEL=nonsense' 2 'XGEMM_KERNEL.*nonsense' "$@" -d cpu
    unset XGEMM_KERNEL
}

# ---- bench ----

# One short sample of each.
bench()
{
    run bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

# measures NAME SIZES ARGUMENT...: the sizes, in the order of the rows.
measures()
{
    name=$1
    sizes=$2
    shift 2
    bench --csv "$@"
    got=$(awk -F, 'NR > 1 { printf("%s%sx%sx%s", (NR > 2 ? " " : ""), $1, $2, $3) }' out)
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ "$got" != "$sizes" ]; then
        no "$name" "$got instead of $sizes"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    else
        ok "$name"
    fi
}

# unmeasured NAME STATUS PATTERN ARGUMENT...
unmeasured()
{
    name=$1
    expected=$2
    pattern=$3
    shift 3
    refuses "$name" "$expected" "$pattern" bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

test_bench_sizes()
{
    measures 'bench: a size' 8x8x8 -s 8
    measures 'bench: a range' '16x16x16 32x32x32 48x48x48' --size 16:48:16
    measures 'bench: a range whose step passes the end' '16x16x16 32x32x32' -s 16:47:16
    measures 'bench: a list' '8x8x8 3x3x3 4x4x4 6x6x6' -s 8,3,4:7:2
    measures 'bench: combinations' '2x3x5 2x4x5 6x3x5 6x4x5' -m 2,6 -n 3:4:1 -k 5
    measures 'bench: -m alone' 7x7x7 -m 7
    measures 'bench: -n and -k' 3x3x4 -n 3 -k 4
    measures 'bench: an empty size' 0x4x4 -m 0 -n 4 -k 4
    printf '# sizes\n\n  1 2 3\n4 5 6 # the second\n\t7\t8\t9\r\n#1 1 1\n10 11 12' >shapes.txt
    measures 'bench: a file of shapes' '1x2x3 4x5x6 7x8x9 10x11x12' --shapes shapes.txt
    measures 'bench: a size and a file' '2x2x2 1x2x3 4x5x6 7x8x9 10x11x12' -f shapes.txt -s 2
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "# 1 2 3 "; print "\n4 5 6" }' >long.txt
    measures 'bench: a long comment in a file' 4x5x6 -f long.txt
    for spec in 48:16:16 16:48:0 16:48:-1 16:48:16:2 16: : ',' '8,' ',8' '' a 8x -8 1e3 1.5 \
        99999999999999999999 1:9223372036854775807; do
        unmeasured "bench: the size '$spec'" 2 'size' -s "$spec"
    done
    unmeasured 'bench: a bad value of -k' 2 '-k.*8x' -m 8 -k 8x
    unmeasured 'bench: a bad value of -m' 2 '-m.*9:8' -m 9:8
    unmeasured 'bench: no size' 2 'size'
    unmeasured 'bench: a size without -s' 2 '16' 16
    unmeasured 'bench: a missing file of shapes' 2 'missing.txt.*No such file' -f missing.txt
    unmeasured 'bench: a folder as a file of shapes' 2 'files.*directory' -f files
    for line in '1 2' '1 2 3 4' '1 2 x' '1,2,3' '1 2 -3' '1 2 3x' '1 2 3.5' \
        '1 2 99999999999999999999'; do
        printf '4 5 6\n%s\n' "$line" >bad.txt
        unmeasured "bench: the shape '$line'" 2 'bad.txt:2' -f bad.txt
    done
    echo '# nothing' >bad.txt
    unmeasured 'bench: a file without shapes' 2 '' -f bad.txt
}

test_bench_options()
{
    measures 'bench: all options' 8x9x10 -m 8 -n 9 -k 10 --order col --transa T --transb C \
        --alpha 2 --beta=-1 --math strict --ld-pad 3 --rest 1 --limit 1 --seed 7 --kernel reference
    unmeasured 'bench: --compare on the CPU' 1 'compare.*GPU.*CPU' -s 8 --compare cublas
    refuses 'bench: --compare on the simulator' 1 'compare.*GPU.*simulator' \
        bench -d sim -s 8 --compare cublas
    unmeasured 'bench: --compare other' 2 'cublas.*other' -s 8 --compare other
    unmeasured 'bench: unknown kernel' 2 'nonsense.*reference' -s 8 --kernel reference,nonsense
    unmeasured 'bench: a kernel that is not for the CPU' 1 'naive.*CPU' -s 8 --kernel naive
    unmeasured 'bench: no kernel' 2 'kernel' -s 8 --kernel ''
    unmeasured 'bench: --order nonsense' 2 'order.*nonsense' -s 8 --order nonsense
    unmeasured 'bench: --transa nonsense' 2 'transa.*nonsense' -s 8 --transa nonsense
    unmeasured 'bench: --alpha abc' 2 'alpha.*abc' -s 8 --alpha abc
    unmeasured 'bench: --samples 0' 2 'samples' -s 8 --samples 0
    for option in warm rest time limit seed ld-pad; do
        unmeasured "bench: --$option -1" 2 "$option" -s 8 "--$option" -1
        unmeasured "bench: --$option x" 2 "$option" -s 8 "--$option=x"
    done
    for size in 1000000000 1099511627776; do
        bench -s "$size" --kernel reference
        if ended 1 'matrices|bytes'; then
            ok "bench: the size $size"
        else
            no "bench: the size $size" "$why"
        fi
    done
}

test_bench_output()
{
    bench -s 8,16 --kernel reference,auto
    if ended 0 '' && [ "$(wc -l <out)" -eq 5 ] && grep -q median_us out; then
        ok 'bench: text'
    else
        no 'bench: text' "$why $(wc -l <out) lines"
    fi
    bench -s 8,16 --kernel all --csv
    csv 'bench: CSV' $((2 * $(kernels_of cpu | wc -l)))
    if grep -q '^m,n,k,kernel,median_us,p1_us,p99_us,gflops' out; then
        ok 'bench: CSV has the columns'
    else
        no 'bench: CSV has the columns' "$(head -n 1 out)"
    fi
    bench -s 8,16 --kernel reference --json --seed 5 --beta 2
    json 'bench: JSON' 'd["command"] == "bench" and isinstance(d["device"]["name"], str) and d["settings"]["seed"] == 5 and d["settings"]["beta"] == 2 and [x["m"] for x in r] == [8, 16] and all(x["median_us"] > 0 and x["gflops"] > 0 and 0 < x["p1_us"] <= x["median_us"] <= x["p99_us"] and x["kernel"] == "reference" for x in r)'
    same_members 'bench: JSON has the columns of CSV' results \
        bench -d cpu --samples 1 --warm 0 --time 0 -s 8
    run bench -d sim --samples 1 --warm 0 --time 0 -s 5 --kernel naive,vectorized --csv
    csv 'bench: on the simulator' 2
}

# A folder of programs that lacks gnuplot.
make_path()
{
    mkdir path
    for program in sh env sed grep ls cat expr dirname basename uname rm mv mkdir; do
        place=$(command -v "$program")
        case $place in /*) ln -s "$place" "path/$program" ;; esac
    done
}

test_bench_without_gnuplot()
{
    name='bench: --plot without gnuplot'
    make_path
    PATH=$work/path "$XGEMM" bench -d cpu -s 8 --plot files/out.svg >out 2>err </dev/null
    status=$?
    if ! ended 1 '^xgemm bench: .*gnuplot'; then
        no "$name" "$why"
    elif [ -s out ]; then
        no "$name" "it measured first"
    elif [ -n "$(ls -A files)" ]; then
        no "$name" "it left a file"
    else
        ok "$name"
    fi
}

# draws NAME ARGUMENT...
draws()
{
    name=$1
    shift
    bench --plot files/out.svg "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ -s err ]; then
        no "$name" "a message: $(first_error)"
    elif ! grep -q '<svg' files/out.svg; then
        no "$name" "no SVG"
    elif [ "$(ls -A files)" != out.svg ]; then
        no "$name" "files beside the plot: $(find files -type f | tr '\n' ' ')"
    else
        ok "$name"
    fi
    rm -f files/*
}

test_bench_plot()
{
    if ! have gnuplot; then
        skip 'bench: --plot' 'no gnuplot'
        return
    fi
    draws 'bench: --plot with squares' -s 8,16 --kernel reference,auto
    draws 'bench: --plot with other shapes' -m 8 -n 4,5 -k 6
    draws 'bench: --plot with one size' -s 8
    draws 'bench: --plot with an empty size' -s 0,8,16
    bench -s 8 --csv --kernel auto
    awk -F, '{ print $4 }' out >plain
    bench -s 8 --csv --kernel auto --plot files/out.svg
    if [ "$(cat plain)" = "$(awk -F, '{ print $4 }' out)" ]; then
        ok 'bench: --plot does not change the rows'
    else
        no 'bench: --plot does not change the rows' \
            "kernel $(awk -F, 'NR == 2 { print $4 }' out) instead of $(tail -n 1 plain)"
    fi
    rm -f files/*
    bench -s 8 --plot nowhere/out.svg
    if ended 1 'nowhere/out.svg.*No such file'; then
        ok 'bench: --plot without a folder'
    else
        no 'bench: --plot without a folder' "$why"
    fi
    if (ulimit -f 1 && exec "$XGEMM" bench --from earlier.json --plot files/out.svg) >out 2>err; then
        no 'bench: --plot with a limit on the size of files' 'exit status 0'
    elif [ -n "$(ls -A files)" ]; then
        no 'bench: --plot with a limit on the size of files' 'it left a file'
    else
        ok 'bench: --plot with a limit on the size of files'
    fi
    rm -f files/*
    mkfifo pipe.svg
    bench -s 8 --plot pipe.svg
    if [ "$status" -ne 0 ] && [ -p pipe.svg ]; then
        ok 'bench: --plot replaces no pipe'
    else
        no 'bench: --plot replaces no pipe' "exit status $status, and the pipe is replaced by a file"
    fi
}

# stores FILE: the JSON of an earlier run.
stores()
{
    bench -s 8,16 --kernel reference,auto --json
    cp out "$1"
}

# no_results NAME PATTERN FILE: as the JSON of an earlier run.
no_results()
{
    refuses "bench: --from $1" 1 "$2" bench --from "$3"
}

test_bench_from()
{
    stores earlier.json
    json 'bench: JSON to come back to' 'len(r) == 4'
    works 'bench: --from' '^ *16 +16 +16 +reference ' bench --from earlier.json
    works 'bench: --from, CSV' '^16,16,16,reference,' bench --from earlier.json --csv
    csv 'bench: --from, the rows' 4
    run bench --from earlier.json --json
    cp earlier.json earlier
    json 'bench: --from, JSON again' '(lambda e: d["date"] == e["date"] and d["settings"] == e["settings"] and [x["median_us"] for x in r] == [x["median_us"] for x in e["results"]])(json.load(open("earlier")))'
    refuses 'bench: --from with sizes' 2 'from' bench --from earlier.json -s 8
    no_results 'a missing file' 'missing.json.*No such file' missing.json
    echo '[1, 2' >text.json
    no_results 'JSON that is cut' 'text.json' text.json
    echo '{"results": 1}' >text.json
    no_results 'JSON without results' 'text.json.*results' text.json
    echo '{"results": [1, {"kernel": 3}]}' >text.json
    no_results 'JSON with other results' 'text.json' text.json
    for size in -5 1e300; do
        echo "{\"results\": [{\"m\": $size, \"n\": 8, \"k\": 8, \"kernel\": \"a\"}]}" >text.json
        no_results "the size $size" 'text.json' text.json
    done
}

# A file of results from elsewhere is drawn; none of its text is run.
test_bench_from_plot()
{
    if ! have gnuplot; then
        skip 'bench: --from with --plot' 'no gnuplot'
        return
    fi
    run bench --from earlier.json --plot files/out.svg
    if ended 0 '' && grep -q '<svg' files/out.svg; then
        ok 'bench: --from with --plot'
    else
        no 'bench: --from with --plot' "$why"
    fi
    rm -f files/*
    echo '{"results": []}' >none.json
    run bench --from none.json --plot files/out.svg
    if [ -e files/out.svg ] && ! [ -s files/out.svg ]; then
        no 'bench: --from without results, with --plot' "exit status $status and an empty file"
    else
        ok 'bench: --from without results, with --plot'
    fi
    rm -f files/*
    row='"n": 8, "k": 8, "median_us": 1, "p1_us": 1, "p99_us": 1'
    # shellcheck disable=SC2016
    for text in '`touch ran`' '\"; system \"touch ran\"; #' '\"\n!touch ran\n#'; do
        cat >hostile.json <<END
{"settings": {"order": "$text", "transa": "$text", "transb": "$text"},
 "device": {"name": "$text"},
 "results": [{"m": 8, "kernel": "$text", $row}, {"m": 16, "kernel": "$text", $row}]}
END
        run bench --from hostile.json --plot files/out.svg
        if [ -e ran ]; then
            no "bench: --from with $text" 'gnuplot ran it'
        else
            ok "bench: --from with $text"
        fi
        rm -f ran files/*
    done
}

# ---- verify ----

test_verify()
{
    works 'verify: the CPU' 'reference .* 0 +ok$' verify -d cpu --quick -s 9,33
    works 'verify: the irregular sizes' ' 0 +ok$' verify -d cpu --quick --kernel reference
    works 'verify: the simulator' 'vectorized .* 0 +ok$' \
        verify -d sim --quick -m 17 -n 5 -k 9 --kernel naive,tiled16,padded,vectorized
    works 'verify: all on the simulator' 'register-tiled-2d .* 0 +ok$' verify -d sim --quick -s 3 --seed 4
    works 'verify: a file of shapes' ' 0 +ok$' verify -d cpu -f shapes.txt --math strict
    works 'verify: empty matrices' ' 0 +ok$' verify -d cpu --quick -m 0,3 -n 3 -k 0,3
    run verify -d cpu --quick -s 9 --csv
    csv 'verify: CSV' "$(($(kernels_of cpu | wc -l)))"
    run verify -d sim --quick -s 9 --kernel coalesced --json
    json 'verify: JSON' 'd["command"] == "verify" and d["device"] and len(r) == 1 and r[0]["kernel"] == "coalesced" and r[0]["failed"] == 0 and r[0]["cases"] > 0 and r[0]["result"] == "ok"'
    same_members 'verify: JSON has the columns of CSV' results verify -d cpu --quick -s 3
    refuses 'verify: unknown kernel' 2 'nonsense.*reference' verify -d cpu --quick --kernel nonsense
    refuses 'verify: a kernel that is not for the CPU' 1 'naive.*CPU' verify -d cpu --kernel naive
    refuses 'verify: a bad range' 2 '9:8:1' verify -d cpu -s 9:8:1
    refuses 'verify: an operand' 2 'reference' verify -d cpu reference
    refuses 'verify: a file without shapes' 2 'bad.txt|size' verify -d cpu --quick -f bad.txt
    for size in 1000000000 1099511627776; do
        run verify -d cpu --quick -s "$size" --kernel reference
        if ended 1 ''; then
            ok "verify: the size $size"
        else
            no "verify: the size $size" "$why"
        fi
    done
}

# ---- kernels and devices ----

test_kernels()
{
    works 'kernels' '^naive .*' kernels
    works 'kernels: one' '^tiled16 ' kernels tiled16
    if [ "$(wc -l <out)" -eq 2 ]; then
        ok 'kernels: no other'
    else
        no 'kernels: no other' "$(wc -l <out) lines"
    fi
    run kernels --csv naive vectorized
    csv 'kernels: CSV' 2
    run kernels --csv
    csv 'kernels: CSV of all' $(($(wc -l <out) - 1))
    run kernels --json reference
    json 'kernels: JSON' 'len(d["kernels"]) == 1 and d["kernels"][0]["name"] == "reference"'
    same_members 'kernels: JSON has the columns of CSV' kernels kernels
    refuses 'kernels: unknown' 2 'nonsense' kernels naive nonsense
    refuses 'kernels: resources of an unknown one' 2 'nonsense' kernels --resources nonsense
    for device in cpu sim; do
        refuses "kernels: --resources on $device" 1 'GPU' kernels --resources -d "$device"
    done
}

test_devices()
{
    works 'devices: the CPU' '^cpu ' devices
    works 'devices: the simulator' '^sim ' devices
    works 'devices: --device cpu' '^cpu ' devices -d cpu
    run devices --csv
    csv 'devices: CSV' $((gpus + 2))
    run devices --json
    json 'devices: JSON' '[x["device"] for x in d["devices"]][-2:] == ["cpu", "sim"]'
    same_members 'devices: JSON has the columns of CSV' devices devices
    refuses 'devices: one that is not there' 77 "$((gpus + 7))" devices $((gpus + 7))
    refuses 'devices: nonsense' 2 'nonsense' devices nonsense
    refuses 'devices: two' 2 '1' devices 0 1
}

test_no_gpu()
{
    if [ "$gpus" -gt 0 ]; then
        skip 'device 0 without a GPU' "there are $gpus GPUs"
        return
    fi
    cp c.C files/c.npy
    refuses 'no GPU: multiply' 77 '^xgemm multiply: ' multiply -d 0 a.npy b.npy -o files/c.npy
    kept 'no GPU: multiply keeps the output'
    rm -f files/*
    refuses 'no GPU: bench' 77 '^xgemm bench: ' bench --device=0 -s 8
    refuses 'no GPU: verify' 77 '^xgemm verify: ' verify -d0 --quick
    refuses 'no GPU: kernels --resources' 77 '^xgemm kernels: ' kernels --resources -d 0
    refuses 'no GPU: kernels --resources NAME' 77 '^xgemm kernels: ' kernels --resources naive -d 0
    refuses 'no GPU: devices 0' 77 '^xgemm devices: ' devices 0
    refuses 'no GPU: devices --device 0' 77 '^xgemm devices: ' devices -d 0
    works 'no GPU: auto is the CPU' ',cpu,' multiply -d auto a.npy b.npy -o c.npy --csv
    XGEMM_DEVICE=0
    export XGEMM_DEVICE
    refuses 'no GPU: XGEMM_DEVICE=0' 77 '^xgemm multiply: ' multiply a.npy b.npy -o c.npy
    unset XGEMM_DEVICE
}

# ---- Progress ----

# on_terminal ARGUMENT...: with a terminal as the standard error, to the file
# terminal; the standard output to the file out.
on_terminal()
{
    printf '%s\n' "exec \"\$XGEMM\" $* >out" >terminal.sh
    SHELL=/bin/sh script -qec 'sh ./terminal.sh' terminal >/dev/null 2>&1 </dev/null
    status=$?
}

test_progress()
{
    works 'progress: none in a file, verify' 'ok$' verify -d cpu --quick -s 4
    works 'progress: none in a file, bench' 'auto' bench -d cpu -s 4 --samples 1 --warm 0 --time 0
    if ! script --version 2>/dev/null | grep -q util-linux ||
        ! SHELL=/bin/sh script -qec true terminal >/dev/null 2>&1 </dev/null; then
        skip 'progress: on a terminal' 'no script of util-linux, or no terminal to be had'
        return
    fi
    for arguments in 'verify -d cpu --quick -s 4' 'bench -d cpu -s 4 --samples 1 --warm 0 --time 0'; do
        name="progress: on a terminal, ${arguments%% *}"
        on_terminal "$arguments"
        if [ "$status" -ne 0 ]; then
            no "$name" "exit status $status"
        elif ! grep -q '\[1/[0-9]*\].*4 x 4 x 4' terminal; then
            no "$name" "there is none"
        elif grep -q '\[1/' out || tr -cd '\033\r' <out | grep -q .; then
            no "$name" "it is in the standard output"
        else
            ok "$name"
        fi
        on_terminal "$arguments" --quiet
        if [ "$status" -eq 0 ] && ! grep -q '\[1/' terminal; then
            ok "$name, --quiet"
        else
            no "$name, --quiet" "exit status $status, or progress"
        fi
    done
}

# ---- NumPy ----

test_numpy()
{
    name='NumPy: its files, and ours'
    if ! have python3 || ! python3 -c 'import numpy' 2>/dev/null; then
        skip "$name" 'no python3 with NumPy'
        return
    fi
    python3 -c '
import os, subprocess, numpy as np
rng = np.random.default_rng(1)
for m, n, k in ((1, 1, 1), (5, 7, 3), (64, 33, 129), (0, 4, 2), (3, 4, 0)):
    for order in "CF":
        a = np.array(rng.random((m, k)) - .5, dtype=np.float32, order=order)
        b = np.array(rng.random((k, n)) - .5, dtype=np.float32)
        np.save("numpy_a.npy", a)
        np.save("numpy_b.npy", b)
        subprocess.run([os.environ["XGEMM"], "multiply", "-d", "cpu", "numpy_a.npy", "numpy_b.npy",
                        "-o", "numpy_c.npy"] + ["--fortran"] * (order == "F"),
                       check=True, stdout=subprocess.DEVNULL)
        c = np.load("numpy_c.npy", allow_pickle=False)
        assert c.dtype == np.float32 and c.shape == (m, n), (c.dtype, c.shape)
        assert c.flags.f_contiguous if order == "F" else c.flags.c_contiguous, order
        assert np.allclose(c, a.astype(float) @ b, rtol=1e-5, atol=1e-5), (m, n, k, order)' 2>err
    status=$?
    if [ "$status" -eq 0 ]; then ok "$name"; else no "$name" "$(tail -n 1 err)"; fi
}

gpus=$("$XGEMM" devices --csv | grep -c '^[0-9]')
make_matrices
test_general
test_output_lost
test_multiply
test_multiply_files
test_multiply_output
test_multiply_usage
test_multiply_bad_files
test_multiply_bad_types
test_multiply_hostile_files
test_multiply_shapes
test_multiply_bad_output
test_multiply_limit
test_environment
test_bench_sizes
test_bench_options
test_bench_output
test_bench_without_gnuplot
test_bench_from
test_bench_plot
test_bench_from_plot
test_verify
test_kernels
test_devices
test_no_gpu
test_progress
test_numpy

finish
