#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files that xgemm multiply must refuse: cut, of other types, hostile.

topic=npy
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
# shellcheck source=tests/cli/matrices.sh
. "$srcdir/tests/cli/matrices.sh"

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
    refuse_file 'a device' '/dev/zero.*neither a regular file nor a pipe' /dev/zero
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
>f4 big-endian.*--cast 4
>V2 big-endian.bfloat16.*--cast 2
>c16 big-endian.complex128.*--cast 16
<c32 complex256 32
<i4 int32 4
|b1 bool 1
|V4 raw.bytes 4
END
    # What is taken, but not beside floats.
    while read -r descr word bytes; do
        raw_of type.npy "'$descr'" '(2, 3)' $((bytes * 6))
        refuse_file "dtype $descr beside floats" "$word.*different types.*--cast" type.npy
    done <<'END'
<f8 f64 8
<f2 f16 2
<V2 bf16 2
<c8 c32 8
<c16 c64 16
d f64 8
double f64 8
e f16 2
F c32 8
cdouble c64 16
END
    raw_of type.npy "[('x', '<f4')]" '(2, 3)' 24
    refuse_file 'a structured dtype' 'type.npy.*structured' type.npy
    while read -r count shape; do
        raw_of shape.npy "'<f4'" "$shape" 24
        refuse_file "shape $shape" "shape.npy.*$count dimension" shape.npy
    done <<'END'
0 ()
1 (6,)
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

make_matrices
test_multiply_bad_files
test_multiply_bad_types
test_multiply_hostile_files

finish
