#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm multiply on files of every element type: the type stays, conjugate transposes, conversions,
# biases and activations, archives, text, batches, and what is refused. python3 is needed.

topic=multiply_types
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

if ! have python3; then
    echo "skipped: no python3" >&2
    exit 77
fi

# The files of numbers.py's arguments, and what they hold; NumPy is not needed.
cat >numbers.py <<'END'
import struct, sys

SIZES = {"f2": 2, "f4": 4, "f8": 8, "V2": 2, "c8": 8, "c16": 16}
PARTS = {"f2": "e", "f4": "f", "f8": "d", "c8": "f", "c16": "d"}

def pack(descr, x):
    code, order = descr[1:], ">" if descr[0] == ">" else "<"
    if code == "V2":
        return struct.pack(order + "H", struct.unpack("<I", struct.pack("<f", x.real))[0] >> 16)
    parts = [x.real, x.imag] if code[0] == "c" else [x.real]
    return b"".join(struct.pack(order + PARTS[code], part) for part in parts)

def unpack(descr, data):
    code = descr[1:]
    if code == "V2":
        return complex(struct.unpack("<f", b"\0\0" + data)[0])
    parts = struct.unpack("<%d%s" % (2 if code[0] == "c" else 1, PARTS[code]), data)
    return complex(*parts)

def write(path, descr, shape, values, fortran=False):
    """Values in the order of the file."""
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %r, }" % (descr, fortran, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(b"".join(pack(descr, complex(x)) for x in values))

def read(path):
    data = open(path, "rb").read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:end])
    size = SIZES[head["descr"][1:]]
    return head["descr"], head["shape"], [unpack(head["descr"], data[i:i + size])
                                          for i in range(end, len(data), size)]

if __name__ == "__main__":
    exec(sys.argv[1])
END

# numbers CODE
numbers()
{
    python3 numbers.py "$1"
}

# makes NAME DESCR SHAPE VALUES ARGUMENT...: multiply's C has these, in the order of the file.
makes()
{
    name=$1
    descr=$2
    shape=$3
    wanted=$4
    shift 4
    rm -f c.npy
    run multiply -d cpu "$@" -o c.npy
    if ! ended 0 ''; then
        no "$name" "$why"
    elif ! numbers "assert read('c.npy') == ('$descr', $shape, [complex(x) for x in [$wanted]]), read('c.npy')" 2>why; then
        no "$name" "$(tail -n 1 why)"
    else
        ok "$name"
    fi
}

# refuses_c NAME PATTERN ARGUMENT...: refused, and C is not there.
refuses_c()
{
    name=$1
    pattern=$2
    shift 2
    rm -f c.npy
    run multiply -d cpu "$@" -o c.npy
    if ! refused 1 "$pattern"; then
        no "$name" "$why"
    elif [ -e c.npy ]; then
        no "$name" 'there is a C'
    else
        ok "$name"
    fi
}

# Small whole numbers, which every type holds.
numbers '
for name, descr in (("f16", "<f2"), ("bf16", "<V2"), ("f32", "<f4"), ("f64", "<f8")):
    write(name + "a.npy", descr, (2, 3), range(1, 7))
    write(name + "b.npy", descr, (3, 2), [1, 0, 0, 1, 2, -1])
    write(name + "at.npy", descr, (2, 3), [1, 4, 2, 5, 3, 6], True)
    write(name + "v.npy", descr, (2,), [10, -20])
for name, descr in (("c32", "<c8"), ("c64", "<c16")):
    write(name + "a.npy", descr, (2, 3), [1, 2j, 3, 4 - 1j, 5, 6])
    write(name + "b.npy", descr, (3, 2), [1, 0, 1j, 1, 2, -1])
    write(name + "at.npy", descr, (2, 3), [1, 4 - 1j, 2j, 5, 3, 6], True)
    write(name + "v.npy", descr, (2,), [10, -20j])
write("raw.npy", "|V2", (2, 3), range(1, 7))
write("big.npy", ">c16", (2, 3), [1, 2j, 3, 4 - 1j, 5, 6])
write("bigbf16.npy", ">V2", (2, 3), range(1, 7))
'

test_types_stay()
{
    for type in f16:f2 bf16:V2 f32:f4 f64:f8; do
        of=${type%:*}
        descr="<${type#*:}"
        makes "multiply: $of" "$descr" '(2, 2)' '7, -1, 16, -1' "${of}a.npy" "${of}b.npy"
        makes "multiply: $of in Fortran order" "$descr" '(2, 2)' '7, 16, -1, -1' \
            "${of}at.npy" "${of}b.npy" --fortran
        makes "multiply: $of transposed" "$descr" '(3, 3)' '17, 22, 27, 22, 29, 36, 27, 36, 45' \
            "${of}a.npy" "${of}at.npy" --transa C
        makes "multiply: $of, a bias and ReLU" "$descr" '(2, 2)' '17, 0, 26, 0' \
            "${of}a.npy" "${of}b.npy" --bias "${of}v.npy" --activation relu
        makes "multiply: $of, a bias for each row" "$descr" '(2, 2)' '17, 9, -4, -21' \
            "${of}a.npy" "${of}b.npy" --bias "${of}v.npy" --bias-per-row
        run multiply -d sim "${of}a.npy" "${of}b.npy" -o s.npy
        if ended 0 '' && numbers "assert read('s.npy')[2] == [7, -1, 16, -1]"; then
            ok "multiply: $of on the simulator"
        else
            no "multiply: $of on the simulator" "$why"
        fi
    done
    for type in c32:c8 c64:c16; do
        of=${type%:*}
        descr="<${type#*:}"
        makes "multiply: $of" "$descr" '(2, 2)' '5, -3+2j, 16+4j, -1' "${of}a.npy" "${of}b.npy"
        # A^H A, of files in either order.
        for a in a at; do
            makes "multiply: $of, the conjugate transpose of $a" "$descr" '(3, 3)' \
                '18, 20+7j, 27+6j, 20-7j, 29, 30-6j, 27-6j, 30+6j, 45' \
                "$of$a.npy" "${of}a.npy" --transa c
        done
        makes "multiply: $of, A^T A" "$descr" '(3, 3)' \
            '16-8j, 20-3j, 27-6j, 20-3j, 21, 30+6j, 27-6j, 30+6j, 45' \
            "${of}at.npy" "${of}a.npy" --transa t
        makes "multiply: $of, B^H A^H in Fortran order" "$descr" '(2, 2)' \
            '5, -3-2j, 16-4j, -1' "${of}b.npy" "${of}at.npy" --transa C --transb C --fortran
        makes "multiply: $of, complex factors" "$descr" '(2, 2)' '9j, -4-5j, -8+32j, -1-2j' \
            "${of}a.npy" "${of}b.npy" --alpha 0,2 --beta 1,0 -c "${of}beta.npy"
        makes "multiply: $of, a bias" "$descr" '(2, 2)' '15, -3-18j, 26+4j, -1-20j' \
            "${of}a.npy" "${of}b.npy" --bias "${of}v.npy"
    done
    makes 'multiply: |V2 is bfloat16' '<V2' '(2, 2)' '7, -1, 16, -1' raw.npy bf16b.npy
    run multiply -d cpu c32a.npy c32b.npy -o c.npy --json
    json 'multiply: 8mnk operations' '0.99 < r[0]["gflops"] * r[0]["kernel_us"] / (8e-3 * 2 * 2 * 3) < 1.01 and d["settings"]["type"] == d["settings"]["type_c"] == "c32"'
}

test_type_c()
{
    refuses 'multiply: the math mode of 16-bit operands' 2 '--math has no effect' multiply f16a.npy f16b.npy \
        --math strict -o c.npy
    for type in f16:f2 bf16:V2 f32:f4; do
        makes "multiply: bf16 operands, C of ${type%:*}" "<${type#*:}" '(2, 2)' '7, -1, 16, -1' \
            bf16a.npy bf16b.npy --type-c "${type%:*}" --kernel reference
    done
    makes 'multiply: C has the type of the one that is read' '<f4' '(2, 2)' '17, 19, 46, 39' \
        f16a.npy f16b.npy --beta 1 -c f32c.npy
    makes 'multiply: a bias of floats, C of half' '<f2' '(2, 2)' '17, -21, 26, -21' \
        f16a.npy f16b.npy --bias f32v.npy
    refuses_c 'multiply: C of floats beside doubles' 'f32c.npy has f32, and the product is f64; --cast' \
        f64a.npy f64b.npy --beta 1 -c f32c.npy
    refuses_c 'multiply: a bias of doubles beside floats' 'f64v.npy has f64, and the bias of such' \
        f32a.npy f32b.npy --bias f64v.npy
    refuses 'multiply: --type-c of doubles' 2 'C of f64 operands is f64' \
        multiply -d cpu f64a.npy f64b.npy -o c.npy --type-c f32
    refuses 'multiply: an activation of complex numbers' 2 'c64 is complex' \
        multiply -d cpu c64a.npy c64b.npy -o c.npy --activation relu
    refuses 'multiply: an imaginary alpha of floats' 2 'imaginary part' \
        multiply -d cpu f32a.npy f32b.npy -o c.npy --alpha 1,1
    refuses 'multiply: --bias-per-row alone' 2 'give both' \
        multiply -d cpu f32a.npy f32b.npy -o c.npy --bias-per-row
    refuses 'multiply: --type nonsense' 2 '--type takes f32' \
        multiply -d cpu f32a.npy f32b.npy -o c.npy --type f32,f64
}

test_conversions()
{
    refuses_c 'multiply: mixed types' 'A has f32 .f32a.npy. and B f64 .f64b.npy.*--cast.*to f32' \
        f32a.npy f64b.npy
    refuses_c 'multiply: real and complex' 'A has f32 .* and B c64 .*to c32' f32a.npy c64b.npy
    refuses_c 'multiply: --type of other files' 'f32a.npy has f32, and --type is f64; --cast' \
        f32a.npy f64b.npy --type f64
    refuses_c 'multiply: complex numbers as real ones' 'c64a.npy has c64.*f32.*no imaginary part' \
        c64a.npy f32b.npy --type f32 --cast
    refuses_c 'multiply: the same without --cast' 'c64a.npy has c64.*f32.*no imaginary part' \
        c64a.npy f32b.npy --type f32
    refuses_c 'multiply: big-endian numbers' 'big.npy.*big-endian complex128.*--cast' big.npy c64b.npy
    makes 'multiply: --type of these files' '<f8' '(2, 2)' '7, -1, 16, -1' f64a.npy f64b.npy --type f64
    makes 'multiply: --cast' '<f4' '(2, 2)' '7, -1, 16, -1' f16a.npy f64b.npy --cast
    makes 'multiply: --cast of one type' '<f4' '(2, 2)' '7, -1, 16, -1' f64a.npy f64b.npy --cast
    makes 'multiply: --cast with complex numbers' '<c8' '(2, 2)' '7, -1, 16, -1' f32a.npy real.npy --cast
    for type in f16:f2 bf16:V2 f64:f8 c32:c8 c64:c16; do
        makes "multiply: --cast --type ${type%:*}" "<${type#*:}" '(2, 2)' '7, -1, 16, -1' \
            f32a.npy f64b.npy --cast --type "${type%:*}"
    done
    makes 'multiply: --cast of big-endian complex numbers' '<c16' '(2, 2)' '5, -3+2j, 16+4j, -1' \
        big.npy c64b.npy --cast --type c64
    makes 'multiply: --cast of big-endian bfloat16' '<V2' '(2, 2)' '7, -1, 16, -1' \
        bigbf16.npy f16b.npy --cast --type bf16
    makes 'multiply: --cast of C and the bias' '<f4' '(2, 2)' '27, -1, 56, 19' \
        f32a.npy f32b.npy --cast --beta 1 -c f64c.npy --bias f64v.npy
    # What float32 cannot hold stays as it is in doubles.
    numbers 'write("e.npy", "<f8", (1, 1), [1e300]); write("f.npy", "<f8", (1, 1), [1 + 2**-40])'
    makes 'multiply: doubles are not rounded' '<f8' '(1, 1)' '1e300 * (1 + 2**-40)' e.npy f.npy
    makes 'multiply: alpha of doubles' '<f8' '(1, 1)' '1e-300 * (1 + 2**-40)' one.npy f.npy --alpha 1e-300
}

test_bias_shapes()
{
    for shape in '(2,)' '(1, 2)' '(2, 1)'; do
        numbers "write('v.npy', '<f4', $shape, [10, -20])"
        makes "multiply: a bias of shape $shape" '<f4' '(2, 2)' '17, -21, 26, -21' \
            f32a.npy f32b.npy --bias v.npy
    done
    for shape in '(3,)' '(1, 3)' '(2, 2)' '(1, 1, 2)'; do
        numbers "write('v.npy', '<f4', $shape, range(eval('*'.join(map(str, $shape)))))"
        refuses_c "multiply: a bias of shape $shape" 'C has 2 columns, and the bias .v.npy' \
            f32a.npy f32b.npy --bias v.npy
    done
    refuses_c 'multiply: a bias that is not there' 'nothing.npy.*No such file' \
        f32a.npy f32b.npy --bias nothing.npy
    refuses_c 'multiply: a vector as A' 'only matrices' f32v.npy f32b.npy
    refuses 'multiply: a bias and A from the standard input' 2 'one input alone' \
        multiply -d cpu - f32b.npy --bias - -o c.npy
}

# text FIELD NUMBER: a matrix of one number, n.mtx.
text()
{
    printf '%%%%MatrixMarket matrix array %s general\n1 1\n%s\n' "$1" "$2" >n.mtx
}

test_numbers_of_text()
{
    for number in 9007199254740993 -9223372036854775808 9223372036854775807; do
        text integer $number
        makes "multiply: the whole number $number" '<f8' '(1, 1)' "$number" n.mtx one.npy
    done
    text unsigned-integer 18446744073709551615
    makes 'multiply: a whole number without a sign' '<f8' '(1, 1)' 18446744073709551615 n.mtx one.npy
    for number in inf -Infinity; do
        text real "$number"
        makes "multiply: the real number $number" '<f8' '(1, 1)' "float('$number')" n.mtx one.npy
    done
    for number in 18446744073709551616 1.5 1e3 0x10 inf nan; do
        text integer "$number"
        refuses_c "multiply: $number as a whole number" 'a whole number of 64 bits is expected' \
            n.mtx one.npy
    done
    text unsigned-integer -1
    refuses_c 'multiply: -1 without a sign' 'from 0 to 2.64 - 1 is expected' n.mtx one.npy
    text real -0x10
    refuses_c 'multiply: hexadecimal digits' 'a number is expected' n.mtx one.npy
}

test_other_files()
{
    python3 -c '
import zipfile
with zipfile.ZipFile("typed.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("bf16a.npy"); z.write("c64a.npy")'
    if "$XGEMM" multiply typed.npz:c64a c64b.npy -o c.npy 2>&1 | grep -q 'without zlib'; then
        skip 'multiply: archives' 'no zlib'
    else
        makes 'multiply: bfloat16 in an archive' '<V2' '(2, 2)' '7, -1, 16, -1' typed.npz:bf16a bf16b.npy
        makes 'multiply: complex128 in an archive' '<c16' '(2, 2)' '5, -3+2j, 16+4j, -1' \
            typed.npz:c64a c64b.npy
    fi
    printf '%%%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n' >a.mtx
    printf '%%%%MatrixMarket matrix coordinate complex general\n2 3 6\n1 1 1 0\n1 2 0 2\n1 3 3 0\n2 1 4 -1\n2 2 5 0\n2 3 6 0\n' >z.mtx
    makes 'multiply: text beside floats' '<f4' '(2, 2)' '7, -1, 16, -1' a.mtx f32b.npy
    makes 'multiply: text beside doubles' '<f8' '(2, 2)' '7, -1, 16, -1' a.mtx f64b.npy
    makes 'multiply: text beside bfloat16' '<V2' '(2, 2)' '7, -1, 16, -1' a.mtx bf16b.npy
    makes 'multiply: text beside complex numbers' '<c16' '(2, 2)' '7+2j, -1, 16+5j, -1' a.mtx c64b.npy
    makes 'multiply: complex text' '<c16' '(2, 2)' '5, -3+2j, 16+4j, -1' z.mtx c64b.npy
    makes 'multiply: complex text as c64' '<c16' '(2, 2)' '18, 6-6j, 6+6j, 6' h.mtx h.mtx --type c64
    makes 'multiply: complex text alone' '<c8' '(2, 2)' '18, 6-6j, 6+6j, 6' h.mtx h.mtx
    test_numbers_of_text
    refuses_c 'multiply: complex text beside doubles' 'A has complex numbers .z.mtx. and B f64' z.mtx f64b.npy
    numbers '
write("x.npy", "<c16", (2, 1, 2), [1, 1j, 2, 0])
write("y.npy", "<c16", (2, 2, 1), [1, 1, 1j, 5])
write("xf.npy", "<c16", (2, 1, 2), [1, 2, 1j, 0], True)
write("w.npy", "<f2", (1, 1, 2), [2, 3])
write("u.npy", "<f2", (3, 2, 1), [1, 1, 1, 0, 0, 1])'
    makes 'multiply: batches of complex numbers' '<c16' '(2, 1, 1)' '1+1j, 2j' x.npy y.npy
    makes 'multiply: batches in Fortran order' '<c16' '(2, 1, 1)' '1+1j, 2j' xf.npy y.npy
    makes 'multiply: conjugate transposes of batches' '<c16' '(2, 1, 1)' '1-1j, -2j' \
        y.npy xf.npy --transa C --transb C
    makes 'multiply: one matrix with a batch of f16' '<f2' '(3, 1, 1)' '5, 2, 3' w.npy u.npy
}

# A 2 x 2 matrix that is its own conjugate transpose, and what else the cases need.
printf '%%%%MatrixMarket matrix array complex hermitian\n2 2\n4 0\n1 1\n2 0\n' >h.mtx
numbers '
write("f32c.npy", "<f4", (2, 2), [10, 20, 30, 40])
write("f64c.npy", "<f8", (2, 2), [10, 20, 30, 40])
write("c32beta.npy", "<c8", (2, 2), [-1j, 1j, 0, -1])
write("c64beta.npy", "<c16", (2, 2), [-1j, 1j, 0, -1])
write("real.npy", "<c16", (3, 2), [1, 0, 0, 1, 2, -1])
write("one.npy", "<f8", (1, 1), [1])'

test_types_stay
test_type_c
test_conversions
test_bias_shapes
test_other_files
finish
