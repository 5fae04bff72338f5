# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # shell.sh sets $why and $status
# Files of matrices, and xgemm multiply on them; read with "." after shell.sh.
# Outputs go to the folder files, which is empty between the cases.

mkdir files

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

# ---- Cases ----

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
    if refused "$expected" "$pattern"; then kept "$name"; else no "$name" "$why"; fi
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
